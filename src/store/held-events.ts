/**
 * Events that cannot be put into the database for minutes, since it is being recovered, in a small one of their own beside it. It
 * promises that they outlive the process, encrypted where the record is, that none is put in twice, and that a file of them
 * which is damaged itself keeps the record from nothing.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ActivityEvent, EventFacts, EventSpan } from "../capture/events.ts";
import { reasonForLog, type Log } from "../log.ts";
import { removeDatabase } from "./backups.ts";
import { openDatabase, type StoreDatabase } from "./database.ts";
import { createDocuments } from "./documents.ts";
import { readAllEvents } from "./event-reader.ts";
import { createEventWriter, type EventWriter } from "./event-writer.ts";
import { isBusy, isUnwritable } from "./failures.ts";
import { setAside } from "./put-in-place.ts";
import { salvage } from "./recovery/salvage.ts";
import { RECOVERING } from "./recovery/under-way.ts";
import { createVisits } from "./visits.ts";

export interface HeldEvents {
  /** Keeps events as they stand now. Never throws: what is lost with it was in memory alone before, too. */
  readonly hold: (events: readonly ActivityEvent[]) => void;
  /** Says that this process wrote what it held itself. */
  readonly wrote: () => void;
  /**
   * Gives what is held to `put`, in one go that `put` may undo, and lets go of it. Nothing while this process has some of
   * it to write itself.
   */
  readonly takeUp: (putAll: (events: readonly (EventFacts & EventSpan)[]) => void) => void;
  readonly close: () => void;
}

export interface HeldEventsOptions {
  /** The data folder. */
  readonly directory: string;
  readonly nowUs: () => number;
  readonly log: Log;
}

interface OpenFile {
  readonly database: StoreDatabase;
  readonly writer: EventWriter;
}

/** Name of the file in the data folder. */
export const HELD_FILE = "activity.db.held";

export function createHeldEvents({ directory, nowUs, log }: HeldEventsOptions): HeldEvents {
  const path = join(directory, HELD_FILE);
  let isThere = existsSync(path);
  let file: OpenFile | null = null;
  let isFailing = false;
  /** What this process holds: its id and its end there, by what it is. */
  const own = new Map<string, { readonly id: number; readonly endUs: number }>();

  const write = ({ id: startUs, ...event }: ActivityEvent): void => {
    file ??= open(path);
    isThere = true;
    // Two of one kind may begin at one moment, such as notifications.
    const key = JSON.stringify({ ...event, startUs, endUs: null });
    const known = own.get(key);
    if (known?.endUs === event.endUs) return;
    const { id } =
      known === undefined
        ? file.writer.begin(event, { ...event, startUs })
        : file.writer.setEnd(known.id, event.endUs);
    own.set(key, { id, endUs: event.endUs });
  };

  const close = (): void => {
    file?.database.close();
    file = null;
  };

  return {
    hold: (events) => {
      try {
        for (const event of events) write(event);
        isFailing = false;
      } catch (thrown) {
        if (!isFailing)
          log.warn("events are held in memory alone", { reason: reasonForLog(thrown) });
        isFailing = true;
      }
    },
    wrote: () => own.clear(),
    takeUp: (putAll) => {
      if (!isThere || own.size > 0) return;
      close();
      const { events, damage } = read(path, nowUs());
      putAll(events);
      isThere = false;
      if (damage === null) return removeDatabase(path);
      const aside = setAside(directory, path, nowUs(), "damaged");
      log.warn("what was held beside the record could be read in part alone", {
        reason: reasonForLog(damage),
        events: events.length,
        setAside: aside,
      });
    },
    close,
  };
}

function open(path: string): OpenFile {
  const database = openDatabase({ path });
  const documents = createDocuments(database);
  return { database, writer: createEventWriter(database, documents, createVisits(database)) };
}

interface Held {
  readonly events: readonly ActivityEvent[];
  /** What keeps the file from being read whole; null: nothing. */
  readonly damage: unknown;
}

/** All that can be read of it: a disk that spoiled the record may spoil this as well. */
function read(path: string, nowUs: number): Held {
  try {
    return { events: readWhole(path), damage: null };
  } catch (damage) {
    if (isBusy(damage)) throw damage;
    return { events: readRemains(path, nowUs), damage };
  }
}

function readWhole(path: string): readonly ActivityEvent[] {
  const database = openDatabase({ path });
  try {
    return [...readAllEvents(database)].flat();
  } finally {
    database.close();
  }
}

/** Throws where the disk takes nothing, and with that nothing is lost yet. */
function readRemains(path: string, nowUs: number): readonly ActivityEvent[] {
  const freshPath = path + RECOVERING;
  removeDatabase(freshPath);
  const fresh = openDatabase({ path: freshPath });
  try {
    salvage(path, fresh, nowUs);
    return [...readAllEvents(fresh)].flat();
  } catch (thrown) {
    if (isUnwritable(thrown)) throw thrown;
    // Of another key, or in plain text where all is encrypted.
    return [];
  } finally {
    fresh.close();
    removeDatabase(freshPath);
  }
}
