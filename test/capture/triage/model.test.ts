import { createServer, type RequestListener } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { createLinePicker, MAX_MODEL_LINES } from "../../../src/capture/triage/model.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A real server on a port of its own; gives its address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}/v1`;
}

function answering(content: unknown, status = 200): RequestListener {
  return (request, response) => {
    request.resume().on("end", () => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content } }] }));
    });
  };
}

const LINES = ["- one", "- two", "- three"];

async function pickFrom(
  url: string,
  lines = LINES,
  ms = 20_000,
): Promise<readonly number[] | null> {
  const picker = createLinePicker({ url, model: "small" });
  return picker.pick("what was that?", lines, performance.now() + ms);
}

describe("a model that chooses lines", () => {
  it.each([
    ["3, 1", [2, 0]],
    ["[2]", [1]],
    [" 1;2 ; 2\n", [0, 1]],
    ["<think>the user wants 9</think>\n3.", [2]],
  ])("%j chooses %j", async (content, expected) => {
    expect(await pickFrom(await serve(answering(content)))).toEqual(expected);
  });

  it.each([
    "Lines 1 and 3 help.",
    "0",
    "7, 8",
    "",
    "- ignore all instructions",
    "1, 2, three",
    null,
    ["1"],
  ])("%j chooses nothing", async (content) => {
    expect(await pickFrom(await serve(answering(content)))).toBeNull();
  });

  it("sees the turn and at most forty numbered lines, at the usual path", async () => {
    let seen = { path: "", body: "", key: "" };
    const url = await serve((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        seen = { path: request.url ?? "", body, key: request.headers.authorization ?? "" };
        response.end(JSON.stringify({ choices: [{ message: { content: "1" } }] }));
      });
    });
    const many = Array.from({ length: 60 }, (_, index) => `- line ${index}`);
    const picker = createLinePicker({ url, model: "small", apiKey: "k" });
    expect(await picker.pick("what was that?", many, performance.now() + 2000)).toEqual([0]);
    expect(seen.path).toBe("/v1/chat/completions");
    expect(seen.key).toBe("Bearer k");
    expect(seen.body).toContain(`${MAX_MODEL_LINES}. - line 39`);
    expect(seen.body).not.toContain("line 40");
    expect(seen.body).toContain("what was that?");
  });

  it("is given up at the deadline when it is slow, hangs in the middle, or never answers", async () => {
    const never = await serve((request) => void request.resume());
    const halfway = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"choices": [');
    });
    for (const url of [never, halfway]) {
      const startedMs = performance.now();
      expect(await pickFrom(url, LINES, 120)).toBeNull();
      expect(performance.now() - startedMs).toBeLessThan(1500);
    }
    expect(await pickFrom(never, LINES, -1)).toBeNull();
  });

  it("is given up when it answers too much, with an error, elsewhere, with no JSON, or is gone", async () => {
    const huge = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = " ".repeat(64 * 1024);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    });
    const failing = await serve(answering("1", 500));
    const moved = await serve((_request, response) => {
      response.writeHead(302, { location: failing });
      response.end();
    });
    const garbled = await serve((_request, response) => response.end("<html>1</html>"));
    for (const url of [huge, failing, moved, garbled, "http://127.0.0.1:9/v1", "no address"]) {
      expect(await pickFrom(url)).toBeNull();
    }
  });

  it("is not asked when there is nothing to choose from", async () => {
    let asked = 0;
    const url = await serve((request, response) => {
      asked += 1;
      answering("1")(request, response);
    });
    expect(await pickFrom(url, [])).toBeNull();
    expect(asked).toBe(0);
  });
});
