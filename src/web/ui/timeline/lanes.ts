/**
 * The lanes of the timeline as geometry: how high each is, which row a span lies in, which spans are drawn at a
 * zoom, and which of them is under a pointer. Pure: it knows pixels and no canvas.
 */
import type { TimelineAnswer, TimelineLaneId, TimelineSpan } from "../../../api.ts";
import { fromX, pixelUs, spanOf, toX, type Viewport } from "./viewport.ts";

/** Spans that do not meet, by start. */
type Row = readonly TimelineSpan[];

/** An answer made ready to be drawn. */
export interface LaneRows {
  readonly fromUs: number;
  readonly toUs: number;
  readonly resolutionUs: number;
  readonly firstUs: number | null;
  readonly lastUs: number | null;
  readonly rows: Readonly<Record<TimelineLaneId, readonly Row[]>>;
}

export interface LaneBox {
  readonly id: TimelineLaneId;
  readonly title: string;
  /** Top of its first row. */
  readonly y: number;
  readonly rowHeight: number;
  readonly rowCount: number;
}

export interface Layout {
  /** Where lanes begin: names stand left of it, or above each lane when there is no room. */
  readonly left: number;
  readonly namesAbove: boolean;
  readonly axisHeight: number;
  readonly boxes: readonly LaneBox[];
  readonly height: number;
}

interface LaneShape {
  readonly title: string;
  /** In rem: lanes grow with the type. */
  readonly rowRem: number;
  /** Rows that are there at least, and at most. */
  readonly minRows: number;
  readonly maxRows: number;
}

/** The lanes from top to bottom. */
const SHAPES: Readonly<Record<TimelineLaneId, LaneShape>> = {
  focus: { title: "Application", rowRem: 2.1, minRows: 1, maxRows: 1 },
  documents: { title: "Document", rowRem: 2.1, minRows: 1, maxRows: 1 },
  tabs: { title: "Tabs and files", rowRem: 1.35, minRows: 1, maxRows: 3 },
  presence: { title: "Presence", rowRem: 1.35, minRows: 1, maxRows: 1 },
  media: { title: "Media", rowRem: 1.35, minRows: 1, maxRows: 2 },
  // Whoever has one device sees nothing of it.
  elsewhere: { title: "Other devices", rowRem: 1.35, minRows: 0, maxRows: 3 },
  gaps: { title: "Not known", rowRem: 1.35, minRows: 1, maxRows: 1 },
};

export const LANE_IDS: readonly TimelineLaneId[] = [
  "focus",
  "documents",
  "tabs",
  "presence",
  "media",
  "elsewhere",
  "gaps",
];

/** Below this width, in rem, names stand above their lanes. */
const NARROW_REM = 40;

export function laneTitle(id: TimelineLaneId): string {
  return SHAPES[id].title;
}

export function toLaneRows(answer: TimelineAnswer): LaneRows {
  const rowsOf = (id: TimelineLaneId): readonly Row[] => {
    const spans = answer.lanes.find((lane) => lane.id === id)?.spans ?? [];
    return packRows(spans, SHAPES[id].maxRows);
  };
  const { fromUs, toUs, resolutionUs, firstUs, lastUs } = answer;
  const rows = {
    focus: rowsOf("focus"),
    documents: rowsOf("documents"),
    tabs: rowsOf("tabs"),
    presence: rowsOf("presence"),
    media: rowsOf("media"),
    elsewhere: rowsOf("elsewhere"),
    gaps: rowsOf("gaps"),
  };
  return { fromUs, toUs, resolutionUs, firstUs, lastUs, rows };
}

/**
 * Spans sorted by start, each in the first row that is free. What finds none is put into the row that is free
 * soonest, without the part that would lie over another.
 */
export function packRows(spans: readonly TimelineSpan[], maxRows: number): readonly Row[] {
  const rows: TimelineSpan[][] = [];
  const ends: number[] = [];
  for (const span of spans) {
    let row = ends.findIndex((endUs) => endUs <= span.startUs);
    if (row === -1 && rows.length < maxRows) row = rows.push([]) - 1;
    if (row === -1) row = ends.indexOf(Math.min(...ends));
    const freeUs = ends[row] ?? Number.NEGATIVE_INFINITY;
    if (span.endUs <= freeUs) continue;
    rows[row]?.push(span.startUs < freeUs ? { ...span, startUs: freeUs } : span);
    ends[row] = span.endUs;
  }
  return rows;
}

/** Where the lanes stand on a canvas of a width; `remPx` is the size of the type. */
export function layOut(
  widthPx: number,
  remPx: number,
  layers: readonly LaneRows[],
  minRows: Readonly<Partial<Record<TimelineLaneId, number>>> = {},
): Layout {
  const namesAbove = widthPx < NARROW_REM * remPx;
  const axisHeight = Math.round(2.6 * remPx);
  const nameHeight = namesAbove ? Math.round(1.1 * remPx) : 0;
  const space = Math.round((namesAbove ? 0.25 : 0.4) * remPx);
  const boxes: LaneBox[] = [];
  let y = axisHeight + space;
  for (const id of LANE_IDS) {
    const shape = SHAPES[id];
    const rowCount = Math.max(
      shape.minRows,
      Math.min(minRows[id] ?? 0, shape.maxRows),
      ...layers.map((layer) => layer.rows[id].length),
    );
    if (rowCount === 0) continue;
    const rowHeight = Math.round(shape.rowRem * remPx);
    y += nameHeight;
    boxes.push({ id, title: shape.title, y, rowHeight, rowCount });
    y += rowHeight * rowCount + space;
  }
  return {
    left: namesAbove ? 0 : Math.round(7 * remPx),
    namesAbove,
    axisHeight,
    boxes,
    height: y + Math.round(0.2 * remPx),
  };
}

