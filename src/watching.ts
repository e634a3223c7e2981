/**
 * Whoever wants to know at once: the present block after each change of it, or that something changed at all. It promises
 * that a block has one number whoever watches, and that a client which is refused sees no more.
 */
import type { Answers } from "./answers.ts";
import type { ActivityApi, WatchMessage } from "./api.ts";
import { createChangeSignal } from "./change-signal.ts";
import type { OwnerControl } from "./owner-control.ts";

/** Whoever follows is told no more often. */
const FOLLOW_MS = 1_000;

export interface Watching {
  readonly watch: ActivityApi["watch"];
  /**
   * Yields a number at once and a greater one after every change that is worth another look, at most one a second, until
   * `signal` aborts. It says nothing of what changed and is noted nowhere.
   */
  readonly follow: (signal: AbortSignal) => AsyncIterable<number>;
  /** Something changed, of the block or of who may see it. */
  readonly changed: () => void;
  /** Ends all that watch and follow. */
  readonly close: () => void;
}

export function createWatching(options: {
  readonly answers: Pick<Answers, "present">;
  /** Asked when somebody watches: changes are told before there is one. */
  readonly owner: () => Pick<OwnerControl, "clients" | "note">;
}): Watching {
  const { answers, owner } = options;
  const changes = createChangeSignal();
  let told = { id: 0, etag: "" };
  let changeCount = 0;
  return {
    watch: (watchOptions) => watch(watchOptions?.signal, watchOptions?.client),
    follow,
    changed: () => {
      changeCount += 1;
      changes.notify();
    },
    close: changes.close,
  };

  async function* watch(signal?: AbortSignal, client?: string): AsyncGenerator<WatchMessage> {
    let lastId = 0;
    for (;;) {
      if (signal?.aborted === true) return;
      owner().clients.admit(client);
      const next = changes.next(signal);
      const present = answers.present();
      // One number per change of the block, whoever watches.
      if (present.etag !== told.etag) told = { id: told.id + 1, etag: present.etag };
      if (told.id !== lastId) {
        lastId = told.id;
        owner().note(client === undefined ? {} : { client }, present);
        yield { id: told.id, answer: present };
      }
      if (!(await next)) return;
    }
  }

  async function* follow(signal: AbortSignal): AsyncGenerator<number> {
    for (;;) {
      const next = changes.next(signal);
      yield changeCount;
      if (!(await next) || !(await passed(FOLLOW_MS, signal))) return;
    }
  }
}

/** Resolves to true after a time, to false when the signal aborts. */
function passed(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const settle = (isPassed: boolean) => (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
      resolve(isPassed);
    };
    const aborted = settle(false);
    const timer = setTimeout(settle(true), ms);
    timer.unref();
    signal.addEventListener("abort", aborted, { once: true });
  });
}
