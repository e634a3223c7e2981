/** The words for what stands in the ledger: forms, intents and where an answer came from. Pure. */
import type { LedgerEntry } from "../../../api.ts";

/** What these words need of the page's formats. */
interface Telling {
  readonly clock: (atUs: number) => string;
  readonly day: (atUs: number) => string;
  readonly moment: (atUs: number) => string;
  readonly count: (value: number) => string;
}

const FORMS: Readonly<Record<string, string>> = {
  exact: "real-time block",
  digest: "digest",
  events: "events read",
  search: "search",
  "left-out": "what a digest did without",
};

const INTENTS: Readonly<Record<string, string>> = {
  now: "what is in front",
  anchor: "what was around an event",
  window: "a stretch of time",
  topic: "a topic",
  lastseen: "when something was last seen",
  duration: "time spent on something",
  resume: "where you left off",
  none: "nothing of the record",
};

const SOURCES: Readonly<Record<string, string>> = {
  rules: "chosen by rules",
  semantic: "found by likeness of meaning",
  model: "chosen by a model",
  fallback: "chosen by rules, as the model gave no usable answer in time",
  record: "read from the record",
};

/** What kind of thing was given; an unknown form as it is called. */
export function formWords(form: string): string {
  return FORMS[form] ?? form;
}

/** What a turn was taken to ask for, to be read after "about". */
export function intentWords(intent: string): string {
  return INTENTS[intent] ?? intent;
}

export function sourceWords(source: string): string {
  return SOURCES[source] ?? source;
}

/** When it was given: `14:05`, or `4 times, 14:05 – 14:09`. */
export function givenWhen(
  { firstUs, lastUs, times }: Pick<LedgerEntry, "firstUs" | "lastUs" | "times">,
  formats: Pick<Telling, "clock" | "count">,
): string {
  const last = formats.clock(lastUs);
  if (times === 1) return last;
  const first = formats.clock(firstUs);
  const span = first === last ? last : `${first} – ${last}`;
  return `${span}, ${formats.count(times)} times`;
}

/** A moment as shortly as it can be told: today by the clock alone. */
export function shortMoment(
  atUs: number,
  nowUs: number,
  formats: Pick<Telling, "clock" | "day" | "moment">,
): string {
  return formats.day(atUs) === formats.day(nowUs) ? formats.clock(atUs) : formats.moment(atUs);
}

export interface DayOfEntries {
  /** The day as a heading. */
  readonly day: string;
  readonly entries: readonly LedgerEntry[];
}

/** Entries under the day on which they were given last, in their order. */
export function groupByDay(
  entries: readonly LedgerEntry[],
  nowUs: number,
  formats: Pick<Telling, "day">,
): readonly DayOfEntries[] {
  const today = formats.day(nowUs);
  const days: { day: string; entries: LedgerEntry[] }[] = [];
  for (const entry of entries) {
    const day = formats.day(entry.lastUs);
    const name = day === today ? "Today" : day;
    const last = days.at(-1);
    if (last?.day === name) last.entries.push(entry);
    else days.push({ day: name, entries: [entry] });
  }
  return days;
}
