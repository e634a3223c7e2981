/**
 * That something changed, as server-sent events. It promises that a page which comes back with the id that it saw last
 * hears nothing until something changes again.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { sendEvents } from "../http-stream.ts";
import type { PageApi, PageChange } from "./page-api.ts";

/** Sends every change until the page or the server goes. Rejects when the daemon fails. */
export async function sendChanges(
  changes: PageApi["changes"],
  request: IncomingMessage,
  response: ServerResponse,
  options: {
    readonly headers: Readonly<Record<string, string>>;
    /** The server stops. */
    readonly closing: AbortSignal;
  },
): Promise<void> {
  const { headers, closing } = options;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const seen = request.headers["last-event-id"];
  const signal = AbortSignal.any([gone.signal, closing]);
  await sendEvents(response, headers, toEvents(changes(signal), seen));
}

async function* toEvents(
  changes: AsyncIterable<PageChange>,
  seen: string | string[] | undefined,
): AsyncGenerator<string> {
  for await (const change of changes) {
    // Numbers begin again with each run of the daemon.
    const id = `${change.startedUs}:${change.id}`;
    if (id !== seen) yield `id: ${id}\ndata: ${JSON.stringify(change)}`;
  }
}
