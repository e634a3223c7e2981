import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeAccess, type AccessOptions } from "../../src/activitywatch/access.ts";
import { mergeBeat } from "../../src/activitywatch/buckets.ts";
import { runQueries, type QuerySource } from "../../src/activitywatch/query.ts";
import { compilePythonRegex } from "../../src/activitywatch/python-regex.ts";
import {
  filterPeriodIntersect,
  flood,
  mergeEventsByKeys,
  periodUnion,
  splitUrlEvents,
  unionNoOverlap,
  type QueryEvent,
} from "../../src/activitywatch/transforms.ts";
import { canonicalJson, formatTimestamp, parseTimestamp } from "../../src/activitywatch/wire.ts";
import { propertyRuns } from "../helpers/property-runs.ts";

describe("a timestamp", () => {
  it.each([
    ["2026-01-01T00:00:10Z", "2026-01-01T00:00:10Z"],
    ["2026-01-01T01:00:10+01:00", "2026-01-01T00:00:10Z"],
    ["2026-01-01T01:00:10+0100", "2026-01-01T00:00:10Z"],
    ["2025-12-31T19:00:10.5-05:00", "2026-01-01T00:00:10.500000Z"],
    ["2026-01-01T00:00:10.123456789Z", "2026-01-01T00:00:10.123456Z"],
    ["2026-01-01 00:00:10.123000+00:00", "2026-01-01T00:00:10.123000Z"],
    ["2026-01-01T00:00:00 00:00", "2026-01-01T00:00:00Z"],
    ["2026-01-01T00:00:10", "2026-01-01T00:00:10Z"],
    ["2026-01-01", "2026-01-01T00:00:00Z"],
    ["2028-02-29t00:00:00,5z", "2028-02-29T00:00:00.500000Z"],
  ])("%s is %s", (text, written) => {
    const us = parseTimestamp(text);
    expect(us === null ? null : formatTimestamp(us)).toBe(written);
  });

  it.each([
    "",
    "yesterday",
    "2026-13-01T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-01-01T25:00:00Z",
    "2026-01-01T00:00:00+24:00",
    "1767225600",
  ])("%j is none", (text) => {
    expect(parseTimestamp(text)).toBeNull();
  });

  it("is read as it was written, for every microsecond", () => {
    fc.assert(
      fc.property(fc.integer({ min: -2_000_000_000_000_000, max: 4_000_000_000_000_000 }), (us) => {
        expect(parseTimestamp(formatTimestamp(us))).toBe(us);
      }),
      { numRuns: propertyRuns(500, 5_000) },
    );
  });
});

describe("a heartbeat", () => {
  const beat = fc.record({
    startUs: fc.integer({ min: 0, max: 40 }),
    durationUs: fc.integer({ min: 0, max: 10 }),
    data: fc.constantFrom<{ k: number }>({ k: 1 }, { k: 2 }),
  });

  it("merges exactly when data are equal and the start is from last.start to last.end + pulse, and never shrinks", () => {
    fc.assert(
      fc.property(beat, beat, fc.integer({ min: 0, max: 10 }), (first, second, pulseUs) => {
        const last = {
          id: 1,
          startUs: first.startUs,
          durationUs: first.durationUs,
          data: JSON.stringify(first.data),
        };
        const merged = mergeBeat(last, second, pulseUs);
        const isInside =
          second.startUs >= first.startUs &&
          second.startUs - (first.startUs + first.durationUs) <= pulseUs;
        expect(merged !== null).toBe(isInside && first.data.k === second.data.k);
        if (merged === null) return;
        expect(merged).toMatchObject({ id: 1, startUs: first.startUs });
        expect(merged.durationUs).toBe(
          Math.max(first.durationUs, second.startUs + second.durationUs - first.startUs),
        );
      }),
      { numRuns: propertyRuns(1_000, 20_000) },
    );
  });
});

