/**
 * The live view as lines of text. Pure. It promises that no line is wider than the terminal, whatever titles
 * hold, and that a view without colour says the same as one with it.
 */
import stringWidth from "string-width";
import type { StatusAnswer } from "../api.ts";
import type { ActivityEvent } from "../capture/events.ts";
import { cleanField, formatDuration, localTime } from "../context/plain-text.ts";
import { counted } from "../counted.ts";
import { createPaint, cut, flow, wrap, type Item, type Paint } from "./cells.ts";
import { toTerminalText } from "./terminal-text.ts";

export interface LiveState {
  /** Null while the daemon cannot be reached; `problem` then says why. */
  readonly status: StatusAnswer | null;
  readonly problem: string | null;
  /** The exact block that an assistant would be given now. */
  readonly block: string;
  /** Events of today, oldest first; null while the record is being recovered, and nobody knows them. */
  readonly today: readonly ActivityEvent[] | null;
  readonly nowUs: number;
  readonly timeZone: string;
  /** Whether reasons are shown: why each source is what it is. */
  readonly showWhy: boolean;
  /** What the last key did, if anything. */
  readonly notice: string | null;
}

export interface LiveFrame {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
}

/** The lines to show, at most `rows`, each at most `columns` wide. */
export function renderLive(state: LiveState, frame: LiveFrame): readonly string[] {
  const { columns, rows } = frame;
  const paint = createPaint(frame.colour);
  const { status } = state;
  const head =
    status === null
      ? [paint.bad(cut("● not connected", columns)), ...wrapLine(state.problem ?? "", columns)]
      : [headline(state, status, columns, paint), ...sourceLines(status, columns, paint)];
  // Why is a page of its own: under the rest there is no room for it.
  const body =
    status !== null && state.showWhy
      ? whyLines(status, columns, paint)
      : [
          rule("what the assistant is told", columns, paint),
          ...state.block
            .trimEnd()
            .split("\n")
            .flatMap((line) => wrapLine(line, columns)),
          rule("today", columns, paint),
          ...dayStrip(state, columns, paint),
          ...totals(state, columns),
          ...(status === null ? [] : healthLines(status, columns, paint)),
        ];
  const foot = [
    ...(state.notice === null ? [] : wrapLine(state.notice, columns)),
    ...flow(keys(state), columns),
  ].slice(-rows);
  return [...fit([...head, ...body], rows - foot.length, columns, paint), ...foot];
}

function keys({ showWhy }: LiveState): readonly Item[] {
  const why = showWhy ? "w back" : "w why";
  return ["p pause 15 min", "r resume", why, "q quit"].map((text) => ({ text }));
}

/** What does not fit is told, not left out in silence. */
function fit(
  lines: readonly string[],
  room: number,
  columns: number,
  paint: Paint,
): readonly string[] {
  if (lines.length <= room) return lines;
  if (room < 1) return [];
  const hidden = lines.length - room + 1;
  const whole = `… ${hidden} more lines: a higher terminal shows them`;
  // Half a sentence helps nobody, and the number is what counts.
  const said = cut(whole, columns) === whole ? whole : cut(`… ${hidden} more lines`, columns);
  return [...lines.slice(0, room - 1), paint.faint(said)];
}

function headline(
  { nowUs, timeZone }: LiveState,
  status: StatusAnswer,
  columns: number,
  paint: Paint,
): string {
  const local = localTime(timeZone);
  const isPaused = status.paused !== null;
  const text = `● ${isPaused ? "paused" : "recording"}  ${local.day(nowUs)} ${local.clock(nowUs)}`;
  return (isPaused ? paint.bad : paint.good)(cut(text, columns));
}

function sourceLines(status: StatusAnswer, columns: number, paint: Paint): readonly string[] {
  const items = status.sources.map(({ kind, state, backend }) => ({
    text: oneLine(`${kind} ${backend ?? state}`),
    paint: paintOf(state, paint),
  }));
  return flow(items, columns);
}

/** What cannot be seen first, since that is what one asks about. */
function whyLines(status: StatusAnswer, columns: number, paint: Paint): readonly string[] {
  const isFine = ({ why }: StatusAnswer["sources"][number]): boolean => why === null;
  const sources = [
    ...status.sources.filter((source) => !isFine(source)),
    ...status.sources.filter(isFine),
  ];
  return [
    rule("why", columns, paint),
    ...sources.flatMap(({ kind, state, backend, why, rejected }) => [
      ...wrapLine(`${kind}: ${state}${backend === null ? "" : ` by ${backend}`}`, columns).map(
        paintOf(state, paint),
      ),
      ...(why === null ? [] : wrapLine(`  ${why.reason} ${why.remedy}`, columns)),
      ...rejected
        .flatMap((passed) => wrapLine(`  not ${passed.backend}: ${passed.reason}`, columns))
        .map((line) => paint.faint(line)),
    ]),
  ];
}

