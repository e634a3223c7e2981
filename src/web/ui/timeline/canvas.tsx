/**
 * The timeline under the owner's hands: wheel, drag, pinch and keys move it, the pointer and the keys find things
 * in it. It draws a frame when something changed and never otherwise.
 */
import { effect, useSignal, type Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { usePage } from "../page.ts";
import { firstWeekday } from "../wall-clock.ts";
import type { TimelineController } from "./controller.ts";
import { SpanFacts } from "./details.tsx";
import { createDrawing, type Drawing, type Ink } from "./draw.ts";
import {
  hitTest,
  LANE_IDS,
  laneTitle,
  layOut,
  neighbourOf,
  type Hit,
  type Layout,
} from "./lanes.ts";
import { axisOf } from "./ticks.ts";
import { fromX, spanOf, type Viewport } from "./viewport.ts";

/** What is pointed at, and where the pointer is in the canvas. */
interface Pointed {
  readonly hit: Hit;
  readonly x: number;
  readonly y: number;
}

/** How much a notch of a wheel (100 pixels of it) zooms. */
const ZOOM_PER_WHEEL_PX = 0.0022;
const ZOOM_PER_KEY = 1.6;
/** A pointer that moved less than this was a click. */
const CLICK_PX = 4;
/** The canvas is not finer than this, whatever the screen is: beyond, only the time to draw grows. */
const MAX_DEVICE_PIXELS = 2;

export function TimelineCanvas(props: {
  readonly timeline: TimelineController;
  /** What the stretch is called, for those who hear it. */
  readonly name: string;
  /** Shows the day of today. */
  readonly onToday: () => void;
}): JSX.Element {
  const { timeline } = props;
  const page = usePage();
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const pointed = useSignal<Pointed | null>(null);
  const layout = useRef<Layout | null>(null);

  useEffect(() => {
    if (place.current === null || canvas.current === null) return;
    const painter = createPainter(
      place.current,
      canvas.current,
      timeline,
      page,
      pointed,
      (made) => {
        layout.current = made;
      },
    );
    const stopListening = listenToPointers(canvas.current, timeline, pointed, () => layout.current);
    return () => {
      painter.close();
      stopListening();
    };
  }, [timeline, page, pointed]);

  return (
    <div
      ref={place}
      class="timeline-canvas"
      role="application"
      aria-roledescription="timeline"
      aria-label={props.name}
      aria-busy={timeline.busy.value}
      aria-describedby="timeline-keys"
      tabIndex={0}
      onKeyDown={(event) => {
        if (handleKey(event, timeline, props.onToday)) event.preventDefault();
      }}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <Tip pointed={pointed} />
      <p id="timeline-keys" class="visually-hidden">
        Plus and minus zoom, left and right move, Home and End go to the ends of the record, T to
        today. Up and down choose a lane, comma and full stop go from one thing to the next, Escape
        lets go. The list below has the same content.
      </p>
    </div>
  );
}

/** Draws when something changed, at most once a frame. */
function createPainter(
  place: HTMLElement,
  canvas: HTMLCanvasElement,
  timeline: TimelineController,
  page: ReturnType<typeof usePage>,
  pointed: Signal<Pointed | null>,
  onLayout: (layout: Layout) => void,
): { readonly close: () => void } {
  const weekStart = firstWeekday(page.formats.locale);
  let drawing: Drawing | null = null;
  let ink: Ink | null = null;
  let frame = 0;
  let widthPx = 0;
  let heightPx = 0;
  let devicePixels = 1;
  let isMarked = false;

  const begin = (): void => {
    devicePixels = Math.min(MAX_DEVICE_PIXELS, devicePixelRatio);
    ink = readInk(place);
    drawing = createDrawing(canvas, ink, page.formats, devicePixels);
    heightPx = 0;
    request();
  };

  const request = (): void => {
    if (frame === 0) frame = requestAnimationFrame(paint);
  };

  const paint = (): void => {
    frame = 0;
    if (drawing === null || ink === null || widthPx === 0) return;
    const viewport = timeline.viewport.peek();
    const layers = timeline.layers.peek();
    const layout = layOut(widthPx, ink.remPx, layers, timeline.rowCounts.peek());
    const lanesPx = widthPx - layout.left;
    onLayout(layout);
    timeline.setWidth(lanesPx);
    if (heightPx !== layout.height || canvas.width !== Math.round(widthPx * devicePixels)) {
      heightPx = layout.height;
      canvas.width = Math.round(widthPx * devicePixels);
      canvas.height = Math.round(heightPx * devicePixels);
      canvas.style.height = `${heightPx}px`;
    }
    drawing.draw({
      viewport,
      widthPx,
      layout,
      layers,
      axis: axisOf(viewport, lanesPx, page.clock, drawing.labelWidths, weekStart),
      nowUs: timeline.nowUs.peek(),
      hovered: pointed.peek()?.hit ?? null,
      selected: timeline.selected.peek(),
    });
    if (layers.length > 0 && !isMarked) {
      // For whoever measures how long that took, in the browser's own list of times.
      performance.mark("lanes drawn");
      isMarked = true;
    }
  };

  const stopWatching = effect(() => {
    for (const changing of [
      timeline.viewport,
      timeline.layers,
      timeline.nowUs,
      timeline.selected,
      pointed,
    ]) {
      void changing.value;
    }
    request();
  });
  const sizes = new ResizeObserver(([entry]) => {
    widthPx = Math.floor(entry?.contentRect.width ?? 0);
    begin();
  });
  sizes.observe(place);
  const schemes = matchMedia("(prefers-color-scheme: dark)");
  schemes.addEventListener("change", begin);

  return {
    close: () => {
      cancelAnimationFrame(frame);
      stopWatching();
      sizes.disconnect();
      schemes.removeEventListener("change", begin);
    },
  };
}

function readInk(place: HTMLElement): Ink {
  const style = getComputedStyle(place);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    surface: colour("surface"),
    sunken: colour("sunken"),
    line: colour("line"),
    lineStrong: colour("line-strong"),
    text: colour("text"),
    muted: colour("muted"),
    accent: colour("accent"),
    bad: colour("bad"),
    family: style.fontFamily,
    remPx: Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
  };
}

