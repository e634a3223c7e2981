/**
 * Whether the daemon answers, and what it says of itself. It promises that a daemon that is gone is noticed
 * and told of, that one that is back is found again by itself, and that views hear of every change.
 */
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { StatusAnswer } from "../../api.ts";
import type { PageChange } from "../page-api.ts";
import { RequestError, type ApiClient } from "./api-client.ts";

/**
 * `back`: it answers again after it was lost, said for a few seconds. `ended`: it answers, and this page has
 * no leave to ask any more.
 */
type ConnectionState = "connecting" | "live" | "lost" | "back" | "ended";

export interface Connection {
  readonly state: ReadonlySignal<ConnectionState>;
  /** The newest status; null until the first. While the connection is lost it is that of before. */
  readonly status: ReadonlySignal<StatusAnswer | null>;
  /** Grows with every change that the daemon tells of, at most once a second, and when it is back. */
  readonly revision: ReadonlySignal<number>;
  /**
   * Grows when something was forgotten, by this page or by anybody else, and when the daemon was started anew: then it may
   * have been. What a view holds of the record goes with it.
   */
  readonly forgotten: ReadonlySignal<number>;
  /** Whether the daemon is another version than the one that this page came from. */
  readonly isOutdated: ReadonlySignal<boolean>;
  /** Asks for the status now, after a change that this page made. */
  readonly refresh: () => Promise<void>;
  /** For those who asked and failed: whether it was the connection. */
  readonly report: (error: unknown) => void;
  readonly close: () => void;
}

const STATUS_EVERY_MS = 15_000;
const REVISE_EVERY_MS = 1000;
const BACK_SHOWN_MS = 4000;
const RETRY_FIRST_MS = 400;
const RETRY_LONGEST_MS = 4000;

export function createConnection(api: ApiClient): Connection {
  const state = signal<ConnectionState>("connecting");
  const status = signal<StatusAnswer | null>(null);
  const revision = signal(0);
  const forgotten = signal(0);
  /** The version that answered first: this page is a part of it. */
  const ownVersion = signal<string | null>(null);
  const isOutdated = computed(
    () => ownVersion.value !== null && status.value?.version !== ownVersion.value,
  );
  let stream: EventSource | null = null;
  /** The id of the last message of any stream; null before the first. */
  let seen: string | null = null;
  /** What was forgotten by then, and in which run of the daemon. */
  let seenForgotten: string | null = null;
  let retryMs = RETRY_FIRST_MS;
  let closed = false;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let reviseTimer: ReturnType<typeof setTimeout> | undefined;
  let backTimer: ReturnType<typeof setTimeout> | undefined;

  const revise = (): void => {
    reviseTimer ??= setTimeout(() => {
      reviseTimer = undefined;
      revision.value += 1;
      void refresh();
    }, REVISE_EVERY_MS);
  };

  const listen = (): void => {
    if (stream !== null || closed) return;
    stream = new EventSource("/api/page/changes");
    stream.addEventListener("message", ({ lastEventId, data }: MessageEvent<string>) => {
      // A stream begins with the present, which is no change unless something else was seen before.
      const isChange = seen !== null && lastEventId !== seen;
      seen = lastEventId;
      const change = readChange(data);
      const nowForgotten = `${change.startedUs} ${change.forgotten}`;
      if (seenForgotten !== null && seenForgotten !== nowForgotten) forgotten.value += 1;
      seenForgotten = nowForgotten;
      if (isChange) revise();
    });
    // The browser's own retry may take minutes; ours asks for the status and then opens a new stream.
    stream.addEventListener("error", () => {
      hangUp();
      void refresh();
    });
  };

  const hangUp = (): void => {
    stream?.close();
    stream = null;
  };

  const answered = (answer: StatusAnswer): void => {
    const wasGone = state.value === "lost" || state.value === "ended";
    ownVersion.value ??= answer.version;
    status.value = answer;
    retryMs = RETRY_FIRST_MS;
    clearTimeout(retryTimer);
    if (wasGone) {
      state.value = "back";
      revision.value += 1;
      clearTimeout(backTimer);
      backTimer = setTimeout(() => {
        if (state.value === "back") state.value = "live";
      }, BACK_SHOWN_MS);
    } else if (state.value === "connecting") {
      state.value = "live";
    }
    listen();
    retryTimer = setTimeout(() => void refresh(), stream === null ? retryMs : STATUS_EVERY_MS);
  };

  const report = (error: unknown): void => {
    if (!(error instanceof RequestError) || error.failure === "refused" || closed) return;
    state.value = error.failure === "no-leave" ? "ended" : "lost";
    hangUp();
    clearTimeout(retryTimer);
    retryTimer = setTimeout(() => void refresh(), retryMs);
    retryMs = Math.min(retryMs * 1.6, RETRY_LONGEST_MS);
  };

  const refresh = async (): Promise<void> => {
    try {
      const answer = await api.status();
      if (!closed) answered(answer);
    } catch (error) {
      report(error);
    }
  };

  const onShown = (): void => {
    if (document.visibilityState === "visible") void refresh();
  };
  document.addEventListener("visibilitychange", onShown);
  void refresh();

  return {
    state,
    status,
    revision,
    forgotten,
    isOutdated,
    refresh,
    report,
    close: () => {
      closed = true;
      hangUp();
      document.removeEventListener("visibilitychange", onShown);
      for (const timer of [retryTimer, reviseTimer, backTimer]) clearTimeout(timer);
    },
  };
}

/** The one place where the stream is taken at its word: it comes from the page's own server. */
function readChange(data: string): PageChange {
  return JSON.parse(data) as PageChange;
}
