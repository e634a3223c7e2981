/**
 * That something changed, as server-sent events (WHATWG HTML §9.2). It promises that a page which comes back with the id
 * that it saw last hears nothing until something changes again, and that a page that does not read holds up nobody.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { PageApi } from "./page-api.ts";
import { roomIn } from "./replies.ts";

/** A comment line goes out this often on a quiet stream, so that a dead connection is noticed. */
const HEARTBEAT_MS = 15_000;

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
  response.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    // Kept for another request, the connection of a stream that ended would hold up a server that stops.
    connection: "close",
  });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  response.write("retry: 1000\n\n");
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(": alive\n\n");
  }, HEARTBEAT_MS);
  heartbeat.unref();
  try {
    for await (const change of changes(AbortSignal.any([gone.signal, closing]))) {
      // Numbers begin again with each run of the daemon.
      const id = `${change.startedUs}:${change.id}`;
      if (id === seen) continue;
      // The next is asked for when there is room: a page that stalls costs one message, and misses none that counts.
      if (!response.write(`id: ${id}\ndata: ${JSON.stringify(change)}\n\n`)) await roomIn(response);
    }
    response.end();
  } finally {
    clearInterval(heartbeat);
  }
}