/** Wheel, drag, pinch, double click, pointing and choosing. Returns what ends it. */
function listenToPointers(
  canvas: HTMLCanvasElement,
  timeline: TimelineController,
  pointed: Signal<Pointed | null>,
  layoutNow: () => Layout | null,
): () => void {
  /** Pointers that are down, by id, with where each is. */
  const down = new Map<number, { x: number; y: number }>();
  let movedPx = 0;

  const lanesPx = (): number => canvas.clientWidth - (layoutNow()?.left ?? 0);
  const at = (event: MouseEvent): { x: number; y: number } => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left - (layoutNow()?.left ?? 0), y: event.clientY - box.top };
  };
  const timeAt = (x: number): number => fromX(timeline.viewport.peek(), lanesPx(), x);
  const hitAt = ({ x, y }: { x: number; y: number }): Hit | null => {
    const layout = layoutNow();
    if (layout === null) return null;
    return hitTest(timeline.layers.peek(), layout, timeline.viewport.peek(), lanesPx(), x, y);
  };
  const pointAt = (event: PointerEvent): void => {
    const where = at(event);
    const hit = down.size > 0 ? null : hitAt(where);
    const left = layoutNow()?.left ?? 0;
    if (hit === null && pointed.peek() === null) return;
    pointed.value = hit === null ? null : { hit, x: where.x + left, y: where.y };
  };

  const onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const px = (event.deltaX === 0 ? event.deltaY : event.deltaX) * unit;
      timeline.move((px / lanesPx()) * spanOf(timeline.viewport.peek()));
      return;
    }
    timeline.zoom(Math.exp(-event.deltaY * unit * ZOOM_PER_WHEEL_PX), timeAt(at(event).x));
    pointed.value = null;
  };

  const onDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at(event));
    if (down.size === 1) movedPx = 0;
  };

  const onMove = (event: PointerEvent): void => {
    const before = down.get(event.pointerId);
    if (before === undefined) {
      pointAt(event);
      return;
    }
    const now = at(event);
    const others = [...down].filter(([id]) => id !== event.pointerId).map(([, where]) => where);
    const other = others[0];
    down.set(event.pointerId, now);
    movedPx += Math.hypot(now.x - before.x, now.y - before.y);
    if (other === undefined) {
      if (movedPx < CLICK_PX) return;
      pointed.value = null;
      timeline.move(((before.x - now.x) / lanesPx()) * spanOf(timeline.viewport.peek()));
      return;
    }
    // Two fingers: the instant between them stays between them.
    const wasApart = Math.max(8, Math.abs(before.x - other.x));
    const apart = Math.max(8, Math.abs(now.x - other.x));
    const middleUs = timeAt((before.x + other.x) / 2);
    timeline.zoom(apart / wasApart, middleUs);
    const drift = (now.x - before.x) / 2;
    timeline.move((-drift / lanesPx()) * spanOf(timeline.viewport.peek()));
  };

  const onUp = (event: PointerEvent): void => {
    if (!down.delete(event.pointerId)) return;
    if (movedPx < CLICK_PX && event.type === "pointerup")
      timeline.selected.value = hitAt(at(event));
  };

  const onLeave = (): void => {
    pointed.value = null;
  };

  const onDouble = (event: MouseEvent): void => {
    timeline.zoom(3, timeAt(at(event).x), true);
  };

  canvas.addEventListener("wheel", onWheel, { passive: false });
  canvas.addEventListener("pointerdown", onDown);
  canvas.addEventListener("pointermove", onMove);
  canvas.addEventListener("pointerup", onUp);
  canvas.addEventListener("pointercancel", onUp);
  canvas.addEventListener("pointerleave", onLeave);
  canvas.addEventListener("dblclick", onDouble);
  return () => {
    canvas.removeEventListener("wheel", onWheel);
    canvas.removeEventListener("pointerdown", onDown);
    canvas.removeEventListener("pointermove", onMove);
    canvas.removeEventListener("pointerup", onUp);
    canvas.removeEventListener("pointercancel", onUp);
    canvas.removeEventListener("pointerleave", onLeave);
    canvas.removeEventListener("dblclick", onDouble);
  };
}

