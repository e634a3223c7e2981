/** An upstream that speaks the OpenAI protocol as badly as real ones do: in splinters, with faults, in time or not. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. */
  readonly body: unknown;
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export interface UpstreamStub {
  readonly url: URL;
  readonly seen: readonly SeenRequest[];
  /** Requests whose client went away before the answer was whole. */
  readonly cut: () => number;
  /** Answers all following requests. */
  readonly answerWith: (answer: Answer) => void;
  readonly close: () => Promise<void>;
}

export async function openUpstreamStub(
  answer: Answer = streamText("Hello there."),
): Promise<UpstreamStub> {
  const seen: SeenRequest[] = [];
  let current = answer;
  let cut = 0;
  const server = createServer((request, response) => {
    response.once("close", () => {
      if (!response.writableFinished) cut += 1;
    });
    const serve = async (): Promise<void> => {
      const one = await read(request);
      seen.push(one);
      await current(one, response);
    };
    serve().catch((error: unknown) => {
      // Requests that broke off before they were whole are none; anything else is a fault of the test.
      if (!request.destroyed) throw error;
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/v1`),
    seen,
    cut: () => cut,
    answerWith: (next) => (current = next),
    close,
  };
}

async function read(request: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString("utf8");
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // Requests without a JSON body are seen as their text.
  }
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    text,
    body,
  };
}

/** A reply, as a stream in splinters or whole, as the request wants it. */
export function streamText(text: string, pieces: readonly string[] = cutText(text)): Answer {
  return async (request, response) => {
    if (isRecord(request.body) && request.body["stream"] === true) {
      await sendSplinters(response, chatStream(pieces));
    } else {
      sendJson(response, 200, {
        id: "c1",
        object: "chat.completion",
        created: 1,
        model: "stub",
        choices: [
          { index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
      });
    }
  };
}

export function chatStream(pieces: readonly string[]): string {
  return [
    chatChunk({ role: "assistant", content: "" }),
    ...pieces.map((content) => chatChunk({ content })),
    chatChunk({}, "stop"),
    `data: ${JSON.stringify({ ...FRAME, choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } })}\n\n`,
    "data: [DONE]\n\n",
  ].join("");
}

const FRAME = { id: "c1", object: "chat.completion.chunk", created: 1, model: "stub" };

export function chatChunk(delta: object, finish: string | null = null): string {
  return `data: ${JSON.stringify({ ...FRAME, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

/** Writes a stream in pieces of 1 to 13 bytes, cut wherever they fall, inside characters too. */
export async function sendSplinters(response: ServerResponse, stream: string): Promise<void> {
  startStream(response);
  await writeSplinters(response, stream);
  response.end();
}

export function startStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  response.flushHeaders();
}

export async function writeSplinters(response: ServerResponse, stream: string): Promise<void> {
  const bytes = Buffer.from(stream);
  for (let at = 0, turn = 0; at < bytes.length && !response.destroyed; turn += 1) {
    const size = 1 + ((turn * 7) % 13);
    const isFlushed = response.write(bytes.subarray(at, at + size));
    // Now and then the event loop turns, so that pieces arrive on their own and not glued together.
    if (turn % 8 === 0) await new Promise(setImmediate);
    if (!isFlushed) await roomIn(response);
    at += size;
  }
}

/** Resolves when more may be written, or nobody is there any more. */
export async function roomIn(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
  });
}

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
}

function cutText(text: string): readonly string[] {
  return text.match(/[\s\S]{1,5}/gu) ?? [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
