/** The pattern of each kind of hole in the record, so that they are told apart without colour. */

/** What a span of the lane of gaps is called, and what it means. */
export interface GapKind {
  readonly title: string;
  readonly why: string;
  /** The lines of its pattern in a square of eight pixels. */
  readonly draw: (ctx: CanvasRenderingContext2D) => void;
}

const SIZE = 8;

/** Keyed by `state` of the spans of the lane of gaps. */
const GAP_KINDS: Readonly<Record<string, GapKind>> = {
  paused: {
    title: "Paused",
    why: "You paused recording.",
    draw: (ctx) =>
      lines(ctx, [
        [2, 0, 2, 8],
        [5, 0, 5, 8],
      ]),
  },
  "source-lost": {
    title: "Source lost",
    why: "What tells of windows was gone.",
    draw: (ctx) =>
      lines(ctx, [
        [0, 8, 8, 0],
        [-2, 2, 2, -2],
        [6, 10, 10, 6],
      ]),
  },
  filtered: {
    title: "Private",
    why: "A privacy rule kept it out of the record.",
    draw: (ctx) => {
      for (const [x, y] of [
        [2, 2],
        [6, 6],
      ] as const) {
        ctx.beginPath();
        ctx.arc(x, y, 1.2, 0, 2 * Math.PI);
        ctx.fill();
      }
    },
  },
  stalled: {
    title: "Stalled",
    why: "The machine or the daemon stood still.",
    draw: (ctx) =>
      lines(ctx, [
        [0, 8, 8, 0],
        [-2, 2, 2, -2],
        [6, 10, 10, 6],
        [0, 0, 8, 8],
        [-2, 6, 2, 10],
        [6, -2, 10, 2],
      ]),
  },
  "not-running": {
    title: "Not running",
    why: "The daemon did not run.",
    draw: (ctx) => lines(ctx, [[0, 4, 8, 4]]),
  },
  unrecorded: {
    title: "Before the record",
    why: "Nothing was recorded yet.",
    draw: (ctx) => lines(ctx, [[0, 6, 3, 6]]),
  },
};

const UNKNOWN_GAP: GapKind = {
  title: "Not known",
  why: "Nothing is known of this time.",
  draw: (ctx) => lines(ctx, [[0, 8, 8, 0]]),
};

export function gapKind(state: string | null): GapKind {
  return GAP_KINDS[state ?? ""] ?? UNKNOWN_GAP;
}

/** A pattern to fill with, in a colour; its lines are as thick on every screen. */
export function gapPattern(
  ctx: CanvasRenderingContext2D,
  state: string | null,
  colour: string,
  devicePixels: number,
): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = Math.round(SIZE * devicePixels);
  tile.height = tile.width;
  const drawing = tile.getContext("2d");
  if (drawing === null) return colour;
  drawing.scale(tile.width / SIZE, tile.width / SIZE);
  drawing.strokeStyle = colour;
  drawing.fillStyle = colour;
  drawing.lineWidth = 1;
  gapKind(state).draw(drawing);
  const pattern = ctx.createPattern(tile, "repeat");
  pattern?.setTransform(new DOMMatrix().scale(SIZE / tile.width));
  return pattern ?? colour;
}

function lines(
  ctx: CanvasRenderingContext2D,
  ends: readonly (readonly [number, number, number, number])[],
): void {
  ctx.beginPath();
  for (const [x1, y1, x2, y2] of ends) {
    ctx.moveTo(x1, y1);
    ctx.lineTo(x2, y2);
  }
  ctx.stroke();
}
