/** The protocol over real HTTP and the real store, statement by statement. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createBuckets } from "../../src/activitywatch/buckets.ts";
import { runQueries } from "../../src/activitywatch/query.ts";
import { serveActivityWatch } from "../../src/activitywatch/server.ts";
import { createPrivacyGate } from "../../src/capture/privacy.ts";
import { gateBucketData } from "../../src/capture/privacy/buckets.ts";
import { DEFAULT_PRIVACY } from "../../src/capture/privacy/rules.ts";
import { silentLog } from "../../src/log.ts";
import { createBucketStore } from "../../src/store/buckets.ts";
import { openDatabase } from "../../src/store/database.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createTempHome } from "../helpers/temp-home.ts";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: unknown;
}

type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

const FIREFOX = "moz-extension://6b1794a0-5ae6-4443-aef9-7755717bb180";
const BUCKET = { client: "c", type: "test", hostname: "h" };

let empty = "";
/** Made once: to build the tables costs more than a test of them. */
beforeAll(() => {
  const directory = mkdtempSync(join(tmpdir(), "activityd-test-"));
  empty = join(directory, "empty.db");
  openDatabase({ path: empty }).close();
  return () => rmSync(directory, { recursive: true });
});

/** A server with nothing in it, and a way to ask it that hides nothing of HTTP. */
async function openServer(
  access: {
    readonly apiKey?: string;
    readonly testing?: boolean;
    origins?: readonly string[];
    readonly query?: () => Promise<never>;
  } = {},
): Promise<Ask> {
  const clock = createFakeClock("2026-11-23T12:00:00Z");
  const path = join(createTempHome(), "activity.db");
  copyFileSync(empty, path);
  const database = openDatabase({ path });
  const rows = createBucketStore(database);
  const gate = createPrivacyGate(DEFAULT_PRIVACY);
  const server = await serveActivityWatch({
    buckets: createBuckets({
      keeper: {
        store: rows,
        gate: (bucket, data, atUs) => gateBucketData(gate, bucket, data, atUs),
        onEvent: () => {},
      },
      hostname: "box",
      version: "v0",
      testing: access.testing ?? true,
      nowUs: clock.nowUs,
    }),
    query: access.query ?? (async (body) => Buffer.from(JSON.stringify(runQueries(body, rows)))),
    at: { port: 0 },
    testing: access.testing ?? true,
    apiKey: access.apiKey ?? null,
    allowedOrigins: access.origins ?? [],
    log: silentLog,
    admits: () => true,
  });
  onTestFinished(async () => {
    await server.close();
    database.close();
  });
  return (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const isRaw = typeof body === "string" || Buffer.isBuffer(body);
      const sent =
        body === undefined ? undefined : Buffer.from(isRaw ? body : JSON.stringify(body));
      const request = httpRequest(
        {
          host: "127.0.0.1",
          port: server.port,
          method,
          path,
          agent: false,
          headers: {
            ...(sent === undefined
              ? {}
              : { "content-type": "application/json", "content-length": sent.length }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("error", reject);
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            const text = Buffer.concat(chunks).toString("utf8");
            const { statusCode: status = 0, headers: answered } = response;
            resolve({
              status,
              headers: answered,
              text,
              json: text === "" ? null : JSON.parse(text),
            });
          });
        },
      );
      request.on("error", reject);
      request.end(sent);
    });
}

/** A server with the bucket `b`, and short ways to its events. */
async function openBucket() {
  const ask = await openServer();
  await ask("POST", "/api/0/buckets/b", BUCKET);
  return {
    ask,
    insert: (...events: readonly object[]) => ask("POST", "/api/0/buckets/b/events", events),
    beat: async (second: number, data: object, pulse: number | string = 5, duration = 0) =>
      (
        await ask("POST", `/api/0/buckets/b/heartbeat?pulsetime=${pulse}`, {
          id: null,
          timestamp: at(second),
          duration,
          data,
        })
      ).json,
    list: async (query = "") => (await ask("GET", `/api/0/buckets/b/events${query}`)).json,
  };
}

