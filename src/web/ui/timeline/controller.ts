/**
 * What the timeline shows: where it stands, what of the record is known for it, what is pointed at and chosen. It
 * promises that something is always drawn at once from what is known, that what is missing is asked for one
 * request at a time, and that the newest end of the record follows the daemon.
 */
import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { TimelineLaneId } from "../../../api.ts";
import { RequestError } from "../api-client.ts";
import type { Page } from "../page.ts";
import { chooseLayers, LANE_IDS, toLaneRows, type Hit, type LaneRows } from "./lanes.ts";
import {
  between,
  keepInBounds,
  moveBy,
  pixelUs,
  spanOf,
  zoomAt,
  type Bounds,
  type Viewport,
} from "./viewport.ts";

export interface TimelineController {
  readonly viewport: ReadonlySignal<Viewport>;
  /** The viewport once it stands still, for what need not follow every frame. */
  readonly settled: ReadonlySignal<Viewport>;
  /** What is known of the record there, coarse first. */
  readonly layers: ReadonlySignal<readonly LaneRows[]>;
  /** How many rows a lane has had: it does not shrink again while the timeline moves. */
  readonly rowCounts: ReadonlySignal<Readonly<Partial<Record<TimelineLaneId, number>>>>;
  readonly nowUs: ReadonlySignal<number>;
  readonly refused: ReadonlySignal<RequestError | null>;
  /** True while it moves, and while what it shows is on its way. */
  readonly busy: ReadonlySignal<boolean>;
  readonly selected: Signal<Hit | null>;
  /** Width of the lanes in pixels. */
  readonly setWidth: (px: number) => void;
  /** Shows another stretch; smoothly unless the owner wishes for less motion. */
  readonly show: (viewport: Viewport, smooth?: boolean) => void;
  /** Zooms about an instant, or about the middle. */
  readonly zoom: (factor: number, atUs?: number, smooth?: boolean) => void;
  readonly move: (us: number, smooth?: boolean) => void;
  readonly bounds: () => Bounds;
  readonly close: () => void;
}

interface Known extends LaneRows {
  /** How fine it was asked for: microseconds a pixel. */
  readonly askedPixelUs: number;
}

const MAX_KNOWN = 8;
/** What is asked for reaches this share of the screen beyond each of its edges. */
const MARGIN = 0.5;
/** A layer is fine enough until its pixels have become so many pixels of the screen. */
const MAX_COARSENESS = 2.2;
const MAX_SPANS = 4000;
const ASK_AFTER_MS = 60;
const SETTLED_AFTER_MS = 220;
const MOTION_MS = 180;
/** How often the newest end is asked for: once in a twentieth of a pixel, which for a day is every five seconds. */
const LIVE_SHARE = 1 / 20;
const LIVE_AT_MOST_MS = 1000;
const LIVE_AT_LEAST_MS = 60_000;
/** What goes on grows without a change that anybody tells of. */
const GROWS_EVERY_MS = 15_000;

