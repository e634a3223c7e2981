/**
 * The record as lines of JSON, out and in. It promises that memory stays flat however long the record is,
 * that reading the same lines again adds nothing, and that nothing is read in which `admit` does not let by.
 */
import { z } from "zod";
import type {
  EditorSample,
  EventFacts,
  EventSpan,
  IdleFacts,
  GapFacts,
  MediaSample,
  NotificationSample,
  SystemFacts,
  TabSample,
} from "../capture/events.ts";
import { ActivityError } from "../errors.ts";
import type { StoreDatabase } from "./database.ts";
import { readAllEvents } from "./event-reader.ts";
import type { EventStore } from "./events.ts";

/** Grows when a line means something else than before. */
const FORMAT = 1;

/** The first line of every export. */
const HEADER = JSON.stringify({ activityd: "export", format: FORMAT });

/**
 * An export, some thousand lines at a time: a header, then every event by start. The same record gives the
 * same bytes.
 */
export function* exportLines(database: StoreDatabase): Generator<{
  readonly text: string;
  readonly events: number;
}> {
  yield { text: `${HEADER}\n`, events: 0 };
  for (const events of readAllEvents(database)) {
    const lines = events.map((event) => `${JSON.stringify({ ...event, id: undefined })}\n`);
    yield { text: lines.join(""), events: events.length };
  }
}

/** Whether a first line begins an export of ours. */
export function isExportHeader(line: string): boolean {
  return headerSchema.safeParse(parseJson(line)).success;
}

/** Facts as they stand in a line: texts that have met no privacy gate here. */
export type RawFacts =
  | {
      readonly kind: "window";
      readonly app: string;
      readonly title: string | null;
      readonly place: string | null;
    }
  | ({ readonly kind: "tab" } & Omit<TabSample, "url" | "private"> & {
        readonly place: string | null;
      })
  | ({ readonly kind: "editor" } & EditorSample)
  | ({ readonly kind: "media" } & MediaSample)
  | ({ readonly kind: "notification" } & NotificationSample)
  | IdleFacts
  | GapFacts
  | SystemFacts
  | { readonly kind: "lock" }
  | { readonly kind: "sleep" };

/** Facts as they stand in a line or a record; null for what are none. */
export function readRawFacts(value: unknown): RawFacts | null {
  const parsed = factsSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

/** What became of the lines of an import. */
export interface ExchangeSummary {
  readonly added: number;
  /** There already, but lasting longer now. */
  readonly extended: number;
  readonly present: number;
  /** Kept out by a privacy rule. */
  readonly withheld: number;
  /** Lines that are no event. */
  readonly unreadable: number;
}

export interface ExchangeImporter {
  /** Takes one line after the header. Some lines are one transaction: `finish` commits the last. */
  readonly take: (line: string) => void;
  readonly finish: () => ExchangeSummary;
}

/**
 * Reads lines of an export into a store. `admit` gives the facts that may be kept, or null.
 *
 * @throws ActivityError `bad_request` when the header is of a format this program does not know
 */
export function createExchangeImporter(
  header: string,
  store: EventStore,
  admit: (facts: RawFacts, atUs: number) => EventFacts | null,
): ExchangeImporter {
  const parsed = headerSchema.safeParse(parseJson(header));
  if (!parsed.success || parsed.data.format > FORMAT) {
    throw new ActivityError(
      "bad_request",
      `The first line is no header of an export that this program knows: ${header.slice(0, 80)}.`,
      "Make the file with: activityd export",
    );
  }
  const counts = { added: 0, extended: 0, present: 0, withheld: 0, unreadable: 0 };
  let batch: RawEvent[] = [];

  const commit = (): void => {
    const done = { ...counts };
    store.database.transaction(() => {
      for (const { span, facts } of batch) {
        const admitted = admit(facts, span.startUs);
        if (admitted === null) done.withheld += 1;
        else done[store.put(admitted, span)] += 1;
      }
    });
    Object.assign(counts, done);
    batch = [];
    // Whoever searches meanwhile finds what is in already.
    store.settle();
  };

  return {
    take: (line) => {
      if (line.trim() === "") return;
      const event = parseLine(line);
      if (event === null) {
        counts.unreadable += 1;
        return;
      }
      batch.push(event);
      if (batch.length >= EVENTS_PER_COMMIT) commit();
    },
    finish: () => {
      commit();
      return counts;
    },
  };
}

/** Ten milliseconds of work: a daemon's writes, were there one, would wait no longer. */
const EVENTS_PER_COMMIT = 500;

interface RawEvent {
  readonly span: EventSpan;
  readonly facts: RawFacts;
}

function parseLine(line: string): RawEvent | null {
  const parsed = lineSchema.safeParse(parseJson(line));
  if (!parsed.success) return null;
  const { startUs, endUs, utcOffsetMinutes, timeZone, ...facts } = parsed.data;
  return { span: { startUs, endUs, utcOffsetMinutes, timeZone }, facts };
}

/** Null for what is no JSON; `JSON.parse` gives null for "null" alone, which is no event either. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

const headerSchema = z.object({ activityd: z.literal("export"), format: z.int().min(1) });

const text = z.string().max(65_536);
const textOrNull = text.nullable();
const numberOrNull = z.number().nullable();
const booleanOrNull = z.boolean().nullable();

/** No instant of a record lies after the year 2200, and no event lasts longer than a year or so. */
const instant = z.int().min(0).max(7_258_118_400_000_000);
const LONGEST_US = 400 * 86_400_000_000;

const span = {
  startUs: instant,
  endUs: instant,
  utcOffsetMinutes: z.int().min(-1440).max(1440),
  timeZone: z.string().min(1).max(64),
};

const factsSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("window"),
    app: text,
    title: textOrNull,
    place: textOrNull,
  }),
  z.object({
    kind: z.literal("tab"),
    app: text,
    title: textOrNull,
    place: textOrNull,
    audible: booleanOrNull,
  }),
  z.object({
    kind: z.literal("editor"),
    app: text,
    file: text,
    project: textOrNull,
    branch: textOrNull,
    language: textOrNull,
  }),
  z.object({
    kind: z.literal("media"),
    player: text,
    title: textOrNull,
    artist: textOrNull,
    playing: z.boolean(),
  }),
  z.object({ kind: z.literal("notification"), app: text, summary: text }),
  z.object({ kind: z.literal("idle"), state: z.enum(["away", "passive"]) }),
  z.object({ kind: z.literal("lock") }),
  z.object({ kind: z.literal("sleep") }),
  z.object({
    kind: z.literal("gap"),
    reason: z.enum(["paused", "source-lost", "filtered", "stalled", "not-running"]),
  }),
  z.object({
    kind: z.literal("system"),
    power: z.enum(["ac", "battery"]).nullable(),
    batteryPercent: numberOrNull,
    online: booleanOrNull,
    cpuLoad: numberOrNull,
    memoryUsed: numberOrNull,
    displayCount: numberOrNull,
  }),
]);

const lineSchema = z
  .intersection(factsSchema, z.object(span))
  .refine(({ startUs, endUs }) => endUs >= startUs && endUs - startUs <= LONGEST_US);