function at(second: number): string {
  return new Date(Date.parse("2026-01-01T00:00:00Z") + second * 1000).toISOString();
}

function event(second: number, duration: number, data: object = {}): object {
  return { timestamp: at(second), duration, data };
}

function span(second: number, duration: number, data?: object): object {
  const timestamp = at(second)
    .replace(".000Z", "Z")
    .replace(/\.(\d{3})Z/, ".$1000Z");
  return { timestamp, duration, ...(data === undefined ? {} : { data }) };
}

describe("what clients send", () => {
  it.each([
    ["2026-01-01T00:00:10Z", "2026-01-01T00:00:10Z"],
    ["2026-01-01T01:00:10+01:00", "2026-01-01T00:00:10Z"],
    ["2026-01-01T01:00:10.25+0100", "2026-01-01T00:00:10.250000Z"],
    ["2026-01-01T00:00:10.123456789Z", "2026-01-01T00:00:10.123456Z"],
    ["2026-01-01 00:00:10+00", "2026-01-01T00:00:10Z"],
  ])("a timestamp of %s comes back as %s", async (timestamp, written) => {
    const { ask } = await openBucket();
    const { json } = await ask("POST", "/api/0/buckets/b/events", { timestamp });
    expect(json).toMatchObject([{ timestamp: written, duration: 0, data: {} }]);
  });

  it("an event may have nulls, keys of nobody's and a negative duration, and stays as it was sent", async () => {
    const { insert, list } = await openBucket();
    const sent = { ...event(5, -2.5, { k: null }), id: null, extra: 1 };
    const { json } = await insert(sent);
    expect(json).toMatchObject([{ duration: -2.5, data: { k: null } }]);
    expect(await list()).toMatchObject([{ duration: -2.5 }]);
  });

  it.each([
    ["no timestamp", {}],
    ["a timestamp of no time", { timestamp: "soon" }],
    ["a timestamp of the year 9999", { timestamp: "9999-01-01T00:00:00Z" }],
    ["a duration without end", { timestamp: at(0), duration: 1e300 }],
    ["a duration in words", { timestamp: at(0), duration: "long" }],
    ["data that are a list", { timestamp: at(0), data: [] }],
    ["nothing", null],
  ])("an event with %s is a 400 with a message", async (_, body) => {
    const { ask, list } = await openBucket();
    const answer = await ask("POST", "/api/0/buckets/b/events", [event(0, 1), body]);
    expect(answer).toMatchObject({ status: 400, json: { message: expect.any(String) } });
    // All of a list or nothing of it.
    expect(await list()).toEqual([]);
  });

  it("a body that is no JSON is a 400, and one sent along with DELETE is read and dropped", async () => {
    const { ask } = await openBucket();
    expect((await ask("POST", "/api/0/buckets/b/events", "{")).status).toBe(400);
    const deep = `{"timestamp":"${at(0)}","data":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`;
    for (const path of ["events", "heartbeat?pulsetime=1"])
      expect((await ask("POST", `/api/0/buckets/b/${path}`, deep)).status).toBe(400);
    expect((await ask("DELETE", "/api/0/buckets/b", {})).status).toBe(200);
    expect((await ask("DELETE", "/api/0/buckets/b?force=1")).status).toBe(404);
    expect((await ask("DELETE", "/api/0/buckets/b/events/1")).status).toBe(404);
  });

  it("a fault of the server's own is a 500, also one that V8 calls a range", async () => {
    const fault = () => Promise.reject(new RangeError("Invalid time value"));
    const ask = await openServer({ query: fault });
    const asked = { query: ["RETURN = 1;"], timeperiods: [] };
    expect((await ask("POST", "/api/0/query/", asked)).status).toBe(500);
  });

  it.each(["//api/0/buckets/b", "/api//0///buckets/b/", "/%61pi/0/buckets/%62"])(
    "%s is the bucket b",
    async (path) => {
      const { ask } = await openBucket();
      expect(await ask("GET", path)).toMatchObject({ status: 200, json: { id: "b" } });
    },
  );

  it("a bucket may have any name that can be written in an address", async () => {
    const ask = await openServer();
    const name = "aw-watcher-Rider 2026.1 ü%_host";
    const path = `/api/0/buckets/${encodeURIComponent(name)}`;
    await ask("POST", path, BUCKET);
    expect(await ask("GET", path)).toMatchObject({ status: 200, json: { id: name } });
    expect((await ask("GET", "/api/0/buckets/%E0%A4%A")).status).toBe(404);
  });

  it("HEAD is GET without a body", async () => {
    const { ask } = await openBucket();
    expect(await ask("HEAD", "/api/0/buckets/b")).toMatchObject({ status: 200, text: "" });
  });
});

