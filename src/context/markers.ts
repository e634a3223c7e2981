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
    const line = defuseRule(escapeImitation(joinLines(raw), MARKER_LIKE));
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
  const slabs: string[] = [];
  const untrustedSpans: UntrustedSpan[] = [];
  let length = 0;
  for (const event of events) {
    const time = joinLines(event.ts);
    let lead = time === "" ? SYSTEM_LINE : `${SYSTEM_LINE}[${time}] `;
    if (event !== events[0]) lead = `\n${lead}`;
    for (const slab of slabsOf(event.text)) {
      const pieces: string[] = [];
      for (const raw of slab.split(LINE_BREAK)) {
        // Behind its own mark a heading is plain text; another mark would look like one of ours.
        const line = escapeImitation(raw, SYSTEM_LIKE);
        const start = length + lead.length;
        length = start + line.length;
        if (line !== "") untrustedSpans.push({ start, end: length });
        pieces.push(lead, line);
        lead = NEXT_SYSTEM_LINE;
      }
      slabs.push(pieces.join(""));
    }
  }
  return { text: slabs.join(""), untrustedSpans };
}

const NEXT_SYSTEM_LINE = `\n${SYSTEM_LINE}`;
const SLAB_CHARS = 16_384;

/**
 * A text in parts that end at a line break, which is left out: the lines of the parts are the lines of the text.
 * The strings of one part are garbage before the next is read; those of a whole megabyte would have to be moved.
 */
function slabsOf(text: string): readonly string[] {
  const slabs: string[] = [];
  let from = 0;
  for (;;) {
    const at = from + SLAB_CHARS;
    // A line feed right here may be the second half of a break.
    LINE_END.lastIndex = text[at] === "\n" ? at + 1 : at;
    const end = LINE_END.exec(text);
    if (end === null) break;
    slabs.push(text.slice(from, end.index));
    from = LINE_END.lastIndex;
  }
  slabs.push(text.slice(from));
  return slabs;
}

const LINE_END = /\r\n|[\n\r]/g;

/** The one place that vouches for a block: the encoders above end every line and close the frame. */
function asBlock(text: string): InjectedBlock {
  return text as InjectedBlock;
}

function defuseRule(line: string): string {
  // Trailing white space may be trimmed on the way, and then the line would be a rule.
  return line.trimEnd() === RULE ? DEFUSED_RULE : line;
}

/** One line of any text: what stands around a line break gives way to one space. */
function joinLines(raw: string): string {
  if (!LINE_BREAK.test(raw)) return raw;
  const kept: string[] = [];
  for (const line of raw.split(LINE_BREAK)) {
    const words = line.trim();
    if (words !== "") kept.push(words);
  }
  return kept.join(" ");
}

// ---------------------------------------------------------------- text of other people

/**
 * Text of another person or program, made unable to pass for injected context in the eyes of the model:
 * every line that looks like a marker gets a backslash. Line breaks stay as they are.
 */
export function escapeUntrusted(text: string): string {
  // The breaks stand between the lines as pieces of their own, and look like nothing.
  const pieces = text.split(KEPT_LINE_BREAK);
  const lastRule = pieces.lastIndexOf(RULE);
  // A heading is a marker only with a rule below it; else it is a heading.
  const escaped = pieces.map((piece, index) =>
    index < lastRule && HEADING_LIKE.test(piece)
      ? ESCAPE + piece
      : escapeImitation(piece, MARKER_LIKE),
  );
  return escaped.join("");
}

const KEPT_LINE_BREAK = new RegExp(`(${LINE_BREAK.source})`);
// Characters that show nothing before a marker do not make it less of one to a reader.
const INVISIBLE_LEAD = /^[\s\p{Default_Ignorable_Code_Point}\p{Cc}]+/u;
const HEADING_LIKE = /^[\s\p{Default_Ignorable_Code_Point}\p{Cc}]*[#\uff03]\s/u;
const SYSTEM_LIKE = /^system[\s\p{Default_Ignorable_Code_Point}]*:/u;
/** A system line, or the heading of one of our blocks. */
const MARKER_LIKE = new RegExp(`${SYSTEM_LIKE.source}|^#\\s+device activity\\b`, "u");
const MAX_LOOK_CHARS = 64;

/** Puts a backslash before a line that imitates a marker in any case, width or disguise of its lead. */
function escapeImitation(line: string, pattern: RegExp): string {
  if (isOrdinary(line.charCodeAt(0))) return line;
  const shown = line.replace(INVISIBLE_LEAD, "");
  const look = shown.slice(0, MAX_LOOK_CHARS).normalize("NFKC").toLowerCase();
  return pattern.test(look) ? ESCAPE + line : line;
}

/** Letters, digits and signs of ASCII that neither begin a marker nor stand before one: most lines begin so. */
function isOrdinary(code: number): boolean {
  return code > SPACE && code < DELETE && code !== 0x53 && code !== 0x73 && code !== NUMBER_SIGN;
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
  return text.endsWith("\n\n") && ownerTextStart(text) === text.length;
}

/** Blocks that were made before and kept as text, as blocks again; null when it is not whole blocks. */
export function readBlocks(text: string): InjectedBlock | null {
  return isWholeBlocks(text) ? asBlock(text) : null;
}

const BYTE_ORDER_MARK = "\ufeff";
const SPACE = 0x20;
const NUMBER_SIGN = 0x23;
const DELETE = 0x7f;
/** A rule and what ends its line; the line's own break is left to the reader of blank lines. */
const RULE_LINE = /\n---\r?(?=\n|$)/g;
/** What may follow `System:` beside a space for it to be a marker. */
const MARKER_END = /\r?(?:\n|$)/y;

/** Whether text standing at `at` would be taken for a block, or for the blank lines after one. */
function isAmbiguous(text: string, at: number): boolean {
  if (at === text.length || skipBlankLine(text, at) > at) return true;
  const start = text.startsWith(BYTE_ORDER_MARK, at) ? at + 1 : at;
  return blockEnd(text, start) > start;
}

function skipEscapes(text: string, from: number): number {
  let at = from;
  while (text.startsWith(ESCAPE, at)) at += 1;
  return at;
}

/** Where the last line of the system line or heading block at `start` ends; `start` when there is none. */
function blockEnd(text: string, start: number): number {
  if (text.startsWith(SYSTEM, start)) {
    const end = start + SYSTEM.length;
    MARKER_END.lastIndex = end;
    const isMarker = text.charCodeAt(end) === SPACE || MARKER_END.test(text);
    return isMarker ? lineEnd(text, end) : start;
  }
  if (!text.startsWith(HEADING, start)) return start;
  RULE_LINE.lastIndex = start;
  return RULE_LINE.test(text) ? RULE_LINE.lastIndex : start;
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
  const first = text.charCodeAt(from);
  if (first > SPACE && first < DELETE) return from;
  const end = lineEnd(text, from);
  return text.slice(from, end).trim() === "" ? Math.min(end + 1, text.length) : from;
}

function lineEnd(text: string, from: number): number {
  const lineFeed = text.indexOf("\n", from);
  return lineFeed === -1 ? text.length : lineFeed;
}
