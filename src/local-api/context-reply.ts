/**
 * How an answer becomes an HTTP reply: as text or JSON, 304 when the client has it already, 204 when there is
 * nothing to say. It keeps the bytes of the last block, so that an unchanged block costs no copy.
 */
import type { ContextAnswer } from "../api.ts";

/** What is sent, whichever way the request came in. */
export interface Reply {
  readonly status: 200 | 204 | 304;
  readonly headers: Record<string, string>;
  readonly body: Buffer<ArrayBuffer> | null;
}

/** The headers of a request that decide how it is answered. */
export interface ReplyWishes {
  readonly accept: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/** Makes replies that carry `headers` beside their own. */
export function createContextReplier(
  headers: Readonly<Record<string, string>>,
): (wishes: ReplyWishes, answer: ContextAnswer) => Reply {
  let last: { readonly etag: string; readonly reply: Reply } | null = null;
  return ({ accept, ifNoneMatch }, answer) => {
    if (ifNoneMatch !== undefined && holds(ifNoneMatch, answer.etag)) {
      return { status: 304, headers: { ...headers, etag: `"${answer.etag}"` }, body: null };
    }
    if (prefersJson(accept)) {
      const body = Buffer.from(JSON.stringify(answer));
      return {
        status: 200,
        headers: {
          ...headers,
          // Weak: fields beside the block (how long it took) differ between answers that carry the same block.
          etag: `W/"${answer.etag}"`,
          "content-type": "application/json",
          "content-length": String(body.byteLength),
        },
        body,
      };
    }
    if (answer.block === null) {
      return { status: 204, headers: { ...headers, etag: `"${answer.etag}"` }, body: null };
    }
    if (last?.etag !== answer.etag) {
      const body = Buffer.from(answer.block);
      last = {
        etag: answer.etag,
        reply: {
          status: 200,
          headers: {
            ...headers,
            etag: `"${answer.etag}"`,
            "content-type": "text/plain; charset=utf-8",
            "content-length": String(body.byteLength),
          },
          body,
        },
      };
    }
    return last.reply;
  };
}

/** Weak comparison of RFC 9110 §13.1.2. */
function holds(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(",").some((one) => {
    const tag = one.trim();
    return tag === "*" || tag === `"${etag}"` || tag === `W/"${etag}"`;
  });
}

/** Whether JSON stands before text in what the client accepts; `curl` accepts everything and gets text. */
function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes("application/json")) return false;
  const quality = (type: string): number => {
    for (const part of accept.split(",")) {
      const [name, ...parameters] = part.split(";").map((piece) => piece.trim());
      if (name !== type) continue;
      const q = parameters.find((parameter) => parameter.startsWith("q="));
      return q === undefined ? 1 : Number(q.slice(2));
    }
    return 0;
  };
  return quality("application/json") >= quality("text/plain");
}