describe("buckets", () => {
  it("say what they are, in a list with the end of the newest event", async () => {
    const { ask, insert } = await openBucket();
    const bucket = { id: "b", name: null, ...BUCKET, created: expect.any(String), data: {} };
    expect((await ask("GET", "/api/0/buckets/b")).json).toEqual(bucket);
    expect((await ask("GET", "/api/0/buckets")).json).toEqual({ b: bucket });
    await insert(event(0, 1), event(10, 2.5));
    expect((await ask("GET", "/api/0/buckets/")).json).toMatchObject({
      b: { last_updated: "2026-01-01T00:00:12.500000Z" },
    });
  });

  it("of a whole Bucket with nulls are made, keep created and data, and !local is this machine", async () => {
    const ask = await openServer();
    const whole = { ...BUCKET, id: "x", created: null, events: null, last_updated: null };
    const metadata = { start: null, end: null };
    expect((await ask("POST", "/api/0/buckets/x", { ...whole, metadata })).status).toBe(200);
    const dated = { ...BUCKET, hostname: "!local", created: at(0), data: { n: 1 } };
    await ask("POST", "/api/0/buckets/y", dated);
    expect((await ask("GET", "/api/0/buckets/y")).json).toMatchObject({
      hostname: "box",
      created: "2026-01-01T00:00:00.000Z",
      data: { n: 1, device_id: expect.any(String) },
    });
    expect((await ask("POST", "/api/0/buckets/y", BUCKET)).status).toBe(304);
    expect((await ask("POST", "/api/0/buckets/z", { client: "c" })).status).toBe(400);
  });

  it.each([
    ["GET", "/events"],
    ["GET", "/events/count"],
    ["GET", "/events/1"],
    ["POST", "/events"],
    ["POST", "/heartbeat?pulsetime=1"],
    ["GET", "/export"],
    ["GET", ""],
    ["DELETE", ""],
  ])("that do not exist: %s %s is a 404 with a message", async (method, path) => {
    const ask = await openServer();
    const body = method === "POST" ? event(0, 1) : undefined;
    const answer = await ask(method, `/api/0/buckets/none${path}`, body);
    expect(answer).toMatchObject({ status: 404, json: { message: expect.any(String) } });
    expect((await ask("GET", "/api/0/buckets")).json).toEqual({});
  });
});

