/**
 * One request at a time for what a view shows. It promises that an older answer never replaces a newer one, and that every
 * answer is shown however often something changes meanwhile: a daemon that is slow is asked again, never interrupted.
 */
import { RequestError } from "./api-client.ts";

export interface Loaded<Answer> {
  /** The newest answer; null until the first. */
  readonly answer: Answer | null;
  /** Why the newest request was refused; null when it was not. */
  readonly refused: RequestError | null;
  /** True while an answer is on its way. */
  readonly loading: boolean;
}

export interface Loader {
  /** Asks for what `key` names. Asked again with the same key, it asks once more when the answer has come. */
  readonly want: (key: string) => void;
  readonly close: () => void;
}

interface LoaderOptions<Answer> {
  readonly load: (signal: AbortSignal) => Promise<Answer>;
  /** Told at every change. */
  readonly onLoaded: (loaded: Loaded<Answer>) => void;
  readonly onError: (error: unknown) => void;
  /** Whether an answer stays until that for another key has come. */
  readonly keepAcrossKeys: boolean;
}

export function createLoader<Answer>(options: LoaderOptions<Answer>): Loader {
  const { load, onLoaded, onError, keepAcrossKeys } = options;
  let loaded: Loaded<Answer> = { answer: null, refused: null, loading: true };
  let running: { readonly key: string; readonly controller: AbortController } | null = null;
  let isStale = false;
  let shownKey: string | null = null;

  const set = (changes: Partial<Loaded<Answer>>): void => {
    loaded = { ...loaded, ...changes };
    onLoaded(loaded);
  };

  const ask = async (key: string): Promise<void> => {
    const controller = new AbortController();
    running?.controller.abort();
    running = { key, controller };
    isStale = false;
    const isKept = shownKey === key || keepAcrossKeys;
    shownKey = key;
    set({ answer: isKept ? loaded.answer : null, refused: null, loading: true });
    try {
      const answer = await load(controller.signal);
      if (controller.signal.aborted) return;
      running = null;
      set({ answer, loading: false });
    } catch (error) {
      if (controller.signal.aborted) return;
      running = null;
      onError(error);
      const isRefused = error instanceof RequestError && error.failure === "refused";
      set({ refused: isRefused ? error : null, loading: false });
    }
    if (isStale) void ask(key);
  };

  return {
    want: (key) => {
      if (running?.key === key) isStale = true;
      else void ask(key);
    },
    close: () => {
      running?.controller.abort();
      isStale = false;
    },
  };
}
