/** A command that ended, told as an event: how it ended, how long it took, and its last lines. */
import { stripVTControlCharacters } from "node:util";
import { formatDuration, LINE_BREAK } from "../../context/plain-text.ts";

/** How a command ended. */
export type ExecOutcome =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "killed"; readonly signal: string }
  | { readonly kind: "not-started"; readonly reason: string };

export interface ExecReport {
  readonly command: readonly string[];
  readonly outcome: ExecOutcome;
  readonly durationMs: number;
  /** The end of what the command wrote, as it was written; null when it wrote to the terminal alone. */
  readonly output: string | null;
}

/**
 * The text of the event: one line about the command, then at most 20 lines of its output, without colours,
 * of a progress meter only its last state.
 */
export function describeExec({ command, outcome, durationMs, output }: ExecReport): string {
  const head = `Exec ${tellOutcome(outcome)} after ${tellDuration(durationMs)}: ${tellCommand(command)}`;
  return [head, ...lastLines(output ?? "")].join("\n");
}

const MAX_LINES = 20;
const MAX_LINE_CHARS = 300;
const MAX_COMMAND_CHARS = 200;

function tellOutcome(outcome: ExecOutcome): string {
  switch (outcome.kind) {
    case "exited":
      return `finished with code ${outcome.code}`;
    case "killed":
      return `was ended by ${outcome.signal}`;
    default:
      return `did not start (${outcome.reason})`;
  }
}

function tellDuration(ms: number): string {
  return ms < 1000 ? `${Math.max(0, Math.round(ms))} ms` : formatDuration(ms * 1000);
}

function tellCommand(command: readonly string[]): string {
  const words = command.map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`,
  );
  return cut(words.join(" ").split(LINE_BREAK).join(" "), MAX_COMMAND_CHARS);
}

function lastLines(output: string): readonly string[] {
  const lines = stripVTControlCharacters(output)
    .split(/\r*\n/)
    // A meter returns to the start of its line: what stood there last is what its reader saw.
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1))
    .map((line) => cut(line.trimEnd(), MAX_LINE_CHARS));
  while (lines.length > 0 && lines.at(-1) === "") lines.pop();
  const last = lines.slice(-MAX_LINES);
  while (last.length > 0 && last[0] === "") last.shift();
  return last;
}

function cut(text: string, maxChars: number): string {
  // Half a character at the end would be told as a replacement sign.
  return text.length <= maxChars
    ? text
    : `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