describe("lists of events", () => {
  const event = fc.record({
    id: fc.constant(null),
    startUs: fc.integer({ min: 0, max: 200 }).map((n) => n * 1_000_000),
    durationUs: fc.integer({ min: 0, max: 20 }).map((n) => n * 1_000_000),
    data: fc.constantFrom({ k: 1 }, { k: 2 }),
  });
  const events = fc.array(event, { maxLength: 12 });
  const covered = (list: readonly QueryEvent[]): Set<number> =>
    new Set(
      list.flatMap(({ startUs, durationUs }) =>
        Array.from({ length: durationUs / 1_000_000 }, (_, n) => startUs / 1_000_000 + n),
      ),
    );

  it("flooded, hold no gap of up to 5 s between neighbours and lose no covered second", () => {
    fc.assert(
      fc.property(events, (list) => {
        const flooded = flood(list);
        const before = covered(list);
        const after = covered(flooded);
        expect([...before].filter((second) => !after.has(second))).toEqual([]);
        expect(flooded.every(({ durationUs }) => durationUs > 0)).toBe(true);
      }),
      { numRuns: propertyRuns(500, 5_000) },
    );
  });

  it("united as periods, cover the same seconds once, in order and apart", () => {
    fc.assert(
      fc.property(events, events, (a, b) => {
        const union = periodUnion(a, b);
        expect(covered(union)).toEqual(
          new Set([...covered(a), ...covered(b)].sort((x, y) => x - y)),
        );
        const touching = union.filter(({ startUs }, index) => {
          const before = union[index - 1];
          return before !== undefined && startUs <= before.startUs + before.durationUs;
        });
        expect(touching).toEqual([]);
      }),
      { numRuns: propertyRuns(500, 5_000) },
    );
  });

  it("united without overlap, keep all of the first and of the second what lies around it", () => {
    fc.assert(
      fc.property(events, events, (a, b) => {
        const union = unionNoOverlap(a, b);
        const total = (list: readonly QueryEvent[]): number =>
          list.reduce((sum, { durationUs }) => sum + durationUs, 0);
        const first = covered(a);
        const around = b.reduce(
          (sum, { startUs, durationUs }) =>
            sum +
            Array.from(
              { length: durationUs / 1_000_000 },
              (_, n) => startUs / 1_000_000 + n,
            ).filter((second) => !first.has(second)).length,
          0,
        );
        expect(total(union)).toBe(total(a) + around * 1_000_000);
      }),
      { numRuns: propertyRuns(500, 5_000) },
    );
  });
});

/**
 * The functions once more, second by second and as slowly as they can be said: what the Python server gives for
 * events in whole seconds.
 */
const reference = {
  /** One neighbour after the other, as aw_transform/flood.py has it. */
  flood(list: readonly QueryEvent[]): readonly QueryEvent[] {
    const all = list
      .map((event) => ({ ...event, end: event.startUs + event.durationUs, from: event.startUs }))
      .sort((a, b) => a.from - b.from);
    for (let n = 1; n < all.length; n += 1) {
      const [one, two] = [all[n - 1], all[n]];
      if (one === undefined || two === undefined) continue;
      const same = canonicalJson(one.data) === canonicalJson(two.data);
      const gap = two.from - one.end;
      if (gap === 0 || gap > 5_000_000 || (gap < 0 && !same)) continue;
      const end = gap < 0 ? Math.max(one.end, two.end) : two.end;
      const isFirstLonger = gap < 0 || one.end - one.from >= two.end - two.from;
      if (same && isFirstLonger) [one.end, two.from, two.end] = [end, end, end];
      else if (same) [two.from, one.end] = [one.from, one.from];
      else if (isFirstLonger) one.end = two.from;
      else two.from = one.end;
    }
    return all
      .filter(({ from, end }) => end > from)
      .map(({ id, data, from, end }) => ({ id, data, startUs: from, durationUs: end - from }));
  },
  /** Filters that do not overlap, each event cut by each. */
  intersect(list: readonly QueryEvent[], filters: readonly QueryEvent[]): readonly string[] {
    return list
      .flatMap((event) =>
        filters.map((filter) => {
          const from = Math.max(event.startUs, filter.startUs);
          const to = Math.min(event.startUs + event.durationUs, filter.startUs + filter.durationUs);
          return to > from ? `${from} ${to - from} ${canonicalJson(event.data)}` : null;
        }),
      )
      .filter((text) => text !== null)
      .sort();
  },
  merge(list: readonly QueryEvent[], keys: readonly string[]): readonly unknown[] {
    const parts = (event: QueryEvent): string =>
      canonicalJson(keys.map((key) => (key in event.data ? [event.data[key]] : [])));
    return list
      .filter((event, n) => list.findIndex((other) => parts(other) === parts(event)) === n)
      .map((first) => ({
        startUs: first.startUs,
        durationUs: list
          .filter((event) => parts(event) === parts(first))
          .reduce((sum, { durationUs }) => sum + durationUs, 0),
        data: Object.fromEntries(
          Object.entries<unknown>(first.data).filter(([key]) => keys.includes(key)),
        ),
      }));
  },
};