describe("a range of events", () => {
  it("counts both ends, clips, keeps ids and comes newest first, equal starts as they were inserted", async () => {
    const { insert, list } = await openBucket();
    const { json } = await insert(
      event(0, 10, { n: 1 }),
      event(10, 10, { n: 2 }),
      event(10, 10, { n: 3 }),
      event(30, 10, { n: 4 }),
      event(41, 1, { n: 5 }),
    );
    const ids = (Array.isArray(json) ? json : []).map(({ id }: { id: number }) => id);
    expect(await list(`?start=${at(10)}&end=${at(30)}`)).toEqual([
      { id: ids[3], ...span(30, 0, { n: 4 }) },
      { id: ids[1], ...span(10, 10, { n: 2 }) },
      { id: ids[2], ...span(10, 10, { n: 3 }) },
      { id: ids[0], ...span(10, 0, { n: 1 }) },
    ]);
    expect(await list(`?start=${at(5)}&end=${at(12)}&limit=1`)).toEqual([
      { id: ids[1], ...span(10, 2, { n: 2 }) },
    ]);
  });

  it("that ends before it begins is empty, also inside of one long event", async () => {
    const { ask, insert, list } = await openBucket();
    await insert(event(0, 100));
    expect(await list(`?start=${at(50)}&end=${at(20)}`)).toEqual([]);
    const count = await ask("GET", `/api/0/buckets/b/events/count?start=${at(50)}&end=${at(20)}`);
    expect(count.json).toBe(0);
  });

  it("finds an event of many days that began long before", async () => {
    const { ask, insert, list } = await openBucket();
    await insert(event(0, 5 * 86_400, { n: 1 }), event(86_400, 1, { n: 2 }));
    const from = 4 * 86_400;
    expect(await list(`?start=${at(from)}&end=${at(from + 60)}`)).toMatchObject([
      span(from, 60, { n: 1 }),
    ]);
    expect((await ask("GET", `/api/0/buckets/b/events/count?start=${at(from)}`)).json).toBe(1);
  });

  it.each([
    ["", 3],
    ["?limit=-1", 3],
    ["?limit=", 3],
    ["?limit=abc", 3],
    ["?limit=0", 0],
    ["?limit=2", 2],
    ["?limit=9", 3],
  ])("with %j gives %i events", async (query, count) => {
    const { insert, list } = await openBucket();
    await insert(event(0, 1), event(1, 1), event(2, 1));
    expect(await list(query)).toHaveLength(count);
  });

  it("takes a zone whose plus was not encoded, and refuses what is no time", async () => {
    const { ask, insert, list } = await openBucket();
    await insert(event(0, 1), event(60, 1));
    expect(await list("?start=2026-01-01T00:00:30+00:00")).toHaveLength(1);
    expect(await ask("GET", "/api/0/buckets/b/events?end=soon")).toMatchObject({ status: 400 });
  });
});

describe("ids of events", () => {
  it("are this server's own: another bucket's or an unknown one makes a new event and moves nothing", async () => {
    const { ask, insert, list } = await openBucket();
    await ask("POST", "/api/0/buckets/other", BUCKET);
    const { json } = await ask("POST", "/api/0/buckets/other/events", event(0, 1, { mine: true }));
    const [{ id: theirs = 0 } = {}] = Array.isArray(json) ? json : [];
    const taken = await insert({ id: theirs, ...event(5, 1, { n: 1 }) });
    const unknown = await insert({ id: 4_000_000, ...event(6, 1, { n: 2 }) });
    const ids = [taken, unknown].flatMap(({ json: made }) => made).map((made) => Object(made).id);
    expect(new Set([theirs, 4_000_000, ...ids]).size).toBe(4);
    expect(await list()).toHaveLength(2);
    expect((await ask("GET", `/api/0/buckets/other/events/${theirs}`)).json).toMatchObject({
      data: { mine: true },
    });
    expect((await ask("GET", `/api/0/buckets/b/events/${theirs}`)).status).toBe(404);
    expect((await ask("DELETE", `/api/0/buckets/b/events/${theirs}`)).json).toEqual({ success: 0 });
  });

  it("of the same bucket replace, and an id is never given twice", async () => {
    const { ask, insert, list } = await openBucket();
    const { json } = await insert(event(0, 1, { n: 1 }));
    const [{ id = 0 } = {}] = Array.isArray(json) ? json : [];
    await insert({ id, ...event(3, 2, { n: 2 }) });
    expect(await list()).toEqual([{ id, ...span(3, 2, { n: 2 }) }]);
    expect((await ask("DELETE", `/api/0/buckets/b/events/${id}`)).json).toEqual({ success: 1 });
    const again = await insert(event(0, 1));
    expect(Object(again.json)[0].id).toBeGreaterThan(id);
  });
});

