/**
 * The open events, one per kind. It hides when things are written and promises that a change is committed
 * before it is told, that the end of a running event is never more than a tick of the sampler behind after a crash, and
 * that a store which cannot be written loses nothing that happened meanwhile but the oldest overflow.
 */
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { ActivityError } from "../errors.ts";
import { localTime } from "../context/plain-text.ts";
import type { EventStore } from "../store/events.ts";
import {
  isSameFacts,
  type ActivityEvent,
  type EventFacts,
  type EventKind,
  type EventSpan,
} from "./events.ts";

/** Ends of open events go to SQLite this often; the pulse file covers the seconds between. */
const COMMIT_INTERVAL_US = 15_000_000;
/** While the store cannot be written, at most so many events wait in memory. */
const MAX_WAITING = 2_000;

/** An event that goes on. `id` is null while the store could not take it. */
export interface OpenEvent extends EventSpan {
  readonly id: number | null;
  readonly facts: EventFacts;
}

export interface Recorder {
  /** Makes `facts` (null: nothing) what goes on in its kind from `atUs`: extends, or ends one event and begins another. True when the latter. */
  readonly set: (kind: EventKind, facts: EventFacts | null, atUs: number) => boolean;
  /** Lets all open events last until `nowUs`, and gives the sign of life. */
  readonly advance: (nowUs: number) => void;
  /** Tries again to write what waits. */
  readonly flush: () => void;
  readonly open: (kind: EventKind) => OpenEvent | null;
  /** Of the open events that are written. */
  readonly openIds: () => readonly number[];
  /** What the store does not have yet, or not to its end, because it could not be written. Oldest first. */
  readonly unwritten: () => readonly ActivityEvent[];
  /** A whole event of the past, such as a sleep that was noticed when it was over. */
  readonly add: (facts: EventFacts, startUs: number, endUs: number) => void;
  /** Ends everything at `atUs`, as a suspend or the end of the program does. */
  readonly endAll: (atUs: number) => void;
  /**
   * The clock turns out to have been ahead by `byUs`, and now is `nowUs`: moves what was recorded under it.
   * False when the store could not, and nothing moved.
   */
  readonly redate: (byUs: number, nowUs: number) => boolean;
  /** Lets go of events that wait for the store and are meant; null: of all that wait. */
  readonly forgetWaiting: (isForgotten: ((facts: EventFacts) => boolean) | null) => void;
  /** Null while the store takes writes; else since when it does not, and why. */
  readonly trouble: () => {
    readonly sinceUs: number;
    readonly reason: string;
    readonly waiting: number;
  } | null;
}

interface MutableEvent {
  id: number | null;
  facts: EventFacts;
  startUs: number;
  endUs: number;
  committedEndUs: number;
  utcOffsetMinutes: number;
  timeZone: string;
}

