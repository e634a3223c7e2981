/**
 * How a failure is told to a client of the OpenAI protocol. It hides the shape that such clients read and the codes
 * that go with it, and promises an end to the answer in whatever state that is: nothing that broke off passes for
 * the whole.
 */
import type { ServerResponse } from "node:http";
import { ActivityError, httpStatusOf, toErrorEnvelope, type ErrorCode } from "../errors.ts";

/** Ends an answer with an error: in its place where nothing was sent yet, else by cutting the connection. */
export function fail(response: ServerResponse, thrown: unknown): void {
  if (response.headersSent || response.destroyed) response.destroy();
  else sendError(response, thrown);
}

/**
 * Ends an answer whose upstream broke off. `stream` is what was sent of a stream of events last, and what was held
 * back of it; null for an answer that is no stream.
 */
export function breakOff(
  response: ServerResponse,
  cause: unknown,
  stream: { readonly sent: Buffer; readonly held: Buffer } | null,
): void {
  const error =
    cause instanceof ActivityError
      ? cause
      : new ActivityError(
          "upstream_broken",
          "The upstream's answer broke off before its end.",
          "Ask again.",
          { cause },
        );
  if (stream === null) fail(response, error);
  else breakStream(response, stream.sent, stream.held, error);
}

/**
 * Ends a stream that broke: what was held, then the error as OpenAI streams tell it, then the connection, so
 * that no client takes what came for the whole. In the middle of an event nothing more can be said.
 */
function breakStream(
  response: ServerResponse,
  sent: Buffer,
  held: Buffer,
  error: ActivityError,
): void {
  const isBetweenEvents =
    sent.length === 0 || /(?:\n\n|\r\n\r\n|\r\r)$/.test(sent.toString("latin1"));
  if (!isBetweenEvents) {
    response.destroy();
    return;
  }
  const event = `data: ${JSON.stringify(toOpenAiError(error))}\n\n`;
  response.write(Buffer.concat([held, Buffer.from(event)]), () => response.destroy());
}

/** Answers with an error alone. Headers that were set for another answer go, but those that let a page read it. */
function sendError(response: ServerResponse, thrown: unknown): void {
  const envelope = toOpenAiError(thrown);
  for (const name of response.getHeaderNames()) {
    if (!name.startsWith("access-control-")) response.removeHeader(name);
  }
  response.writeHead(httpStatusOf(envelope.error.code), {
    "content-type": "application/json",
    ...(envelope.error.code === "unauthorized" ? { "www-authenticate": "Bearer" } : {}),
  });
  response.end(JSON.stringify(envelope));
}

/** The shape every OpenAI client reads, with our hint beside it. */
function toOpenAiError(thrown: unknown): {
  error: { message: string; type: string; param: null; code: ErrorCode; hint: string };
} {
  const { code, message, hint } = toErrorEnvelope(thrown).error;
  const type = httpStatusOf(code) < 500 ? "invalid_request_error" : "server_error";
  return { error: { message, type, param: null, code, hint } };
}
