/**
 * This device's own log: what is to be told becomes sealed records, one after the other. It promises that a record is
 * committed together with what it takes off the list of changes, that none is larger than what carries it can take, and
 * that steady work makes few of them.
 */
import type { Clock } from "../clock.ts";
import { ActivityError } from "../errors.ts";
import type { Outbox, OwnLog } from "../store/devices/outbox.ts";
import type { LogPosition } from "./driver.ts";
import { NO_RECORD, openRecord, readEnvelope, sealRecord } from "./envelope.ts";
import { currentKey, type HubIdentity } from "./identity.ts";
import {
  NO_NOTICES,
  readPayload,
  writePayload,
  type IncomingPayload,
  type KeyHandout,
  type Notices,
} from "./payload.ts";

export interface Sealer {
  /** Where the log stands. */
  readonly log: () => OwnLog;
  /** Seals what is due by now; called about once a second. Throws when the disk does not take it. */
  readonly sealDue: () => void;
  /** Seals the oldest changes where many wait. False when they do not, or when enough is sealed already. */
  readonly sealNext: () => boolean;
  /** Whether changes wait to be sealed as soon as there is room. */
  readonly isBehind: () => boolean;
  /** Leaves nothing for later: what waits is sealed as soon as there is room. */
  readonly hasten: () => void;
  /** Seals a record with notices now, whatever waits. In a transaction of its own. */
  readonly say: (notices: Partial<Notices>) => void;
  /** Begins the log anew in an epoch later than its own and this one, with everything that is recorded. */
  readonly beginAnew: (afterEpoch: number) => void;
  /** Returns when what was sealed is on the disk: before anybody is told. */
  readonly sync: () => void;
}

export interface SealerOptions {
  readonly outbox: Outbox;
  readonly identity: () => HubIdentity;
  /** The events that go on. */
  readonly openIds: () => ReadonlySet<number>;
  /** The key in use as it is told to those who may not have it; null: all that take part have it. */
  readonly handout: () => KeyHandout | null;
  /** Told of each record once it is sealed. */
  readonly onSealed: (position: LogPosition) => void;
  readonly clock: Clock;
}

/** Steady state: one record in so long at most. The other devices name a window a second after that. */
const BETWEEN_RECORDS_US = 5_000_000;
/** The fifth tick after a record comes a moment early or late: early, it would leave everything to the sixth. */
const HALF_TICK_US = 500_000;
/** An event that goes on is told again so often. */
const BETWEEN_GROWTH_US = 60_000_000;
const BETWEEN_HELLOS_US = 86_400_000_000;
/** Some milliseconds of work, and some ten kilobytes. */
const EVENTS_PER_RECORD = 100;
/** Leaves room for what a record carries besides, and for padding. */
const MAX_PAYLOAD_BYTES = 192 * 1024;
/** So many sealed records wait at most; what else waits is a row of the list of changes. */
export const MOST_SEALED = 64;

export function createSealer(options: SealerOptions): Sealer {
  const { outbox, identity, openIds, handout, onSealed, clock } = options;
  let lastRecordUs = Number.NEGATIVE_INFINITY;
  let lastGrowthUs = clock.monotonicUs();
  let isBehind = outbox.waiting(openIds()) > EVENTS_PER_RECORD;
  let isSynced = false;

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
    onSealed(position);
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

  const sealDue = (): void => {
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
  };

  return {
    log: ownLog,
    sealDue,
    sealNext: () => {
      if (!isBehind || outbox.messageCount() >= MOST_SEALED) return false;
      sealChanges(false);
      return true;
    },
    isBehind: () => isBehind,
    hasten: () => {
      isBehind = true;
    },
    say: (notices) => seal({ ...NO_NOTICES, ...notices, events: [], erased: [] }, () => {}),
    beginAnew,
    sync: () => {
      if (!isSynced) outbox.sync();
      isSynced = true;
    },
  };
}

/** About what the events take in a record. */
function sizeOf(events: readonly { readonly facts: object }[]): number {
  const seen = new Set(events.map(({ facts }) => JSON.stringify(facts)));
  return [...seen].reduce((sum, text) => sum + Buffer.byteLength(text), events.length * 48);
}
