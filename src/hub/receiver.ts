/**
 * Other devices' records: checked, opened and taken into the store. It promises that a record counts once however
 * often it comes, that one which is forged, out of its place or of a device that was taken out changes nothing,
 * and that requests are answered while a long absence is caught up with.
 */
import type { EventFacts, RawFacts } from "../capture/events.ts";
import type { Clock } from "../clock.ts";
import { ActivityError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { DeviceRow, Devices } from "../store/devices.ts";
import type { EventStore } from "../store/events.ts";
import type { WishOrigin } from "../store/event-walk.ts";
import type { TravellingWish } from "../store/forget/plan.ts";
import type { RemotePut } from "../store/devices/remote.ts";
import { toVersion } from "../store/devices/version.ts";
import type { CarriedRecord } from "./driver.ts";
import { NO_RECORD, openRecord, readEnvelope, type Envelope } from "./envelope.ts";
import { currentKey, type HubIdentity } from "./identity.ts";
import {
  readPayload,
  type ForgottenEvents,
  type IncomingPayload,
  type KeyHandout,
} from "./payload.ts";

export interface Receiver {
  /** Takes a record in. Rejects when that has to be tried again later, such as while the disk is full. */
  readonly take: (record: CarriedRecord) => Promise<void>;
  /** Tries the records again for which there was no key. */
  readonly retryHeld: () => Promise<void>;
  /** Erases the text that only events had which are gone. */
  readonly tidy: () => Promise<void>;
  /** Records that were no records of this hub, or forged, in this process. */
  readonly forged: () => number;
}

export interface ReceiverOptions {
  readonly store: EventStore;
  readonly devices: Devices;
  readonly identity: () => HubIdentity;
  /** What this device's gate lets by of facts that come from another. */
  readonly admit: (facts: RawFacts, atUs: number) => EventFacts | null;
  /** Forgets here what the owner wished elsewhere; rejects while another wish is carried out. */
  readonly forget: (wish: TravellingWish, origin: WishOrigin) => Promise<void>;
  /** See `HubOptions.turn`. */
  readonly turn: () => Promise<void>;
  /** See `HubClock.aheadUs`. */
  readonly aheadOfHubUs: () => number | null;
  readonly takeKeys: (handout: KeyHandout, maker: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** About a millisecond of work: whoever asks for a block meanwhile waits no longer. */
const EVENTS_PER_STEP = 16;
const HELD_PER_STEP = 64;
/** So many of the newest records say how far a device's clock is off: delay only ever hides that it is ahead. */
const OFFSETS_REMEMBERED = 50;
const CLOCK_STEP_US = 30_000_000;

export function createReceiver(options: ReceiverOptions): Receiver {
  const { store, devices, identity, admit, forget, aheadOfHubUs, takeKeys, turn, clock, log } =
    options;
  const remote = store.remote();
  const offsets = new Map<number, number[]>();
  const orphaned = new Set<number>();
  /** By how much our clock was ahead of the hub's when offsets were measured. */
  let measuredAheadUs = 0;
  let forged = 0;
  let isShredDue = false;

  const take = async (record: CarriedRecord): Promise<boolean> => {
    const envelope = readEnvelope(record.bytes);
    if (envelope === null || !isWhatItSays(envelope, record)) {
      forged += 1;
      if (forged === 1) log.warn("a record in the hub is forged or damaged, and was passed over");
      return true;
    }
    if (envelope.device === identity().device) return true;
    const version = toVersion(envelope);
    const lastCounting = identity().revoked[envelope.device];
    if (lastCounting !== undefined && version > lastCounting) return true;
    const key = identity().ring.find(({ id }) => id === envelope.keyId);
    if (key === undefined) return hold(envelope, record);
    const known = devices.find(envelope.device);
    if (known !== null && isTakenOrForked(known, envelope, version)) return true;
    if (known === null && isOutsider(envelope)) {
      forged += 1;
      return true;
    }
    const opened = openRecord(envelope, key);
    if (opened === null) {
      forged += 1;
      return true;
    }
    const payload = readPayload(opened);
    // Made by a newer program: it is understood after an update.
    if (payload === null) return hold(envelope, record);
    await apply(known ?? devices.ensure(envelope.device, "device"), envelope, payload, record);
    return true;
  };

  const isWhatItSays = (envelope: Envelope, record: CarriedRecord): boolean =>
    envelope.hub === identity().hub &&
    envelope.device === record.device &&
    envelope.epoch === record.epoch &&
    envelope.seq === record.seq;

  /** A device nobody knows, with a key that was changed without it: it got hold of an old code. */
  const isOutsider = ({ keyId, device }: Envelope): boolean => {
    const current = currentKey(identity().ring);
    if (keyId === current.id || identity().revoked[device] !== undefined) return false;
    return current.recipients !== null && !current.recipients.includes(device);
  };

  const hold = (envelope: Envelope, { carriedUs }: CarriedRecord): boolean => {
    const { device, epoch, seq, bytes } = envelope;
    if (!devices.hold({ device, epoch, seq, bytes, carriedUs }))
      log.warn("too many records wait for a key: one was let go of");
    return false;
  };

  /** Whether a record is here already, or stands where another one is. */
  const isTakenOrForked = (device: DeviceRow, envelope: Envelope, version: number): boolean => {
    const { hash, previous, seq } = envelope;
    const same = devices.record(device.key, version);
    if (same !== null) {
      if (!isEqual(same.hash, hash)) fork(device);
      return true;
    }
    const before = seq === 1 ? null : devices.record(device.key, version - 1);
    const after = devices.record(device.key, version + 1);
    // Once there are two logs, a hole in one may be filled by the other: then only what follows counts.
    const mustFollow = device.state === "forked" && envelope.epoch === epochOf(device.version);
    const fits =
      (before !== null || seq === 1 || !mustFollow) &&
      (before === null || isEqual(before.hash, previous)) &&
      (after === null || isEqual(after.previous, hash)) &&
      (seq !== 1 || isEqual(previous, NO_RECORD));
    if (!fits) fork(device);
    return !fits;
  };

  const fork = (device: DeviceRow): void => {
    if (device.state === "forked") return;
    log.warn("a device of the hub has two logs: only what continues the first is taken");
    devices.update(device.key, {
      state: "forked",
      trouble:
        "Two logs go under its name: it was restored from a backup, or its data folder was copied to another device.",
    });
  };

  const apply = async (
    device: DeviceRow,
    envelope: Envelope,
    payload: IncomingPayload,
    record: CarriedRecord,
  ): Promise<void> => {
    const version = toVersion(envelope);
    const origin = { deviceKey: device.key, version };
    for (const wish of payload.wishes) await carryOut(wish, origin);
    for (const each of payload.forgotten) await forgetEvents(each);
    note(remote.erase(device.key, version, payload.erased));
    await turn();
    for (let from = 0; from < payload.events.length; from += EVENTS_PER_STEP) {
      const step = payload.events.slice(from, from + EVENTS_PER_STEP);
      note(remote.put(device.key, version, step.flatMap(admitted)).labels);
      await turn();
    }
    if (payload.hello !== null) {
      const { name, kind, sealingPublic: sealingKey } = payload.hello;
      devices.update(device.key, { name, kind, sealingKey });
    }
    // Before the record counts as taken: it comes again where the keys could not be written down.
    for (const handout of payload.keys) takeKeys(handout, envelope.device);
    const { hash, previous } = envelope;
    const receivedUs = clock.nowUs();
    const carriedUs = toOwnClock(record.carriedUs);
    store.database.transaction(() => {
      devices.addRecord(device.key, version, { hash, previous });
      const isNewest = version > device.version;
      const isBack = device.state === "left" && isNewest && !payload.isBye;
      // A log that begins anew ends a quarrel about the one before.
      const isHealed = device.state === "forked" && envelope.epoch > epochOf(device.version);
      // Made later and dated earlier: its clock was put back, and what was known of it holds no more.
      if (isNewest && payload.sentUs < (device.sentUs ?? 0)) offsets.delete(device.key);
      devices.update(device.key, {
        ...(payload.isBye ? { state: "left" as const } : {}),
        ...(isBack || isHealed ? { state: "member" as const, trouble: null } : {}),
        ...(isNewest ? { version, sentUs: payload.sentUs, receivedUs } : {}),
        offsetUs: offsetOf(device.key, payload.sentUs - (carriedUs ?? receivedUs)),
      });
    });
  };

  const admitted = ({ facts, ...event }: IncomingPayload["events"][number]): RemotePut[] => {
    const kept = admit(facts, event.startUs);
    return kept === null ? [] : [{ ...event, facts: kept }];
  };

  const carryOut = async (wish: TravellingWish, origin: WishOrigin): Promise<void> => {
    try {
      await forget(wish, origin);
    } catch (thrown) {
      // It means nothing here, and would mean nothing the next time: nobody is to wait for it.
      if (!(thrown instanceof ActivityError && thrown.code === "bad_request")) throw thrown;
      log.warn("a wish to forget of another device means nothing here");
    }
  };

  /** Events that were forgotten on another device: of a third one, or of ours. */
  const forgetEvents = async ({ device, startsUs }: ForgottenEvents): Promise<void> => {
    if (device === identity().device) {
      remote.forgetOwn(startsUs);
      const { events } = await store.eraser.events(startsUs, "forget");
      isShredDue ||= events > 0;
      return;
    }
    const { key: deviceKey } = devices.ensure(device, "device");
    note(remote.forget(startsUs.map((startUs) => ({ deviceKey, startUs }))));
  };

  const note = (labels: ReadonlySet<number>): void => {
    for (const label of labels) orphaned.add(label);
  };

  /** An instant by the hub's clock as one by ours. What was measured while ours stood otherwise holds no more. */
  const toOwnClock = (carriedUs: number | null): number | null => {
    const aheadUs = aheadOfHubUs() ?? 0;
    if (Math.abs(aheadUs - measuredAheadUs) > CLOCK_STEP_US) {
      offsets.clear();
      measuredAheadUs = aheadUs;
    }
    return carriedUs === null ? null : carriedUs + measuredAheadUs;
  };

  /** The largest of the newest: a record that took long looks as if its clock were behind. */
  const offsetOf = (deviceKey: number, measuredUs: number): number => {
    const newest = [...(offsets.get(deviceKey) ?? []), measuredUs].slice(-OFFSETS_REMEMBERED);
    offsets.set(deviceKey, newest);
    return Math.max(...newest);
  };

  return {
    take: async (record) => {
      await take(record);
    },
    retryHeld: async () => {
      let lastId = 0;
      for (;;) {
        const held = devices.held(HELD_PER_STEP, lastId);
        for (const { id, ...record } of held) {
          if (await take(record)) devices.release(id);
          lastId = id;
        }
        if (held.length < HELD_PER_STEP) return;
      }
    },
    tidy: async () => {
      if (orphaned.size === 0 && !isShredDue) return;
      const labels = new Set(orphaned);
      orphaned.clear();
      const { labels: swept } = await store.eraser.sweep(labels);
      // A name that changed while it was looked at is seen elsewhere too, nearly always: then no text went.
      if (swept === 0 && !isShredDue) return;
      isShredDue = !(await store.eraser.shred());
    },
    forged: () => forged,
  };
}

function epochOf(version: number): number {
  return Math.floor(version / 2 ** 40);
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
