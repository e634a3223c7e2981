/**
 * The record as lines of JSON, out and in. It promises that memory stays flat however long the record is,
 * that reading the same lines again adds nothing, and that nothing is read in which `admit` does not let by.
 */
import type { EventFacts, EventSpan, RawFacts } from "../capture/events.ts";
import { ActivityError } from "../errors.ts";
import { integer, text, z } from "../shapes.ts";
import type { StoreDatabase } from "./database.ts";
import { createDeviceReader, createDevices } from "./devices.ts";
import { readAllEvents } from "./event-reader.ts";
import type { PutResult } from "./event-writer.ts";
import type { EventStore } from "./events.ts";
import { createOutbox } from "./devices/outbox.ts";
import { readAllRemote } from "./devices/remote-reader.ts";

/** Grows when a line means something else than before. */
const FORMAT = 1;

/**
 * An export, some thousand lines at a time: a header, then every event by start, then those of other devices, each
 * with its device. The header says whose the others are, where there is a hub. The same record gives the same bytes.
 */
export function* exportLines(database: StoreDatabase): Generator<{
  readonly text: string;
  readonly events: number;
}> {
  const own = database.prepare<{ device: string }>("SELECT device FROM hub_log WHERE id = 1").get();
  const header = { activityd: "export", format: FORMAT, ...own };
  yield { text: `${JSON.stringify(header)}\n`, events: 0 };
  for (const events of readAllEvents(database)) {
    const lines = events.map((event) => `${JSON.stringify({ ...event, id: undefined })}\n`);
    yield { text: lines.join(""), events: events.length };
  }
  const names = new Map(
    createDeviceReader(database)
      .all()
      .map(({ key, id, name }) => [key, { id, name }]),
  );
  for (const events of readAllRemote(database)) {
    const lines = events.map(({ deviceKey, event }) => {
      const device = names.get(deviceKey);
      return `${JSON.stringify({ ...event, id: undefined, device })}\n`;
    });
    yield { text: lines.join(""), events: events.length };
  }
}

/** How many events an export has. */
export function countForExport(database: StoreDatabase): number {
  const counted = database
    .prepare<{ n: number }>(
      "SELECT (SELECT count(*) FROM event) + (SELECT count(*) FROM remote_event) AS n",
    )
    .get();
  return counted?.n ?? 0;
}

/** Whether a first line begins an export of ours. */
export function isExportHeader(line: string): boolean {
  return headerSchema.safeParse(parseJson(line)).success;
}

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
  /** This device's own events that end after now: a record that ends ahead of the clock makes the clock one that is lost. */
  readonly ahead: number;
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
  nowUs: number,
): ExchangeImporter {
  const parsed = headerSchema.safeParse(parseJson(header));
  if (!parsed.success || parsed.data.format > FORMAT) {
    throw new ActivityError(
      "bad_request",
      `The first line is no header of an export that this program knows: ${header.slice(0, 80)}.`,
      "Make the file with: activityd export",
    );
  }
  const counts = { added: 0, extended: 0, present: 0, withheld: 0, unreadable: 0, ahead: 0 };
  const own = createOutbox(store.database).readLog()?.device ?? null;
  const devices = createDevices(store.database);
  // What the device of the export recorded itself: it may be one whose record is here already.
  const maker =
    parsed.data.device !== undefined && devices.find(parsed.data.device) !== null
      ? { id: parsed.data.device, name: "device" }
      : null;
  const hasOthers = devices.all().length > 0;
  let batch: RawEvent[] = [];

  const put = ({ span, device: named }: RawEvent, facts: EventFacts): PutResult | "ahead" => {
    const device = named ?? maker;
    if (device === null || device.id === own) {
      if (span.endUs > nowUs) return "ahead";
      return hasOthers && !store.remote().claim(facts, span.startUs)
        ? "present"
        : store.put(facts, span);
    }
    const { key } = devices.ensure(device.id, device.name);
    const { taken } = store.remote().put(key, 0, [{ ...span, facts, isOpen: false }]);
    return taken > 0 ? "added" : "present";
  };

  const commit = (): void => {
    const done = { ...counts };
    store.database.transaction(() => {
      for (const event of batch) {
        const admitted = admit(event.facts, event.span.startUs);
        if (admitted === null) done.withheld += 1;
        else done[put(event, admitted)] += 1;
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
  /** Absent: the device that made the export. */
  readonly device?: { readonly id: string; readonly name: string };
}

function parseLine(line: string): RawEvent | null {
  const parsed = lineSchema.safeParse(parseJson(line));
  if (!parsed.success) return null;
  const { startUs, endUs, utcOffsetMinutes, timeZone, device, ...facts } = parsed.data;
  const span = { startUs, endUs, utcOffsetMinutes, timeZone };
  return { span, facts, ...(device === undefined ? {} : { device }) };
}

/** Null for what is no JSON; `JSON.parse` gives null for "null" alone, which is no event either. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

const deviceId = z.string().check(z.regex(/^[0-9a-f]{32}$/));

const headerSchema = z.object({
  activityd: z.literal("export"),
  format: integer(1),
  device: z.optional(deviceId),
});

const anyText = text(0, 65_536);
const textOrNull = z.nullable(anyText);
const numberOrNull = z.nullable(z.number());
const booleanOrNull = z.nullable(z.boolean());

/** No instant of a record lies after the year 2200, and no event lasts longer than a year or so. */
const instant = integer(0, 7_258_118_400_000_000);
const LONGEST_US = 400 * 86_400_000_000;

const span = {
  startUs: instant,
  endUs: instant,
  utcOffsetMinutes: integer(-1440, 1440),
  timeZone: text(1, 64),
  device: z.optional(z.object({ id: deviceId, name: text(0, 40) })),
};

const factsSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("window"),
    app: anyText,
    title: textOrNull,
    place: textOrNull,
  }),
  z.object({
    kind: z.literal("tab"),
    app: anyText,
    title: textOrNull,
    place: textOrNull,
    audible: booleanOrNull,
  }),
  z.object({
    kind: z.literal("editor"),
    app: anyText,
    file: anyText,
    project: textOrNull,
    branch: textOrNull,
    language: textOrNull,
  }),
  z.object({
    kind: z.literal("media"),
    player: anyText,
    title: textOrNull,
    artist: textOrNull,
    playing: z.boolean(),
  }),
  z.object({ kind: z.literal("notification"), app: anyText, summary: anyText }),
  z.object({ kind: z.literal("idle"), state: z.enum(["away", "passive"]) }),
  z.object({ kind: z.literal("lock") }),
  z.object({ kind: z.literal("sleep") }),
  z.object({
    kind: z.literal("gap"),
    reason: z.enum(["paused", "source-lost", "filtered", "stalled", "not-running"]),
  }),
  z.object({
    kind: z.literal("system"),
    power: z.nullable(z.enum(["ac", "battery"])),
    batteryPercent: numberOrNull,
    online: booleanOrNull,
    cpuLoad: numberOrNull,
    memoryUsed: numberOrNull,
    displayCount: numberOrNull,
  }),
]);

const lineSchema = z
  .intersection(factsSchema, z.object(span))
  .check(z.refine(({ startUs, endUs }) => endUs >= startUs && endUs - startUs <= LONGEST_US));