describe("heartbeats", () => {
  it("merge up to the pulse after the end, whatever order the keys are in, and are given back", async () => {
    const { beat, list } = await openBucket();
    const first = await beat(0, { a: 1, b: { c: [1], d: 2 } }, 5, 10);
    expect(first).toMatchObject({ id: expect.any(Number), duration: 10 });
    expect(await beat(15, { b: { d: 2, c: [1] }, a: 1 })).toMatchObject({ duration: 15 });
    expect(await beat(12, { a: 1, b: { c: [1], d: 2 } })).toMatchObject({ duration: 15 });
    expect(await beat(20.001, { a: 1, b: { c: [1], d: 2 } })).toMatchObject(span(20.001, 0));
    expect(await list()).toHaveLength(2);
  });

  it("of another data begin an event without a gap; a pulse may be a fraction and differ each time", async () => {
    const { beat, list } = await openBucket();
    await beat(0, { a: 1 });
    await beat(0.5, { a: 1 }, 0.5);
    await beat(60, { a: 1 }, 60);
    await beat(60, { a: 2 });
    expect(await list()).toMatchObject([span(60, 0, { a: 2 }), span(0, 60, { a: 1 })]);
  });

  it("older than the last are events of their own, and are extended without harm to the newer", async () => {
    const { beat, list } = await openBucket();
    await beat(0, { a: 1 });
    await beat(100, { a: 1 });
    await beat(50, { a: 1 });
    await beat(52, { a: 1 });
    expect(await list()).toMatchObject([
      span(100, 0, { a: 1 }),
      span(50, 2, { a: 1 }),
      span(0, 0, { a: 1 }),
    ]);
  });

  it("of one instant: the last written goes on", async () => {
    const { beat, list } = await openBucket();
    await beat(0, { status: "not-afk" }, 5, 10);
    await beat(0, { status: "afk" });
    await beat(5, { status: "afk" });
    expect(await list()).toMatchObject([
      span(0, 10, { status: "not-afk" }),
      span(0, 5, { status: "afk" }),
    ]);
  });

  it("go on after another server's start with the greatest start, of equal ones the last inserted", async () => {
    const { insert, beat, list } = await openBucket();
    await insert(event(0, 0, { n: 1 }), event(0, 0, { n: 2 }));
    await beat(3, { n: 2 });
    expect(await list()).toMatchObject([span(0, 0, { n: 1 }), span(0, 3, { n: 2 })]);
  });

  it("know of what was inserted, replaced or deleted in between", async () => {
    const { ask, insert, beat, list } = await openBucket();
    await beat(0, { a: 1 });
    await insert(event(10, 0, { a: 1 }));
    await beat(12, { a: 1 });
    expect(await list()).toMatchObject([span(10, 2), span(0, 0)]);
    const [newest] = Object(await list());
    await ask("DELETE", `/api/0/buckets/b/events/${newest.id}`);
    expect(await beat(14, { a: 1 }, 1)).toMatchObject(span(14, 0));
    const [again] = Object(await list());
    await insert({ id: again.id, ...event(14, 0, { a: 2 }) });
    await beat(15, { a: 1 });
    expect(await list()).toMatchObject([span(15, 0, { a: 1 }), span(14, 0, { a: 2 }), span(0, 0)]);
  });

  it("forget a bucket that was deleted", async () => {
    const { ask, beat, list } = await openBucket();
    await beat(0, { a: 1 });
    await ask("DELETE", "/api/0/buckets/b");
    await ask("POST", "/api/0/buckets/b", BUCKET);
    expect(await list()).toEqual([]);
    expect(await beat(1, { a: 1 })).toMatchObject(span(1, 0));
    expect(await list()).toHaveLength(1);
  });

  it("of one bucket sent all at once are one event", async () => {
    const { beat, list } = await openBucket();
    await Promise.all(Array.from({ length: 20 }, async () => beat(100, { a: 1 }, 5, 1)));
    expect(await list()).toMatchObject([span(100, 1, { a: 1 })]);
  });

  it.each(["", "?pulsetime=", "?pulsetime=abc", "?pulsetime=Infinity"])(
    "without a pulse (%j) are a 400",
    async (query) => {
      const { ask, list } = await openBucket();
      const answer = await ask("POST", `/api/0/buckets/b/heartbeat${query}`, event(0, 1));
      expect(answer).toMatchObject({ status: 400, json: { message: expect.any(String) } });
      expect(await list()).toEqual([]);
    },
  );
});