export function createTimelineController(page: Page, first: Viewport): TimelineController {
  const { api, connection } = page;
  const viewport = signal(first);
  const settled = signal(first);
  const known = signal<readonly Known[]>([]);
  const rowCounts = signal<Readonly<Partial<Record<TimelineLaneId, number>>>>({});
  const nowUs = signal(readNowUs());
  const refused = signal<RequestError | null>(null);
  const selected = signal<Hit | null>(null);
  const moving = signal(false);
  const asking = signal<AbortController | null>(null);
  const busy = computed(() => moving.value || asking.value !== null || known.value.length === 0);
  const width = signal(0);
  const isSharp = (layer: Known): boolean =>
    layer.resolutionUs === 0 ||
    layer.askedPixelUs <= pixelUs(viewport.value, width.value) * MAX_COARSENESS;
  const layers = computed(() => chooseLayers(known.value, viewport.value, isSharp));

  let staleSinceMs: number | null = null;
  let lastAskedMs = 0;
  let askTimer: ReturnType<typeof setTimeout> | undefined;
  let settleTimer: ReturnType<typeof setTimeout> | undefined;
  let frame = 0;
  /** Where the movement of now ends: a second key press goes on from there, not from where the first has come. */
  let goal = first;
  const clockTimer = setInterval(() => {
    nowUs.value = readNowUs();
    const { fromUs, toUs } = viewport.peek();
    const isShown = fromUs < nowUs.peek() && toUs > nowUs.peek() && !document.hidden;
    if (!isShown || performance.now() - lastAskedMs < Math.max(GROWS_EVERY_MS, liveEveryMs()))
      return;
    staleSinceMs ??= performance.now();
    schedule();
  }, 1000);

  const bounds = (): Bounds => ({
    firstUs: known.peek().at(-1)?.firstUs,
    // Not the tick of before: with the first moment of a day its evening may be shown.
    nowUs: readNowUs(),
  });

  const isEnough = (): boolean => {
    const [layer, ...others] = layers.peek();
    const view = viewport.peek();
    return (
      layer !== undefined &&
      others.length === 0 &&
      layer.fromUs <= view.fromUs &&
      layer.toUs >= view.toUs &&
      isSharp(layer)
    );
  };

  /** How long the newest end may be out of date: a part of what a pixel stands for, within reason. */
  const liveEveryMs = (): number => {
    const onePixelMs = pixelUs(viewport.peek(), width.peek()) / 1000;
    return Math.min(LIVE_AT_LEAST_MS, Math.max(LIVE_AT_MOST_MS, onePixelMs * LIVE_SHARE));
  };

  const schedule = (): void => {
    if (width.peek() === 0 || asking.peek() !== null) return;
    const missing = !isEnough();
    if (!missing && staleSinceMs === null) return;
    const sinceLast = performance.now() - lastAskedMs;
    const wait = missing ? ASK_AFTER_MS : Math.max(ASK_AFTER_MS, liveEveryMs() - sinceLast);
    clearTimeout(askTimer);
    askTimer = setTimeout(() => void ask(), known.peek().length === 0 ? 0 : wait);
  };

  const ask = async (): Promise<void> => {
    const view = viewport.peek();
    const widthPx = width.peek();
    const margin = Math.round(spanOf(view) * MARGIN);
    const range = { fromUs: view.fromUs - margin, toUs: view.toUs + margin };
    const maxSpans = Math.min(MAX_SPANS, Math.max(10, Math.round(widthPx * (1 + 2 * MARGIN))));
    const controller = new AbortController();
    asking.value = controller;
    lastAskedMs = performance.now();
    const wasStale = staleSinceMs !== null;
    staleSinceMs = null;
    try {
      const answer = await api.timeline({ ...range, maxSpans }, controller.signal);
      if (controller.signal.aborted) return;
      refused.value = null;
      take({ ...toLaneRows(answer), askedPixelUs: pixelUs(view, widthPx) }, wasStale);
    } catch (error) {
      if (controller.signal.aborted) return;
      connection.report(error);
      if (error instanceof RequestError && error.failure === "refused") refused.value = error;
    } finally {
      if (asking.peek() === controller) asking.value = null;
    }
    // Only an answer leads to the next question: what failed is asked again when the daemon is back.
    if (refused.peek() === null && connection.state.peek() !== "lost") schedule();
  };

  const take = (layer: Known, wasStale: boolean): void => {
    const kept = known
      .peek()
      // What reaches to where the record grew is out of date, and what the new one holds is not needed.
      .filter((each) => !wasStale || each.toUs < (each.lastUs ?? 0))
      .filter((each) => each.fromUs !== layer.fromUs || each.toUs !== layer.toUs)
      .slice(-MAX_KNOWN + 1);
    known.value = [...kept, layer];
    const counts: Partial<Record<TimelineLaneId, number>> = { ...rowCounts.peek() };
    let grew = false;
    for (const id of LANE_IDS) {
      if (layer.rows[id].length <= (counts[id] ?? 0)) continue;
      counts[id] = layer.rows[id].length;
      grew = true;
    }
    if (grew) rowCounts.value = counts;
  };

  const place = (view: Viewport): void => {
    if (view.fromUs === viewport.peek().fromUs && view.toUs === viewport.peek().toUs) return;
    viewport.value = view;
    moving.value = true;
    clearTimeout(settleTimer);
    settleTimer = setTimeout(() => {
      settled.value = viewport.peek();
      moving.value = false;
    }, SETTLED_AFTER_MS);
    schedule();
  };

  const show = (target: Viewport, smooth = true): void => {
    cancelAnimationFrame(frame);
    const from = viewport.peek();
    const to = keepInBounds(target, bounds());
    goal = to;
    if (!smooth || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      place(to);
      return;
    }
    const startMs = performance.now();
    const step = (atMs: number): void => {
      const share = Math.min(1, Math.max(0, (atMs - startMs) / MOTION_MS));
      place(between(from, to, 1 - (1 - share) ** 3));
      if (share < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  };

  const stopListening = effect(() => {
    // Read for its subscription: each change of it makes what is shown out of date.
    if (connection.revision.value === 0) return;
    staleSinceMs ??= performance.now();
    schedule();
  });

  return {
    viewport,
    settled,
    layers,
    rowCounts,
    nowUs,
    refused,
    busy,
    selected,
    setWidth: (px) => {
      width.value = px;
      schedule();
    },
    show,
    zoom: (factor, atUs, smooth = false) => {
      show(zoomAt(goal, factor, atUs ?? (goal.fromUs + goal.toUs) / 2, bounds()), smooth);
    },
    move: (us, smooth = false) => show(moveBy(goal, us, bounds()), smooth),
    bounds,
    close: () => {
      asking.peek()?.abort();
      stopListening();
      cancelAnimationFrame(frame);
      clearInterval(clockTimer);
      for (const timer of [askTimer, settleTimer]) clearTimeout(timer);
    },
  };
}

function readNowUs(): number {
  return Date.now() * 1000;
}
