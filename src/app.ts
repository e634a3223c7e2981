/**
 * The daemon without its faces: capture, store and answers in one object. It promises that what it tells is
 * what was committed or, while the disk refuses, what is held in memory, and that one failing part leaves the
 * others running.
 */
import type { ActivityApi, PreparedAnswers } from "./api.ts";
import { createAnswers } from "./app/answers.ts";
import { createChores } from "./app/chores.ts";
import { createHeldNotices } from "./app/held-notices.ts";
import { createLiveSources, type LiveSources } from "./app/live-sources.ts";
import { createPace } from "./app/pace.ts";
import { createPreparedReadings, parseReadings } from "./app/prepared-readings.ts";
import { createSessionTurns } from "./app/session-turns.ts";
import { readStatus } from "./app/status.ts";
import { createWatching, type Watching } from "./app/watching.ts";
import { createDaemonNotices } from "./auto-reply/reply/daemon-notices.ts";
import { createMessageNotices } from "./auto-reply/reply/message-notices.ts";
import { createSystemEventQueue } from "./auto-reply/reply/system-events.ts";
import { readUpToNow } from "./capture/present-events.ts";
import type { PrivacyGate } from "./capture/privacy.ts";
import { createLivePrivacy } from "./capture/privacy/live.ts";
import { createSampler } from "./capture/sampler.ts";
import type { SourceRegistry } from "./capture/sources/registry.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import { ActivityError } from "./errors.ts";
import { reasonForLog, type Log } from "./log.ts";
import { createOwnerControl } from "./owner/control.ts";
import { expireGiven } from "./owner/given.ts";
import { createOwnerHub, toForgetRequest, type HubPort } from "./owner/hub.ts";
import type { Paths } from "./paths.ts";
import { type BucketStore, createBucketStore } from "./store/buckets.ts";
import { readAllDevices } from "./store/devices/all-devices.ts";
import type { WishOrigin } from "./store/event-walk.ts";
import { openEventStore, type EventStore } from "./store/events.ts";
import type { TravellingWish } from "./store/forget/plan.ts";
import { createHousekeeping } from "./store/housekeeping.ts";
import { openReadings } from "./store/readings.ts";
import { recoverInThread, type Recoverer } from "./store/recovery/aside.ts";
import { checkLater, type DatabaseCheck } from "./store/recovery/check.ts";
import { createSessionEventTable } from "./store/session-events.ts";

const MAX_TICK_AGE_US = 15_000_000;
const DEFAULT_EVENTS_LIMIT = 1_000;

export interface ActivityAppOptions {
  readonly config: Config;
  readonly paths: Paths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  /** The backends; all of this platform's unless given. */
  readonly registry?: SourceRegistry;
  /** Who recovers a damaged record; a thread unless given. */
  readonly recoverer?: Recoverer;
}

/** An `ActivityApi` in this process, with its capture. */
export interface ActivityApp extends ActivityApi {
  /**
   * Begins to capture. Resolves after every kind of source was sought once; rejects with `privacy_failed`. Once `ending`
   * aborts, nothing more is begun.
   */
  readonly start: (ending?: AbortSignal) => Promise<void>;
  /**
   * The settings may have changed: judges by the privacy rules that `read` gives from now on, also what is on the
   * screen. What cannot be read leaves the rules in force, and is told among the problems of `status`.
   */
  readonly reloadRules: (read: () => Config["privacy"]) => Promise<void>;
  /** Whether the sampling loop turns and the store answers: what a watchdog wants to know. */
  readonly isAlive: () => boolean;
  readonly guests: Guests;
  readonly others: OtherDevices;
  readonly prepared: PreparedAnswers;
  readonly follow: Watching["follow"];
}

/** What programs of others that send what they see need of the daemon. */
export interface Guests {
  readonly buckets: BucketStore;
  readonly gate: PrivacyGate;
  readonly take: LiveSources["take"];
  readonly isPaused: () => boolean;
  readonly nowUs: () => number;
  /** For readers in threads of their own, after `requireRecord`. */
  readonly databasePath: string;
  readonly requireRecord: EventStore["requireRecord"];
}