function paintOf(state: string, paint: Paint): (text: string) => string {
  if (state === "live") return (text) => text;
  return state === "off" ? paint.faint : paint.bad;
}

function healthLines(status: StatusAnswer, columns: number, paint: Paint): readonly string[] {
  const size = `${(status.store.sizeBytes / 1e6).toFixed(1)} MB`;
  const { eventCount } = status.store;
  const events =
    eventCount === null ? `being recovered, ${size}` : `${counted(eventCount, "event")}, ${size}`;
  if (status.problems.length === 0) return [cut(`health ok, ${events}`, columns)];
  return [
    ...status.problems.flatMap(({ reason, remedy }) =>
      wrapLine(`! ${reason} ${remedy}`, columns).map((line) => paint.bad(line)),
    ),
    cut(events, columns),
  ];
}

// ---------------------------------------------------------------- the day as a strip

const DAY_US = 86_400_000_000;

/** What a cell of the strip says, strongest first: what was attended, then what kept it from being so. */
const CELLS = [
  {
    sign: "█",
    name: "active",
    look: "good",
    holds: (event: ActivityEvent) => event.kind === "window",
  },
  {
    sign: "░",
    name: "away",
    look: "faint",
    holds: (event: ActivityEvent) => event.kind === "idle",
  },
  {
    sign: "-",
    name: "locked or asleep",
    look: "faint",
    holds: (event: ActivityEvent) => event.kind === "lock" || event.kind === "sleep",
  },
  {
    sign: "x",
    name: "not recorded",
    look: "bad",
    holds: (event: ActivityEvent) => event.kind === "gap",
  },
] as const;

/** Widths at which each hour has the same number of cells. */
const STRIP_WIDTHS = [144, 96, 72, 48, 24] as const;

function dayStrip(
  { today, nowUs, timeZone }: LiveState,
  columns: number,
  paint: Paint,
): readonly string[] {
  const width = STRIP_WIDTHS.find((cells) => cells <= columns) ?? Math.max(1, columns);
  const cells = cellsOf(today ?? [], stretchesOf(nowUs, timeZone), width);
  const legend = [
    ...CELLS.map(({ sign, name }) => `${sign} ${name}`),
    `now ${localTime(timeZone).clock(nowUs)}`,
  ];
  return [
    hourScale(width),
    paintCells(cells, paint),
    ...flow(
      legend.map((text) => ({ text, paint: paint.faint })),
      columns,
    ),
  ];
}

type Cell = (typeof CELLS)[number];

/** Cells of one look are painted as one. */
function paintCells(cells: readonly (Cell | null)[], paint: Paint): string {
  let line = "";
  let run = "";
  for (const [index, cell] of cells.entries()) {
    run += cell?.sign ?? " ";
    const look = cell?.look ?? null;
    if (index + 1 < cells.length && (cells[index + 1]?.look ?? null) === look) continue;
    line += look === null ? run : paint[look](run);
    run = "";
  }
  return line.trimEnd();
}

/** A part of the day in which the clock is not changed. */
interface Stretch {
  readonly fromUs: number;
  readonly toUs: number;
  /** When the clock would have said midnight, had it always been as it was here. */
  readonly midnightUs: number;
}

/** Today up to now: one stretch, or two where the clock was changed. */
function stretchesOf(nowUs: number, timeZone: string): readonly Stretch[] {
  const { offsetMinutes } = localTime(timeZone);
  const fromUs = startOfDay(nowUs, timeZone);
  const midnightAt = (atUs: number): number => {
    const offsetUs = offsetMinutes(atUs) * 60_000_000;
    return Math.floor((nowUs + offsetMinutes(nowUs) * 60_000_000) / DAY_US) * DAY_US - offsetUs;
  };
  const after = { fromUs, toUs: nowUs, midnightUs: midnightAt(nowUs) };
  if (midnightAt(fromUs) === after.midnightUs) return [after];
  let [low, high] = [fromUs, nowUs];
  while (high - low > 1_000_000) {
    const middle = Math.floor((low + high) / 2);
    if (midnightAt(middle) === after.midnightUs) high = middle;
    else low = middle;
  }
  // Clocks are changed at full minutes.
  const changedUs = Math.floor(high / 60_000_000) * 60_000_000;
  return [
    { fromUs, toUs: changedUs, midnightUs: midnightAt(fromUs) },
    { ...after, fromUs: changedUs },
  ];
}

