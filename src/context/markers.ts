/**
 * The grammar of injected context: its literals, its encoders, its splitter and its escape. It alone can
 * make an `InjectedBlock`, and promises that no text handed to an encoder can end, forge or open a block.
 *
 * ```
 * turn    = { block } owner-text
 * block   = system | heading
 * system  = sysline { "\n" sysline } "\n\n"        sysline = "System: " text
 * heading = "# " text "\n" { line "\n" } "---\n\n"
 * ```
 *
 * Everything works with offsets and slices in one pass, so that a hostile megabyte costs linear time.
 */
import { type BodyLine, pushShifted } from "./block-lines.ts";
import { LINE_BREAK, type UntrustedSpan } from "./plain-text.ts";

const SYSTEM = "System:";
/** What every line of a system block begins with. */
export const SYSTEM_LINE = `${SYSTEM} `;
const HEADING = "# ";
const RULE = "---";
/** What a rule inside a body becomes: still a rule to a reader of Markdown, none to the splitter. */
const DEFUSED_RULE = "- - -";
const ESCAPE = "\\";

declare const injected: unique symbol;

/** Whole blocks, closing blank line included: put in front of a turn they reach the model and not the owner. */
export type InjectedBlock = string & { readonly [injected]: true };

/** A block and where in it stand characters that strangers wrote. */
export interface RenderedBlock {
  readonly block: InjectedBlock;
  readonly untrustedSpans: readonly UntrustedSpan[];
}

/** Which heading a block carries. */
export type BlockKind = "realtime" | "distilled";

/** The first line of each kind of heading block. */
const BLOCK_HEADINGS = {
  realtime: `${HEADING}Device Activity (exact, real-time)`,
  distilled: `${HEADING}Device Activity (relevant, distilled by fast triage)`,
} as const satisfies Record<BlockKind, string>;

/** Something that happened, to be told in a system block. */
export interface SessionEvent {
  /** When, as it is to be printed: `2026-05-04 09:30:00 UTC`. Empty: no time is printed. */
  readonly ts: string;
  /** Any text of any number of lines, from anybody. */
  readonly text: string;
}

// ---------------------------------------------------------------- encoders

/** A heading block of finished lines. */
export function headingBlock(kind: BlockKind, lines: readonly BodyLine[]): RenderedBlock {
  let text = `${BLOCK_HEADINGS[kind]}\n`;
  const untrustedSpans: UntrustedSpan[] = [];
  for (const line of lines) {
    pushShifted(untrustedSpans, line.untrusted, text.length);
    // A body line begins with "- " and goes on, so it is no rule; the defusing is for callers in JavaScript.
    text += `${defuseRule(line.text)}\n`;
  }
  return { block: asBlock(`${text}${RULE}\n\n`), untrustedSpans };
}

/**
 * A heading block of lines that somebody else wrote, such as a model. Each element yields exactly one line:
 * line breaks inside become spaces, a rule becomes `- - -`, and what imitates a marker is escaped.
 */
export function headingBlockOfText(kind: BlockKind, lines: readonly string[]): RenderedBlock {
  let text = `${BLOCK_HEADINGS[kind]}\n`;
  const untrustedSpans: UntrustedSpan[] = [];
  for (const raw of lines) {
    const line = defuseRule(escapeImitation(joinLines(raw)));
    if (line !== "") untrustedSpans.push({ start: text.length, end: text.length + line.length });
    text += `${line}\n`;
  }
  return { block: asBlock(`${text}${RULE}\n\n`), untrustedSpans };
}

/**
 * The lines of a system block, without the blank line that closes it; empty without events. Every line of
 * every event is marked, split at every line break Unicode knows; the time stands on the first line alone.
 */
export function systemBlock({ events }: { readonly events: readonly SessionEvent[] }): string {
  return systemLines(events).text;
}

/** A system block that tells `events`, or null when there are none. */
export function eventsBlock(events: readonly SessionEvent[]): RenderedBlock | null {
  if (events.length === 0) return null;
  const { text, untrustedSpans } = systemLines(events);
  return { block: asBlock(`${text}\n\n`), untrustedSpans };
}