/** What the hub needs of the daemon. */
export interface OtherDevices {
  readonly store: EventStore;
  readonly gate: PrivacyGate;
  /** Forgets here what the owner wished on another device. Rejects while another wish is carried out. */
  readonly forget: (wish: TravellingWish, origin: WishOrigin) => Promise<void>;
  /** Says that other devices' record changed. */
  readonly changed: () => void;
  /** See `Pace.turn`. */
  readonly turn: () => Promise<void>;
  readonly attach: (port: HubPort | null) => void;
}

/** Opens the store and makes everything ready. Throws what the store or the rules throw. */
export function createActivityApp(options: ActivityAppOptions): ActivityApp {
  const { config, paths, env, clock, log } = options;
  const startedUs = clock.nowUs();
  const privacy = createLivePrivacy(config.privacy, clock);
  const { gate } = privacy;
  const { recoverer = recoverInThread } = options;
  const store = openEventStore({ directory: paths.dataDirectory, clock, log, recoverer });
  const readings = openReadings(store.database.path, store);
  const { keep_days: keepDays, max_megabytes: maxMegabytes } = config.store;
  const housekeeping = createHousekeeping({
    store,
    directory: paths.dataDirectory,
    limits: {
      maxAgeDays: keepDays === 0 ? null : keepDays,
      maxBytes: maxMegabytes === 0 ? null : maxMegabytes * 1024 * 1024,
    },
    onExpired: (sinceUs) => expireGiven(paths, sinceUs),
    log,
  });
  const chores = createChores({
    work: () => housekeeping.run(clock.nowUs()),
    nowUs: clock.nowUs,
  });
  let isClosed = false;
  const queue = createSystemEventQueue({
    rows: createSessionEventTable(store.database),
    nowUs: clock.nowUs,
  });
  const isRecovering = (): boolean => store.recovering() !== null;
  const heldNotices = createHeldNotices(queue, isRecovering);
  const notices = createMessageNotices(heldNotices, clock.nowUs);
  const ownNotices = createDaemonNotices(config.notices, notices.say);

  // Before the parts it asks: they may tell of a change while they are made, such as a pause that goes on.
  const answers = createAnswers({
    store,
    present: () => sampler.present(),
    paused: () => owner.paused(),
    self: () => hub.self(),
    config,
    clock,
  });
  const watching = createWatching({ answers, owner: () => owner });

  const sampler = createSampler({
    store,
    gate,
    clock,
    log,
    idleAfterMs: config.capture.idle_after_seconds * 1000,
    onChange: changed,
    onLeap: chores.leapt,
  });

  const hub = createOwnerHub(clock, async () => {
    const { leaveRecords } = await import("./store/devices/leave.ts");
    const hadRecords = await leaveRecords(store);
    changed();
    return hadRecords;
  });
  const pace = createPace(clock);
  const owner = createOwnerControl({
    store,
    privacy,
    keepTurns: config.ledger.keep_turns,
    sampler,
    paths,
    clock,
    log,
    onChange: () => {
      ownNotices.paused(owner.paused() !== null);
      changed();
    },
    onForgotten: hub.tell,
  });

  const sources = createLiveSources({
    capture: config.capture,
    registry: options.registry,
    env,
    sampler,
    gate,
    store,
    isPaused: () => owner.paused() !== null,
    clock,
    log,
    onNotification: ({ app, summary }) => notices.tell(app, summary),
    onState: ({ kind, state }) => ownNotices.source(kind, state),
    onSystem: ({ batteryPercent, power }) => ownNotices.battery(batteryPercent, power),
    onChange: changed,
  });

  const prepared = createPreparedReadings({
    readings,
    answers,
    owner,
    present: () => sampler.present(),
    clock,
  });
  let check: DatabaseCheck | null = null;
  const shareLog = (): void => store.checkpoints.shareWith(readings.moveLog);
  if (!isRecovering()) shareLog();
  store.onRecovering(changed);
  // Each by itself: one that fails keeps the others from nothing.
  for (const follow of [
    sampler.recovered,
    shareLog,
    forgot,
    answers.learn,
    checkRules,
    owner.clients.recovered,
    heldNotices.recovered,
  ])
    store.onRecovering((isBegun) => {
      if (!isBegun && !isClosed) follow();
    });

  return {
    start: async (ending) => {
      privacy.check();
      check = checkLater(store, log);
      await sources.start();
      if (ending?.aborted === true) return;
      checkRules();
      await chores.begin();
      // Closed before it had begun: nothing more may be.
      if (isClosed) return;
      answers.learn();
    },
    guests: {
      buckets: createBucketStore(store.database),
      gate,
      take: sources.take,
      isPaused: () => owner.paused() !== null,
      nowUs: clock.nowUs,
      databasePath: store.database.path,
      requireRecord: store.requireRecord,
    },
    follow: watching.follow,
    reloadRules: async (read) => {
      await owner.reloadRules(read);
      if (!isClosed) sampler.refresh();
    },
    others: {
      store,
      gate,
      forget: async (wish, origin) => {
        store.requireRecord();
        try {
          await owner.forget(toForgetRequest(wish, clock.nowUs()), origin);
        } finally {
          forgot();
        }
      },
      changed,
      turn: async () => {
        await store.checkpoints.settled();
        await pace.turn();
      },
      attach: hub.attach,
    },
    isAlive: () => {
      store.readIfThere(() => store.latest("window", 1));
      return clock.monotonicUs() - sampler.lastTickUs() < MAX_TICK_AGE_US;
    },
    status: async () =>
      readStatus({
        startedUs,
        nowUs: clock.nowUs(),
        paths,
        store,
        keepers: sources.keepers,
        trouble: sampler.trouble(),
        paused: owner.paused(),
        notes: [...owner.notes(), ...hub.notes()],
        problems: [...owner.problems(), ...sources.problems(), ...hub.problems()],
      }),
    context: async (request) => {
      owner.clients.admit(request.client);
      const given = await answers.answer(request);
      owner.note(request, given);
      owner.noteLeftOut(request, given);
      pace.answered();
      return given;
    },
    events: async ({
      fromUs,
      toUs = clock.nowUs() + 1,
      kinds,
      limit = DEFAULT_EVENTS_LIMIT,
      allDevices = false,
      client,
    }) => {
      owner.clients.admit(client);
      if (toUs < fromUs) {
        throw new ActivityError(
          "bad_request",
          `The range ends (${toUs}) before it begins (${fromUs}).`,
          "Give fromUs below toUs.",
        );
      }
      const wanted = { limit, ...(kinds === undefined ? {} : { kinds }) };
      const between = readUpToNow(store, sampler.present(), clock.nowUs());
      const { database, remote } = store;
      const found = allDevices
        ? readAllDevices({ between, database, remote }, fromUs, toUs, wanted)
        : between(fromUs, toUs, wanted);
      owner.noteEvents(client, found.events);
      return found;
    },
    search: async ({ client, ...request }) => {
      owner.clients.admit(client);
      answers.settle();
      const found = await readings.search(request);
      owner.noteSearch(client, request.q, found.hits);
      return found;
    },
    prepared,
    ...parseReadings(prepared),
    rules: async () => owner.rules(),
    testRule: async (request) => owner.testRule(request),
    clients: async () => owner.clients.list(),
    setClient: async (request) => {
      const list = owner.clients.set(request);
      // Who watches is turned away at once.
      watching.changed();
      return list;
    },
    openPage: async () => {
      throw new ActivityError(
        "page_unavailable",
        "No page is served here.",
        "Start a daemon with: activityd start --detach",
      );
    },
    hub: hub.answer,
    changeHub: hub.change,
    watch: watching.watch,
    ...createSessionTurns({ queue, notices, answers, owner, gate, isRecovering }),
    pause: async (request) => owner.pause(request),
    resume: async () => owner.resume(),
    forget: async (request) => {
      owner.clients.admit(request.client);
      store.requireRecord();
      try {
        return await owner.forget(request);
      } finally {
        if (request.dryRun !== true) forgot();
      }
    },
    ledger: async (request) => owner.ledger(request),
    close: async () => {
      isClosed = true;
      const answered = answers.close();
      sources.close();
      sampler.close();
      watching.close();
      await answered;
      await chores.close();
      await housekeeping.close();
      readings.close();
      owner.close();
      check?.close();
      store.close();
    },
  };

  /** In steps behind everything else; a failure costs a notice, not the start. */
  function checkRules(): void {
    void owner.checkRules().catch((thrown: unknown) => {
      log.warn("cannot compare the record with the privacy rules", {
        reason: reasonForLog(thrown),
      });
    });
  }

  function changed(): void {
    answers.changed();
    watching.changed();
  }

  /** What was learned from it goes as well, also of what was forgotten before something failed. */
  function forgot(): void {
    answers.unlearn();
    watching.forgot();
  }
}
