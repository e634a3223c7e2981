/** The page's server through its port, as a browser and as those who pretend to be one send to it. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ActivityError } from "../../src/errors.ts";
import { createApiRouter } from "../../src/local-api/router.ts";
import { silentLog } from "../../src/log.ts";
import type { PageApi, PageChange } from "../../src/web/page-api.ts";
import { isPortTaken, servePage, type PageServer } from "../../src/web/server.ts";
import { openPageSessions } from "../../src/web/sessions.ts";
import { createFakeActivityApi } from "../helpers/fake-activity-api.ts";
import { createFakeClock, type FakeClock } from "../helpers/fake-clock.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { until } from "../helpers/until.ts";

describe("a link", () => {
  test("opens the page once: the browser gets a cookie that no script and no other site has", async () => {
    const { server, get } = await open();
    const { pathname, search, origin } = new URL(server.link().url);
    expect(origin).toBe(`http://127.0.0.1:${server.port}`);
    const first = await get(pathname + search);
    expect(first.status).toBe(303);
    expect(first.headers.location).toBe("/");
    expect(first.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        new RegExp(
          `^activityd_page_${server.port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000$`,
        ),
      ),
    ]);
    expect(first.headers["cache-control"]).toBe("no-store");
    const again = await get(pathname + search);
    expect(again.status).toBe(401);
    expect(again.headers["set-cookie"]).toBeUndefined();
    expect(again.body).toBe(
      "The link was used already, or is too old.\nMake a new one with: activityd open\n",
    );
  });

  test("is good for five minutes", async () => {
    const { server, get, clock } = await open();
    const [late, early] = [server.link(), server.link()];
    clock.advanceMs(5 * 60_000 - 1);
    expect((await get(pathOf(early.url))).status).toBe(303);
    clock.advanceMs(1);
    expect(late.expiresUs).toBe(clock.nowUs());
    expect((await get(pathOf(late.url))).status).toBe(401);
  });

  test("leads on who has opened the page before, however often it was used", async () => {
    const { server, get } = await open();
    const path = pathOf(server.link().url);
    const cookie = cookieOf(await get(path));
    const again = await get(path, { cookie });
    expect([again.status, again.headers["set-cookie"]]).toEqual([303, undefined]);
  });

  test("is not used up by a browser that looks ahead", async () => {
    const { server, get } = await open();
    const path = pathOf(server.link().url);
    expect((await get(path, { "sec-purpose": "prefetch" })).status).toBe(401);
    expect((await get(path)).status).toBe(303);
  });

  test.each(["/open", "/open?key=", "/open?key=x&more=1", `/open?key=${"a".repeat(43)}`])(
    "%s opens nothing",
    async (path) => {
      const { get, server } = await open();
      server.link();
      const answer = await get(path);
      expect([400, 401]).toContain(answer.status);
      expect(answer.headers["set-cookie"]).toBeUndefined();
    },
  );
});

describe("a session", () => {
  test("is needed for everything that was recorded, and for nothing of the program", async () => {
    const { get } = await open();
    for (const path of ["/api/v1/status", "/api/v1/nothing", "/api/page/about", "/api/page/x"]) {
      const answer = await get(path);
      expect(answer.status).toBe(401);
      expect(JSON.parse(answer.body).error).toEqual({
        code: "unauthorized",
        message: "This browser has not opened the page, or its session has ended.",
        hint: "Open it with: activityd open",
      });
    }
    expect((await get("/")).status).toBe(200);
    expect((await get("/", { cookie: "other=1" })).body).toBe("<title>the page</title>");
  });

  test("lasts over a restart, thirty days long, and the disk holds nothing that opens one", async () => {
    const rig = await open();
    const cookie = cookieOf(await rig.get(pathOf(rig.server.link().url)));
    await rig.server.close();
    const { file } = rig;
    const kept = readFileSync(file, "utf8");
    expect(kept).not.toContain(cookie.split("=")[1]);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const again = await open({ home: rig.home, clock: rig.clock, port: rig.server.port });
    expect((await again.get("/api/v1/status", { cookie })).status).toBe(200);
    rig.clock.advanceMs(30 * 86_400_000);
    expect((await again.get("/api/v1/status", { cookie })).status).toBe(401);
  });

  test("ends when its page says so, and all do when asked", async () => {
    const { server, get, post } = await open();
    const [a, b, c] = [
      cookieOf(await get(pathOf(server.link().url))),
      cookieOf(await get(pathOf(server.link().url))),
      cookieOf(await get(pathOf(server.link().url))),
    ];
    const ended = await post("/api/page/end", {}, { cookie: a });
    expect(ended.headers["set-cookie"]?.[0]).toContain("Max-Age=0");
    expect((await get("/api/page/about", { cookie: a })).status).toBe(401);
    expect((await get("/api/page/about", { cookie: b })).status).toBe(200);
    const link = server.link();
    await post("/api/page/end", { all: true }, { cookie: b });
    for (const cookie of [b, c]) {
      expect((await get("/api/page/about", { cookie })).status).toBe(401);
    }
    // A link that lay about goes with them.
    expect((await get(pathOf(link.url))).status).toBe(401);
  });

  test("file that is damaged lets nobody in", async () => {
    const rig = await open();
    const cookie = cookieOf(await rig.get(pathOf(rig.server.link().url)));
    await rig.server.close();
    writeFileSync(rig.file, readFileSync(rig.file, "utf8").slice(0, -1));
    const again = await open({ home: rig.home, clock: rig.clock, port: rig.server.port });
    expect((await again.get("/api/v1/status", { cookie })).status).toBe(401);
  });
});

describe("who is turned away, with the cookie or without", () => {
  const navigation = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

  test.each([
    ["a rebound name", { host: "evil.example:1" }],
    ["a rebound name without a port", { host: "evil.example" }],
    ["another name of this machine", { host: "localhost:PORT" }],
    ["another port", { host: "127.0.0.1:1" }],
    ["another origin", { origin: "http://evil.example" }],
    ["an origin that hides", { origin: "null" }],
    ["an origin on another port", { origin: "http://127.0.0.1:1" }],
    ["a script of another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
    ["a script of another port", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }],
    [
      "a page that embeds it",
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
    ],
    [
      "a page of its own that embeds it",
      { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
    ],
  ])("%s", async (_, headers) => {
    const { server, get } = await open();
    const cookie = cookieOf(await get(pathOf(server.link().url)));
    const sent = JSON.parse(JSON.stringify(headers).replace("PORT", String(server.port)));
    for (const path of ["/", "/api/v1/status"]) {
      const answer = await get(path, { cookie, ...sent });
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.body).error.code).toBe("forbidden_origin");
    }
    // Nor does it use a link up.
    const link = pathOf(server.link().url);
    expect((await get(link, sent)).status).toBe(403);
    expect((await get(link)).status).toBe(303);
  });

  test("a link on another site leads to the page, and to nothing that was recorded", async () => {
    const { server, get } = await open();
    const cookie = cookieOf(await get(pathOf(server.link().url)));
    const followed = { "sec-fetch-site": "cross-site", ...navigation };
    expect((await get("/", followed)).status).toBe(200);
    expect((await get("/api/v1/status", { cookie, ...followed })).status).toBe(403);
    expect((await get("/api/page/export", { cookie, ...followed })).status).toBe(403);
  });

  test("a POST that does not say where it comes from, or says it comes from elsewhere", async () => {
    const { server, get, post } = await open();
    const cookie = cookieOf(await get(pathOf(server.link().url)));
    const origin = `http://127.0.0.1:${server.port}`;
    const pause = (headers: Readonly<Record<string, string>>) =>
      post("/api/v1/pause", {}, { cookie, ...headers });
    expect((await pause({ origin: "" })).status).toBe(403);
    expect((await pause({ origin: "http://evil.example" })).status).toBe(403);
    expect((await pause({ origin, "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await pause({ origin, "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  test("what names another server, or is no path", async () => {
    const { server } = await open();
    const answer = await sendLines(server.port, [
      "GET http://evil.example/ HTTP/1.1",
      `host: 127.0.0.1:${server.port}`,
      "connection: close",
    ]);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    const odd = await sendLines(server.port, [
      "GET // HTTP/1.1",
      `host: 127.0.0.1:${server.port}`,
      "connection: close",
    ]);
    expect(odd).toMatch(/^HTTP\/1.1 40[04] /);
  });
});

describe("every answer", () => {
  test("keeps other sites from showing, fetching and guessing it", async () => {
    const { server, get } = await open();
    const cookie = cookieOf(await get(pathOf(server.link().url)));
    for (const path of [
      "/",
      "/none",
      "/assets/a-1.js",
      "/api/v1/status",
      "/api/v1/none",
      "/open",
    ]) {
      const { headers } = await get(path, { cookie });
      expect(headers).toMatchObject({
        "content-security-policy": expect.stringMatching(
          /^default-src 'self'; .*frame-ancestors 'none'/,
        ),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
      });
      expect(headers["access-control-allow-origin"]).toBeUndefined();
    }
    for (const path of ["/api/v1/status", "/api/page/about", "/api/v1/none", "/open"]) {
      expect((await get(path, { cookie })).headers["cache-control"]).toBe("no-store");
    }
  });
});

describe("files", () => {
  test("are those that were built, each with its type; the page is asked for anew", async () => {
    const { get } = await open();
    const page = await get("/");
    expect(page.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
    });
    const { etag = "" } = page.headers;
    const known = await get("/", { "if-none-match": etag });
    expect([known.status, known.body]).toEqual([304, ""]);
    const script = await get("/assets/a-1.js");
    expect(script.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "private, max-age=31536000, immutable",
    });
  });

  test.each([
    "/../secret.txt",
    "/..%2fsecret.txt",
    "/%2e%2e/secret.txt",
    "/assets/../../secret.txt",
    "//etc/passwd",
    "/assets/",
    "/index.html%00",
  ])("%s is none of them", async (path) => {
    const { server } = await open();
    const answer = await sendLines(server.port, [
      `GET ${path} HTTP/1.1`,
      `host: 127.0.0.1:${server.port}`,
      "connection: close",
    ]);
    expect(answer).toMatch(/^HTTP\/1.1 404 /);
    expect(answer).not.toContain("not for you");
  });

  test("of another version are not mixed with those of the daemon's own", async () => {
    const { get, folder } = await open();
    expect((await get("/")).status).toBe(200);
    writeFileSync(join(folder, "index.html"), "<title>the page of tomorrow</title>");
    rmSync(join(folder, "assets", "a-1.js"));
    for (const path of ["/", "/assets/a-1.js"]) {
      const answer = await get(path);
      expect(answer.status).toBe(503);
      expect(JSON.parse(answer.body).error).toMatchObject({ code: "program_replaced" });
    }
  });

  test("that were never built are told with what to do", async () => {
    const folder = createTempHome();
    await expect(open({ folder })).rejects.toMatchObject({
      code: "page_unavailable",
      hint: "Build them with: npm run build",
    });
  });
});

describe("the daemon's API", () => {
  test("answers as on the socket, errors too, and does not take its owner for a client", async () => {
    const { server, get, post, api } = await open();
    api.show("# block\n---\n\n");
    const cookie = cookieOf(await get(pathOf(server.link().url)));
    const events = await get("/api/v1/events?fromUs=0&toUs=1", { cookie });
    expect(JSON.parse(events.body)).toEqual({ events: [], truncated: false });
    const wrong = await get("/api/v1/events?fromUs=0&more=1", { cookie });
    expect(wrong.status).toBe(400);
    expect(JSON.parse(wrong.body).error.message).toBe('Unknown query parameter "more".');
    const tried = await post("/api/v1/context", { form: "exact" }, { cookie });
    expect(tried.headers["content-type"]).toContain("text/plain");
    const { entries } = await api.ledger({});
    expect(entries.map(({ client }) => client)).toEqual(["page"]);
  });

  test("of the page alone refuses what it does not know, by name", async () => {
    const { server, get, post } = await open();
    const cookie = cookieOf(await get(pathOf(server.link().url)));
    const query = await get("/api/page/about?more=1", { cookie });
    expect([query.status, JSON.parse(query.body).error.message]).toEqual([
      400,
      'Unknown query parameter "more".',
    ]);
    expect((await post("/api/page/end", { every: true }, { cookie })).status).toBe(400);
    expect((await post("/api/page/about", {}, { cookie })).status).toBe(405);
    expect((await get("/api/page/none", { cookie })).status).toBe(404);
  });

  test("hands the record on as it comes", async () => {
    const { server, get } = await open();
    const cookie = cookieOf(await get(pathOf(server.link().url)));
    const answer = await get("/api/page/export", { cookie });
    expect(answer.body).toBe("one\ntwo\n");
    expect(answer.headers["content-disposition"]).toBe(
      'attachment; filename="activityd-export.jsonl"',
    );
  });
});

describe("the stream of changes", () => {
  test("says at once where it stands, and not again to a page that knows", async () => {
    const { server, get, change, follow } = await open();
    const cookie = cookieOf(await get(pathOf(server.link().url)));
    const first = follow({ cookie });
    await until("the first event", () => first.said().includes("\n\nid: 7:1\n"));
    expect(first.said()).toBe(
      'retry: 1000\n\nid: 7:1\ndata: {"id":1,"forgotten":0,"nowUs":0,"startedUs":7}\n\n',
    );
    const back = follow({ cookie, "last-event-id": "7:1" });
    await until("the second stream", () => back.said() !== "");
    change();
    await until("the change", () => back.said().includes("id: 7:2"));
    expect(back.said()).not.toContain("id: 7:1");
    await until("the change on both", () => first.said().includes("id: 7:2"));
  });

  test("ends with the server", async () => {
    const { server, get, follow } = await open();
    const cookie = cookieOf(await get(pathOf(server.link().url)));
    const stream = follow({ cookie });
    await until("the stream", () => stream.said() !== "");
    // The grace of running requests never ends: a connection that outlives its stream would hold up the server.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    await server.close();
    vi.useRealTimers();
    await until("its end", stream.isOver);
    expect(stream.said()).toContain("id: 7:1");
  });
});

test("a port that is taken is told with what to do, and apart from all else", async () => {
  const { server } = await open();
  const taken: unknown = await open({ port: server.port }).catch((thrown: unknown) => thrown);
  expect(taken).toMatchObject({
    code: "page_unavailable",
    message: `Port ${server.port} of this machine, where the page is served, is taken.`,
  });
  expect(isPortTaken(taken)).toBe(true);
  expect(isPortTaken(new ActivityError("page_unavailable", "There are no files."))).toBe(false);
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function open({
  home = createTempHome(),
  clock = createFakeClock("2026-11-27T16:12:00Z"),
  port: wanted = 0,
  folder = makeFolder(home),
}: {
  readonly home?: string;
  readonly clock?: FakeClock;
  readonly port?: number;
  readonly folder?: string;
} = {}) {
  const file = join(home, "data", "page-sessions.json");
  const api = createFakeActivityApi();
  const { page, change } = createFakePage();
  const server: PageServer = await servePage({
    port: wanted,
    folder,
    sessions: openPageSessions({ file, clock, log: silentLog }),
    page,
    createApiHandler: (parts) =>
      createApiRouter({
        ...parts,
        api,
        log: silentLog,
        clientOf: ({ answers }) => (answers === "context" ? "page" : undefined),
      }),
    log: silentLog,
  });
  onTestFinished(server.close);
  const { port } = server;
  const own = { host: `127.0.0.1:${port}` };
  return {
    home,
    folder,
    file,
    clock,
    api,
    server,
    change,
    get: (path: string, headers: Readonly<Record<string, string>> = {}) =>
      send(port, "GET", path, { ...own, ...headers }),
    /** With the page's own Origin, unless another is given; "" sends none. */
    post: (path: string, body: object, headers: Readonly<Record<string, string>> = {}) => {
      const { origin = `http://${own.host}`, ...rest } = headers;
      const named = origin === "" ? {} : { origin };
      const type = { "content-type": "application/json" };
      return send(port, "POST", path, { ...own, ...type, ...named, ...rest }, JSON.stringify(body));
    },
    follow: (headers: Readonly<Record<string, string>>) => {
      let said = "";
      let isOver = false;
      const asked = request(
        { port, host: "127.0.0.1", path: "/api/page/changes", headers: { ...own, ...headers } },
        (response) => {
          response.setEncoding("utf8").on("data", (text: string) => {
            said += text;
          });
          response.once("close", () => {
            isOver = true;
          });
        },
      );
      asked.on("error", () => {});
      asked.end();
      onTestFinished(() => void asked.destroy());
      return { said: () => said, isOver: () => isOver };
    },
  };
}

