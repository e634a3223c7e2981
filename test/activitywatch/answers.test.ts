/** Long answers over real HTTP: they must let others have their turn. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { sendExport, sendPages } from "../../src/activitywatch/answers.ts";

/** What a client reads of an answer. */
async function answerOf(send: (response: ServerResponse) => Promise<void>) {
  const server = createServer((_, response) => void send(response)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  // A server on an address of its own.
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`);
  return { length: response.headers.get("content-length"), text: await response.text() };
}

/** Gives the pages, and tells how many turns of the event loop went by before each. */
function watched<T>(pages: readonly T[]) {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  onTestFinished(() => {
    isOver = true;
  });
  const turnsBefore: number[] = [];
  function* each(): Generator<T, void, undefined> {
    for (const page of pages) {
      turnsBefore.push(turns);
      yield page;
    }
  }
  return { pages: each(), turnsBefore };
}

it.each([
  ["nothing", [], "2"],
  ["one page", [[{ n: 1 }, { n: 2 }]], "17"],
  ["several pages", [[{ n: 1 }, { n: 2 }], [{ n: 3 }], [{ n: 4 }]], null],
])("a list of %s is whole, and only a short one is measured beforehand", async (_, pages, size) => {
  const { length, text } = await answerOf((response) => sendPages(response, pages));
  expect(JSON.parse(text)).toEqual(pages.flat());
  expect(length).toBe(size);
});

it("between the pages of a list, and the pieces of an export, others have their turn", async () => {
  const list = watched(Array.from({ length: 20 }, (_, n) => [{ n, text: "x".repeat(1_000) }]));
  await answerOf((response) => sendPages(response, list.pages));
  const file = watched(Array.from({ length: 20 }, (_, n) => `${n} ${"x".repeat(1_000)}`));
  await answerOf((response) => sendExport(response, file.pages, null));
  for (const { turnsBefore } of [list, file]) {
    expect(turnsBefore).toHaveLength(20);
    expect(new Set(turnsBefore).size).toBe(20);
  }
});
