/**
 * Server-sent events as an answer (WHATWG HTML §9.2). It promises that a stream on which nothing happens gives a sign of
 * life, and that a reader who stalls costs one event in memory and holds up nobody.
 */
import type { ServerResponse } from "node:http";

/** A comment line goes out this often on a quiet stream, so that a dead connection is noticed. */
export const HEARTBEAT_MS = 15_000;

/** Sends events, each the lines of one, until there are no more. Asks for the next when there is room for it. */
export async function sendEvents(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  events: AsyncIterable<string>,
): Promise<void> {
  response.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    // Kept for another request, the connection of a stream that ended would hold up a server that stops.
    connection: "close",
  });
  if (response.req.method === "HEAD") {
    response.end();
    return;
  }
  response.write("retry: 1000\n\n");
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(": alive\n\n");
  }, HEARTBEAT_MS);
  heartbeat.unref();
  try {
    for await (const event of events) {
      if (!response.write(`${event}\n\n`)) await roomIn(response);
    }
    response.end();
  } finally {
    clearInterval(heartbeat);
  }
}

/** Resolves when a response that was full takes more, or is over. */
export function roomIn(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once("drain", resolve);
    response.once("close", resolve);
  });
}