function systemLines(events: readonly SessionEvent[]): {
  readonly text: string;
  readonly untrustedSpans: readonly UntrustedSpan[];
} {
  let text = "";
  const untrustedSpans: UntrustedSpan[] = [];
  for (const event of events) {
    const time = joinLines(event.ts);
    let lead = time === "" ? "" : `[${time}] `;
    for (const raw of event.text.split(LINE_BREAK)) {
      if (text !== "") text += "\n";
      text += SYSTEM_LINE + lead;
      lead = "";
      const line = escapeImitation(raw);
      if (line !== "") untrustedSpans.push({ start: text.length, end: text.length + line.length });
      text += line;
    }
  }
  return { text, untrustedSpans };
}

/** The one place that vouches for a block: the encoders above end every line and close the frame. */
function asBlock(text: string): InjectedBlock {
  return text as InjectedBlock;
}

function defuseRule(line: string): string {
  // Trailing white space may be trimmed on the way, and then the line would be a rule.
  return line.startsWith(RULE) && line.trimEnd() === RULE ? DEFUSED_RULE : line;
}

/** One line of any text: what stands around a line break gives way to one space. */
function joinLines(raw: string): string {
  if (!LINE_BREAK.test(raw)) return raw;
  return raw
    .split(LINE_BREAK)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");
}

// ---------------------------------------------------------------- text of other people

/**
 * Text of another person or program, made unable to pass for injected context in the eyes of the model:
 * every line that looks like a marker gets a backslash. Line breaks stay as they are.
 */
export function escapeUntrusted(text: string): string {
  const lastRule = lastRuleStart(text);
  const pieces: string[] = [];
  let from = 0;
  const breaks = new RegExp(LINE_BREAK, "g");
  for (;;) {
    const end = breaks.exec(text);
    const line = text.slice(from, end === null ? text.length : end.index);
    // A heading is a marker only with a rule below it; else it is a heading.
    pieces.push(from < lastRule && HEADING_LIKE.test(line) ? ESCAPE + line : escapeImitation(line));
    if (end === null) return pieces.join("");
    pieces.push(end[0]);
    from = breaks.lastIndex;
  }
}