describe("against a reference", () => {
  const event = fc.record({
    id: fc.constant(null),
    startUs: fc.integer({ min: 0, max: 60 }).map((n) => n * 1_000_000),
    durationUs: fc.integer({ min: 1, max: 9 }).map((n) => n * 1_000_000),
    data: fc.record(
      { app: fc.constantFrom("A", "B"), title: fc.constantFrom("x", ["x"], null) },
      { requiredKeys: ["app"] },
    ),
  });
  const events = fc.array(event, { maxLength: 10 });
  const runs = { numRuns: propertyRuns(500, 10_000) };

  it("flood fills and joins the same gaps", () => {
    fc.assert(
      fc.property(events, (list) => {
        expect(flood(list)).toEqual(reference.flood(list));
      }),
      runs,
    );
  });

  it("filter_period_intersect cuts the same pieces", () => {
    fc.assert(
      fc.property(events, events, (list, filters) => {
        const apart = periodUnion(filters, []);
        const laid = unionNoOverlap(list, []).reduce<QueryEvent[]>(
          (kept, each) =>
            kept.every((other) => other.startUs + other.durationUs <= each.startUs)
              ? [...kept, each]
              : kept,
          [],
        );
        const cut = filterPeriodIntersect(laid, apart).map(
          ({ startUs, durationUs, data }) => `${startUs} ${durationUs} ${canonicalJson(data)}`,
        );
        expect(cut.sort()).toEqual(reference.intersect(laid, apart));
      }),
      runs,
    );
  });

  it("merge_events_by_keys adds up the same groups in the same order", () => {
    const keys = fc.subarray(["app", "title", "none"], { minLength: 1 });
    fc.assert(
      fc.property(events, keys, (list, by) => {
        expect(mergeEventsByKeys(list, by)).toMatchObject(reference.merge(list, by));
        expect(mergeEventsByKeys(list, by)).toHaveLength(reference.merge(list, by).length);
        expect(mergeEventsByKeys(list, [])).toEqual(list);
      }),
      runs,
    );
  });

  it("an event without length lies in the periods around it, and is not lost from a union", () => {
    const point = { id: null, startUs: 5, durationUs: 0, data: { n: 1 } };
    const period = { id: null, startUs: 5, durationUs: 5, data: {} };
    expect(filterPeriodIntersect([point], [period])).toEqual([point]);
    expect(filterPeriodIntersect([{ ...period, startUs: 0 }], [period])).toEqual([]);
    expect(unionNoOverlap([{ ...period, startUs: 6 }], [point])[0]).toEqual(point);
    expect(unionNoOverlap([period], [point])).toEqual([period]);
  });
});

