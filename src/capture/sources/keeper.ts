/**
 * Keeps one kind of source open: hides probing, backoff and the change from one backend to another. It
 * promises that exactly one backend reports at a time, that every rejection is kept with its reason, and
 * that a backend which returns is used again without a restart.
 */
import { ActivityError } from "../../errors.ts";
import { reasonForLog } from "../../log.ts";
import type {
  Blindness,
  Rejection,
  SampleOf,
  Source,
  SourceContext,
  SourceKind,
  SourceProvider,
  SourceResult,
  SourceStatus,
} from "./source.ts";

/** Waits between two rounds of probing double from the first to the second of these. */
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 30_000;
/** A better backend that did not answer, such as that of a desktop still busy with its login, is asked again so seldom. */
const FIRST_UPGRADE_MS = 30_000;
const LAST_UPGRADE_MS = 600_000;
/** A backend that lived this long earned a fresh backoff; one that dies at once must not be hammered. */
const STABLE_MS = 5_000;
/** A provider that does not answer its probe within this is passed over for this round. */
const OPEN_TIMEOUT_MS = 5_000;
const SNAPSHOT_TIMEOUT_MS = 4_000;
/** A wake within this of the last one waits: a folder that churns must not become a busy loop. */
const MIN_WAKE_GAP_MS = 50;

export interface SourceKeeperOptions<K extends SourceKind> {
  readonly kind: K;
  /** In the order of policy: the first that opens is used. */
  readonly providers: readonly SourceProvider<K>[];
  readonly context: SourceContext;
  /** Every report of the open backend, and `ok: false` once when it is lost. */
  readonly onSample: (result: SourceResult<SampleOf[K]>, backendId: string) => void;
  /** Called on every change of state or backend, never per probe. */
  readonly onState: (status: SourceStatus) => void;
}

export interface SourceKeeper<K extends SourceKind> {
  /** Begins to probe. Resolves after the first round, whether anything opened or not; never rejects. */
  readonly start: () => Promise<void>;
  /** The present state from the open backend; `ok: false` with the best reason while none is open. */
  readonly snapshot: () => Promise<SourceResult<SampleOf[K]>>;
  readonly status: () => SourceStatus;
  /** Closes the backend as if it were lost and probes at once: the cure for one that stalls. */
  readonly restart: (why: Blindness) => void;
  readonly close: () => void;
}