describe("settings", () => {
  it("are any JSON by name; one that was never set is null", async () => {
    const ask = await openServer();
    expect(await ask("GET", "/api/0/settings/none")).toMatchObject({ status: 200, text: "null" });
    expect((await ask("POST", "/api/0/settings/a", { n: [1] })).json).toEqual({ n: [1] });
    await ask("POST", "/api/0/settings/b", false);
    expect((await ask("GET", "/api/0/settings/")).json).toEqual({ a: { n: [1] }, b: false });
    expect((await ask("GET", "/api/0/settings/b")).json).toBe(false);
    expect((await ask("DELETE", "/api/0/settings/a", {})).status).toBe(200);
    expect((await ask("GET", "/api/0/settings")).json).toEqual({ b: false });
    expect((await ask("POST", `/api/0/settings/${"k".repeat(128)}`, 1)).status).toBe(400);
  });
});

describe("export and import", () => {
  const exported = {
    buckets: {
      old: {
        id: "old",
        ...BUCKET,
        events: [
          { id: 1, ...event(20, 5, { n: 2 }) },
          { timestamp: "broken" },
          event(0, 5, { n: 1 }),
        ],
      },
    },
  };

  it("an export taken in elsewhere, and again, is the same export", async () => {
    const { ask, insert } = await openBucket();
    const many = Array.from({ length: 1_200 }, (_, n) => event(Math.floor(n / 3), 1, { n }));
    await insert(...many);
    const file = await ask("GET", "/api/0/export");
    expect(file.headers["content-disposition"]).toMatch(/^attachment; filename=/);
    expect(file.text).not.toContain('"id":1,');
    const elsewhere = await openServer();
    const counts = { added: 1_200, repeated: 0, skipped: 0 };
    expect((await elsewhere("POST", "/api/0/import", file.json)).json).toEqual(counts);
    const again = { added: 0, repeated: 1_200, skipped: 0 };
    expect((await elsewhere("POST", "/api/0/import", file.json)).json).toEqual(again);
    expect((await elsewhere("GET", "/api/0/export")).json).toEqual(file.json);
    expect((await elsewhere("GET", "/api/0/buckets/b/export")).json).toEqual(file.json);
  });

  it("heartbeats and exports do not hinder each other", async () => {
    const { ask, insert, beat } = await openBucket();
    const long = "x".repeat(2_000);
    await insert(...Array.from({ length: 3_000 }, (_, n) => event(n * 10, 1, { n, long })));
    const [file] = await Promise.all([
      ask("GET", "/api/0/export"),
      ...Array.from({ length: 10 }, async (_, n) => beat(40_000 + n, { a: 1 })),
    ]);
    expect(file.status).toBe(200);
    expect(await beat(40_010, { a: 1 })).toMatchObject({ duration: 10 });
  });

  it("a file is taken in from the form of the web page too, beside other fields", async () => {
    const ask = await openServer();
    const form = new FormData();
    form.append("comment", "mine");
    form.append("buckets.json", new Blob([JSON.stringify(exported)]), "buckets.json");
    const encoded = new Response(form);
    const answer = await ask("POST", "/api/0/import", Buffer.from(await encoded.arrayBuffer()), {
      "content-type": encoded.headers.get("content-type") ?? "",
    });
    expect(answer.json).toEqual({ added: 2, repeated: 0, skipped: 1 });
    const empty = await ask("POST", "/api/0/import", "--x\r\n\r\n", {
      "content-type": "multipart/form-data; boundary=x",
    });
    expect(empty.status).toBe(400);
  });

  it("goes into a bucket that is there already and overwrites nothing by its ids", async () => {
    const ask = await openServer();
    await ask("POST", "/api/0/buckets/old", BUCKET);
    await ask("POST", "/api/0/buckets/old/events", event(0, 5, { n: 1 }));
    expect((await ask("POST", "/api/0/import", exported)).json).toEqual({
      added: 1,
      repeated: 1,
      skipped: 1,
    });
    expect((await ask("GET", "/api/0/buckets/old/events")).json).toMatchObject([
      { data: { n: 2 } },
      { data: { n: 1 } },
    ]);
  });

  it("of an old file whose buckets say little is taken in, and what is none is a 400", async () => {
    const ask = await openServer();
    const bare = { buckets: [{ id: "bare", events: [event(0, 1)] }] };
    expect((await ask("POST", "/api/0/import", bare)).json).toMatchObject({ added: 1 });
    expect((await ask("GET", "/api/0/buckets/bare")).json).toMatchObject({ type: "unknown" });
    expect((await ask("POST", "/api/0/import", { events: [] })).status).toBe(400);
  });
});

