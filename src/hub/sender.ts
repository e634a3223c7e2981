/**
 * This device's own log: changes become sealed records, and records go to the hub. It promises that a record is on
 * the disk before anybody sees it, that what waits is sent again as it was until it is acknowledged, and that
 * nothing is sent once somebody else turns out to write under the same name.
 */
import type { Clock } from "../clock.ts";
import { ActivityError } from "../errors.ts";
import { reasonForLog, type Log } from "../log.ts";
import type { Outbox, OwnLog } from "../store/devices/outbox.ts";
import { toVersion } from "../store/devices/version.ts";
import type { HubDriver, SealedRecord } from "./driver.ts";
import { hashOf, NO_RECORD, openRecord, readEnvelope, sealRecord } from "./envelope.ts";
import { createHubClock } from "./hub-clock.ts";
import { currentKey, type HubIdentity } from "./identity.ts";
import {
  NO_NOTICES,
  readPayload,
  writePayload,
  type IncomingPayload,
  type KeyHandout,
  type Notices,
} from "./payload.ts";

/** Why something does not go on, and what to do. */
export interface Trouble {
  readonly reason: string;
  readonly remedy: string;
}

export interface Sender {
  /** Looks for something to tell; called about once a second. Never throws. */
  readonly tick: () => void;
  /** Seals a record with notices now, whatever waits. In a transaction of its own. */
  readonly say: (notices: Partial<Notices>) => void;
  /** Begins the log anew in an epoch of its own, with everything that is recorded. Rejects like `tail`. */
  readonly rejoin: () => Promise<void>;
  /** Tells what waits, and goodbye. False when the hub did not take it, so that the others know nothing of it. */
  readonly farewell: () => Promise<boolean>;
  /** Resolves when everything that was sealed is acknowledged, or when that does not go on. */
  readonly flush: () => Promise<void>;
  readonly trouble: () => Trouble | null;
  /** Wall time of the last acknowledgement in this process; null: none yet. */
  readonly sentUs: () => number | null;
  /** See `HubClock.aheadUs`. */
  readonly aheadOfHubUs: () => number | null;
  readonly close: () => Promise<void>;
}