export function createRecorder(options: {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly log: Log;
}): Recorder {
  const { store, clock, log } = options;
  const open = new Map<EventKind, MutableEvent>();
  /** Events the store owes: not begun, or ended with an end that is not committed. Oldest first. */
  let waiting: MutableEvent[] = [];
  let trouble: { sinceUs: number; reason: string } | null = null;
  let committedUs = clock.nowUs();

  const recorder: Recorder = {
    set: (kind, facts, atUs) => {
      const running = open.get(kind);
      if (running !== undefined && facts !== null && isSameFacts(running.facts, facts)) {
        running.endUs = Math.max(running.endUs, atUs);
        return false;
      }
      if (running !== undefined) end(kind, running, atUs);
      if (facts !== null) {
        const event = describe(facts, atUs);
        open.set(kind, event);
        write(event);
      }
      store.setOpen(openIds());
      return facts !== null || running !== undefined;
    },
    advance: (nowUs) => {
      for (const event of open.values()) event.endUs = Math.max(event.endUs, nowUs);
      flush();
      if (nowUs - committedUs >= COMMIT_INTERVAL_US || nowUs < committedUs) {
        committedUs = nowUs;
        for (const event of open.values()) write(event);
      }
      // The sign of life is no event: whether it could be given says nothing of the database.
      store.pulse(nowUs, openIds());
    },
    open: (kind) => open.get(kind) ?? null,
    openIds,
    unwritten: () =>
      waiting.map(({ id, facts, startUs, endUs, utcOffsetMinutes, timeZone }) => ({
        id: id ?? startUs,
        startUs,
        endUs,
        utcOffsetMinutes,
        timeZone,
        ...facts,
      })),
    add: (facts, startUs, endUs) => {
      const event = describe(facts, startUs);
      event.endUs = endUs;
      write(event);
    },
    endAll: (atUs) => {
      for (const [kind, event] of open) end(kind, event, atUs);
      store.setOpen([]);
      if (waiting.length > 0) store.hold(recorder.unwritten());
    },
    flush,
    redate: (byUs, nowUs) => {
      for (const event of open.values()) write(event);
      let moved: ReadonlyMap<number, number> = new Map();
      if (waiting.length > 0 || !attempt(() => (moved = store.redate(byUs, nowUs)))) return false;
      for (const event of open.values()) {
        const id = event.id === null ? undefined : moved.get(event.id);
        event.id = id ?? event.id;
        event.startUs = id ?? event.startUs;
        const endUs = id === undefined ? Math.min(event.endUs, nowUs) : event.endUs - byUs;
        event.endUs = Math.max(endUs, event.startUs);
        // Whatever the store made of it, the next commit says it anew.
        event.committedEndUs = Number.NaN;
      }
      committedUs = nowUs;
      store.setOpen(openIds());
      return true;
    },
    forgetWaiting: (isForgotten) => {
      waiting = waiting.filter(({ facts }) => isForgotten?.(facts) === false);
      if (waiting.length === 0) store.hold([]);
    },
    trouble: () => (trouble === null ? null : { ...trouble, waiting: waiting.length }),
  };
  return recorder;

  function openIds(): readonly number[] {
    return [...open.values()].flatMap(({ id }) => (id === null ? [] : [id]));
  }

  function describe(facts: EventFacts, startUs: number): MutableEvent {
    const timeZone = clock.timeZone();
    return {
      id: null,
      facts,
      startUs,
      endUs: startUs,
      committedEndUs: startUs,
      utcOffsetMinutes: localTime(timeZone).offsetMinutes(startUs),
      timeZone,
    };
  }

  /** `atUs` may lie before what was already credited: the owner turned out to have been away since then. */
  function end(kind: EventKind, event: MutableEvent, atUs: number): void {
    event.endUs = Math.max(event.startUs, atUs);
    open.delete(kind);
    write(event);
  }

  /** Commits what the store does not have of an event yet; on failure the event waits. */
  function write(event: MutableEvent): void {
    if (waiting.length > 0) {
      // Order matters to a reader: nothing overtakes what waits.
      if (!waiting.includes(event)) waiting.push(event);
      retry();
      return;
    }
    if (!attempt(() => commit(event))) {
      waiting.push(event);
      if (waiting.length > MAX_WAITING) waiting = waiting.slice(-MAX_WAITING);
    }
  }

  function flush(): void {
    if (waiting.length === 0) return;
    store.hold(recorder.unwritten());
    retry();
  }

  function retry(): void {
    while (waiting.length > 0) {
      const [oldest] = waiting;
      if (oldest === undefined || !attempt(() => commit(oldest))) break;
      waiting.shift();
    }
    if (waiting.length > MAX_WAITING) waiting = waiting.slice(-MAX_WAITING);
    // What was kept beside the record must not outlive this: it would bring back what is forgotten from now on.
    if (waiting.length === 0) store.hold([]);
  }

  function commit(event: MutableEvent): void {
    if (event.id === null) {
      event.id = store.begin(event.facts, event);
      event.committedEndUs = event.endUs;
    }
    if (event.committedEndUs === event.endUs) return;
    try {
      store.setEnd(event.id, event.endUs);
      event.committedEndUs = event.endUs;
    } catch (thrown) {
      if (!(thrown instanceof ActivityError && thrown.code === "not_found")) throw thrown;
      forgotten(event);
    }
  }

  /** The owner forgot what goes on: what was is gone for good, what still is begins now. */
  function forgotten(event: MutableEvent): void {
    const isOpen = [...open.values()].includes(event);
    event.id = null;
    event.startUs = Math.max(event.startUs, clock.nowUs());
    event.endUs = event.startUs;
    if (isOpen) commit(event);
  }

  function attempt(work: () => unknown): boolean {
    try {
      work();
      if (trouble !== null) {
        log.info("the store takes writes again", { waited: waiting.length });
        trouble = null;
      }
      return true;
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      if (trouble === null) log.error("the store cannot be written; events are held in memory");
      trouble = { sinceUs: trouble?.sinceUs ?? clock.nowUs(), reason };
      return false;
    }
  }
}