describe("a browser", () => {
  it("of the watcher is answered, and everybody else's page reads nothing", async () => {
    const ask = await openServer();
    const info = await ask("GET", "/api/0/info", undefined, { origin: FIREFOX });
    expect(info.headers["access-control-allow-origin"]).toBe(FIREFOX);
    const page = await ask("GET", "/api/0/info", undefined, { origin: "https://evil.example" });
    expect(page.status).toBe(200);
    expect(page.headers["access-control-allow-origin"]).toBeUndefined();
    const missing = await ask("GET", "/api/0/nothing", undefined, {
      origin: "http://localhost:27180",
    });
    expect(missing.headers["access-control-allow-origin"]).toBe("http://localhost:27180");
  });

  it.each(["/api/0/buckets/b/heartbeat", "/api/0/nowhere"])(
    "that asks before it sends to %s is told what it may, also on a private network",
    async (path) => {
      const ask = await openServer();
      const wish = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,x-other",
        "access-control-request-private-network": "true",
      };
      const answer = await ask("OPTIONS", path, undefined, { origin: FIREFOX, ...wish });
      expect(answer).toMatchObject({
        status: 204,
        headers: {
          "access-control-allow-origin": FIREFOX,
          "access-control-allow-methods": "GET, POST, DELETE",
          "access-control-allow-headers": "content-type, authorization, content-type,x-other",
          "access-control-allow-private-network": "true",
        },
      });
      const evil = await ask("OPTIONS", path, undefined, {
        origin: "https://evil.example",
        ...wish,
      });
      expect(Object.keys(evil.headers).filter((name) => name.startsWith("access-control"))).toEqual(
        [],
      );
    },
  );

  it.each([
    "/api/0/export",
    "//api/0/export",
    "/%61pi/0/export",
    "/api/0/buckets/aw-watcher-web-x/events",
    "/api/0/buckets/aw-watcher-web-x%2Fevents",
    "/api/0/buckets/aw-watcher-web-x/../../export",
    "/api/0/settings",
  ])("of any Firefox extension gets a 403 for %s", async (path) => {
    const ask = await openServer();
    expect((await ask("GET", path, undefined, { origin: FIREFOX })).status).toBe(403);
  });

  it("of any Firefox extension may make and feed the watcher's bucket, and no other", async () => {
    const ask = await openServer();
    const headers = { origin: FIREFOX };
    const bucket = "/api/0/buckets/aw-watcher-web-firefox";
    const made = { ...BUCKET, type: "web.tab.current" };
    expect((await ask("POST", bucket, made, headers)).status).toBe(200);
    const tab = event(0, 0, { url: "https://a.example/", title: "A", incognito: false });
    expect((await ask("POST", `${bucket}/heartbeat?pulsetime=60`, tab, headers)).status).toBe(200);
    expect((await ask("POST", "/api/0/buckets/other", BUCKET, headers)).status).toBe(403);
    expect((await ask("DELETE", bucket, undefined, headers)).status).toBe(403);
    expect((await ask("GET", "/api/0/buckets/other")).status).toBe(404);
  });

  it("of another store is let in by the settings", async () => {
    const edge = "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const closed = await openServer({ testing: false });
    const open = await openServer({ testing: false, origins: [edge] });
    const allowed = async (ask: Ask): Promise<unknown> =>
      (await ask("GET", "/api/0/buckets", undefined, { origin: edge })).headers[
        "access-control-allow-origin"
      ];
    expect(await allowed(closed)).toBeUndefined();
    expect(await allowed(open)).toBe(edge);
  });
});