describe("patterns are Python's", () => {
  it.each([
    [String.raw`\bü\w+`, "das übel", true],
    [String.raw`^\w+$`, "größe", true],
    [String.raw`[\w-]+é`, "café", true],
    [String.raw`(?i)VIM`, "nvim", true],
    [String.raw`(?P<a>x)(?P=a)`, "xx", true],
    [String.raw`\AGit\Z`, "Git", true],
    [String.raw`\AGit\Z`, "Git\n", false],
    [String.raw`a\-b\_c\'d`, "a-b_c'd", true],
    [String.raw`[]x]+`, "]", true],
    [String.raw`[[]x`, "[x", true],
    [String.raw`x{,2}y}`, "y}", true],
    [String.raw`Issue \d{2,}`, "Issue 12", true],
    [String.raw`Firefox|Chrom(e|ium)`, "Chromium", true],
    [String.raw`\W`, "ü", false],
    [String.raw`^[^\W\d_]+$`, "größe", true],
    [String.raw`[^\W\d_]`, "1 _٣-", false],
    [String.raw`[\W]`, "ü_1", false],
    [String.raw`^[\W]+$`, "- ‿\u0301", true],
  ])("%s in %j: %s", (pattern, text, found) => {
    expect(compilePythonRegex(pattern, false).test(text)).toBe(found);
  });
});

describe("a query", () => {
  const source: QuerySource = {
    list: () => [
      { id: "aw-watcher-window_desk", hostname: "desk" },
      { id: "my-aw-watcher-window", hostname: "other" },
    ],
    events: () => [
      {
        id: 2,
        startUs: 20_000_000,
        durationUs: 10_000_000,
        data: canonicalJson({ app: "Code", title: "x" }),
      },
      {
        id: 1,
        startUs: 0,
        durationUs: 10_000_000,
        data: canonicalJson({ app: "Firefox", url: "https://www.a.example/b;p?q#f" }),
      },
    ],
    count: () => 2,
  };
  const run = (...query: string[]): unknown =>
    runQueries({ query, timeperiods: ["1970-01-01T00:00:00Z/1970-01-02T00:00:00Z"] }, source)[0];

  it.each([
    ['RETURN = find_bucket("aw-watcher-window");', "aw-watcher-window_desk"],
    ['RETURN = find_bucket("watcher", "other");', "my-aw-watcher-window"],
    ['e = query_bucket("aw-watcher-window_desk"); RETURN = sum_durations(e);', 20],
    ["return 1;", 1],
    ['RETURN = {"a": [1, true, "x\\"y"]}', { a: [1, true, 'x"y'] }],
    // Both servers know one escape, that of the quote itself: patterns are sent with their backslashes as they are.
    [
      String.raw`RETURN = ["\d\.", "C:\\Users", "a\\"b", 'it\'s'];`,
      [String.raw`\d\.`, String.raw`C:\\Users`, String.raw`a\"b`, "it's"],
    ],
    ["# a comment\nRETURN = 'single';", "single"],
    ["RETURN = TIMEINTERVAL;", "1970-01-01T00:00:00Z/1970-01-02T00:00:00Z"],
  ])("%s gives %j", (text, value) => {
    expect(run(text)).toEqual(value);
  });

  it("puts events into categories: the deepest that matches, the later of equals", () => {
    const classes =
      '[[["Work"], {"type": "regex", "regex": "code", "ignore_case": true}], [["Work", "Editor"], {"type": "regex", "regex": "Code"}]]';
    const result = run(`RETURN = categorize(query_bucket("aw-watcher-window_desk"), ${classes});`);
    expect(result).toMatchObject([
      { data: { $category: ["Work", "Editor"] } },
      { data: { $category: ["Uncategorized"] } },
    ]);
  });

  it("splits addresses", () => {
    expect(run('RETURN = split_url_events(query_bucket("aw-watcher-window_desk"));')).toMatchObject(
      [
        {},
        {
          data: {
            $protocol: "https",
            $domain: "a.example",
            $path: "/b",
            $params: "p",
            $options: "q",
            $identifier: "f",
          },
        },
      ],
    );
  });

  it.each([
    ["https://www.a.example/b;p?q#f", "https", "a.example", "/b", "p", "q", "f"],
    ["HTTP://u@B.example:80/p;1/q;2", "http", "u@B.example:80", "/p;1/q", "2", "", ""],
    ["file:///home/a;b", "file", "file", "/home/a;b", "", "", ""],
    ["about:blank", "about", "about", "blank", "", "", ""],
    ["www.c.example/x", "", "", "www.c.example/x", "", "", ""],
  ])(
    "takes %s apart as urllib does",
    (url, protocol, domain, path, params, options, identifier) => {
      const [split] = splitUrlEvents([{ id: null, startUs: 0, durationUs: 0, data: { url } }]);
      expect(split?.data).toEqual({
        url,
        $protocol: protocol,
        $domain: domain,
        $path: path,
        $params: params,
        $options: options,
        $identifier: identifier,
      });
    },
  );

  it.each([
    ["RETURN = ", /where a value should stand/],
    ["x = 1;", /assigns nothing to RETURN/],
    ["RETURN = nope();", /no function "nope"/],
    ["RETURN = y;", /no variable "y"/],
    ['RETURN = query_bucket("none");', /no bucket "none"/],
    ["RETURN = flood(1);", /must be a list/],
    ["RETURN = [1, 2;", /should stand/],
    [`RETURN = ${"[".repeat(500)}`, /nested too deeply/],
    [
      'RETURN = filter_keyvals_regex(query_bucket("aw-watcher-window_desk"), "app", "(");',
      /Cannot use the pattern/,
    ],
    ["RETURN = €;", /Cannot read the query/],
  ])("%s is told what is wrong with it", (text, message) => {
    expect(() => run(text)).toThrow(message);
  });
});

