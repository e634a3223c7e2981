/**
 * The block as server-sent events. It promises that a client which comes back with the id of the last event it saw is
 * not sent the same block again.
 */
import type { ServerResponse } from "node:http";
import type { ActivityApi, WatchMessage } from "../api.ts";
import { sendEvents } from "../http-stream.ts";

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
  const asked = client === undefined ? { signal } : { signal, client };
  const messages = api.watch(asked)[Symbol.asyncIterator]();
  // The first is there at once, or a refusal in its place, which needs a head of its own.
  const first = await messages.next();
  try {
    await sendEvents(response, headers, toEvents(first, messages, lastEventId?.split(":")[1]));
  } finally {
    await messages.return?.();
  }
}

/** The block that a client has seen already is passed over, when it comes first. */
async function* toEvents(
  first: IteratorResult<WatchMessage, unknown>,
  messages: AsyncIterator<WatchMessage, unknown>,
  seenEtag: string | undefined,
): AsyncGenerator<string> {
  let etag = seenEtag;
  for (let next = first; next.done !== true; next = await messages.next()) {
    const { id, answer } = next.value;
    const isKnown = answer.etag === etag;
    etag = undefined;
    if (!isKnown) {
      yield `id: ${id}:${answer.etag}\nevent: context\ndata: ${JSON.stringify(answer)}`;
    }
  }
}