describe("the host and the key", () => {
  it.each([
    ["127.0.0.1", 200],
    ["localhost:1234", 200],
    ["LOCALHOST", 200],
    ["[::1]:5600", 200],
    ["evil.example", 400],
    ["127.0.0.1.evil.example:5600", 400],
    ["localhost@evil.example", 400],
  ])("a Host of %s is a %i", async (host, status) => {
    const ask = await openServer();
    expect((await ask("GET", "/api/0/info", undefined, { host })).status).toBe(status);
  });

  it.each([
    "/api/0/export",
    "//api/0/export",
    "/%61pi/0/export",
    "/api/0/buckets/",
    "/api/0/info/x",
  ])("%s wants the key however it is spelt", async (path) => {
    const ask = await openServer({ apiKey: "secret" });
    expect((await ask("GET", path)).status).toBe(401);
    const wrong = { authorization: "Bearer secre" };
    expect((await ask("GET", path, undefined, wrong)).status).toBe(401);
    const right = { authorization: "Bearer secret" };
    expect((await ask("GET", path, undefined, right)).status).not.toBe(401);
  });

  it.each(["/api/0/info", "/api/0/info/", "//api/0/info"])("%s is public", async (path) => {
    const ask = await openServer({ apiKey: "secret" });
    expect((await ask("GET", path)).status).toBe(200);
    expect((await ask("OPTIONS", "/api/0/export")).status).toBe(204);
  });
});

describe("a query over HTTP", () => {
  it("answers each period, both ends counted, and with events inside of dicts", async () => {
    const { ask, insert } = await openBucket();
    await insert(event(0, 0, { n: 1 }), event(10, 0, { n: 2 }));
    const query = [
      'e = query_bucket("b");',
      'RETURN = {"events": e, "seconds": sum_durations(e)};',
    ];
    const { json } = await ask("POST", "/api/0/query/?name=x&cache=1", {
      query,
      timeperiods: [`${at(0)}/${at(10)}`, `${at(11)}/${at(12)}`],
    });
    expect(json).toMatchObject([
      { events: [span(10, 0, { n: 2 }), span(0, 0, { n: 1 })], seconds: 0 },
      { events: [], seconds: 0 },
    ]);
    await insert(event(20, -5));
    const period = { query: ['RETURN = query_bucket("b");'], timeperiods: [`${at(15)}/${at(30)}`] };
    expect((await ask("POST", "/api/0/query", period)).json).toMatchObject([[span(20, -5)]]);
    const wrong = await ask("POST", "/api/0/query", { query: ["RETURN = x;"], timeperiods: [""] });
    expect(wrong).toMatchObject({ status: 400, json: { message: expect.any(String) } });
  });
});
