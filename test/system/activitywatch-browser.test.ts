/** What a browser lets its pages do with the watchers' port: a real one, with pages of three origins. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium, type Browser } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import { openDaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function openOrigin(): Promise<string> {
  const server: Server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<title>page</title>");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  open.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  open.push(() => browser.close());
  return browser;
}

describe("a page in Chromium", () => {
  it("of an origin that the owner allows feeds and reads; any other changes nothing and reads nothing", async () => {
    const [ours, theirs, reserved] = [await openOrigin(), await openOrigin(), await openOrigin()];
    const port = Number(new URL(reserved).port);
    await open.pop()?.();
    const daemon = openDaemonRig(
      createProcesses(),
      {},
      `[activitywatch]\nenabled = true\nport = ${port}\nallowed_origins = ["${ours}"]\n`,
    );
    open.push(daemon.close);
    await daemon.start();
    const browser = await openBrowser();
    const api = `http://127.0.0.1:${port}/api/0`;

    /** What the script of a page at `origin` gets for a request: a status, or that the browser kept it back. */
    const asPage = async (
      origin: string,
      path: string,
      request: { readonly method?: string; readonly type?: string; readonly body?: object } = {},
    ): Promise<string> => {
      const page = await browser.newPage();
      await page.goto(origin);
      const { method = "GET", type = "application/json", body } = request;
      const answer = await page.evaluate(
        async ([url, verb, contentType, text]) => {
          try {
            const got = await fetch(url, {
              method: verb,
              ...(text === "" ? {} : { headers: { "content-type": contentType }, body: text }),
            });
            return `${got.status} ${(await got.text()).slice(0, 200)}`;
          } catch {
            return "kept back";
          }
        },
        [`${api}${path}`, method, type, body === undefined ? "" : JSON.stringify(body)] as const,
      );
      await page.close();
      return answer;
    };

    const bucket = { client: "c", type: "test", hostname: "h" };
    const beat = { timestamp: "2026-01-01T00:00:00Z", duration: 1, data: { n: 1 } };
    expect(await asPage(ours, "/buckets/b", { method: "POST", body: bucket })).toMatch(/^200/);
    expect(
      await asPage(ours, "/buckets/b/heartbeat?pulsetime=1", { method: "POST", body: beat }),
    ).toMatch(/^200 .*"n":1/);
    expect(await asPage(ours, "/buckets/b/events")).toMatch(/^200 .*"n":1/);
    expect(await asPage(ours, "/buckets/none")).toMatch(/^404/);

    const write = { method: "POST", body: bucket };
    expect(await asPage(theirs, "/info")).toBe("kept back");
    expect(await asPage(theirs, "/export")).toBe("kept back");
    expect(await asPage(theirs, "/buckets/stolen", write)).toBe("kept back");
    // Needs no leave of the browser's, so that only the server is left to refuse it.
    expect(await asPage(theirs, "/buckets/stolen", { ...write, type: "text/plain" })).toBe(
      "kept back",
    );
    expect(await asPage(theirs, "/buckets/b", { method: "DELETE" })).toBe("kept back");
    const left: unknown = await (await fetch(`${api}/buckets/`)).json();
    expect(Object.keys(Object(left))).toEqual(["b"]);
  });
});
