/**
 * The live view as lines of text. Pure. It promises that no line is wider than the terminal, whatever titles
 * hold, and that a view without colour says the same as one with it.
 */
import stringWidth from "string-width";
import type { StatusAnswer } from "../api.ts";
import type { ActivityEvent } from "../capture/events.ts";
import { cleanField, formatDuration, localTime } from "../context/plain-text.ts";
import { createPaint, cut, wrap, type Paint } from "./cells.ts";

export interface LiveState {
  /** Null while the daemon cannot be reached; `problem` then says why. */
  readonly status: StatusAnswer | null;
  readonly problem: string | null;
  /** The exact block that an assistant would be given now. */
  readonly block: string;
  /** Events of today, oldest first. */
  readonly today: readonly ActivityEvent[];
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
  const paint = createPaint(frame.colour);
  const { status } = state;
  const head =
    status === null
      ? [
          paint.bad(cut("● not connected", frame.columns)),
          ...wrap(state.problem ?? "", frame.columns),
        ]
      : [
          headline(state, status, frame.columns, paint),
          ...sourceLines(status, state.showWhy, frame.columns),
        ];
  const body = [
    rule("what the assistant is told", frame.columns, paint),
    ...state.block
      .trimEnd()
      .split("\n")
      .flatMap((line) => wrap(line, frame.columns)),
    rule("today", frame.columns, paint),
    ...dayStrip(state, frame.columns, paint),
    ...totals(state, frame.columns),
    ...(status === null ? [] : healthLines(status, frame.columns, paint)),
  ];
  const foot = [
    ...(state.notice === null ? [] : wrap(state.notice, frame.columns)),
    cut("p pause 15 min · r resume · w why · q quit", frame.columns),
  ];
  const room = Math.max(0, frame.rows - foot.length);
  return [...[...head, ...body].slice(0, room), ...foot].slice(0, frame.rows);
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

function sourceLines(status: StatusAnswer, showWhy: boolean, columns: number): readonly string[] {
  if (!showWhy) {
    const short = status.sources.map(({ kind, state, backend }) => `${kind} ${backend ?? state}`);
    return wrap(short.join(" · "), columns);
  }
  return status.sources.flatMap(({ kind, state, backend, why, rejected }) => [
    ...wrap(`${kind}: ${state}${backend === null ? "" : ` by ${backend}`}`, columns),
    ...(why === null ? [] : wrap(`  ${why.reason} ${why.remedy}`, columns)),
    ...rejected.flatMap((passed) => wrap(`  not ${passed.backend}: ${passed.reason}`, columns)),
  ]);
}

function healthLines(status: StatusAnswer, columns: number, paint: Paint): readonly string[] {
  const size = `${(status.store.sizeBytes / 1e6).toFixed(1)} MB`;
  const events = `${status.store.eventCount} events, ${size}`;
  if (status.problems.length === 0) return [cut(`health ok, ${events}`, columns)];
  return [
    ...status.problems.flatMap(({ reason, remedy }) =>
      wrap(`! ${reason} ${remedy}`, columns).map((line) => paint.bad(line)),
    ),
    cut(events, columns),
  ];
}

// ---------------------------------------------------------------- the day as a strip

/** What a cell of the strip says, strongest first: what was attended, then what kept it from being so. */
const CELLS = [
  { sign: "█", name: "active", holds: (event: ActivityEvent) => event.kind === "window" },
  { sign: "░", name: "away", holds: (event: ActivityEvent) => event.kind === "idle" },
  {
    sign: "-",
    name: "locked or asleep",
    holds: (event: ActivityEvent) => event.kind === "lock" || event.kind === "sleep",
  },
  { sign: "x", name: "not recorded", holds: (event: ActivityEvent) => event.kind === "gap" },
] as const;

function dayStrip(
  { today, nowUs, timeZone }: LiveState,
  columns: number,
  paint: Paint,
): readonly string[] {
  const width = Math.max(1, Math.min(columns, 96));
  const local = localTime(timeZone);
  const midnightUs = startOfDay(nowUs, timeZone);
  const cellUs = 86_400_000_000 / width;
  let strip = "";
  for (let cell = 0; cell < width; cell += 1) {
    const fromUs = midnightUs + cell * cellUs;
    strip += fromUs > nowUs ? " " : cellSign(today, fromUs, Math.min(fromUs + cellUs, nowUs));
  }
  const legend = CELLS.map(({ sign, name }) => `${sign} ${name}`).join("  ");
  const now = `now ${local.clock(nowUs)}`;
  return [
    hourScale(width),
    paint.good(strip.trimEnd()),
    paint.faint(cut(`${legend}  ${now}`, columns)),
  ];
}

function cellSign(events: readonly ActivityEvent[], fromUs: number, toUs: number): string {
  let best = " ";
  let most = 0;
  for (const { sign, holds } of CELLS) {
    const heldUs = events
      .filter((event) => holds(event))
      .reduce(
        (sum, { startUs, endUs }) =>
          sum + Math.max(0, Math.min(endUs, toUs) - Math.max(startUs, fromUs)),
        0,
      );
    if (heldUs > most) {
      most = heldUs;
      best = sign;
    }
  }
  return best;
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
  return wrap(
    top.map(([app, activeUs]) => `${app} ${formatDuration(activeUs)}`).join(" · "),
    columns,
  );
}

/** Local midnight before `nowUs`; on a day whose clock was changed, as far before as the clock says. */
export function startOfDay(nowUs: number, timeZone: string): number {
  const { offsetMinutes } = localTime(timeZone);
  const dayUs = 86_400_000_000;
  const localUs = nowUs + offsetMinutes(nowUs) * 60_000_000;
  const midnight = Math.floor(localUs / dayUs) * dayUs;
  const guess = midnight - offsetMinutes(nowUs) * 60_000_000;
  return midnight - offsetMinutes(guess) * 60_000_000;
}

// ---------------------------------------------------------------- text in cells

function rule(name: string, columns: number, paint: Paint): string {
  const text = `── ${name} `;
  return paint.faint(cut(text + "─".repeat(Math.max(0, columns - stringWidth(text))), columns));
}