function makeFolder(home: string): string {
  const folder = join(home, "ui");
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(home, "secret.txt"), "not for you");
  writeFileSync(join(folder, "index.html"), "<title>the page</title>");
  writeFileSync(join(folder, "assets", "a-1.js"), "export {};");
  return folder;
}

/** A page that was told of one change at the start of the run 7. */
function createFakePage(): { readonly page: PageApi; readonly change: () => void } {
  let id = 1;
  const wakes = new Set<() => void>();
  const changes = async function* (signal: AbortSignal): AsyncGenerator<PageChange> {
    for (;;) {
      const next = new Promise<void>((resolve) => {
        wakes.add(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      yield { id, forgotten: 0, nowUs: 0, startedUs: 7 };
      await next;
      if (signal.aborted) return;
    }
  };
  const about = {
    version: "0",
    recorded: [],
    places: [],
    keepDays: null,
    maxMegabytes: null,
  };
  return {
    page: {
      changes,
      findings: async () => ({ findings: [] }),
      about: async () => about,
      exportLines: () => ["one\n", "two\n"],
    },
    change: () => {
      id += 1;
      for (const wake of wakes) wake();
      wakes.clear();
    },
  };
}

function send(
  port: number,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: "127.0.0.1", agent: false, method, path, headers });
    asked.once("error", reject);
    asked.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.once("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    asked.end(body);
  });
}

/** Lines as no client of ours would send them. */
function sendLines(port: number, lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
    let received = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      received += text;
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(received));
  });
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function cookieOf({ headers }: Answer): string {
  return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}
