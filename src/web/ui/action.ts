/** Something that a button does: whether it is being done, and why it was refused. */
import { useSignal, type ReadonlySignal } from "@preact/signals";
import { RequestError } from "./api-client.ts";
import { usePage } from "./page.ts";

export interface Action {
  readonly busy: ReadonlySignal<boolean>;
  /** Why the last one was refused or not answered; null when it was not. */
  readonly refused: ReadonlySignal<RequestError | null>;
  /** Does it, unless it is being done already. Never rejects for what the daemon says. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>;
}

export function useAction(): Action {
  const { connection } = usePage();
  const busy = useSignal(false);
  const refused = useSignal<RequestError | null>(null);
  return {
    busy,
    refused,
    run: async (work) => {
      if (busy.peek()) return;
      busy.value = true;
      refused.value = null;
      try {
        await work();
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        connection.report(error);
        refused.value = error;
      } finally {
        busy.value = false;
      }
    },
  };
}