export interface SenderOptions {
  readonly outbox: Outbox;
  readonly driver: HubDriver;
  readonly identity: () => HubIdentity;
  /** The events that go on. */
  readonly openIds: () => ReadonlySet<number>;
  /** The key in use as it is told to those who may not have it; null: all that take part have it. */
  readonly handout: () => KeyHandout | null;
  /** Whether this device may say anything at all. */
  readonly isMuted: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Steady state: one record in so long at most. The other devices name a window a second after that. */
const BETWEEN_RECORDS_US = 5_000_000;
/** The fifth tick after a record comes a moment early or late: early, it would leave everything to the sixth. */
const HALF_TICK_US = 500_000;
/** An event that goes on is told again so often. */
const BETWEEN_GROWTH_US = 60_000_000;
const BETWEEN_TAIL_CHECKS_US = 60_000_000;
/**
 * A server that lags behind its leader seems to have lost records too, as does one that led before it was frozen: it is
 * asked again after so long, before everything is sent anew.
 */
const LOST_AFTER_US = 30_000_000;
const BETWEEN_HELLOS_US = 86_400_000_000;
/** Some milliseconds of work, and some ten kilobytes. */
const EVENTS_PER_RECORD = 100;
/** Leaves room for what a record carries besides, and for padding. */
const MAX_PAYLOAD_BYTES = 192 * 1024;
/** So many sealed records wait at most; what else waits is a row of the list of changes. */
const MOST_SEALED = 64;
const RECORDS_PER_APPEND = 32;
const APPEND_TIMEOUT_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export function createSender(options: SenderOptions): Sender {
  const { outbox, driver, identity, openIds, handout, isMuted, clock, log } = options;
  let lastRecordUs = Number.NEGATIVE_INFINITY;
  let lastGrowthUs = clock.monotonicUs();
  let tailCheckedUs = Number.NEGATIVE_INFINITY;
  let isBehind = outbox.waiting(openIds()) > EVENTS_PER_RECORD;
  let pumping: Promise<void> | null = null;
  let pauseMs = FIRST_PAUSE_MS;
  let pausedUntilUs = Number.NEGATIVE_INFINITY;
  let conflict: Trouble | null = null;
  let refusal: Trouble | null = null;
  let sentUs: number | null = null;
  /** Monotonic time since which the hub seems to hold less than it acknowledged; null: it holds all. */
  let seemsLostUs: number | null = null;
  let isSynced = false;
  const hubClock = createHubClock(clock);
  const closing = new AbortController();

  const stopListening = driver.onState(({ state }) => {
    if (state !== "connected") return;
    pausedUntilUs = Number.NEGATIVE_INFINITY;
    pump();
  });

  const ownLog = (): OwnLog => {
    const known = outbox.readLog();
    if (known !== null) return known;
    throw new ActivityError("internal", "The hub was not opened before it was used.");
  };

  /** Seals one record. `within` joins its transaction. */
  const seal = (
    content: Omit<Parameters<typeof writePayload>[0], "sentUs">,
    within: () => void,
    key = currentKey(identity().ring),
  ): void => {
    const own = ownLog();
    const seq = own.seq + 1;
    const sentAtUs = clock.nowUs();
    const isHelloDue = content.hello !== null || sentAtUs - own.toldUs >= BETWEEN_HELLOS_US;
    const { name, kind, sealingPublic } = identity();
    const hello = isHelloDue || seq === 1 ? { name, kind, sealingPublic } : null;
    const payload = writePayload({ ...content, hello, sentUs: sentAtUs });
    const previous = seq === 1 ? NO_RECORD : own.hash;
    const position = { epoch: own.epoch, seq };
    const { bytes, hash } = sealRecord(identity(), key, position, previous, payload);
    outbox.together(() => {
      outbox.addMessage({ ...position, bytes });
      const toldUs = hello === null ? own.toldUs : sentAtUs;
      outbox.writeLog({ ...own, seq, hash, toldUs });
      within();
    });
    lastRecordUs = clock.monotonicUs();
    hubClock.sealed(position);
    isSynced = false;
  };

  /** Seals the oldest changes, if there are any. */
  const sealChanges = (withGrowth: boolean): void => {
    let limit = EVENTS_PER_RECORD;
    for (;;) {
      const batch = outbox.changes(limit, openIds(), withGrowth);
      if (batch === null) {
        isBehind = false;
        return;
      }
      const content = { ...NO_NOTICES, events: batch.events, erased: batch.erased };
      if (limit > 1 && sizeOf(batch.events) > MAX_PAYLOAD_BYTES) {
        limit = Math.ceil(limit / 2);
        continue;
      }
      seal(content, batch.done);
      isBehind = batch.hasMore;
      return;
    }
  };

  const sealWhatIsDue = (): void => {
    const nowUs = clock.monotonicUs();
    if (outbox.messageCount() >= MOST_SEALED) return;
    if (!isBehind && nowUs - lastRecordUs < BETWEEN_RECORDS_US - HALF_TICK_US) return;
    const withGrowth = nowUs - lastGrowthUs >= BETWEEN_GROWTH_US;
    if (withGrowth) lastGrowthUs = nowUs;
    sealChanges(withGrowth);
    // Once a day at least, so that whoever joins learns the name, and a carrier that lets go of old records keeps one.
    if (clock.nowUs() - ownLog().toldUs >= BETWEEN_HELLOS_US)
      seal({ ...NO_NOTICES, events: [], erased: [] }, () => {});
  };

  /** Compares the end of our log in the hub with what we know of it. */
  const checkTail = async (): Promise<void> => {
    const tail = await driver.tail(APPEND_TIMEOUT_MS);
    tailCheckedUs = clock.monotonicUs();
    if (tail !== null) hubClock.seen(tail);
    const own = ownLog();
    const [oldest] = outbox.messages(1);
    const acknowledged = oldest === undefined ? own.seq : oldest.seq - 1;
    const last = tail === null ? 0 : toVersion(tail);
    if (last > toVersion(own)) throw goesOnElsewhere();
    if (tail !== null && tail.epoch === own.epoch && !isKnown(tail, own)) throw goesOnElsewhere();
    const isLost = acknowledged > 0 && last < toVersion({ epoch: own.epoch, seq: acknowledged });
    seemsLostUs = isLost ? (seemsLostUs ?? tailCheckedUs) : null;
    if (seemsLostUs === null) return;
    if (tailCheckedUs - seemsLostUs < LOST_AFTER_US) {
      tailCheckedUs -= BETWEEN_TAIL_CHECKS_US - LOST_AFTER_US;
    } else {
      log.warn("the hub has lost records of this device: they are sent again");
      beginAnew(own.epoch);
    }
  };

  const isKnown = ({ seq, bytes }: SealedRecord, own: OwnLog): boolean => {
    if (seq === own.seq) return Buffer.compare(hashOf(bytes), own.hash) === 0;
    const waiting = outbox.messages(MOST_SEALED).find((message) => message.seq === seq);
    if (waiting !== undefined) return Buffer.compare(waiting.bytes, bytes) === 0;
    // The record before the first that waits: the one names the other.
    const next = outbox.messages(MOST_SEALED).find((message) => message.seq === seq + 1);
    const previous = next === undefined ? null : readEnvelope(next.bytes)?.previous;
    return previous == null || Buffer.compare(previous, hashOf(bytes)) === 0;
  };

  const read = (bytes: Uint8Array): IncomingPayload | null => {
    const envelope = readEnvelope(bytes);
    const key = identity().ring.find(({ id }) => id === envelope?.keyId);
    const opened = envelope === null || key === undefined ? null : openRecord(envelope, key);
    return opened === null ? null : readPayload(opened);
  };

  const beginAnew = (afterEpoch: number): void => {
    const own = ownLog();
    const epoch = Math.max(own.epoch, afterEpoch) + 1;
    // What was recorded is told once more; what is gone is in what was sealed alone.
    const unheard = outbox
      .messages(outbox.messageCount())
      .flatMap(({ bytes }) => read(bytes) ?? []);
    outbox.together(() => {
      outbox.dropMessages();
      outbox.writeLog({ ...own, epoch, seq: 0, hash: NO_RECORD, toldUs: 0 });
      // Who was away when the key changed may have heard nothing of it: under the oldest one everybody reads this.
      const keys = handout();
      if (keys !== null)
        seal({ ...NO_NOTICES, keys: [keys], events: [], erased: [] }, () => {}, identity().ring[0]);
      for (const { erased, forgotten, wishes } of unheard) {
        if ([erased, forgotten, wishes].some(({ length }) => length > 0))
          seal({ ...NO_NOTICES, forgotten, wishes, events: [], erased }, () => {});
      }
    });
    outbox.retell();
    isBehind = true;
    seemsLostUs = null;
    conflict = null;
  };

  const sendAll = async (): Promise<void> => {
    for (;;) {
      if (closing.signal.aborted || isMuted() || conflict !== null) return;
      if (driver.state().state !== "connected") return;
      if (clock.monotonicUs() - tailCheckedUs >= BETWEEN_TAIL_CHECKS_US) await checkTail();
      for (let sealed = 0; sealed < RECORDS_PER_APPEND; sealed += 1) {
        if (!isBehind || outbox.messageCount() >= MOST_SEALED) break;
        sealChanges(false);
        await nextTurn();
      }
      const messages = outbox.messages(RECORDS_PER_APPEND);
      const { device } = identity();
      if (messages.length === 0) return;
      const records = messages.map((message) => ({ device, ...message }));
      if (!isSynced) outbox.sync();
      isSynced = true;
      const { epoch, seq } = await driver.append(records, APPEND_TIMEOUT_MS);
      outbox.acknowledged(epoch, seq);
      if (hubClock.acknowledged({ epoch, seq })) tailCheckedUs = Number.NEGATIVE_INFINITY;
      sentUs = clock.nowUs();
      pauseMs = FIRST_PAUSE_MS;
      refusal = null;
    }
  };

  const failed = (thrown: unknown): void => {
    pausedUntilUs = clock.monotonicUs() + pauseMs * 1000;
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    const code = thrown instanceof ActivityError ? thrown.code : null;
    if (code === "hub_conflict") {
      conflict ??= sameIdentity();
      log.error("another device writes under the same identity in the hub: nothing is sent");
      return;
    }
    if (code === "hub_away" || code === "timed_out") return;
    const hint = thrown instanceof ActivityError ? thrown.hint : "";
    const reason = thrown instanceof ActivityError ? thrown.message : reasonForLog(thrown);
    if (refusal === null) log.warn("the hub does not take records", { code: code ?? "internal" });
    refusal = { reason, remedy: hint };
  };

  const pump = (): void => {
    if (pumping !== null || closing.signal.aborted) return;
    if (clock.monotonicUs() < pausedUntilUs) return;
    pumping = sendAll()
      .catch(failed)
      .finally(() => {
        pumping = null;
      });
  };

  const say = (notices: Partial<Notices>): void => {
    if (isMuted()) return;
    seal({ ...NO_NOTICES, ...notices, events: [], erased: [] }, () => {});
    pump();
  };

  const flush = async (): Promise<void> => {
    pump();
    await pumping;
  };

  return {
    tick: () => {
      if (closing.signal.aborted || isMuted() || conflict !== null) return;
      try {
        sealWhatIsDue();
      } catch (thrown) {
        // A disk that is full: the changes stay noted, and are sealed when there is room.
        if (refusal === null)
          log.warn("cannot seal what is to be told to other devices", {
            reason: reasonForLog(thrown),
          });
        refusal = {
          reason: "What is to be told to other devices cannot be written.",
          remedy: "Make room on the disk; it goes on by itself.",
        };
        return;
      }
      const isCheckDue = clock.monotonicUs() - tailCheckedUs >= BETWEEN_TAIL_CHECKS_US;
      if (outbox.messageCount() > 0 || isBehind || isCheckDue) pump();
    },
    say,
    farewell: async () => {
      pausedUntilUs = Number.NEGATIVE_INFINITY;
      isBehind = true;
      await flush();
      say({ isBye: true });
      await flush();
      // Whose name another device goes on with has not to say goodbye for it.
      return outbox.messageCount() === 0 || conflict !== null || isMuted();
    },
    rejoin: async () => {
      await pumping;
      const tail = await driver.tail(APPEND_TIMEOUT_MS);
      beginAnew(tail?.epoch ?? 0);
      pump();
    },
    flush,
    // What the hub itself refuses is told with its state.
    trouble: () => conflict ?? (driver.state().state === "refused" ? null : refusal),
    sentUs: () => sentUs,
    aheadOfHubUs: hubClock.aheadUs,
    close: async () => {
      closing.abort();
      stopListening();
      await pumping;
    },
  };
}

function goesOnElsewhere(): ActivityError {
  const { reason, remedy } = sameIdentity();
  return new ActivityError("hub_conflict", reason, remedy);
}

/** The two look alike from here: in both the hub knows records of ours that we do not. */
function sameIdentity(): Trouble {
  return {
    reason:
      "The hub has records of this device that it did not write: its database was restored from an older backup or " +
      "recovered, or its data folder was copied to another device.",
    remedy:
      "After a restore or a recovery: activityd hub rejoin. After a copy, on one of the two: activityd hub leave, then " +
      "activityd hub join CODE.",
  };
}

/** About what the events take in a record. */
function sizeOf(events: readonly { readonly facts: object }[]): number {
  const seen = new Set(events.map(({ facts }) => JSON.stringify(facts)));
  return [...seen].reduce((sum, text) => sum + Buffer.byteLength(text), events.length * 48);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