/**
 * Calls `draw` for what is to be seen of a row: left edge and width in pixels of the lanes' area. Spans thinner
 * than a pixel share one, told by the longest among them; nothing is drawn over another.
 */
export function eachRect(
  row: Row,
  viewport: Viewport,
  widthPx: number,
  draw: (span: TimelineSpan, x: number, width: number) => void,
): void {
  let held: TimelineSpan | null = null;
  let heldX = 0;
  let heldEnd = Number.NEGATIVE_INFINITY;
  const release = (): void => {
    if (held !== null && heldEnd > heldX) draw(held, heldX, heldEnd - heldX);
    held = null;
  };
  for (let index = firstEndingAfter(row, viewport.fromUs); index < row.length; index += 1) {
    const span = row[index];
    if (span === undefined || span.startUs >= viewport.toUs) break;
    const x = Math.max(toX(viewport, widthPx, span.startUs), 0);
    const end = Math.min(toX(viewport, widthPx, span.endUs), widthPx);
    if (end - x >= 1) {
      release();
      draw(span, Math.max(x, heldEnd), end - Math.max(x, heldEnd));
      heldEnd = Math.max(end, heldEnd);
    } else if (x < heldEnd) {
      // The pixel is taken. Only another thin one yields it, and only to a longer one.
      if (held !== null && span.activeUs > held.activeUs) held = span;
    } else {
      release();
      held = span;
      // At the right edge it moves left for its pixel, as far as nothing is drawn there.
      heldX = Math.max(Math.min(x, widthPx - 1), heldEnd);
      heldEnd = Math.min(heldX + 1, widthPx);
    }
  }
  release();
}

/** The first span that ends after an instant; the length of the row when there is none. */
function firstEndingAfter(row: Row, atUs: number): number {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((row[middle]?.endUs ?? 0) > atUs) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A span and the lane it lies in. */
export interface Hit {
  readonly lane: TimelineLaneId;
  readonly span: TimelineSpan;
}

/** How far from a span a pointer may be, in pixels, to still mean it. */
const REACH_PX = 4;

/** What lies at a point of the lanes' area (x counted from its left edge), or null. */
export function hitTest(
  layers: readonly LaneRows[],
  layout: Layout,
  viewport: Viewport,
  widthPx: number,
  x: number,
  y: number,
): Hit | null {
  const box = layout.boxes.find(
    (each) => y >= each.y && y < each.y + each.rowHeight * each.rowCount,
  );
  if (box === undefined || x < 0 || x > widthPx) return null;
  const rowIndex = Math.floor((y - box.y) / box.rowHeight);
  const atUs = fromX(viewport, widthPx, x);
  const reachUs = REACH_PX * pixelUs(viewport, widthPx);
  // The finest layer is the last one drawn, and so the one that is seen.
  const layer = layers.findLast((each) => each.fromUs <= atUs && each.toUs > atUs);
  const span = nearestSpan(layer?.rows[box.id][rowIndex] ?? [], atUs, reachUs);
  return span === null ? null : { lane: box.id, span };
}

function nearestSpan(row: Row, atUs: number, reachUs: number): TimelineSpan | null {
  const index = firstEndingAfter(row, atUs);
  const after = row[index];
  if (after !== undefined && after.startUs <= atUs) return after;
  const before = row[index - 1];
  const toAfter = after === undefined ? Number.POSITIVE_INFINITY : after.startUs - atUs;
  const toBefore = before === undefined ? Number.POSITIVE_INFINITY : atUs - before.endUs;
  if (Math.min(toAfter, toBefore) > reachUs) return null;
  return (toAfter < toBefore ? after : before) ?? null;
}

/**
 * The layers to draw, coarse ones first and finer ones over them. One that is sharp enough for the screen and covers
 * it is drawn alone: there would be seams where another lies over it.
 */
export function chooseLayers<Layer extends LaneRows>(
  known: readonly Layer[],
  viewport: Viewport,
  isSharp: (layer: Layer) => boolean,
): readonly Layer[] {
  const meeting = known
    .filter((layer) => layer.fromUs < viewport.toUs && layer.toUs > viewport.fromUs)
    .toSorted((a, b) => spanOf(b) - spanOf(a));
  const sharp = meeting.findLast((layer) => covers(layer, viewport) && isSharp(layer));
  if (sharp !== undefined) return [sharp];
  return meeting.slice(
    Math.max(
      0,
      meeting.findLastIndex((layer) => covers(layer, viewport)),
    ),
  );
}

/** The finest layer that has the whole stretch; undefined while there is none. */
export function coveringLayer(
  layers: readonly LaneRows[],
  viewport: Viewport,
): LaneRows | undefined {
  return layers.findLast((layer) => covers(layer, viewport));
}

function covers(layer: Viewport, viewport: Viewport): boolean {
  return layer.fromUs <= viewport.fromUs && layer.toUs >= viewport.toUs;
}

/** The next (or last) span of a lane after (or before) an instant, for those who move by keys. */
export function neighbourOf(
  layers: readonly LaneRows[],
  lane: TimelineLaneId,
  from: TimelineSpan | null,
  atUs: number,
  direction: 1 | -1,
): TimelineSpan | null {
  const spans = (layers.at(-1)?.rows[lane] ?? [])
    .flat()
    .toSorted((a, b) => a.startUs - b.startUs || a.endUs - b.endUs);
  if (direction === 1) {
    const limit = from?.startUs ?? atUs;
    return spans.find((span) => span.startUs > limit) ?? null;
  }
  const limit = from?.startUs ?? atUs;
  return spans.findLast((span) => span.startUs < limit) ?? null;
}
