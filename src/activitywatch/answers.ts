/**
 * How answers are written: JSON, lists and exports of any size, and what a browser asks beforehand. It promises that an
 * answer that is long never keeps another waiting for longer than a page of it takes.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as nextTurn } from "node:timers/promises";

export function sendFound(response: ServerResponse, value: unknown, bucket: string): void {
  if (value === null) sendMessage(response, 404, `There is no bucket "${bucket}".`);
  else sendJson(response, 200, value);
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendBytes(response, status, Buffer.from(JSON.stringify(value ?? null)));
}

/** JSON that is written already. */
export function sendBytes(response: ServerResponse, status: number, body: Uint8Array): void {
  response
    .writeHead(status, { "content-type": "application/json", "content-length": body.length })
    .end(body);
}

export function sendMessage(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) response.destroy();
  else sendJson(response, status, { message });
}

/**
 * A list that comes in pages. A short one goes as a whole; while a long one is on its way, everybody else is answered
 * between its pages.
 */
export async function sendPages(
  response: ServerResponse,
  pages: Iterable<readonly unknown[]>,
): Promise<void> {
  const rest = pages[Symbol.iterator]();
  const first = rest.next();
  if (first.done === true) return sendJson(response, 200, []);
  await nextTurn();
  const second = rest.next();
  if (second.done === true) return sendJson(response, 200, first.value);
  response.writeHead(200, { "content-type": "application/json" });
  await sendPieces(response, listPieces([first.value, second.value], rest));
}

function* listPieces(
  read: readonly (readonly unknown[])[],
  rest: Iterator<readonly unknown[]>,
): Generator<string, void, undefined> {
  let before = "[";
  const pieceOf = (page: readonly unknown[]): string => {
    const piece = before + page.map((item) => JSON.stringify(item)).join(",");
    before = ",";
    return piece;
  };
  for (const page of read) yield pieceOf(page);
  for (let next = rest.next(); next.done !== true; next = rest.next()) yield pieceOf(next.value);
  yield "]";
}

/** The export of a bucket, or of all, in pieces. */
export function sendExport(
  response: ServerResponse,
  pieces: Iterable<string>,
  only: string | null,
): Promise<void> {
  const name =
    only === null
      ? "aw-buckets-export.json"
      : `aw-bucket-export_${only.replace(/[^\w.-]/g, "_")}.json`;
  response.writeHead(200, {
    "content-type": "application/json",
    "content-disposition": `attachment; filename=${name}`,
  });
  return sendPieces(response, pieces);
}

/** Piece by piece, as fast as the client reads. A socket that takes all of it at once would let nobody else have a turn. */
async function sendPieces(response: ServerResponse, pieces: Iterable<string>): Promise<void> {
  async function* inTurns(): AsyncGenerator<string, void, undefined> {
    for (const piece of pieces) {
      yield piece;
      await nextTurn();
    }
  }
  await pipeline(Readable.from(inTurns()), response);
}

/** A stranger is told nothing: the browser then does not send what it asked for. */
export function sendPreflight(
  request: IncomingMessage,
  response: ServerResponse,
  isAllowed: boolean,
): void {
  if (!isAllowed) {
    response.writeHead(204).end();
    return;
  }
  const wanted = request.headers["access-control-request-headers"];
  response.setHeader("access-control-allow-methods", "GET, POST, DELETE");
  response.setHeader(
    "access-control-allow-headers",
    ["content-type", "authorization", ...(wanted === undefined ? [] : [wanted])].join(", "),
  );
  response.setHeader("access-control-max-age", "600");
  // Chromium asks this before a public page or an extension may reach this machine.
  if (request.headers["access-control-request-private-network"] === "true") {
    response.setHeader("access-control-allow-private-network", "true");
  }
  response.writeHead(204).end();
}
