/**
 * The block as server-sent events (WHATWG HTML §9.2). It promises that a client which comes back with the id
 * of the last event it saw is not sent the same block again, and that a slow reader holds up nobody.
 */
import type { ActivityApi } from "../api.ts";
import { HEARTBEAT_MS } from "./wire.ts";

/**
 * A response that carries every change until the client or the daemon goes. The id of an event is
 * `<number>:<etag>`: numbers start again with each daemon, the etag tells whether the block is the same.
 */
export function watchStream(
  api: ActivityApi,
  options: {
    readonly lastEventId: string | undefined;
    /** Who watches. */
    readonly client?: string;
    readonly headers: Readonly<Record<string, string>>;
    /** The daemon stops. */
    readonly closing: AbortSignal;
    /** The client is gone. */
    readonly gone: AbortSignal;
  },
): Response {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, options.closing, options.gone]);
  let seenEtag = options.lastEventId?.split(":")[1];
  const { client } = options;
  const watched = api.watch(client === undefined ? { signal } : { signal, client });
  const messages = watched[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let heartbeat: NodeJS.Timeout | undefined;

  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(encoder.encode("retry: 1000\n\n"));
      heartbeat = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": alive\n\n"));
      }, HEARTBEAT_MS);
      heartbeat.unref();
    },
    // Asked for only when the client has room, so that a reader who stalls costs one message and no more.
    pull: async (controller) => {
      try {
        for (;;) {
          const { done, value } = await messages.next();
          if (done === true) {
            clearInterval(heartbeat);
            controller.close();
            return;
          }
          const { id, answer } = value;
          const known = answer.etag === seenEtag;
          seenEtag = undefined;
          if (known) continue;
          controller.enqueue(
            encoder.encode(
              `id: ${id}:${answer.etag}\nevent: context\ndata: ${JSON.stringify(answer)}\n\n`,
            ),
          );
          return;
        }
      } catch (thrown) {
        clearInterval(heartbeat);
        // A stream that was cancelled while a message was on its way cannot carry the error any more.
        if (!stop.signal.aborted) controller.error(thrown);
      }
    },
    cancel: () => {
      clearInterval(heartbeat);
      stop.abort();
    },
  });
  return new Response(body, {
    headers: { ...options.headers, "content-type": "text/event-stream; charset=utf-8" },
  });
}
