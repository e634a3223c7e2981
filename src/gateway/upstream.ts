/**
 * The way to the model behind the gateway. It hides connections, hop-by-hop headers and what Node calls its
 * errors, and promises that neither side is read faster than the other takes it.
 */
import {
  Agent as HttpAgent,
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Readable } from "node:stream";
import { ActivityError } from "../errors.ts";

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query as the client named them, with the `/v1` of its base address. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** A body in memory, or the client's own stream that goes on as it comes. */
  readonly body: Buffer | Readable;
  /** Aborted when the client goes. */
  readonly signal: AbortSignal;
}

export interface Upstream {
  /**
   * Resolves with the answer once its head is here.
   *
   * @throws ActivityError `upstream_unreachable`, `timed_out`
   */
  readonly send: (request: UpstreamRequest) => Promise<IncomingMessage>;
  readonly close: () => void;
}

/**
 * @param base the address clients would name without the gateway, such as `http://127.0.0.1:11434/v1`
 * @param silenceMs an upstream that sends nothing for this long, at the start or in the middle, is given up
 */
export function openUpstream(base: URL, silenceMs: number): Upstream {
  const isTls = base.protocol === "https:";
  const agent = isTls ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const start = isTls ? requestHttps : requestHttp;

  const sendOnce = (request: UpstreamRequest): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent = start({
        protocol: base.protocol,
        hostname: base.hostname.replace(/^\[|\]$/g, ""),
        port: base.port,
        method: request.method,
        path: pathAt(base, request.path),
        headers: { ...request.headers, host: base.host },
        agent,
        signal: request.signal,
      });
      sent.setTimeout(silenceMs, () => sent.destroy(silent(base, silenceMs)));
      sent.once("response", resolve);
      sent.once("error", (cause) => reject(toFailure(cause, sent, base)));
      if (Buffer.isBuffer(request.body)) sent.end(request.body);
      else request.body.pipe(sent);
    });

  return {
    send: async (request) => {
      try {
        return await sendOnce(request);
      } catch (thrown) {
        // The upstream had closed the idle connection we took: it saw nothing of this request.
        if (thrown instanceof StaleConnection && Buffer.isBuffer(request.body))
          return sendOnce(request);
        throw thrown instanceof StaleConnection ? thrown.failure : thrown;
      }
    },
    close: () => agent.destroy(),
  };
}

class StaleConnection extends Error {
  readonly failure: ActivityError;
  constructor(failure: ActivityError) {
    super(failure.message);
    this.failure = failure;
  }
}

function toFailure(cause: Error, sent: ClientRequest, base: URL): Error {
  if (cause instanceof ActivityError) return cause;
  const code = "code" in cause ? String(cause.code) : cause.message;
  const failure = new ActivityError(
    "upstream_unreachable",
    `The upstream ${base.origin} does not answer (${code}).`,
    "Start it, or name another with: activityd gateway --upstream URL",
    { cause },
  );
  return sent.reusedSocket && code === "ECONNRESET" ? new StaleConnection(failure) : failure;
}

/** The error of an upstream that said nothing for `silenceMs`. */
function silent(base: URL, silenceMs: number): ActivityError {
  return new ActivityError(
    "timed_out",
    `The upstream ${base.origin} sent nothing for ${silenceMs / 1000} s.`,
    "Try again, or see what the upstream does.",
  );
}

/**
 * Where a path of the client's stands at the upstream. A base address with a path takes the place of `/v1`, as
 * it would in a client; without one the path is the upstream's own.
 */
function pathAt(base: URL, path: string): string {
  const root = base.pathname.replace(/\/+$/, "");
  if (root === "") return path;
  return /^\/v1(?=[/?]|$)/.test(path) ? root + path.slice("/v1".length) : path;
}

/** Headers of one hop (RFC 9110 §7.6.1), which a proxy does not pass on. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The headers that go on, without those of this hop and without `dropped`. Repeated ones stay repeated. */
export function headersToPass(
  message: IncomingMessage,
  dropped: ReadonlySet<string>,
): Record<string, string | string[]> {
  const named = (message.headers.connection ?? "").toLowerCase().split(/\s*,\s*/);
  const passed: Record<string, string | string[]> = {};
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    if (values === undefined || HOP_BY_HOP.has(name) || dropped.has(name) || named.includes(name))
      continue;
    passed[name] = values.length === 1 && values[0] !== undefined ? values[0] : values;
  }
  return passed;
}

/** The body as plain bytes, whatever the upstream packed it into; null when that is not known here. */
export function plainBody(answer: IncomingMessage): Readable | null {
  switch ((answer.headers["content-encoding"] ?? "identity").trim().toLowerCase()) {
    case "identity":
    case "":
      return answer;
    case "gzip":
    case "x-gzip":
      return unpackedBy(answer, createGunzip());
    case "deflate":
      return unpackedBy(answer, createInflate());
    case "br":
      return unpackedBy(answer, createBrotliDecompress());
    default:
      return null;
  }
}

function unpackedBy<T extends Readable & NodeJS.WritableStream>(
  answer: IncomingMessage,
  unpack: T,
): T {
  answer.once("error", (error) => unpack.destroy(error));
  answer.pipe(unpack);
  return unpack;
}

/**
 * Sends `body` to the client through `change`, no faster than the client reads. Resolves when all is sent or
 * the client is gone; rejects when the body breaks off, with the client still waiting.
 */
export function relay(
  body: Readable,
  response: ServerResponse,
  change: { readonly push: (chunk: Buffer) => Buffer; readonly end: () => Buffer },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const resume = (): void => void body.resume();
    const leave = (): void => {
      response.off("drain", resume);
      response.off("close", gone);
    };
    const gone = (): void => {
      leave();
      body.destroy();
      resolve();
    };
    const fail = (error: Error): void => {
      leave();
      reject(error);
    };
    response.on("drain", resume);
    response.once("close", gone);
    body.on("data", (chunk: Buffer) => {
      let out: Buffer;
      try {
        out = change.push(chunk);
      } catch (thrown) {
        leave();
        body.destroy();
        reject(thrown);
        return;
      }
      if (out.length > 0 && !response.write(out)) body.pause();
    });
    body.once("end", () => {
      const rest = change.end();
      leave();
      response.end(rest.length === 0 ? undefined : rest, resolve);
    });
    body.once("error", fail);
    // A connection that is cut ends without "end" and, for some streams, without "error".
    body.once("close", () => {
      if (!body.readableEnded) fail(new Error("The upstream's answer broke off."));
    });
  });
}
