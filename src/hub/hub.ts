/**
 * One record over several devices: this device's part in a hub. It promises that the daemon works on unchanged
 * while the hub is away, that every device comes to the same record whatever happens on the way, and that what is
 * wrong is told with what to do about it.
 */
import type { HubAnswer, HubDevice, HubRequest } from "../api.ts";
import type { EventFacts, RawFacts } from "../capture/events.ts";
import type { Clock } from "../clock.ts";
import { ActivityError } from "../errors.ts";
import { reasonForLog, type Log } from "../log.ts";
import { createDevices, takesPart } from "../store/devices.ts";
import type { EventStore } from "../store/events.ts";
import type { WishOrigin } from "../store/event-walk.ts";
import { createOutbox } from "../store/devices/outbox.ts";
import type { RemoteId } from "../store/devices/remote-reader.ts";
import type { CarriedRecord, HubDriver } from "./driver.ts";
import { NO_RECORD } from "./envelope.ts";
import { leftUnheard, reportHub } from "./hub-report.ts";
import {
  readIdentity,
  removeIdentity,
  writeIdentity,
  type HubIdentity,
  type Revoked,
} from "./identity.ts";
import {
  finishHandout,
  isKeySpoiled,
  makeHandout,
  repeatHandout,
  takeHandout,
  takeRing,
  unfinishedHandouts,
  type KeyRecipient,
} from "./keys.ts";
import { leaveRecords } from "../store/devices/leave.ts";
import type { KeyHandout, TravellingWish } from "./payload.ts";
import { createReceiver } from "./receiver.ts";
import { createSender, type Trouble } from "./sender.ts";

