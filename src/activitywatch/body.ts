/**
 * What clients send, read whole or as it comes. It promises that no body is larger than a bound, and that a client
 * which is refused is heard out, so that it reads why.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { readBody } from "../http-body.ts";
import { WireError } from "./wire.ts";

const MAX_BODY_BYTES = 1024 * 1024 * 1024;

/** @throws WireError when the body is no JSON, or larger than 1 GB */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBody(request, MAX_BODY_BYTES);
  if (bytes === null) throw tooLarge();
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new WireError("The body is no JSON.");
  }
}

/** Reads a body that says nothing: what is not read would be taken for the next request. */
export async function drain(request: IncomingMessage): Promise<void> {
  request.resume();
  await once(request, "end");
}

/**
 * The file of an upload as it arrives: the body itself, or the one file of a form. `work` may stop reading.
 *
 * @throws WireError when the body is larger than 1 GB, or a form without a file; and what `work` throws
 */
export async function withFile<T>(
  request: IncomingMessage,
  work: (chunks: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  try {
    return await work(readUpload(bounded(request), request.headers["content-type"] ?? ""));
  } finally {
    request.resume();
  }
}

/** The file in a body of a content type. */
export function readUpload(
  body: AsyncIterable<Buffer>,
  contentType: string,
): AsyncIterable<Uint8Array> {
  const boundary = /^multipart\/form-data;.*boundary=(?:"([^"]+)"|([^";\s]+))/i.exec(contentType);
  return boundary === null ? body : fileOfForm(body, `--${boundary[1] ?? boundary[2] ?? ""}`);
}

async function* bounded(request: IncomingMessage): AsyncGenerator<Buffer, void, undefined> {
  let length = 0;
  const chunks: AsyncIterator<Buffer> = request.iterator({ destroyOnReturn: false });
  for (;;) {
    const next = await chunks.next();
    if (next.done === true) return;
    length += next.value.byteLength;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    yield next.value;
  }
}

function tooLarge(): WireError {
  return new WireError("The body is larger than 1 GB.");
}

/**
 * The web page of ActivityWatch sends an import as a form with one file, beside which other fields may stand. A
 * part ends before a line with the mark.
 *
 * @see RFC 7578
 */
async function* fileOfForm(
  body: AsyncIterable<Buffer>,
  mark: string,
): AsyncGenerator<Buffer, void, undefined> {
  const end = Buffer.from(`\r\n${mark}`);
  // The first mark has no line before it.
  let rest = Buffer.from("\r\n");
  let at: "between" | "head" | "file" = "between";
  for await (const chunk of body) {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      if (at === "head") {
        const headEnd = rest.indexOf("\r\n\r\n");
        if (headEnd === -1) break;
        const isFile = /;\s*filename=/i.test(rest.toString("latin1", 0, headEnd));
        // The end of the head may be that of an empty part as well.
        rest = rest.subarray(headEnd + 2);
        at = isFile ? "file" : "between";
        if (isFile) rest = rest.subarray(2);
        continue;
      }
      const found = rest.indexOf(end);
      if (at === "file") {
        // What may be the beginning of the mark waits for the rest of it.
        const until = found === -1 ? Math.max(0, rest.length - end.length) : found;
        if (until > 0) yield rest.subarray(0, until);
        rest = rest.subarray(until);
        if (found !== -1) return;
        break;
      }
      if (found === -1) {
        rest = rest.subarray(Math.max(0, rest.length - end.length));
        break;
      }
      rest = rest.subarray(found + end.length);
      at = "head";
    }
  }
  throw new WireError("The form holds no file.");
}
