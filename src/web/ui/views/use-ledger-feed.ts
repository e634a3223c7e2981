/**
 * Keeps the ledger on the page up to date: asks for what is new when the daemon tells of a change and every few
 * seconds besides, since an answer that was given changes nothing else. New entries wait while somebody reads.
 */
import { useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { RequestError } from "../api-client.ts";
import { usePage } from "../page.ts";
import {
  addNewer,
  addOlder,
  type LedgerFeed,
  newerRequest,
  olderRequest,
  PAGE_ENTRIES,
  showWaiting,
  startFeed,
} from "./ledger-feed.ts";

const ASK_EVERY_MS = 4000;

export interface LedgerView {
  /** Null until the first answer. */
  readonly feed: ReadonlySignal<LedgerFeed | null>;
  readonly refused: ReadonlySignal<RequestError | null>;
  readonly showNew: () => void;
  readonly loadOlder: () => Promise<void>;
}

/** The ledger of one client, or of all of them. `isHeld` says whether somebody reads further down. */
export function useLedgerFeed(client: string | null, isHeld: () => boolean): LedgerView {
  const { api, connection } = usePage();
  const feed = useSignal<LedgerFeed | null>(null);
  const refused = useSignal<RequestError | null>(null);
  const wanted = useSignal(client);
  wanted.value = client;
  const only = client === null ? {} : { client };

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      refused.value = null;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      connection.report(error);
      if (error.failure === "refused") refused.value = error;
    }
  };

  useSignalEffect(() => {
    const asked = wanted.value;
    feed.value = null;
    void attempt(async () => {
      const answer = await api.ledger({
        limit: PAGE_ENTRIES,
        ...(asked === null ? {} : { client: asked }),
      });
      if (wanted.peek() === asked) feed.value = startFeed(answer);
    });
  });

  const askNewer = async (): Promise<void> => {
    const known = feed.peek();
    if (known === null) return;
    await attempt(async () => {
      const answer = await api.ledger({ ...newerRequest(known), ...only });
      // Another answer may have come meanwhile, or another client be wanted.
      if (feed.peek() === known) feed.value = addNewer(known, answer, isHeld());
    });
  };

  useSignalEffect(() => {
    if (connection.revision.value > 0) void askNewer();
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible" && connection.state.peek() === "live") {
        void askNewer();
      }
    }, ASK_EVERY_MS);
    return () => clearInterval(timer);
  }, [client]);

  return {
    feed,
    refused,
    showNew: () => {
      const known = feed.peek();
      if (known !== null) feed.value = showWaiting(known);
    },
    loadOlder: async () => {
      const known = feed.peek();
      const request = known === null ? null : olderRequest(known);
      if (request === null) return;
      await attempt(async () => {
        const answer = await api.ledger({ ...request, ...only });
        const now = feed.peek();
        if (now !== null) feed.value = addOlder(now, answer);
      });
    },
  };
}
