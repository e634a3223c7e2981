/**
 * From candidate lines to a block within a budget: lines are taken by value with their exact costs, the frame is
 * never cut, and what was taken is told in the order of time under its days. Equal input gives equal bytes.
 */
import {
  type BodyLine,
  bodyLine,
  dayHeading,
  field,
  type Fragment,
  fragment,
  quoted,
} from "../../context/block-lines.ts";
import { headingBlock, type RenderedBlock } from "../../context/markers.ts";
import { formatDuration, localTime } from "../../context/plain-text.ts";
import { tokenBound } from "../../context/tokens.ts";
import type { AbsenceKind, HistoryDocument } from "../../store/history.ts";

/** A line that may be told: one document in one span. */
export interface SpanLine {
  readonly kind: "span";
  readonly document: HistoryDocument;
  /** Where: the name of another device; null: this one. */
  readonly device: string | null;
  readonly startUs: number;
  readonly endUs: number;
  readonly activeUs: number;
  /** Worth telling; higher first. */
  readonly score: number;
  /** Why it is told, without a word of strangers. */
  readonly reason: string;
}

/** Time spent on something between two local days. */
export interface TotalLine {
  readonly kind: "total";
  /** What the owner called it, or what has the name; null for everything. */
  readonly subject: string | null;
  /** Where the name was read, which goes when it is forgotten; empty where it is the owner's own word. */
  readonly eventIds: readonly number[];
  /** The one device that was asked about; null: all of them. */
  readonly device: string | null;
  readonly activeUs: number;
  readonly allUs: number;
  readonly fromUs: number;
  readonly toUs: number;
  readonly score: number;
  readonly reason: string;
}

/** Nothing of the sort was ever recorded, or nothing at all in the time that was asked about. */
export interface NothingLine {
  readonly kind: "nothing";
  /** What the owner called it; null: whatever was done on the device. */
  readonly subject: string | null;
  /** The one device that was asked about; null: all of them. */
  readonly device: string | null;
  /** The time that was asked about; null: none was named. */
  readonly window: Stretch | null;
  /** What was so for nearly all of that time; null: nothing of the sort is known. */
  readonly meanwhile: AbsenceKind | null;
  /** Start of the record; null when there is none. */
  readonly sinceUs: number | null;
  readonly score: number;
  readonly reason: string;
}

interface Stretch {
  readonly fromUs: number;
  readonly toUs: number;
}

export type DigestLine = SpanLine | TotalLine | NothingLine;

export interface Fitted extends RenderedBlock {
  readonly tokens: number;
  /** The lines told, in their order in the block. */
  readonly lines: readonly DigestLine[];
}

/** The best lines that fit, or null when not one does. */
export function fitDigest(
  candidates: readonly DigestLine[],
  budgetTokens: number,
  nowUs: number,
  timeZone: string,
): Fitted | null {
  const local = localTime(timeZone);
  const today = local.isoDay(nowUs);
  const ranked = [...candidates].sort(byWorth);
  const days = new Set<string>();
  const taken: { readonly line: DigestLine; readonly body: BodyLine }[] = [];
  let left = budgetTokens - FRAME_TOKENS;
  for (const line of ranked) {
    const body = bodyOfLine(line, timeZone);
    let cost = tokenBound(`${body.text}\n`);
    const day = line.kind === "span" ? local.isoDay(line.startUs) : null;
    if (day !== null && !days.has(day)) {
      cost += tokenBound(`${heading(dayStart(line), timeZone, today, nowUs).text}\n`);
    }
    if (cost > left) continue;
    left -= cost;
    if (day !== null) days.add(day);
    taken.push({ line, body });
  }
  if (taken.length === 0) return null;
  taken.sort((a, b) => dayStart(a.line) - dayStart(b.line) || byWorth(a.line, b.line));
  const bodies: BodyLine[] = [];
  let openDay: string | null = null;
  for (const { line, body } of taken) {
    const day = line.kind === "span" ? local.isoDay(line.startUs) : null;
    if (day !== null && day !== openDay) {
      openDay = day;
      bodies.push(heading(dayStart(line), timeZone, today, nowUs));
    }
    bodies.push(body);
  }
  const rendered = headingBlock("distilled", bodies);
  return {
    ...rendered,
    tokens: budgetTokens - left,
    lines: taken.map(({ line }) => line),
  };
}

/** One line per document and stretch: of two that overlap the better one stays. */
export function mergeLines(lines: readonly DigestLine[]): readonly DigestLine[] {
  const kept: DigestLine[] = [];
  for (const line of [...lines].sort((a, b) => b.score - a.score)) {
    const isRepeat =
      (line.kind === "nothing" && kept.some((other) => saysTheSame(line, other))) ||
      (line.kind === "total" && kept.some((other) => isSameSum(line, other))) ||
      (line.kind === "span" &&
        kept.some(
          (other) =>
            other.kind === "span" &&
            other.document.id === line.document.id &&
            other.device === line.device &&
            other.startUs < line.endUs &&
            line.startUs < other.endUs,
        ));
    if (!isRepeat) kept.push(line);
  }
  return kept;
}

/** Several absences of one time are told each; that nothing was recorded is told once. */
function saysTheSame(line: NothingLine, other: DigestLine): boolean {
  if (other.kind !== "nothing") return false;
  return (
    line.window === null || other.window === null || other.window.fromUs === line.window.fromUs
  );
}

