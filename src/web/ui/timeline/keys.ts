/** The keys of the timeline: zooming, moving, and going from one thing to the next without a pointer. */
import type { TimelineController } from "./controller.ts";
import { LANE_IDS, neighbourOf, type Hit } from "./lanes.ts";
import { spanOf, type Viewport } from "./viewport.ts";

const ZOOM_PER_KEY = 1.6;

/** True when the key meant something here. */
export function handleKey(
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
