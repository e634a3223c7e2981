/**
 * Puts the timeline on a canvas: axis, lanes, the line of now, what is pointed at. It draws what it is given and decides
 * nothing; where things are comes from `lanes.ts` and `ticks.ts`, and how a stretch looks from `span-brush.ts`.
 */
import type { TimelineSpan } from "../../../api.ts";
import type { Formats } from "../formats.ts";
import { eachRect, type Hit, type LaneBox, type LaneRows, type Layout } from "./lanes.ts";
import { createSpanBrush, measureIn, type Ink } from "./span-brush.ts";
import type { Axis, LabelWidths } from "./ticks.ts";
import { toX, type Viewport } from "./viewport.ts";

export interface Scene {
  readonly viewport: Viewport;
  /** Width of the canvas in CSS pixels; the lanes have what is right of `layout.left`. */
  readonly widthPx: number;
  readonly layout: Layout;
  readonly layers: readonly LaneRows[];
  readonly axis: Axis;
  readonly nowUs: number;
  readonly hovered: Hit | null;
  readonly selected: Hit | null;
}

export interface Drawing {
  readonly labelWidths: LabelWidths;
  readonly draw: (scene: Scene) => void;
}

export function createDrawing(
  canvas: HTMLCanvasElement,
  ink: Ink,
  formats: Formats,
  devicePixels: number,
): Drawing | null {
  const found = canvas.getContext("2d", { alpha: false });
  if (found === null) return null;
  const ctx = found;
  const { remPx } = ink;
  const font = `500 ${0.78 * remPx}px ${ink.family}`;
  const brush = createSpanBrush(ctx, ink, devicePixels);

  const drawAxis = ({ axis, viewport, layout }: Scene, lanesPx: number): void => {
    const nameTick = {
      second: formats.clockWithSeconds,
      minute: formats.clock,
      day: formats.dayOfMonth,
      month: formats.shortMonth,
      year: formats.year,
    }[axis.unit];
    ctx.font = font;
    ctx.lineWidth = 1;
    ctx.strokeStyle = ink.line;
    ctx.fillStyle = ink.muted;
    ctx.beginPath();
    const lower = layout.axisHeight - 0.75 * remPx;
    const majors = new Set(axis.majors);
    for (const atUs of axis.ticks) {
      const x = Math.round(toX(viewport, lanesPx, atUs)) + 0.5;
      ctx.moveTo(x, layout.axisHeight - 0.25 * remPx);
      ctx.lineTo(x, layout.height);
      const text = nameTick(atUs);
      const half = ctx.measureText(text).width / 2;
      // Where a larger unit begins, its own label says enough, and its line would cross this one.
      if (x - half >= 0 && x + half <= lanesPx && !majors.has(atUs))
        ctx.fillText(text, x - half, lower);
    }
    ctx.stroke();
    if (axis.majorUnit === null) return;
    // One form for all of them: the long one only where it stands alone.
    const nameMajor = {
      day: layout.namesAbove || axis.majors.length > 1 ? formats.shortDay : formats.day,
      month: formats.month,
      year: formats.year,
    }[axis.majorUnit];
    ctx.strokeStyle = ink.lineStrong;
    ctx.font = font;
    const xs = axis.majors.map((atUs) => toX(viewport, lanesPx, atUs));
    ctx.beginPath();
    axis.majors.forEach((atUs, index) => {
      const x = xs[index] ?? 0;
      const next = xs[index + 1] ?? lanesPx;
      if (x >= 0) {
        ctx.moveTo(Math.round(x) + 0.5, 0);
        ctx.lineTo(Math.round(x) + 0.5, layout.height);
      }
      const from = Math.max(0, x) + 0.4 * remPx;
      const text = nameMajor(atUs);
      if (from + ctx.measureText(text).width + 0.4 * remPx <= next) {
        ctx.fillText(text, from, 0.85 * remPx);
      }
    });
    ctx.stroke();
  };

  /** The ground of the lanes, where anything is known of them: elsewhere nothing is said yet. */
  const drawGround = ({ layers, viewport, layout, nowUs }: Scene, lanesPx: number): void => {
    ctx.fillStyle = ink.sunken;
    for (const layer of layers) {
      const from = Math.max(0, toX(viewport, lanesPx, layer.fromUs));
      const to = Math.min(lanesPx, toX(viewport, lanesPx, Math.min(layer.toUs, nowUs)));
      if (to <= from) continue;
      for (const { y, rowHeight, rowCount } of layout.boxes) {
        ctx.fillRect(from, y, to - from, rowHeight * rowCount);
      }
    }
  };

  const drawLayer = (
    layer: LaneRows,
    { viewport, layout, nowUs }: Scene,
    lanesPx: number,
    isCovering: boolean,
  ): void => {
    const from = Math.max(0, toX(viewport, lanesPx, layer.fromUs));
    const to = Math.min(lanesPx, toX(viewport, lanesPx, Math.min(layer.toUs, nowUs)));
    if (to <= from) return;
    // A finer layer takes the place of what lies under it.
    ctx.save();
    ctx.beginPath();
    ctx.rect(from, 0, to - from, layout.height);
    ctx.clip();
    for (const each of layout.boxes) {
      const height = each.rowHeight * each.rowCount;
      if (isCovering) {
        ctx.fillStyle = ink.sunken;
        ctx.fillRect(from, each.y, to - from, height);
      }
      if (each.id === "focus" || each.id === "documents") {
        for (const row of layer.rows.gaps) {
          eachRect(row, viewport, lanesPx, (span, x, width) => {
            ctx.fillStyle = brush.pattern(span.state, ink.line);
            ctx.fillRect(x, each.y, width, height);
          });
        }
      }
      layer.rows[each.id].forEach((row, index) => {
        const y = each.y + index * each.rowHeight;
        const inner = each.rowHeight - (each.rowCount > 1 ? 2 : 0);
        eachRect(row, viewport, lanesPx, (span, x, width) =>
          brush.draw(each.id, span, x, y, width, inner),
        );
      });
    }
    ctx.restore();
  };

  const drawNow = ({ viewport, layout, nowUs }: Scene, lanesPx: number): void => {
    const x = Math.round(toX(viewport, lanesPx, nowUs)) + 0.5;
    if (x < 0 || x > lanesPx) return;
    ctx.strokeStyle = ink.bad;
    ctx.fillStyle = ink.bad;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(x, layout.axisHeight - 0.2 * remPx);
    ctx.lineTo(x, layout.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(x, layout.axisHeight - 0.2 * remPx, 0.25 * remPx, 0, 2 * Math.PI);
    ctx.fill();
  };

  const outline = (scene: Scene, hit: Hit | null, lanesPx: number, colour: string): void => {
    const lane = scene.layout.boxes.find((each) => each.id === hit?.lane);
    if (hit === null || lane === undefined) return;
    const { span } = hit;
    const x = toX(scene.viewport, lanesPx, span.startUs);
    const width = Math.max(2, toX(scene.viewport, lanesPx, span.endUs) - x);
    const y = lane.y + rowOf(scene.layers, lane, span) * lane.rowHeight;
    ctx.strokeStyle = colour;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.roundRect(x - 1, y - 1, width + 1, lane.rowHeight + 2, 4);
    ctx.stroke();
  };

  const drawNames = ({ layout }: Scene): void => {
    ctx.font = font;
    ctx.fillStyle = ink.muted;
    for (const { title, y, rowHeight } of layout.boxes) {
      const middle = layout.namesAbove ? y - 0.5 * remPx : y + rowHeight / 2 + 0.5;
      if (layout.namesAbove) {
        // The lines of the axis run behind the name.
        ctx.fillStyle = ink.surface;
        ctx.fillRect(0, y - remPx, ctx.measureText(title).width + 0.3 * remPx, remPx);
        ctx.fillStyle = ink.muted;
      }
      ctx.fillText(title, 0, middle);
    }
  };

  return {
    labelWidths: measureLabels(measureIn(ctx, font), formats, remPx),
    draw: (scene) => {
      const { widthPx, layout, layers } = scene;
      const lanesPx = widthPx - layout.left;
      ctx.setTransform(devicePixels, 0, 0, devicePixels, 0, 0);
      ctx.textBaseline = "middle";
      ctx.fillStyle = ink.surface;
      ctx.fillRect(0, 0, widthPx, layout.height);
      if (!layout.namesAbove) drawNames(scene);
      ctx.translate(layout.left, 0);
      ctx.save();
      ctx.beginPath();
      ctx.rect(0, 0, lanesPx, layout.height);
      ctx.clip();
      drawGround(scene, lanesPx);
      drawAxis(scene, lanesPx);
      if (layout.namesAbove) drawNames(scene);
      layers.forEach((layer, index) => drawLayer(layer, scene, lanesPx, index > 0));
      outline(scene, scene.hovered, lanesPx, ink.muted);
      outline(scene, scene.selected, lanesPx, ink.text);
      drawNow(scene, lanesPx);
      ctx.restore();
    },
  };
}

/** In which row of its lane a span lies: that of the finest layer that has it. */
function rowOf(layers: readonly LaneRows[], lane: LaneBox, span: TimelineSpan): number {
  for (const layer of layers.toReversed()) {
    const row = layer.rows[lane.id].findIndex((spans) =>
      spans.some((each) => each.startUs === span.startUs && each.label === span.label),
    );
    if (row !== -1) return row;
  }
  return 0;
}

/** What the axis needs for its labels in this language, measured on a long one of each kind. */
function measureLabels(
  measure: (text: string) => number,
  formats: Formats,
  remPx: number,
): LabelWidths {
  const sample = Date.UTC(2026, 8, 30, 22, 58, 58) * 1000;
  const space = 1.1 * remPx;
  return {
    clock: measure(formats.clock(sample)) + space,
    clockWithSeconds: measure(formats.clockWithSeconds(sample)) + space,
    day: measure(formats.dayOfMonth(sample)) + space,
    month: measure(formats.shortMonth(sample)) + space,
  };
}
