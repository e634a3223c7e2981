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
import type { TravellingWish } from "../store/forget/plan.ts";
import type { CarriedRecord, HubDriver } from "./driver.ts";
import { NO_RECORD } from "./envelope.ts";
import { leftUnheard, reportHub } from "./hub-report.ts";
import { openMembership } from "./membership.ts";
import { leaveRecords } from "../store/devices/leave.ts";
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
  let receiving: Trouble | null = null;
  let hasChanged = false;
  let letGoUs = Number.NEGATIVE_INFINITY;
  let chores: Promise<void> = Promise.resolve();
  const outbox = createOutbox(store.database);
  const devices = createDevices(store.database);
  const membership = openMembership({
    directory,
    devices,
    tell: (handout) => sender.say({ keys: [handout] }),
    log,
  });
  const { identity, isRevoked } = membership;

  const known = outbox.readLog();
  const { device, withHistory } = identity();
  if (known?.device !== device) {
    outbox.begin(withHistory);
    outbox.dropMessages();
    outbox.writeLog({
      device,
      epoch: 1,
      seq: 0,
      hash: NO_RECORD,
      cursor: null,
      toldUs: 0,
    });
  }

  const sender = createSender({
    outbox,
    driver,
    identity,
    openIds: store.openIds,
    handout: membership.handout,
    isMuted: isRevoked,
    clock,
    log,
  });

  const receiver = createReceiver({
    store,
    devices,
    identity,
    admit,
    forget,
    aheadOfHubUs: sender.aheadOfHubUs,
    takeKeys: membership.takeKeys,
    turn,
    clock,
    log,
  });

  const subscription = driver.subscribe({ cursor: outbox.readLog()?.cursor ?? null, deliver });
  const timer = setInterval(tick, TICK_MS);
  membership.resume();
  void inOrder(receiver.retryHeld);

  return {
    self: () => {
      const { name, kind } = identity();
      return { name, kind };
    },
    request: async (request) => {
      switch (request?.action) {
        case "rotate":
          membership.rotate();
          break;
        case "revoke":
          membership.revoke(request.device ?? "");
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
    if (isRevoked() || driver.state().state !== "connected") return;
    if (clock.monotonicUs() - letGoUs < BETWEEN_LETTING_GO_US) return;
    letGoUs = clock.monotonicUs();
    const gone = devices.all().filter((device) => !takesPart(device));
    if (gone.length > 0) driver.letGo(gone.map(({ id }) => id)).catch(() => {});
  }

  async function deliver(records: readonly CarriedRecord[], cursor: string): Promise<void> {
    if (isRevoked()) return;
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
    if (membership.hasNewKey()) void inOrder(receiver.retryHeld);
    void inOrder(receiver.tidy);
  }

  /** One chore after the other, beside everything else. */
  function inOrder(chore: () => Promise<void>): Promise<void> {
    chores = chores.then(chore).catch((thrown: unknown) => {
      log.warn("work on other devices' records failed", { reason: reasonForLog(thrown) });
    });
    return chores;
  }

  async function leave(): Promise<HubAnswer> {
    const isHeard = (await sender.farewell()) || !devices.all().some(takesPart);
    await stop();
    await leaveRecords(store);
    membership.leave();
    onChange();
    return { ...answer(), notes: isHeard ? [] : [leftUnheard(identity().device)] };
  }

  function tellForgotten(wish: TravellingWish, ids: readonly RemoteId[]): void {
    if (isRevoked()) return;
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
      identity: identity(),
      isRevoked: isRevoked(),
      others: devices.all().map((row) => ({ ...row, missing: devices.missing(row.key) })),
      waiting: outbox.waiting(store.openIds()) + outbox.messageCount(),
      sentUs: sender.sentUs(),
      held: devices.heldCount(),
      ownTrouble: membership.trouble(),
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
