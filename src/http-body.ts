/**
 * Reads the body of an HTTP request into memory, within a bound. It promises that a client which sends more is
 * heard out, so that it gets to read why it was refused.
 */
import type { IncomingMessage } from "node:http";

/** The whole body, or null when it is larger than `maxBytes`. Rejects when the client breaks off. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer): void => {
      length += chunk.byteLength;
      if (length <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      // The rest runs into the void: a client that is cut off while it sends does not read the answer.
      request.off("data", take).resume();
      resolve(null);
    };
    request.on("data", take);
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("error", reject);
  });
}