describe("who may speak", () => {
  const options: AccessOptions = { port: 5600, testing: false, apiKey: null, allowedOrigins: [] };
  const judge = (
    method: string,
    path: string,
    headers: Record<string, string>,
    change: Partial<AccessOptions> = {},
  ) => judgeAccess(method, path, { host: "127.0.0.1:5600", ...headers }, { ...options, ...change });
  const firefox = "moz-extension://6b1794a0-5ae6-4443-aef9-7755717bb180";

  it.each([
    ["GET", "/api/0/info", true],
    ["POST", "/api/0/buckets/aw-watcher-web-firefox", true],
    ["POST", "/api/0/buckets/aw-watcher-web-firefox/heartbeat", true],
    ["OPTIONS", "/api/0/export", true],
    ["GET", "/api/0/export", false],
    ["GET", "/api/0/buckets/aw-watcher-web-firefox", false],
    ["POST", "/api/0/buckets/aw-watcher-window_desk/heartbeat", false],
    ["POST", "/api/0/query", false],
    ["DELETE", "/api/0/buckets/aw-watcher-web-firefox", false],
  ])("any Firefox extension: %s %s %s", (method, path, allowed) => {
    const verdict = judge(method, path, { origin: firefox });
    expect(verdict.allowed).toBe(allowed);
    expect(verdict.corsOrigin).toBe(firefox);
  });

  it("a web page reads no answer and changes nothing", () => {
    expect(judge("GET", "/api/0/export", { origin: "http://evil.example" })).toEqual({
      allowed: true,
      corsOrigin: null,
    });
    expect(judge("POST", "/api/0/buckets/x", { origin: "http://evil.example" })).toMatchObject({
      allowed: false,
      status: 403,
    });
  });

  it.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example:5600",
    "",
    "[::1].evil",
  ])("a Host of %j is refused", (host) => {
    expect(judge("GET", "/api/0/info", { host })).toMatchObject({ allowed: false, status: 400 });
  });

  it("a key, once set, is wanted for all but the public page", () => {
    const keyed = { apiKey: "secret" };
    expect(judge("GET", "/api/0/info", {}, keyed).allowed).toBe(true);
    expect(judge("GET", "/api/0/export", {}, keyed)).toMatchObject({ allowed: false, status: 401 });
    expect(judge("GET", "/api/0/export", { authorization: "Bearer wrong" }, keyed).allowed).toBe(
      false,
    );
    expect(judge("GET", "/api/0/export", { authorization: "Bearer secret" }, keyed).allowed).toBe(
      true,
    );
  });
});
