/**
 * The block as server-sent events (WHATWG HTML §9.2). It promises that a client which comes back with the id
 * of the last event it saw is not sent the same block again, and that a slow reader holds up nobody.
 */
import type { ServerResponse } from "node:http";
import type { ActivityApi } from "../api.ts";
import { HEARTBEAT_MS } from "./wire.ts";

/**
 * Sends every change until the client or the daemon goes. The id of an event is `<number>:<etag>`: numbers
 * start again with each daemon, the etag tells whether the block is the same. Rejects when the daemon fails.
 */
export async function sendWatch(
  api: ActivityApi,
  response: ServerResponse,
  options: {
    readonly lastEventId: string | undefined;
    /** Who watches. */
    readonly client?: string;
    readonly headers: Readonly<Record<string, string>>;
    /** The daemon stops. */
    readonly closing: AbortSignal;
  },
): Promise<void> {
  const { client, closing, headers, lastEventId } = options;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const signal = AbortSignal.any([gone.signal, closing]);
  let seenEtag = lastEventId?.split(":")[1];
  const asked = client === undefined ? { signal } : { signal, client };
  const messages = api.watch(asked)[Symbol.asyncIterator]();
  // The first is there at once, or a refusal in its place, which needs a head of its own.
  const first = await messages.next();

  response.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    // Kept for another request, the connection of a stream that ended would hold up a server that stops.
    connection: "close",
  });
  if (response.req.method === "HEAD") {
    response.end();
    await messages.return?.();
    return;
  }
  response.write("retry: 1000\n\n");
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(": alive\n\n");
  }, HEARTBEAT_MS);
  heartbeat.unref();
  try {
    for (let next = first; next.done !== true; next = await messages.next()) {
      const { id, answer } = next.value;
      const isKnown = answer.etag === seenEtag;
      seenEtag = undefined;
      if (isKnown) continue;
      const event = `id: ${id}:${answer.etag}\nevent: context\ndata: ${JSON.stringify(answer)}\n\n`;
      // The next change is asked for when there is room, so that a reader who stalls costs one message.
      if (!response.write(event)) await roomIn(response);
    }
    response.end();
  } finally {
    clearInterval(heartbeat);
    await messages.return?.();
  }
}

function roomIn(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once("drain", resolve);
    response.once("close", resolve);
  });
}
