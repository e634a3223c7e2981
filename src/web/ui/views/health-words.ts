/** The words for how the daemon stands: remedies cut into words and commands, and gaps summed up. Pure. */
import type { ActivityEvent } from "../../../capture/events.ts";

export interface RemedyPart {
  readonly kind: "words" | "command";
  readonly text: string;
}

/** The programs that remedies call. */
const PROGRAM =
  "(?:sudo |[A-Z_]{3,}=\\S+ )*(?:activityd|apt|apt-get|chmod|du|env|export|gnome-extensions|journalctl|kill|loginctl|mv|npm|open|pgrep|rm|ss|sudo|systemctl|timedatectl) \\S";
/** Where a command begins: at the start, behind a colon, or where another one follows. */
const COMMAND_START = new RegExp(`(?<=^|: |[,;] (?:then|or) )(?=${PROGRAM})`);
/** What ends it: a bracket, words that are no command, the end of the sentence. */
const COMMAND_END = new RegExp(
  `[,;] (?:and|or|then)\\b|; (?!${PROGRAM})|\\. (?=[A-Z])|,? \\(| with a |[.;]?$`,
);

/** Cuts a remedy, as `activityd doctor` words it, where its commands begin and end. Together the parts are the text. */
export function readRemedy(remedy: string): readonly RemedyPart[] {
  const parts: RemedyPart[] = [];
  let rest = remedy;
  for (;;) {
    const start = rest.search(COMMAND_START);
    if (start === -1) break;
    if (start > 0) parts.push({ kind: "words", text: rest.slice(0, start) });
    const length = rest.slice(start).search(COMMAND_END);
    parts.push({ kind: "command", text: rest.slice(start, start + length) });
    rest = rest.slice(start + length);
  }
  if (rest !== "") parts.push({ kind: "words", text: rest });
  return parts;
}

const GAPS = {
  paused: "paused by you",
  "source-lost": "no source could see windows",
  filtered: "kept out by the privacy rules",
  stalled: "the daemon stood still",
  "not-running": "the daemon was not running",
  lock: "screen locked",
  sleep: "asleep",
} as const;

export type GapName = keyof typeof GAPS;

export function gapWords(name: GapName): string {
  return GAPS[name];
}

export interface GapTotal {
  readonly name: GapName;
  readonly count: number;
  readonly durationUs: number;
  readonly lastUs: number;
}

/** Gaps between two instants by their kind, the longest in all first. What reaches over the edges is cut there. */
export function sumGaps(
  events: readonly ActivityEvent[],
  fromUs: number,
  toUs: number,
): readonly GapTotal[] {
  const totals = new Map<GapName, GapTotal>();
  for (const event of events) {
    const name = gapName(event);
    const durationUs = Math.min(event.endUs, toUs) - Math.max(event.startUs, fromUs);
    if (name === null || durationUs <= 0) continue;
    const known = totals.get(name);
    totals.set(name, {
      name,
      count: (known?.count ?? 0) + 1,
      durationUs: (known?.durationUs ?? 0) + durationUs,
      lastUs: Math.max(known?.lastUs ?? 0, event.endUs),
    });
  }
  return [...totals.values()].sort((a, b) => b.durationUs - a.durationUs);
}

/** Which hole in the record an event is; null for one that is none. */
function gapName(event: ActivityEvent): GapName | null {
  if (event.kind === "gap") return event.reason;
  return event.kind === "lock" || event.kind === "sleep" ? event.kind : null;
}
