/**
 * Work on a folder that may not answer, such as one of a server that is gone: the system does not let go of such work.
 * It promises that nobody waits for it longer than a while, and that no more is begun while some hangs: each piece
 * holds one of the few threads that files are read and written by.
 */
import { ActivityError } from "../../errors.ts";

export interface FolderLane {
  /** Does a piece of work. Rejects as it does, and with `hub_away` while the folder does not answer or at the end. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
  /** Nobody waits any more. */
  readonly close: () => void;
}

export function createFolderLane(folder: string, timeoutMs: number): FolderLane {
  const closing = new AbortController();
  let isStuck = false;
  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        const giveUp = (): void => {
          isStuck = true;
          reject(noAnswer(folder));
        };
        if (isStuck || closing.signal.aborted) {
          reject(noAnswer(folder));
          return;
        }
        const timer = setTimeout(giveUp, timeoutMs);
        closing.signal.addEventListener("abort", giveUp);
        void work()
          .then(resolve, reject)
          .finally(() => {
            isStuck = false;
            clearTimeout(timer);
            closing.signal.removeEventListener("abort", giveUp);
          });
      }),
    close: () => closing.abort(),
  };
}

/** Whether work was given up because the folder does not answer. */
export function isNoAnswer(thrown: unknown): boolean {
  return thrown instanceof ActivityError && thrown.cause === NO_ANSWER;
}

const NO_ANSWER = Symbol("no answer");

function noAnswer(folder: string): ActivityError {
  return new ActivityError(
    "hub_away",
    `the folder ${folder} does not answer`,
    "Look at what carries it; it goes on by itself.",
    { cause: NO_ANSWER },
  );
}
