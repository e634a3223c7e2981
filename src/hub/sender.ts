/**
 * The way of this device's records to the hub. It promises that a record is on the disk before anybody sees it, that what
 * waits is sent again as it was until it is acknowledged, and that nothing is sent once somebody else turns out to write
 * under the same name.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { ActivityError } from "../errors.ts";
import { reasonForLog, type Log } from "../log.ts";
import type { OwnLog } from "../store/devices/outbox.ts";
import { toVersion } from "../store/devices/version.ts";
import type { HubDriver, SealedRecord } from "./driver.ts";
import { hashOf, readEnvelope } from "./envelope.ts";
import { createHubClock } from "./hub-clock.ts";
import type { Notices } from "./payload.ts";
import { createSealer, MOST_SEALED, type SealerOptions } from "./sealer.ts";

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

export interface SenderOptions extends Omit<SealerOptions, "onSealed"> {
  readonly driver: HubDriver;
  /** Whether this device may say anything at all. */
  readonly isMuted: () => boolean;
  readonly log: Log;
}

const BETWEEN_TAIL_CHECKS_US = 60_000_000;
/**
 * A server that lags behind its leader seems to have lost records too, as does one that led before it was frozen: it is
 * asked again after so long, before everything is sent anew.
 */
const LOST_AFTER_US = 30_000_000;
const RECORDS_PER_APPEND = 32;
const APPEND_TIMEOUT_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export function createSender(options: SenderOptions): Sender {
  const { outbox, driver, identity, openIds, handout, isMuted, clock, log } = options;
  let tailCheckedUs = Number.NEGATIVE_INFINITY;
  let pumping: Promise<void> | null = null;
  let pauseMs = FIRST_PAUSE_MS;
  let pausedUntilUs = Number.NEGATIVE_INFINITY;
  let conflict: Trouble | null = null;
  let refusal: Trouble | null = null;
  let sentUs: number | null = null;
  /** Monotonic time since which the hub seems to hold less than it acknowledged; null: it holds all. */
  let seemsLostUs: number | null = null;
  const hubClock = createHubClock(clock);
  const sealer = createSealer({
    outbox,
    identity,
    openIds,
    handout,
    onSealed: hubClock.sealed,
    clock,
  });
  const closing = new AbortController();

  const stopListening = driver.onState(({ state }) => {
    if (state !== "connected") return;
    pausedUntilUs = Number.NEGATIVE_INFINITY;
    pump();
  });

  /** Compares the end of our log in the hub with what we know of it. */
  const checkTail = async (): Promise<void> => {
    const tail = await driver.tail(APPEND_TIMEOUT_MS);
    tailCheckedUs = clock.monotonicUs();
    if (tail !== null) hubClock.seen(tail);
    const own = sealer.log();
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

  const beginAnew = (afterEpoch: number): void => {
    sealer.beginAnew(afterEpoch);
    seemsLostUs = null;
    conflict = null;
  };

  const sendAll = async (): Promise<void> => {
    for (;;) {
      if (closing.signal.aborted || isMuted() || conflict !== null) return;
      if (driver.state().state !== "connected") return;
      if (clock.monotonicUs() - tailCheckedUs >= BETWEEN_TAIL_CHECKS_US) await checkTail();
      for (let sealed = 0; sealed < RECORDS_PER_APPEND && sealer.sealNext(); sealed += 1)
        await nextTurn();
      const messages = outbox.messages(RECORDS_PER_APPEND);
      const { device } = identity();
      if (messages.length === 0) return;
      const records = messages.map((message) => ({ device, ...message }));
      sealer.sync();
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
    sealer.say(notices);
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
        sealer.sealDue();
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
      if (outbox.messageCount() > 0 || sealer.isBehind() || isCheckDue) pump();
    },
    say,
    farewell: async () => {
      pausedUntilUs = Number.NEGATIVE_INFINITY;
      sealer.hasten();
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
