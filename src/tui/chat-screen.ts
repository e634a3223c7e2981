/**
 * How a chat looks: turns, lists and what a search found, as text for a terminal or for pipes. Pure. It promises
 * that nothing in it acts on a terminal, and that no line of a list is wider than the terminal.
 */
import stringWidth from "string-width";
import { localTime } from "../context/plain-text.ts";
import { counted } from "../counted.ts";
import { createLineBreaker, cut, wrap, type Paint } from "./cells.ts";
import {
  shownText,
  shownTurns,
  type ConversationPreview,
  type SearchHit,
  type StoredTurn,
} from "./conversations.ts";
import { createTerminalText, toTerminalText, type TerminalText } from "./terminal-text.ts";

/** Where it is shown. */
export interface ChatFrame {
  /** Cells of a line; null where lines have no end. */
  readonly columns: () => number | null;
  readonly paint: Paint;
}

/** A reply as it streams in, made harmless and broken into lines. */
export function createReplyText({ columns }: ChatFrame): TerminalText {
  const harmless = createTerminalText();
  const lines = createLineBreaker(columns);
  return {
    push: (chunk) => lines.push(harmless.push(chunk)),
    flush: () => lines.push(harmless.flush()) + lines.flush(),
  };
}

/** Turns as they stand on the screen when they were said: the owner's behind the prompt. */
export function renderTurns(turns: readonly StoredTurn[], frame: ChatFrame): string {
  return shownTurns(turns)
    .map((turn) =>
      turn.role === "user"
        ? renderOwnerTurn(shownText(turn), frame)
        : renderText(shownText(turn), frame) + endOfReply(shownText(turn), frame),
    )
    .join("");
}

/** What follows a reply: on a terminal an empty line parts the turns, and only one, however the reply ended. */
export function endOfReply(text: string, { columns }: ChatFrame): string {
  const ended = /\n*$/.exec(text)?.[0].length ?? 0;
  return "\n".repeat(Math.max(0, (columns() === null ? 1 : 2) - ended));
}

function renderOwnerTurn(text: string, frame: ChatFrame): string {
  const width = frame.columns();
  const narrower = { ...frame, columns: () => (width === null ? null : Math.max(1, width - 2)) };
  const lines = renderText(text, narrower).split("\n");
  const isTerminal = width !== null;
  return lines
    .map(
      (line, index) =>
        `${index === 0 ? frame.paint.strong("> ") : isTerminal ? "  " : ""}${line}\n`,
    )
    .join("");
}

/** Any text, harmless and broken into lines; without a line feed at its end unless it had one. */
export function renderText(text: string, frame: ChatFrame): string {
  const reply = createReplyText(frame);
  return reply.push(text) + reply.flush();
}

/** Names with what they are, side by side, or one below the other where there is no room for that. */
export function renderTable(
  rows: readonly (readonly [string, string])[],
  { columns }: ChatFrame,
): string {
  const width = columns() ?? Number.POSITIVE_INFINITY;
  const names = Math.max(...rows.map(([name]) => stringWidth(name))) + 2;
  const isNarrow = width < names + NARROWEST_TEXT;
  return rows
    .flatMap(([name, what]) => {
      if (isNarrow) return [cut(name, width), ...wrap(`    ${what}`, width)];
      const [first = "", ...more] = wrap(what, width - names);
      return [
        name + " ".repeat(names - stringWidth(name)) + first,
        ...more.map((line) => " ".repeat(names) + line),
      ];
    })
    .map((line) => `${line}\n`)
    .join("");
}

/** Text in narrower columns is a ladder of words. */
const NARROWEST_TEXT = 30;

/** A line across the terminal with words in it. */
export function renderRule(words: string, { columns, paint }: ChatFrame): string {
  const width = columns();
  if (width === null) return "";
  const text = `── ${oneLine(words)} `;
  return `${paint.faint(cut(text + "─".repeat(Math.max(0, width - stringWidth(text))), width))}\n`;
}

/** Conversations, numbered from 1 on a terminal; in pipes one a line with its id. */
export function renderTitles(
  conversations: readonly ConversationPreview[],
  zone: string,
  frame: ChatFrame,
): string {
  return conversations
    .map(({ id, title, preview, lastUs, turns }, index) =>
      renderEntry(
        index,
        title === "" ? "(no words)" : title,
        [when(lastUs, zone), counted(turns, "turn"), preview],
        frame,
        `${id}  ${isoMinute(lastUs, zone)}  ${oneLine(title)} (${turns})`,
      ),
    )
    .join("");
}

/** What a search found, numbered from 1 on a terminal; in pipes the id and the line. */
export function renderHits(
  hits: readonly SearchHit[],
  words: string,
  zone: string,
  frame: ChatFrame,
): string {
  return hits
    .map(({ id, title, atUs, line }, index) =>
      renderEntry(
        index,
        title,
        [when(atUs, zone), snippet(line, words, (frame.columns() ?? 80) - 24)],
        frame,
        `${id}  ${oneLine(line)}`,
      ),
    )
    .join("");
}

function renderEntry(
  index: number,
  title: string,
  facts: readonly string[],
  { columns, paint }: ChatFrame,
  piped: string,
): string {
  const width = columns();
  if (width === null) return `${piped}\n`;
  const number = `${String(index + 1).padStart(2)}  `;
  const room = Math.max(1, width - number.length);
  const below = facts
    .filter((fact) => fact !== "")
    .map(oneLine)
    .join(" · ");
  return `${paint.strong(number + cut(oneLine(title), room))}\n    ${paint.faint(cut(below, room))}\n`;
}

/** `line` from a little before the first of the words on, as far as it need not be cut at its front. */
function snippet(line: string, words: string, cells: number): string {
  const shown = oneLine(line);
  if (stringWidth(shown) <= cells) return shown;
  const first =
    words
      .toLowerCase()
      .split(/\s+/)
      .find((word) => word !== "") ?? "";
  const at = shown.toLowerCase().indexOf(first);
  const start = shown.lastIndexOf(" ", Math.max(0, at - 12));
  return at < cells / 2 || start <= 0 ? shown : `…${shown.slice(start + 1)}`;
}

function when(atUs: number, zone: string): string {
  const local = localTime(zone);
  return `${local.day(atUs)} ${local.clock(atUs)}`;
}

function isoMinute(atUs: number, zone: string): string {
  const local = localTime(zone);
  return `${local.isoDay(atUs)} ${local.clock(atUs)}`;
}

function oneLine(text: string): string {
  return toTerminalText(text).replaceAll(/\s+/g, " ").trim();
}