export function createSourceKeeper<K extends SourceKind>(
  options: SourceKeeperOptions<K>,
): SourceKeeper<K> {
  const { kind, providers, context } = options;
  const { clock, log } = context;

  let open: { readonly id: string; readonly rank: number; readonly source: Source<K> } | null =
    null;
  let openedAtUs = 0;
  let everLive = false;
  let closed = false;
  let probing: Promise<void> | null = null;
  let probeAgain = false;
  let retryMs = FIRST_RETRY_MS;
  let retryTimer: NodeJS.Timeout | null = null;
  let upgradeMs = FIRST_UPGRADE_MS;
  let wakeTimer: NodeJS.Timeout | null = null;
  let lastWakeUs = Number.NEGATIVE_INFINITY;
  let stopWatching: (() => void)[] = [];
  /** Whether this machine shows signs of a backend above the one in use. */
  let isBetterNear = false;
  let rejected: readonly ({ readonly backend: string } & Rejection)[] = [];
  let lost: Blindness | null = null;
  let announced = false;
  let status: SourceStatus = {
    kind,
    state: "blind",
    backend: null,
    sinceUs: clock.nowUs(),
    why: { reason: "Not probed yet.", remedy: "" },
    rejected: [],
  };

  function setStatus(state: SourceStatus["state"]): void {
    const backend = open?.id ?? null;
    const changed = !announced || state !== status.state || backend !== status.backend;
    announced = true;
    status = {
      kind,
      state,
      backend,
      sinceUs: changed ? clock.nowUs() : status.sinceUs,
      why: state === "live" ? null : bestReason(kind, rejected, lost),
      rejected: rejected.map(({ backend: id, reason, remedy }) => ({
        backend: id,
        reason,
        remedy,
      })),
    };
    if (!changed) return;
    if (state === "live") log.info(`${kind} source: ${backend ?? ""}`);
    else log.warn(`${kind} source ${state}: ${status.why?.reason ?? ""}`);
    options.onState(status);
  }

  /** One round over all providers; a wake that arrives during it makes another one. */
  function probe(): Promise<void> {
    if (probing !== null) {
      probeAgain = true;
      return probing;
    }
    clearRetry();
    probing = probeRound().finally(() => {
      probing = null;
      if (closed) return;
      if (probeAgain) {
        probeAgain = false;
        void probe();
      } else if (open === null) {
        retryTimer = setTimeout(() => void probe(), retryMs);
        retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
      } else if (isBetterNear) {
        retryTimer = setTimeout(() => void probe(), upgradeMs);
        upgradeMs = Math.min(upgradeMs * 2, LAST_UPGRADE_MS);
      }
    });
    return probing;
  }

  async function probeRound(): Promise<void> {
    const passedOver: ({ readonly backend: string } & Rejection)[] = [];
    for (const [rank, provider] of providers.entries()) {
      // The backend in use answers for itself; what stands below it in the order is of no interest.
      if (open !== null && rank >= open.rank) break;
      const answer = await openWithin(provider, context, OPEN_TIMEOUT_MS);
      if (closed) {
        if ("source" in answer) answer.source.close();
        return;
      }
      if ("rejected" in answer) {
        passedOver.push({ backend: provider.id, ...answer.rejected });
        continue;
      }
      rejected = passedOver;
      isBetterNear = passedOver.some(({ applies }) => applies === true);
      adopt(provider.id, rank, answer.source);
      return;
    }
    isBetterNear = passedOver.some(({ applies }) => applies === true);
    if (open !== null) return;
    rejected = passedOver;
    watchFor(providers.length);
    setStatus(everLive ? "lost" : "blind");
  }

  function adopt(id: string, rank: number, source: Source<K>): void {
    open?.source.close();
    const mine = { id, rank, source };
    open = mine;
    upgradeMs = FIRST_UPGRADE_MS;
    openedAtUs = clock.monotonicUs();
    everLive = true;
    lost = null;
    watchFor(rank);
    setStatus("live");
    source.start(
      (result) => {
        if (open === mine) options.onSample(result, id);
      },
      (why) => {
        if (open === mine) lose(why);
      },
    );
  }

  function lose(why: Blindness): void {
    const gone = open;
    if (gone === null) return;
    open = null;
    gone.source.close();
    lost = why;
    if (clock.monotonicUs() - openedAtUs >= STABLE_MS * 1000) retryMs = FIRST_RETRY_MS;
    watchFor(providers.length);
    setStatus("lost");
    options.onSample({ ok: false, ...why }, gone.id);
    if (closed) return;
    clearRetry();
    retryTimer = setTimeout(() => void probe(), retryMs);
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  }

  /** Watches for the return of every provider above `rank`: the better ones, or all when none is open. */
  function watchFor(rank: number): void {
    for (const stop of stopWatching) stop();
    stopWatching = providers
      .slice(0, rank)
      .map((provider) => provider.watchForReturn?.(context, wake) ?? noWatch);
  }

  function wake(): void {
    if (closed || wakeTimer !== null) return;
    const sinceLastMs = (clock.monotonicUs() - lastWakeUs) / 1000;
    wakeTimer = setTimeout(
      () => {
        wakeTimer = null;
        lastWakeUs = clock.monotonicUs();
        // What woke us is often a step ahead of being ready: the retries after it come quickly again.
        retryMs = FIRST_RETRY_MS;
        void probe();
      },
      sinceLastMs >= MIN_WAKE_GAP_MS ? 0 : MIN_WAKE_GAP_MS,
    );
  }

  function clearRetry(): void {
    if (retryTimer !== null) clearTimeout(retryTimer);
    retryTimer = null;
  }

  return {
    start: () => probe(),
    snapshot: async () => {
      if (open === null) return { ok: false, ...bestReason(kind, rejected, lost) };
      return within(open.source.snapshot(), SNAPSHOT_TIMEOUT_MS, {
        ok: false,
        reason: `The ${kind} source ${open.id} did not answer within ${SNAPSHOT_TIMEOUT_MS / 1000} s.`,
        remedy: "",
      });
    },
    status: () => status,
    restart: (why) => {
      lose(why);
      retryMs = FIRST_RETRY_MS;
      if (!closed) void probe();
    },
    close: () => {
      closed = true;
      clearRetry();
      if (wakeTimer !== null) clearTimeout(wakeTimer);
      for (const stop of stopWatching) stop();
      stopWatching = [];
      open?.source.close();
      open = null;
    },
  };
}

/**
 * The one reason that helps most: of a backend this machine shows signs of, else why the last one was lost,
 * else the last in the order that knows a remedy.
 */
function bestReason(
  kind: SourceKind,
  rejected: readonly Rejection[],
  lost: Blindness | null,
): Blindness {
  const best =
    rejected.find((each) => each.applies === true) ??
    lost ??
    rejected.findLast((each) => each.remedy !== "") ??
    rejected.at(-1);
  return best === undefined
    ? { reason: `No ${kind} source is known for this platform.`, remedy: "" }
    : { reason: best.reason, remedy: best.remedy };
}

async function openWithin<K extends SourceKind>(
  provider: SourceProvider<K>,
  context: SourceContext,
  timeoutMs: number,
): ReturnType<SourceProvider<K>["open"]> {
  const late = {
    rejected: { reason: `No answer within ${timeoutMs / 1000} s.`, remedy: "", applies: true },
  };
  const opening = provider.open(context).catch((error: unknown) => ({
    rejected:
      error instanceof ActivityError
        ? { reason: error.message, remedy: error.hint }
        : { reason: `It could not be opened: ${reasonForLog(error)}.`, remedy: "" },
  }));
  const answer = await within(opening, timeoutMs, late);
  // A source that opens after it was given up must not stay open.
  if (answer === late) {
    void opening.then((tooLate) => "source" in tooLate && tooLate.source.close());
  }
  return answer;
}

async function within<T>(work: Promise<T>, timeoutMs: number, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function noWatch(): void {
  // A provider without a way to notice its return is found by the next round of probing.
}