export interface Hub {
  /** How it stands, or, with a request, how it stands once that is done. */
  readonly request: (request: HubRequest | null) => Promise<HubAnswer>;
  /** What this device is called. */
  readonly self: () => Pick<HubDevice, "name" | "kind">;
  /**
   * Tells the other devices what the owner forgot here: the wish, for what only they have, and the events of theirs
   * that were known here. Committed when it returns.
   */
  readonly forgotten: (wish: TravellingWish, ids: readonly RemoteId[]) => void;
  readonly problems: () => readonly Trouble[];
  readonly notes: () => readonly Trouble[];
  /** Looks for something to tell now, as a timer does each second. */
  readonly tick: () => void;
  /** Resolves when what was sealed is with the hub, or cannot get there now. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface HubOptions {
  readonly driver: HubDriver;
  readonly store: EventStore;
  /** The data folder, with the identity in it. */
  readonly directory: string;
  /** What this device's privacy rules let by of facts that come from another. */
  readonly admit: (facts: RawFacts, atUs: number) => EventFacts | null;
  /** Forgets here what the owner wished on another device; rejects while another wish is carried out. */
  readonly forget: (wish: TravellingWish, origin: WishOrigin) => Promise<void>;
  /** Called when other devices' record changed, about once a second at most. */
  readonly onChange: () => void;
  /** Resolves when there is time for some milliseconds of work: whoever asks the daemon comes first. */
  readonly turn: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

const TICK_MS = 1_000;
const BETWEEN_LETTING_GO_US = 86_400_000_000;
/** Starts of events in one notice. */
const STARTS_PER_NOTICE = 2_000;

/** Takes part in the hub. @throws ActivityError `hub_refused` when this device has no identity in one */
export function openHub(options: HubOptions): Hub {
  const { driver, store, directory, admit, forget, onChange, turn, clock, log } = options;
  const first = readIdentity(directory);
  if (first === null) {
    throw new ActivityError(
      "hub_refused",
      "This device is in no hub, though the settings name one.",
      "Take part in one: activityd hub join CODE. Or be without: activityd hub leave",
    );
  }
  let identity = first;
  let receiving: Trouble | null = null;
  let isRevoked = identity.revoked[identity.device] !== undefined;
  let ownTrouble: Trouble | null = isRevoked ? REVOKED : null;
  let hasChanged = false;
  let hasNewKey = false;
  let letGoUs = Number.NEGATIVE_INFINITY;
  let chores: Promise<void> = Promise.resolve();
  const outbox = createOutbox(store.database);
  const devices = createDevices(store.database);

  const known = outbox.readLog();
  if (known?.device !== identity.device) {
    outbox.begin(identity.withHistory);
    outbox.dropMessages();
    outbox.writeLog({
      device: identity.device,
      epoch: 1,
      seq: 0,
      hash: NO_RECORD,
      cursor: null,
      toldUs: 0,
    });
  }

  const setIdentity = (next: HubIdentity): void => {
    // What `hub join` with a newer code wrote beside this daemon stays.
    const written = readIdentity(directory);
    const joined =
      written?.device === next.device
        ? takeRing({ ...next, name: written.name }, written.ring)
        : next;
    writeIdentity(directory, joined);
    identity = joined;
  };

  const sender = createSender({
    outbox,
    driver,
    identity: () => identity,
    openIds: store.openIds,
    handout: () => repeatHandout(identity, recipients()),
    isMuted: () => isRevoked,
    clock,
    log,
  });

  const receiver = createReceiver({
    store,
    devices,
    identity: () => identity,
    admit,
    forget,
    aheadOfHubUs: sender.aheadOfHubUs,
    takeKeys,
    turn,
    clock,
    log,
  });

  const subscription = driver.subscribe({ cursor: outbox.readLog()?.cursor ?? null, deliver });
  const timer = setInterval(tick, TICK_MS);
  for (const handout of unfinishedHandouts(identity, recipients())) hand(handout);
  void inOrder(receiver.retryHeld);

  return {
    self: () => ({ name: identity.name, kind: identity.kind }),
    request: async (request) => {
      switch (request?.action) {
        case "rotate":
          rotate({});
          break;
        case "revoke":
          revoke(request.device ?? "");
          break;
        case "rejoin":
          await sender.rejoin();
          break;
        case "leave":
          return leave();
        case undefined:
      }
      return answer();
    },
    forgotten: tellForgotten,
    problems: () => answer().problems,
    notes: () => answer().notes,
    tick,
    flush: sender.flush,
    close,
  };

  function tick(): void {
    sender.tick();
    letGoOfOld();
    if (!hasChanged) return;
    hasChanged = false;
    onChange();
  }

  /** Once a day. Where it fails, the state of the hub says why, and the next day is soon enough. */
  function letGoOfOld(): void {
    if (isRevoked || driver.state().state !== "connected") return;
    if (clock.monotonicUs() - letGoUs < BETWEEN_LETTING_GO_US) return;
    letGoUs = clock.monotonicUs();
    const gone = devices.all().filter((device) => !takesPart(device));
    if (gone.length > 0) driver.letGo(gone.map(({ id }) => id)).catch(() => {});
  }

  async function deliver(records: readonly CarriedRecord[], cursor: string): Promise<void> {
    if (isRevoked) return;
    try {
      for (const record of records) await receiver.take(record);
      receiving = null;
    } catch (thrown) {
      // The driver brings them again; until then the owner is told what they wait for.
      receiving = toTrouble(thrown);
      throw thrown;
    }
    const own = outbox.readLog();
    if (own !== null) outbox.writeLog({ ...own, cursor });
    if (records.length === 0) return;
    hasChanged = true;
    if (hasNewKey) {
      hasNewKey = false;
      void inOrder(receiver.retryHeld);
    }
    void inOrder(receiver.tidy);
  }

  /** One chore after the other, beside everything else. */
  function inOrder(chore: () => Promise<void>): Promise<void> {
    chores = chores.then(chore).catch((thrown: unknown) => {
      log.warn("work on other devices' records failed", { reason: reasonForLog(thrown) });
    });
    return chores;
  }

  function recipients(): readonly KeyRecipient[] {
    return devices
      .all()
      .flatMap(({ id, sealingKey }) =>
        sealingKey === null ? [] : [{ id, sealingPublic: sealingKey }],
      );
  }

  /** A new key for all that stay. In the file before anybody hears of it, in use when all are sure to. */
  function rotate(revoked: Revoked): void {
    const made = makeHandout(identity, recipients(), revoked);
    setIdentity(made.identity);
    hand(made.handout);
    markRevoked();
    log.info("the key of the hub was changed", { devices: Object.keys(made.handout.boxes).length });
  }

  function hand(handout: KeyHandout): void {
    sender.say({ keys: [handout] });
    setIdentity(finishHandout(identity, handout.id));
  }

  function markRevoked(): void {
    for (const { key, id, state } of devices.all()) {
      if (identity.revoked[id] !== undefined && state !== "revoked")
        devices.update(key, { state: "revoked" });
    }
  }

  function takeKeys(handout: KeyHandout, maker: string): void {
    const { identity: next, outcome } = takeHandout(identity, handout, maker);
    setIdentity(next);
    markRevoked();
    if (outcome === "revoked") {
      isRevoked = true;
      ownTrouble = REVOKED;
      log.error("this device was taken out of the hub");
      return;
    }
    if (outcome === "excluded") {
      ownTrouble = EXCLUDED;
      log.warn("the key of the hub was changed without this device");
      return;
    }
    if (outcome === "taken") hasNewKey = true;
    // Two devices may have taken out each another one at the same time.
    if (isKeySpoiled(identity)) rotate({});
  }

  function revoke(wanted: string): void {
    const named = devices
      .all()
      .filter(({ id, name }) => name === wanted || (wanted.length >= 4 && id.startsWith(wanted)));
    // A device that came back bears the name of the one that it was before.
    const present = named.filter(takesPart);
    const found = present.length > 0 ? present : named;
    const [device] = found;
    if (device === undefined || found.length > 1) {
      const names = devices.all().map(({ id, name }) => `${name} (${id.slice(0, 8)})`);
      throw new ActivityError(
        device === undefined ? "not_found" : "bad_request",
        device === undefined
          ? `There is no other device "${wanted}" in the hub.`
          : `More than one device is meant by "${wanted}".`,
        names.length === 0 ? "There are no others yet." : `There are: ${names.join(", ")}.`,
      );
    }
    rotate({ [device.id]: device.version });
  }

  async function leave(): Promise<HubAnswer> {
    const isHeard = (await sender.farewell()) || !devices.all().some(takesPart);
    await stop();
    await leaveRecords(store);
    removeIdentity(directory);
    isRevoked = true;
    ownTrouble = null;
    onChange();
    return { ...answer(), notes: isHeard ? [] : [leftUnheard(identity.device)] };
  }

  function tellForgotten(wish: TravellingWish, ids: readonly RemoteId[]): void {
    if (isRevoked) return;
    const byKey = new Map(devices.all().map(({ key, id }) => [key, id]));
    const starts = new Map<string, number[]>();
    for (const { deviceKey, startUs } of ids) {
      const device = byKey.get(deviceKey);
      if (device === undefined) continue;
      const list = starts.get(device) ?? [];
      list.push(startUs);
      starts.set(device, list);
    }
    for (const [device, startsUs] of starts) {
      for (let from = 0; from < startsUs.length; from += STARTS_PER_NOTICE) {
        const some = startsUs.slice(from, from + STARTS_PER_NOTICE);
        sender.say({ forgotten: [{ device, startsUs: some }] });
      }
    }
    // Last: who carries the wish out makes a new backup, in which nothing of it is to be any more.
    sender.say({ wishes: [wish] });
  }

  function answer(): HubAnswer {
    return reportHub({
      nowUs: clock.nowUs(),
      place: driver.place,
      state: driver.state(),
      identity,
      isRevoked,
      others: devices.all().map((row) => ({ ...row, missing: devices.missing(row.key) })),
      waiting: outbox.waiting(store.openIds()) + outbox.messageCount(),
      sentUs: sender.sentUs(),
      held: devices.heldCount(),
      ownTrouble,
      troubles: [sender.trouble(), receiving].filter((trouble) => trouble !== null),
      forged: receiver.forged(),
      aheadOfHubUs: sender.aheadOfHubUs(),
      notes: driver.notes(),
    });
  }

  async function stop(): Promise<void> {
    clearInterval(timer);
    await subscription.close();
    await sender.close();
    await chores;
  }

  async function close(): Promise<void> {
    await stop();
    await driver.close();
  }
}

const REVOKED: Trouble = {
  reason: "This device was taken out of the hub.",
  remedy:
    "To take part again: activityd hub leave, then activityd hub join CODE with a new code (activityd hub invite).",
};

const EXCLUDED: Trouble = {
  reason:
    "The key of the hub was changed before this device was known, and it cannot read what came since.",
  remedy: "Get a new code on another device (activityd hub invite) and: activityd hub join CODE",
};

function toTrouble(thrown: unknown): Trouble | null {
  // Something else is being forgotten here: that is over in a moment.
  if (thrown instanceof ActivityError && thrown.code === "database_busy") return null;
  return {
    reason: `What other devices say cannot be taken: ${thrown instanceof ActivityError ? thrown.message : reasonForLog(thrown)}`,
    remedy:
      thrown instanceof ActivityError && thrown.hint !== ""
        ? thrown.hint
        : "It is tried again by itself; activityd doctor looks for the cause.",
  };
}
