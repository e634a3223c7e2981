/**
 * Puts the timeline on a canvas: axis, lanes, spans, gaps, the line of now, what is pointed at. It draws what it
 * is given and decides nothing; where things are comes from `lanes.ts` and `ticks.ts`.
 */
import type { TimelineLaneId, TimelineSpan } from "../../../api.ts";
import type { Formats } from "../formats.ts";
import { toneOf, type Scheme, type Tone } from "./colours.ts";
import { createTextFitter, type TextFitter } from "./fit-text.ts";
import { eachRect, type Hit, type LaneBox, type LaneRows, type Layout } from "./lanes.ts";
import { gapKind, gapPattern } from "./patterns.ts";
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

/** Colours and type of the page, read from its style sheet. */
export interface Ink {
  readonly scheme: Scheme;
  readonly surface: string;
  readonly sunken: string;
  readonly line: string;
  readonly lineStrong: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly bad: string;
  readonly family: string;
  readonly remPx: number;
}

/** What is thinner than this is drawn in one colour, without an edge. */
const MIN_TINTED_PX = 8;

export interface Drawing {
  readonly labelWidths: LabelWidths;
  readonly draw: (scene: Scene) => void;
}

/** What stands in a lane of presence, by the state or kind of its span. */
export function presenceName(span: TimelineSpan): string {
  if (span.kind === "lock") return "Locked";
  if (span.kind === "sleep") return "Asleep";
  return span.state === "passive" ? "Watching or listening" : "Away";
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
  const fonts = {
    small: `500 ${0.78 * remPx}px ${ink.family}`,
    label: `550 ${0.82 * remPx}px ${ink.family}`,
    plain: `400 ${0.82 * remPx}px ${ink.family}`,
  };
  const measureIn =
    (font: string): ((text: string) => number) =>
    (text) => {
      ctx.font = font;
      return ctx.measureText(text).width;
    };
  const fitters: Readonly<Record<"label" | "plain", TextFitter>> = {
    label: createTextFitter(measureIn(fonts.label)),
    plain: createTextFitter(measureIn(fonts.plain)),
  };
  const tones = new Map<string | null, Tone>();
  const patterns = new Map<string, CanvasPattern | string>();

  const tone = (name: string | null): Tone => {
    const kept = tones.get(name);
    if (kept !== undefined) return kept;
    const made = toneOf(name, ink.scheme);
    if (tones.size > 1000) tones.clear();
    tones.set(name, made);
    return made;
  };

  const pattern = (state: string | null, colour: string): CanvasPattern | string => {
    const key = `${state}${colour}`;
    const kept = patterns.get(key);
    if (kept !== undefined) return kept;
    const made = gapPattern(ctx, state, colour, devicePixels);
    patterns.set(key, made);
    return made;
  };

  /** A label on the left of a rectangle, when there is room for one. */
  const label = (
    text: string | null,
    font: "label" | "plain",
    colour: string,
    x: number,
    y: number,
    width: number,
    height: number,
  ): void => {
    const pad = 0.4 * remPx;
    if (text === null || width < 2.2 * remPx) return;
    const shown = fitters[font].fit(text, width - 2 * pad);
    if (shown === "") return;
    ctx.font = fonts[font];
    ctx.fillStyle = colour;
    ctx.fillText(shown, x + pad, y + height / 2 + 0.5);
  };

  const box = (x: number, y: number, width: number, height: number): void => {
    // A pixel of the lane stays between neighbours, unless they are too thin to spare it.
    const drawn = width > 3 ? width - 1 : width;
    if (drawn < 5) {
      ctx.fillRect(x, y, drawn, height);
      return;
    }
    ctx.beginPath();
    ctx.roundRect(x, y, drawn, height, 3);
    ctx.fill();
  };

  /** Pale, with an edge in the colour of its application, so that its text is read as on the page. */
  const tinted = (
    span: TimelineSpan,
    text: string | null,
    x: number,
    y: number,
    width: number,
    height: number,
  ): void => {
    const { fill, tint } = tone(span.app);
    if (width < MIN_TINTED_PX) {
      // Too thin for an edge of its own: it is all edge, and paler, so that the eye is not drawn to it.
      ctx.globalAlpha = 0.6;
      ctx.fillStyle = fill;
      ctx.fillRect(x, y, Math.max(1, width - 0.5), height);
      ctx.globalAlpha = 1;
      return;
    }
    ctx.fillStyle = tint;
    box(x, y, width, height);
    ctx.fillStyle = fill;
    ctx.fillRect(x, y, 2, height);
    label(text, "plain", ink.text, x + 1, y, width - 1, height);
  };

  const drawSpan: Readonly<
    Record<
      TimelineLaneId,
      (span: TimelineSpan, x: number, y: number, width: number, height: number) => void
    >
  > = {
    focus: (span, x, y, width, height) => {
      const { fill, text } = tone(span.app);
      ctx.fillStyle = fill;
      // Where stretches were merged, the height tells how much of the time they fill.
      const share = span.merged > 1 ? span.activeUs / (span.endUs - span.startUs) : 1;
      const filled = Math.max(3, Math.round(height * Math.min(1, share)));
      box(x, y + height - filled, width, filled);
      if (filled > height * 0.7) label(span.app, "label", text, x, y, width, height);
    },
    documents: (span, x, y, width, height) => tinted(span, span.label, x, y, width, height),
    tabs: (span, x, y, width, height) => tinted(span, span.label, x, y, width, height),
    presence: (span, x, y, width, height) => {
      const dark = span.kind === "lock" || span.kind === "sleep";
      ctx.fillStyle = dark ? ink.muted : span.state === "passive" ? ink.line : ink.lineStrong;
      box(x, y, width, height);
      if (span.state === "passive" && width > MIN_TINTED_PX) {
        ctx.strokeStyle = ink.lineStrong;
        ctx.lineWidth = 1;
        ctx.strokeRect(x + 0.5, y + 0.5, width - 2, height - 1);
      }
      const colour = dark ? ink.surface : ink.text;
      label(presenceName(span), "plain", colour, x, y, width, height);
    },
    media: (span, x, y, width, height) => {
      const piece = span.place === null ? span.label : `${span.label ?? ""} — ${span.place}`;
      tinted(span, piece, x, y, width, height);
    },
    elsewhere: (span, x, y, width, height) => tinted(span, span.label, x, y, width, height),
    gaps: (span, x, y, width, height) => {
      ctx.fillStyle = ink.surface;
      ctx.fillRect(x, y, width, height);
      ctx.fillStyle = pattern(span.state, ink.muted);
      ctx.fillRect(x, y, width, height);
      if (width >= 4 * remPx) {
        const text = fitters.plain.fit(gapKind(span.state).title, width - 1.2 * remPx);
        ctx.font = fonts.plain;
        const textWidth = text === "" ? 0 : ctx.measureText(text).width;
        ctx.fillStyle = ink.surface;
        ctx.fillRect(x + 0.3 * remPx, y, textWidth + 0.4 * remPx, height);
        ctx.fillStyle = ink.muted;
        ctx.fillText(text, x + 0.5 * remPx, y + height / 2 + 0.5);
      }
      ctx.strokeStyle = ink.lineStrong;
      ctx.lineWidth = 1;
      ctx.strokeRect(x + 0.5, y + 0.5, Math.max(0, width - 1), height - 1);
    },
  };

  const drawAxis = ({ axis, viewport, layout }: Scene, lanesPx: number): void => {
    const nameTick = {
      second: formats.clockWithSeconds,
      minute: formats.clock,
      day: formats.dayOfMonth,
      month: formats.shortMonth,
      year: formats.year,
    }[axis.unit];
    ctx.font = fonts.small;
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
    ctx.font = fonts.small;
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
            ctx.fillStyle = pattern(span.state, ink.line);
            ctx.fillRect(x, each.y, width, height);
          });
        }
      }
      layer.rows[each.id].forEach((row, index) => {
        const y = each.y + index * each.rowHeight;
        const inner = each.rowHeight - (each.rowCount > 1 ? 2 : 0);
        eachRect(row, viewport, lanesPx, (span, x, width) =>
          drawSpan[each.id](span, x, y, width, inner),
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
    ctx.font = fonts.small;
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
    labelWidths: measureLabels(measureIn(fonts.small), formats, remPx),
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
