/** Wheel, drag, pinch, double click, pointing and choosing, as movements of the timeline. It knows the canvas's size alone. */
import type { Signal } from "@preact/signals";
import type { TimelineController } from "./controller.ts";
import { hitTest, type Hit, type Layout } from "./lanes.ts";
import { fromX, spanOf } from "./viewport.ts";

/** What is pointed at, and where the pointer is in the canvas. */
export interface Pointed {
  readonly hit: Hit;
  readonly x: number;
  readonly y: number;
}

/** How much a notch of a wheel (100 pixels of it) zooms. */
const ZOOM_PER_WHEEL_PX = 0.0022;
/** A pointer that moved less than this was a click. */
const CLICK_PX = 4;

/** Wheel, drag, pinch, double click, pointing and choosing. Returns what ends it. */
export function listenToPointers(
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
