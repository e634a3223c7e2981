/**
 * Whoever wants to know at once: the present block after each change of it, or that something changed at all. It promises
 * that a block has one number whoever watches, and that a client which is refused sees no more.
 */
import type { Answers } from "./answers.ts";
import type { ActivityApi, WatchMessage } from "../api.ts";
import { createChangeSignal } from "./change-signal.ts";
import type { OwnerControl } from "../owner/control.ts";

/** Whoever follows is told no more often. */
const FOLLOW_MS = 1_000;

/** That something changed, and nothing of what. */
export interface Change {
  /** Grows with each change. */
  readonly id: number;
  /** Grows when something was forgotten: whoever holds what was read before lets go of it. */
  readonly forgotten: number;
}

export interface Watching {
  readonly watch: ActivityApi["watch"];
  /**
   * Yields at once, and after every change that is worth another look, at most once a second, until `signal` aborts. It is
   * noted nowhere.
   */
  readonly follow: (signal: AbortSignal) => AsyncIterable<Change>;
  /** Something changed, of the block or of who may see it. */
  readonly changed: () => void;
  /** A wish to forget was carried out, as far as it was. */
  readonly forgot: () => void;
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
  let forgotten = 0;
  const changed = (): void => {
    changeCount += 1;
    changes.notify();
  };
  return {
    watch: (watchOptions) => watch(watchOptions?.signal, watchOptions?.client),
    follow,
    changed,
    forgot: () => {
      forgotten += 1;
      changed();
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

  async function* follow(signal: AbortSignal): AsyncGenerator<Change> {
    for (;;) {
      const next = changes.next(signal);
      yield { id: changeCount, forgotten };
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