/** True when the key meant something here. */
function handleKey(
  event: KeyboardEvent,
  timeline: TimelineController,
  onToday: () => void,
): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const view = timeline.viewport.peek();
  const step = spanOf(view) * (event.shiftKey ? 1 : 0.12);
  switch (event.key) {
    case "+":
    case "=":
      timeline.zoom(ZOOM_PER_KEY, undefined, true);
      return true;
    case "-":
    case "_":
      timeline.zoom(1 / ZOOM_PER_KEY, undefined, true);
      return true;
    case "ArrowLeft":
      timeline.move(-step, true);
      return true;
    case "ArrowRight":
      timeline.move(step, true);
      return true;
    case "Home": {
      const { firstUs } = timeline.bounds();
      if (typeof firstUs === "number")
        timeline.show({ fromUs: firstUs, toUs: firstUs + spanOf(view) });
      return true;
    }
    case "End": {
      const { nowUs } = timeline.bounds();
      timeline.show({ fromUs: nowUs - spanOf(view) * 0.9, toUs: nowUs + spanOf(view) * 0.1 });
      return true;
    }
    case "t":
    case "T":
      onToday();
      return true;
    case "ArrowUp":
    case "ArrowDown":
      chooseLane(timeline, view, event.key === "ArrowDown" ? 1 : -1);
      return true;
    case ".":
    case ",":
      chooseNext(timeline, view, event.key === "." ? 1 : -1);
      return true;
    case "Escape":
      timeline.selected.value = null;
      return true;
    default:
      return false;
  }
}

/** Goes to the next lane that has something, to what lies nearest there. */
function chooseLane(timeline: TimelineController, view: Viewport, direction: 1 | -1): void {
  const { span, lane } = timeline.selected.peek() ?? { span: null, lane: null };
  const atUs = span === null ? (view.fromUs + view.toUs) / 2 : span.startUs;
  const from = lane === null ? (direction === 1 ? -1 : LANE_IDS.length) : LANE_IDS.indexOf(lane);
  for (let index = from + direction; LANE_IDS[index] !== undefined; index += direction) {
    const id = LANE_IDS[index];
    if (id === undefined) return;
    const layers = timeline.layers.peek();
    const found =
      neighbourOf(layers, id, null, atUs + 1, -1) ?? neighbourOf(layers, id, null, atUs - 1, 1);
    if (found === null) continue;
    choose(timeline, view, { lane: id, span: found });
    return;
  }
}

function chooseNext(timeline: TimelineController, view: Viewport, direction: 1 | -1): void {
  const chosen = timeline.selected.peek();
  const lane = chosen?.lane ?? "documents";
  const middle = (view.fromUs + view.toUs) / 2;
  const layers = timeline.layers.peek();
  const span = neighbourOf(layers, lane, chosen?.span ?? null, middle, direction);
  if (span !== null) choose(timeline, view, { lane, span });
}

/** Chooses, and moves there when it is not on the screen. */
function choose(timeline: TimelineController, view: Viewport, hit: Hit): void {
  timeline.selected.value = hit;
  if (hit.span.endUs > view.fromUs && hit.span.startUs < view.toUs) return;
  const centre = Math.min(hit.span.startUs + spanOf(view) / 3, hit.span.endUs);
  timeline.show({ fromUs: centre - spanOf(view) / 2, toUs: centre + spanOf(view) / 2 });
}

/** What the pointer is on. It stays within the page, and out of the pointer's way. */
function Tip(props: { readonly pointed: Signal<Pointed | null> }): JSX.Element | null {
  const { value } = props.pointed;
  if (value === null) return null;
  const { hit, x, y } = value;
  const room = document.documentElement.clientWidth;
  const flips = x > room * 0.6;
  return (
    <div
      class="tip"
      style={{
        top: `${y + 18}px`,
        ...(flips ? { right: `calc(100% - ${x - 12}px)` } : { left: `${x + 12}px` }),
      }}
    >
      <p class="tip-lane">{laneTitle(hit.lane)}</p>
      <SpanFacts hit={hit} />
    </div>
  );
}