/** What held most of each cell's time; null where nothing is known. A day has thousands of events: one pass a kind. */
function cellsOf(
  events: readonly ActivityEvent[],
  stretches: readonly Stretch[],
  count: number,
): readonly (Cell | null)[] {
  const best: (Cell | null)[] = Array.from({ length: count }, () => null);
  const most = new Float64Array(count);
  for (const cell of CELLS) {
    const heldUs = new Float64Array(count);
    const held = events.filter((event) => cell.holds(event));
    for (const stretch of stretches) addHeld(heldUs, held, stretch);
    for (const [index, held] of heldUs.entries()) {
      if (held <= (most[index] ?? 0)) continue;
      most[index] = held;
      best[index] = cell;
    }
  }
  return best;
}

/** Adds how much of each cell of a day events held within a stretch of it. */
function addHeld(
  heldUs: Float64Array,
  events: readonly ActivityEvent[],
  { fromUs, toUs, midnightUs }: Stretch,
): void {
  const cellUs = DAY_US / heldUs.length;
  for (const event of events) {
    const startUs = Math.max(event.startUs, fromUs);
    const endUs = Math.min(event.endUs, toUs);
    const first = Math.floor((startUs - midnightUs) / cellUs);
    for (let index = first; midnightUs + index * cellUs < endUs; index += 1) {
      const cellStartUs = midnightUs + index * cellUs;
      const us = Math.min(endUs, cellStartUs + cellUs) - Math.max(startUs, cellStartUs);
      if (us > 0) heldUs[index] = (heldUs[index] ?? 0) + us;
    }
  }
}

/** Hours over the strip, as many as there is room for. */
function hourScale(width: number): string {
  const step = [2, 3, 6, 12, 24].find((hours) => (hours / 24) * width >= 3) ?? 24;
  let scale = "";
  for (let hour = 0; hour < 24; hour += step) {
    scale = scale.padEnd(Math.round((hour / 24) * width)) + String(hour).padStart(2, "0");
  }
  return scale.slice(0, width);
}

function totals({ today, nowUs, timeZone }: LiveState, columns: number): readonly string[] {
  if (today === null)
    return wrapLine("What was recorded today is not known until the record is recovered.", columns);
  const midnightUs = startOfDay(nowUs, timeZone);
  const byApp = new Map<string, number>();
  for (const event of today) {
    if (event.kind !== "window") continue;
    const activeUs = Math.max(
      0,
      Math.min(event.endUs, nowUs) - Math.max(event.startUs, midnightUs),
    );
    const app = cleanField("app", event.app);
    byApp.set(app, (byApp.get(app) ?? 0) + activeUs);
  }
  const top = [...byApp].sort((a, b) => b[1] - a[1]).slice(0, 6);
  if (top.length === 0) return [cut("Nothing was recorded today yet.", columns)];
  return flow(
    top.map(([app, activeUs]) => ({ text: `${app} ${formatDuration(activeUs)}` })),
    columns,
  );
}

/** Local midnight before `nowUs`; on a day whose clock was changed, as far before as the clock says. */
export function startOfDay(nowUs: number, timeZone: string): number {
  const { offsetMinutes } = localTime(timeZone);
  const localUs = nowUs + offsetMinutes(nowUs) * 60_000_000;
  const midnight = Math.floor(localUs / DAY_US) * DAY_US;
  const guess = midnight - offsetMinutes(nowUs) * 60_000_000;
  return midnight - offsetMinutes(guess) * 60_000_000;
}

function rule(name: string, columns: number, paint: Paint): string {
  const text = `── ${name} `;
  return paint.faint(cut(text + "─".repeat(Math.max(0, columns - stringWidth(text))), columns));
}

function wrapLine(text: string, columns: number): readonly string[] {
  return wrap(oneLine(text), columns);
}

/** Reasons quote what other programs said: nothing of it may act, nor begin a line. */
function oneLine(text: string): string {
  return toTerminalText(text).replaceAll(/[\n\t]/g, " ");
}