// Characters that show nothing before a marker do not make it less of one to a reader.
const INVISIBLE_LEAD = /^[\s\p{Default_Ignorable_Code_Point}\p{Cc}]*/u;
const HEADING_LIKE = /^[\s\p{Default_Ignorable_Code_Point}\p{Cc}]*[#\uff03]\s/u;
const SYSTEM_LIKE = /^system[\s\p{Default_Ignorable_Code_Point}]*:/u;
const OWN_HEADING_LIKE = /^#\s+device activity\b/;
const MAX_LOOK_CHARS = 64;

/** Puts a backslash before a line that imitates a marker in any case, width or disguise of its lead. */
function escapeImitation(line: string): string {
  const lead = INVISIBLE_LEAD.exec(line)?.[0].length ?? 0;
  const look = line
    .slice(lead, lead + MAX_LOOK_CHARS)
    .normalize("NFKC")
    .toLowerCase();
  return SYSTEM_LIKE.test(look) || OWN_HEADING_LIKE.test(look) ? ESCAPE + line : line;
}

function lastRuleStart(text: string): number {
  for (let at = text.lastIndexOf(RULE); at > 0; at = text.lastIndexOf(RULE, at - 1)) {
    if (LINE_BREAK.test(text.charAt(at - 1)) && ruleEnd(text, at) !== -1) return at;
  }
  return -1;
}

// ---------------------------------------------------------------- splitter

/**
 * Where the owner's text begins: behind the whole leading run of blocks, in any order, and the blank lines
 * between and after them; 0 when no block begins the turn. One byte order mark and blank lines may stand
 * before the first block. `inRun`: the run has begun in an earlier part, so that blank lines go at once.
 */
export function ownerTextStart(text: string, inRun = false): number {
  let found = inRun;
  let at = !inRun && text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  for (;;) {
    const start = skipBlankLines(text, at);
    at = blockEnd(text, start);
    if (at === start) return found ? start : 0;
    found = true;
  }
}

/** The owner's text as it has to stand behind blocks: with one backslash in front when it looks like one. */
export function escapeOwnerText(text: string): string {
  return text !== "" && isAmbiguous(text, skipEscapes(text, 0)) ? ESCAPE + text : text;
}

/** Where the owner's text begins once the backslash of {@link escapeOwnerText} at `start` is taken off. */
export function skipOwnerEscape(text: string, start: number): number {
  if (!text.startsWith(ESCAPE, start)) return start;
  return isAmbiguous(text, skipEscapes(text, start)) ? start + 1 : start;
}

/** Whether `text` is blocks from end to end, as an `InjectedBlock` must be. */
export function isWholeBlocks(text: string): boolean {
  return text !== "" && text.endsWith("\n\n") && ownerTextStart(text) === text.length;
}

/** Blocks that were made before and kept as text, as blocks again; null when it is not whole blocks. */
export function readBlocks(text: string): InjectedBlock | null {
  return isWholeBlocks(text) ? asBlock(text) : null;
}

const BYTE_ORDER_MARK = "\ufeff";
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** Whether text standing at `at` would be taken for a block, or for the blank lines after one. */
function isAmbiguous(text: string, at: number): boolean {
  if (skipBlankLine(text, at) > at || at === text.length) return true;
  const start = text.startsWith(BYTE_ORDER_MARK, at) ? at + 1 : at;
  return blockEnd(text, start) > start;
}

function skipEscapes(text: string, from: number): number {
  let at = from;
  while (text.startsWith(ESCAPE, at)) at += 1;
  return at;
}

/** The end of one system run or heading block at `start`, or `start` when there is none. */
function blockEnd(text: string, start: number): number {
  if (text.startsWith(SYSTEM, start)) return systemRunEnd(text, start);
  return text.startsWith(HEADING, start) ? headingEnd(text, start) : start;
}

function systemRunEnd(text: string, start: number): number {
  let at = start;
  while (text.startsWith(SYSTEM, at)) {
    const behind = at + SYSTEM.length;
    if (text.charCodeAt(behind) !== SPACE && lineEnd(text, behind) === -1) return at;
    const lineFeed = text.indexOf("\n", behind);
    if (lineFeed === -1) return text.length;
    at = lineFeed + 1;
  }
  return at;
}

function headingEnd(text: string, start: number): number {
  for (let at = text.indexOf(RULE, start); at !== -1; at = text.indexOf(RULE, at + 1)) {
    if (text.charCodeAt(at - 1) !== LF) continue;
    const end = ruleEnd(text, at);
    if (end !== -1) return end;
  }
  return start;
}

/** Where the line after the rule at `at` begins, or -1 when more than the rule stands there. */
function ruleEnd(text: string, at: number): number {
  return lineEnd(text, at + RULE.length);
}

/** Where the next line begins when a line ends at `at` (LF, CRLF, or the end of the text), else -1. */
function lineEnd(text: string, at: number): number {
  const behind = text.charCodeAt(at) === CR ? at + 1 : at;
  if (behind >= text.length) return text.length;
  return text.charCodeAt(behind) === LF ? behind + 1 : -1;
}

function skipBlankLines(text: string, from: number): number {
  let at = from;
  for (;;) {
    const next = skipBlankLine(text, at);
    if (next === at) return at;
    at = next;
  }
}

/** Where the line after the blank line at `from` begins, or `from` when that line is not blank. */
function skipBlankLine(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== LF) {
    if (!isWhite(text.charCodeAt(at))) return from;
    at += 1;
  }
  return Math.min(at + 1, text.length);
}

/** What `trim()` takes away. */
function isWhite(code: number): boolean {
  if (code < 0x80) return code === SPACE || (code >= 0x09 && code <= CR);
  return OTHER_WHITE.has(code);
}

const OTHER_WHITE: ReadonlySet<number> = new Set([
  0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009,
  0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
]);