/** Two readings of a turn may ask for the same sum. */
function isSameSum(line: TotalLine, other: DigestLine): boolean {
  return other.kind === "total" && other.subject === line.subject && other.fromUs === line.fromUs;
}

/** A line as it stands in a block, such as `- 10:13–10:28 (3 min) Firefox: "…"`. */
export function lineText(line: DigestLine, timeZone: string): string {
  return bodyOfLine(line, timeZone).text;
}

/** Lines add up: what the empty block costs and what its lines cost is what the block costs. */
const FRAME_TOKENS = tokenBound(headingBlock("distilled", []).block);

const DAY_US = 86_400_000_000;

/** Best first; ties by the later time and then by document, so that the order never depends on the input's. */
function byWorth(a: DigestLine, b: DigestLine): number {
  return b.score - a.score || dayStart(b) - dayStart(a) || documentId(a) - documentId(b);
}

/** Lines without a time of day come first in the block. */
function dayStart(line: DigestLine): number {
  return line.kind === "span" ? line.startUs : 0;
}

function documentId(line: DigestLine): number {
  return line.kind === "span" ? line.document.id : 0;
}

function heading(atUs: number, timeZone: string, today: string, nowUs: number): BodyLine {
  const local = localTime(timeZone);
  const day = local.isoDay(atUs);
  if (day === today) return dayHeading`${local.day(atUs)} (today):`;
  // Half a day back from the first moment of today is yesterday, also where a day has 23 hours.
  const [hours = 0, minutes = 0] = local.clock(nowUs).split(":").map(Number);
  const sinceMidnightUs = (hours * 60 + minutes) * 60_000_000;
  const yesterday = local.isoDay(nowUs - sinceMidnightUs - DAY_US / 2);
  if (day === yesterday) return dayHeading`${local.day(atUs)} (yesterday):`;
  return dayHeading`${local.day(atUs)}:`;
}

/** A line of a block, with the spans of what strangers wrote. */
export function bodyOfLine(line: DigestLine, timeZone: string): BodyLine {
  const local = localTime(timeZone);
  switch (line.kind) {
    case "span": {
      const { document, startUs, endUs, activeUs } = line;
      const app = field("app", document.app);
      const from = local.clock(startUs);
      const to = local.clock(endUs);
      const active = formatDuration(activeUs);
      const where = whereText(line);
      if (document.title === null) return bodyLine`${from}–${to} (${active}) ${app}${where}`;
      const title = quoted("title", document.title);
      if (document.place === null)
        return bodyLine`${from}–${to} (${active}) ${app}: ${title}${where}`;
      const place = field("place", document.place);
      return bodyLine`${from}–${to} (${active}) ${app}: ${title} ${place}${where}`;
    }
    case "total": {
      const active = formatDuration(line.activeUs);
      const all = formatDuration(line.allUs);
      const to = local.day(line.toUs);
      const isOneDay = local.isoDay(line.fromUs) === local.isoDay(line.toUs);
      const where = whereText(line);
      if (line.subject === null) {
        return isOneDay
          ? bodyLine`total: ${all} active, ${to}${where}`
          : bodyLine`total: ${all} active, ${local.shortDay(line.fromUs)} – ${to}${where}`;
      }
      const subject = quoted("title", line.subject);
      if (isOneDay) return bodyLine`total on ${subject}: ${active} of ${all} active, ${to}${where}`;
      return bodyLine`total on ${subject}: ${active} of ${all} active, ${local.shortDay(line.fromUs)} – ${to}${where}`;
    }
    default: {
      const about =
        line.subject === null ? fragment`` : fragment` about ${quoted("title", line.subject)}`;
      const when =
        line.window === null ? about : fragment`${about}${windowText(line.window, timeZone)}`;
      const why =
        line.meanwhile === null ? when : fragment`${when}: ${ABSENCE_WORDS[line.meanwhile]}`;
      const where = line.device === null ? why : fragment`${why} on ${deviceName(line.device)}`;
      if (line.sinceUs === null) return bodyLine`nothing recorded${where} (no history yet)`;
      return bodyLine`nothing recorded${where} (history since ${local.date(line.sinceUs)})`;
    }
  }
}

/** As the real-time block calls them. */
const ABSENCE_WORDS = {
  idle: fragment`away`,
  lock: fragment`locked`,
  sleep: fragment`asleep`,
  gap: fragment`not seen`,
} as const satisfies Record<AbsenceKind, Fragment>;

/** " Sun 22 Nov 03:00–04:00", or the days alone where whole days were asked about. */
function windowText({ fromUs, toUs }: Stretch, timeZone: string): Fragment {
  const local = localTime(timeZone);
  const [first, last] = [local.shortDay(fromUs), local.shortDay(toUs - 1)];
  const isWholeDays = local.clock(fromUs) === "00:00" && local.clock(toUs) === "00:00";
  if (first === last) {
    return isWholeDays
      ? fragment` ${first}`
      : fragment` ${first} ${local.clock(fromUs)}–${local.clock(toUs)}`;
  }
  return isWholeDays
    ? fragment` ${first} – ${last}`
    : fragment` ${first} ${local.clock(fromUs)} – ${last} ${local.clock(toUs)}`;
}

/** Said of what was on another device alone. */
function whereText({ device }: { readonly device: string | null }): Fragment {
  return device === null ? fragment`` : fragment`, on ${deviceName(device)}`;
}

function deviceName(name: string): Fragment {
  return field("device", name);
}
