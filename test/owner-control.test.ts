import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import { createBuckets } from "../src/activitywatch/buckets.ts";
import type { ActivityEvent } from "../src/capture/events.ts";
import { createActivityApp, type ActivityApp } from "../src/app.ts";
import { parseConfig } from "../src/config.ts";
import { ActivityError } from "../src/errors.ts";
import { silentLog } from "../src/log.ts";
import { resolvePaths } from "../src/paths.ts";
import { createBackup, listBackups } from "../src/store/backups.ts";
import { openEventStore } from "../src/store/events.ts";
import { createFakeClock } from "./helpers/fake-clock.ts";
import { createFakeDesktop } from "./helpers/fake-desktop.ts";
import { createTempHome } from "./helpers/temp-home.ts";
import { until } from "./helpers/until.ts";

const ALL = { fromUs: 0, toUs: Number.MAX_SAFE_INTEGER, limit: 100_000 };

async function start({
  home = createTempHome(),
  config = "",
  clock = createFakeClock("2026-11-30T12:00:00Z"),
} = {}) {
  const desktop = createFakeDesktop();
  const env = { ACTIVITYD_HOME: home };
  const open = (text: string): ActivityApp =>
    createActivityApp({
      config: parseConfig(text, "config.toml"),
      paths: resolvePaths(env),
      env,
      clock,
      log: silentLog,
      registry: desktop.registry,
    });
  const apps: ActivityApp[] = [];
  const launch = async (text = config): Promise<ActivityApp> => {
    const app = open(text);
    apps.push(app);
    await app.start();
    return app;
  };
  onTestFinished(async () => {
    for (const app of apps) await app.close();
  });
  /** Lets time pass as it does while somebody works: more at once would be a stalled machine. */
  const work = (minutes: number): void => {
    for (let step = 0; step < minutes * 3; step++) {
      clock.advanceMs(20_000);
      desktop.poll();
    }
  };
  return { home, desktop, clock, work, launch, app: await launch() };
}

const titles = (events: readonly ActivityEvent[]) =>
  events.flatMap((event) => (event.kind === "window" ? [event.title] : []));

/** Every byte of every file below a folder, as one string. */
function allBytes(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ActivityError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

describe("a pause", () => {
  test("writes no row but its gap, tells nothing but itself, and ends by itself", async () => {
    const { app, desktop, clock, work } = await start();
    desktop.focus({ title: "before" });
    work(1);
    const { paused } = await app.pause({ minutes: 15 });
    expect(paused).toEqual({ sinceUs: clock.nowUs(), untilUs: clock.nowUs() + 900e6 });
    const rows = (await app.status()).store.eventCount;
    for (const title of ["secret one", "secret two"]) {
      work(1);
      desktop.focus({ title });
      desktop.play({ title });
    }
    expect((await app.status()).store.eventCount).toBe(rows);
    const { block, eventIds } = await app.context({ form: "exact" });
    expect(block).toBe(
      "# Device Activity (exact, real-time)\n- Now: Mon 30 Nov 2026 12:03 UTC (UTC+00:00)\n- Gaps: paused since 12:01\n---\n\n",
    );
    expect(eventIds).toHaveLength(1);
    expect((await app.context({ form: "exact", now: "2026-11-30T12:00:30Z" })).block).not.toContain(
      "before",
    );
    work(13);
    expect((await app.status()).paused).toBeNull();
    expect((await app.context({ form: "exact" })).block).toContain('Code: "secret two"');
    const { events } = await app.events(ALL);
    expect(titles(events)).toEqual(["before", "secret two"]);
    expect(events.filter((event) => event.kind === "gap")).toMatchObject([
      { reason: "paused", startUs: paused?.sinceUs },
    ]);
  });

  test("is no time at the window that was there before and after", async () => {
    const { app, desktop, work } = await start();
    desktop.focus({ title: "same" });
    work(5);
    await app.pause({ minutes: 1 });
    work(1);
    await app.resume();
    work(1);
    const { block } = await app.context({ form: "exact" });
    expect(block).toContain('Focused: Code: "same", since 12:06 (1 min)');
    expect(block).toContain('Before: Code: "same", 12:00–12:05 (5 min)');
  });

  test("survives a restart of the daemon", async () => {
    const { app, launch, desktop, clock } = await start();
    await app.pause({});
    await app.close();
    clock.advanceMs(3_600_000);
    const again = await launch();
    desktop.focus({ title: "secret" });
    expect((await again.status()).paused?.untilUs).toBeNull();
    expect((await again.context({ form: "exact" })).block).toContain("paused since 12:00");
    await again.resume();
    expect(titles((await again.events(ALL)).events)).toEqual(["secret"]);
  });

  test("goes on when the daemon starts with half a pause file", async () => {
    const { app, launch, home, desktop } = await start();
    await app.close();
    writeFileSync(join(home, "data", "pause.json"), '{"since');
    const again = await launch();
    desktop.focus({ title: "secret" });
    expect(titles((await again.events(ALL)).events)).toEqual([]);
    expect((await again.status()).paused).not.toBeNull();
  });

  test("of no length or of two lengths is refused", async () => {
    const { app } = await start();
    expect(await refusal(app.pause({ minutes: -1 }))).toMatch(/^bad_request: Cannot pause for -1/);
    expect(await refusal(app.pause({ until: "soon" }))).toMatch(
      /^bad_request: Cannot read until "soon"/,
    );
    expect(await refusal(app.pause({ until: "2020-01-01T00:00:00Z" }))).toMatch(/before it begins/);
    expect(await refusal(app.pause({ minutes: 1, until: "2027-01-01" }))).toMatch(
      /exclude each other/,
    );
  });
});

describe("forgetting by text", () => {
  const canary = "Canary-7731-Zeppelin";

  test("leaves the text in no file: not in titles, songs, documents, search, totals, ledger or log", async () => {
    const { app, desktop, home, work } = await start();
    for (let round = 0; round < 3; round++) {
      desktop.focus({ title: `plan ${canary} ${round}`, url: `https://example.com/${canary}` });
      desktop.play({ title: `song ${canary}`, artist: canary });
      work(1);
      await app.context({ form: "exact", client: `client ${canary}` });
      desktop.focus({ title: `other ${round}` });
      desktop.play(null);
      work(1);
      await app.context({ form: "exact" });
    }
    expect((await app.ledger({})).entries.length).toBeGreaterThan(3);
    expect(allBytes(home).toLowerCase()).toContain(canary.toLowerCase());

    const counted = await app.forget({ match: canary.toLowerCase(), dryRun: true });
    expect(counted).toMatchObject({ dryRun: true, events: 6, proof: null });
    expect(allBytes(home)).toContain(canary);
    const done = await app.forget({ match: canary.toLowerCase() });
    expect(done).toMatchObject({ events: 6, ledgerEntries: counted.ledgerEntries });
    expect(done.proof).toMatchObject({ texts: 1, foundIn: [] });
    expect(done.proof?.filesSearched).toBeGreaterThanOrEqual(2);

    expect(allBytes(home).toLowerCase()).not.toContain(canary.toLowerCase());
    expect(allBytes(home).toLowerCase()).not.toContain("zeppelin");
    expect(titles((await app.events(ALL)).events)).toEqual(["other 0", "other 1", "other 2"]);
    await app.close();
    expect(allBytes(home).toLowerCase()).not.toContain("zeppelin");
  });

  test("the blocks that the gateway keeps go with it", async () => {
    const { app, desktop, home, work } = await start();
    desktop.focus({ title: canary });
    work(1);
    const { block } = await app.context({ form: "exact" });
    mkdirSync(join(home, "data", "gateway"));
    writeFileSync(join(home, "data", "gateway", "turns.jsonl"), JSON.stringify(["key", 1, block]));
    expect((await app.forget({ match: canary })).proof?.foundIn).toEqual([]);
    expect(allBytes(home)).not.toContain(canary);
  });

  test("no backup and no copy that was set aside keeps it; a new backup takes their place", async () => {
    const { app, desktop, work, home, clock } = await start();
    desktop.focus({ title: canary });
    work(1);
    desktop.focus({ title: "other" });
    work(1);
    await app.close();
    const data = join(home, "data");
    const store = openEventStore({ directory: data, clock, log: silentLog });
    await createBackup(store.database, data, clock.nowUs());
    store.close();
    mkdirSync(join(data, "damaged"));
    writeFileSync(join(data, "damaged", "activity.db"), `what was left of ${canary}`);
    const again = (await start({ home, clock })).app;
    clock.advanceMs(1000);
    expect(await again.forget({ match: canary, dryRun: true })).toMatchObject({ backups: 2 });
    expect(await again.forget({ match: canary })).toMatchObject({
      events: 1,
      backups: 2,
      proof: { foundIn: [] },
    });
    expect(listBackups(data).map(({ atUs }) => atUs)).toEqual([clock.nowUs()]);
    expect(allBytes(home)).not.toContain(canary);
  });

  test("what is on the screen is not recorded again until it changes", async () => {
    const { app, desktop, clock, home, work } = await start();
    desktop.focus({ title: `${canary} 1` });
    desktop.play({ title: canary });
    work(1);
    await app.forget({ match: canary });
    clock.advanceMs(1000);
    desktop.focus({ title: `${canary} 2` });
    desktop.play({ title: canary });
    work(1);
    expect((await app.context({ form: "exact" })).block).not.toContain(canary);
    expect(allBytes(home)).not.toContain(canary);
    desktop.focus({ title: "something else" });
    work(1);
    const { events } = await app.events(ALL);
    expect(titles(events)).toEqual(["something else"]);
    expect(events.some((event) => event.kind === "gap" && event.reason === "filtered")).toBe(true);
    desktop.focus({ title: `${canary} 3` });
    expect(titles((await app.events(ALL)).events)).toContain(`${canary} 3`);
  });

  test("finds what hides behind full-width letters and zero-width spaces", async () => {
    const { app, desktop, work } = await start();
    desktop.focus({ title: "Ｃａｎａｒｙ-7731-Zep\u200bpelin" });
    work(1);
    desktop.focus({ title: "other" });
    expect(await app.forget({ match: canary })).toMatchObject({ events: 1 });
    expect(titles((await app.events(ALL)).events)).toEqual(["other"]);
  });

  test("finds waiting messages of sessions, and whatever table a client's text went to", async () => {
    const { app, home } = await start();
    await app.close();
    const store = openEventStore({
      directory: join(home, "data"),
      clock: createFakeClock("2026-11-30T12:00:00Z"),
      log: silentLog,
    });
    store.database.execute(
      `CREATE TABLE "left here"(id INTEGER PRIMARY KEY, at_us INTEGER, text TEXT);
       INSERT INTO "left here"(at_us, text) VALUES(1, 'a ${canary}'), (2, 'b')`,
    );
    store.close();
    const again = (await start({ home })).app;
    expect(await again.forget({ match: canary })).toMatchObject({ otherRows: 1 });
    expect(await again.forget({ fromUs: 0, toUs: 3 })).toMatchObject({ otherRows: 1 });
    expect(allBytes(home)).not.toContain(canary);
  });
});

describe("forgetting by time and application", () => {
  async function fourHours() {
    const rig = await start();
    const { desktop, work } = rig;
    for (const [app, title] of [
      ["Code", "one"],
      ["Slack", "two"],
      ["Code", "three"],
      ["Slack", "four"],
    ]) {
      desktop.focus({ app: app ?? "", title: title ?? "" });
      work(60);
    }
    desktop.focus(null);
    return rig;
  }

  test("the last minutes go, and what reaches into them is cut", async () => {
    const { app, clock } = await fourHours();
    const done = await app.forget({ lastMinutes: 90 });
    expect(done).toMatchObject({ events: 1, shortened: 1 });
    const { events } = await app.events({ ...ALL, kinds: ["window"] });
    expect(titles(events)).toEqual(["one", "two", "three"]);
    expect(events.at(-1)?.endUs).toBe(clock.nowUs() - 90 * 60e6);
  });

  test("a span out of the middle of an event leaves both its ends", async () => {
    const { app } = await fourHours();
    const atUs = (iso: string) => Date.parse(iso) * 1000;
    const span = { fromUs: atUs("2026-11-30T12:20:00Z"), toUs: atUs("2026-11-30T12:40:00Z") };
    expect(await app.forget({ ...span, dryRun: true })).toMatchObject({
      shortened: 1,
      events: 0,
      span,
    });
    await app.forget(span);
    const { events } = await app.events({ ...ALL, kinds: ["window"] });
    expect(events.slice(0, 2)).toMatchObject([
      { title: "one", endUs: span.fromUs },
      { title: "one", startUs: span.toUs },
    ]);
    const { block } = await app.context({ form: "exact" });
    expect(block).toContain("3 h 40 min active today");
  });

  test("an application goes with all that is known of it, and nothing else", async () => {
    const { app, home } = await fourHours();
    expect(await app.forget({ app: "slack" })).toMatchObject({ events: 2, documents: 2 });
    expect(titles((await app.events(ALL)).events)).toEqual(["one", "three"]);
    expect(allBytes(home)).not.toContain("Slack");
    expect((await app.context({ form: "exact" })).block).toContain("2 h active today");
  });

  test("all conditions given must hold", async () => {
    const { app } = await fourHours();
    expect(await app.forget({ app: "code", match: "three", lastMinutes: 60 })).toMatchObject({
      events: 0,
    });
    expect(await app.forget({ app: "c*", match: "thr", lastMinutes: 600 })).toMatchObject({
      events: 1,
    });
  });

  test("a text within a span takes only what was told and left in that span", async () => {
    const { app, work } = await start();
    await app.enqueueEvent({ session: "s", text: "zeus one" });
    await app.context({ form: "exact", client: "zeus" });
    work(60);
    await app.enqueueEvent({ session: "s", text: "zeus two" });
    await app.context({ form: "exact", client: "zeus" });
    work(1);
    expect(await app.forget({ match: "zeus", lastMinutes: 30 })).toMatchObject({
      ledgerEntries: 1,
      otherRows: 1,
    });
    expect((await app.ledger({ client: "zeus" })).entries).toHaveLength(1);
    const { modelText } = await app.composeTurn({ session: "s", ownerText: "hi", form: "exact" });
    expect(modelText).toContain("zeus one");
    expect(modelText).not.toContain("zeus two");
  });

  test("everything there ever was goes with a span that began before it", async () => {
    const { app, home } = await fourHours();
    await app.forget({ fromUs: 0 });
    expect((await app.events({ ...ALL, kinds: ["window"] })).events).toEqual([]);
    expect(allBytes(home)).not.toMatch(/Slack|three/);
    expect((await app.context({ form: "exact" })).block).not.toContain("active today");
  });

  test("the ledger entries of that time go too", async () => {
    const { app, work } = await fourHours();
    await app.context({ form: "exact", client: "chat" });
    work(1);
    await app.forget({ lastMinutes: 5 });
    expect((await app.ledger({ client: "chat" })).entries).toEqual([]);
  });

  test("while recording goes on, the present begins anew", async () => {
    const { app, desktop, work } = await start();
    desktop.focus({ title: "long" });
    work(60);
    await app.forget({ lastMinutes: 30 });
    work(1);
    desktop.focus({ title: "next" });
    const { events } = await app.events({ ...ALL, kinds: ["window"] });
    expect(events.map((event) => (event.endUs - event.startUs) / 60e6)).toEqual([30, 1, 0]);
  });

  test.each([
    [{}, "Nothing says what to forget"],
    [{ match: "a" }, "too short"],
    [{ lastMinutes: 0 }, "lastMinutes is 0"],
    [{ lastMinutes: 5, fromUs: 1 }, "exclude each other"],
    [{ fromUs: 2, toUs: 1 }, "ends (1) before it begins (2)"],
    [{ byRules: true, app: "x" }, "stands alone"],
  ])("%j is refused", async (request, said) => {
    const { app } = await start();
    expect(await refusal(app.forget(request))).toContain(said);
  });

  test("two at once are refused", async () => {
    const { app } = await fourHours();
    const first = app.forget({ lastMinutes: 1 });
    expect(await refusal(app.forget({ lastMinutes: 1 }))).toMatch(/^database_busy/);
    await first;
  });
});

describe("applying the rules backwards", () => {
  test("drops and rewrites what today's rules would not have stored, everywhere", async () => {
    const { app, launch, desktop, home, work } = await start();
    for (const title of ["Zeus budget", "payroll 2026", "lunch"]) {
      desktop.focus({ title });
      desktop.play({ title });
      work(60);
      await app.context({ form: "exact" });
    }
    desktop.focus(null);
    desktop.play(null);
    await app.close();
    const rules =
      '[[privacy.rules]]\naction = "drop"\ntitle = "payroll"\n[[privacy.rules]]\naction = "redact"\ntitle = "zeus"\n';
    const again = await launch(rules);
    await until("the notice", async () => (await again.status()).problems.length > 0);
    expect((await again.status()).problems[0]).toEqual({
      reason: "4 stored events fall under privacy rules that came later.",
      remedy:
        "Apply the rules backwards with: activityd forget --by-rules (--dry-run counts first)",
    });
    expect(await again.forget({ byRules: true, dryRun: true })).toMatchObject({
      events: 2,
      rewritten: 2,
    });
    expect(await again.forget({ byRules: true })).toMatchObject({
      events: 2,
      rewritten: 2,
      proof: { foundIn: [] },
    });
    expect(titles((await again.events(ALL)).events)).toEqual(["[redacted] budget", "lunch"]);
    expect(allBytes(home)).not.toMatch(/zeus|payroll/i);
    expect((await again.context({ form: "exact" })).block).toContain("2 h active today");
    expect(await again.forget({ byRules: true, dryRun: true })).toMatchObject({
      events: 0,
      rewritten: 0,
    });
    expect((await again.status()).problems).toEqual([]);
  });
});

describe("what other recorders sent", () => {
  const start0 = Date.parse("2026-11-30T10:00:00Z") * 1000;

  async function withBuckets(config = "") {
    const rig = await start({ config });
    const { buckets } = rig.app.guests;
    const describeBucket = { client: "c", hostname: "h", createdUs: start0, data: "{}" };
    buckets.create({ ...describeBucket, id: "aw-watcher-window_h", type: "currentwindow" });
    buckets.create({ ...describeBucket, id: "aw-watcher-web-firefox_h", type: "web.tab.current" });
    const add = (bucket: string, minute: number, data: object) =>
      buckets.insert(bucket, [
        { startUs: start0 + minute * 60e6, durationUs: 600e6, data: JSON.stringify(data) },
      ]);
    add("aw-watcher-window_h", 0, { app: "Code", title: `plan ${canaryText}` });
    add("aw-watcher-window_h", 10, { app: "Slack", title: "lunch" });
    add("aw-watcher-web-firefox_h", 20, {
      url: `https://e.org/${canaryText}`,
      title: "t",
      tags: [canaryText],
    });
    add("aw-watcher-web-firefox_h", 30, { url: "https://e.org/", title: "Zeus", audible: false });
    const left = () =>
      ["aw-watcher-window_h", "aw-watcher-web-firefox_h"].flatMap((bucket) =>
        [...buckets.iterate(bucket)].map((row) => [
          (row.startUs - start0) / 60e6,
          row.durationUs / 60e6,
          JSON.parse(row.data).title,
        ]),
      );
    return { ...rig, buckets, left };
  }
  const canaryText = "Canary-7731";

  test("goes by text, at any depth", async () => {
    const { app, left, home } = await withBuckets();
    expect(await app.forget({ match: canaryText, dryRun: true })).toMatchObject({ otherRows: 2 });
    await app.forget({ match: canaryText });
    expect(left()).toEqual([
      [10, 10, "lunch"],
      [30, 10, "Zeus"],
    ]);
    expect(allBytes(home)).not.toContain(canaryText);
  });

  test("goes by application, the browser of a tab being told by its bucket", async () => {
    const { app, left } = await withBuckets();
    await app.forget({ app: "firefox" });
    await app.forget({ app: "slack" });
    expect(left()).toEqual([[0, 10, `plan ${canaryText}`]]);
  });

  test("goes by time, and is cut at the edges", async () => {
    const { app, left } = await withBuckets();
    await app.forget({ fromUs: start0 + 5 * 60e6, toUs: start0 + 33 * 60e6 });
    expect(left()).toEqual([
      [0, 5, `plan ${canaryText}`],
      [33, 7, "Zeus"],
    ]);
    await app.forget({ fromUs: start0 + 35 * 60e6, toUs: start0 + 36 * 60e6 });
    expect(left().slice(1)).toEqual([
      [33, 2, "Zeus"],
      [36, 4, "Zeus"],
    ]);
  });

  test("is judged anew by rules that came later", async () => {
    const { app, launch } = await withBuckets();
    await app.close();
    const again = await launch(
      '[[privacy.rules]]\naction = "drop"\napp = "slack"\n[[privacy.rules]]\naction = "redact"\ntitle = "zeus"\nreplacement = "X"\n',
    );
    await until("the notice", async () => (await again.status()).problems.length > 0);
    expect((await again.status()).problems[0]?.reason).toMatch(/^2 stored events fall/);
    await again.forget({ byRules: true });
    const { buckets } = again.guests;
    const titles = ["aw-watcher-window_h", "aw-watcher-web-firefox_h"].flatMap((bucket) =>
      [...buckets.iterate(bucket)].map((row) => JSON.parse(row.data).title),
    );
    expect(titles).toEqual([`plan ${canaryText}`, "t", "X"]);
  });

  test("is not brought back by the next heartbeat of its watcher", async () => {
    const { app, buckets, left } = await withBuckets();
    const served = createBuckets({
      keeper: { store: buckets, gate: (_bucket, data) => data, onEvent: () => {} },
      hostname: "h",
      version: "v0",
      testing: false,
      nowUs: () => start0,
    });
    const beat = (minute: number) =>
      served.heartbeat(
        "aw-watcher-window_h",
        {
          timestamp: new Date(start0 / 1000 + minute * 60_000).toISOString(),
          duration: 0,
          data: { app: "Code", title: "long" },
        },
        600e6,
      );
    for (const minute of [60, 65, 70, 75]) beat(minute);
    await app.forget({ fromUs: start0 + 62 * 60e6, toUs: start0 + 75 * 60e6 });
    beat(76);
    expect(left().filter(([, , title]) => title === "long")).toEqual([
      [60, 2, "long"],
      [76, 0, "long"],
    ]);
  });
});

describe("the ledger", () => {
  test("names the events of every byte that was given", async () => {
    const { app, desktop, clock, work } = await start();
    desktop.focus({ title: "draft" });
    work(1);
    const { block, eventIds } = await app.context({ form: "exact", client: "chat", session: "s1" });
    const { entries } = await app.ledger({});
    expect(entries).toMatchObject([
      { client: "chat", session: "s1", text: block, eventIds, times: 1, firstUs: clock.nowUs() },
    ]);
    const ids = new Set((await app.events(ALL)).events.map(({ id }) => id));
    expect(eventIds.length).toBeGreaterThan(0);
    expect(eventIds.every((id) => ids.has(id))).toBe(true);
  });

  test("says of every line why it was told", async () => {
    const { app, desktop, work } = await start();
    for (const title of ["one", "two"]) {
      desktop.focus({ title });
      work(2);
    }
    const { block, reasons } = await app.context({ form: "exact" });
    expect(reasons).toEqual([
      "Now: the time that the other lines count from",
      "Focused: it has the focus",
      "Before: number 1 of the windows looked at before, newest first",
      "Input: whether the owner is at the machine, and since when today",
    ]);
    const lines = (block ?? "").split("\n").filter((line) => line.startsWith("- "));
    expect(lines.map((line) => line.slice(2).split(":")[0])).toEqual(
      reasons.map((reason) => reason.split(":")[0]),
    );
    const small = await app.context({ form: "exact", budgetTokens: 60 });
    expect(small.reasons.at(-1)).toMatch(/^\d lines of less worth did not fit into 60 tokens$/);
  });

  test("tells what a watcher was sent", async () => {
    const { app, desktop } = await start();
    desktop.focus({ title: "watched" });
    for await (const { answer } of app.watch({ client: "bar" })) {
      expect((await app.ledger({ client: "bar" })).entries).toMatchObject([{ text: answer.block }]);
      break;
    }
  });

  test("tells of searches and of events that were read, and forgets what they gave", async () => {
    const { app, desktop, work } = await start();
    for (const [name, title] of [
      ["Code", "zeus plan"],
      ["Slack", "zeus lunch"],
    ]) {
      desktop.focus({ app: name ?? "", title: title ?? "" });
      work(60);
    }
    const { events } = await app.events({ ...ALL, client: "bot" });
    const { hits } = await app.search({ q: "zeus", client: "bot" });
    await app.search({ q: "lunch", client: "bot" });
    await app.search({ q: "zeus" });
    const entries = async () => (await app.ledger({ client: "bot" })).entries;
    expect(await entries()).toMatchObject([
      { form: "search", reasons: ['all words of "lunch" stand in it'] },
      { form: "search", text: JSON.stringify(hits) },
      { form: "events", text: null, eventIds: [events.at(0)?.id, events.at(-1)?.id] },
    ]);
    await app.forget({ app: "code" });
    expect((await entries()).map(({ reasons }) => reasons[0])).toEqual([
      'all words of "lunch" stand in it',
      `${events.length} events were read, from the first to the last of these`,
    ]);
    work(1);
    await app.forget({ lastMinutes: 90 });
    expect((await entries()).map(({ form }) => form)).toEqual([]);
  });

  test("keeps no secret that a client put into its own name", async () => {
    const { app, home } = await start();
    await app.context({ form: "exact", client: "bot ghp_16C7e42F292c6912E7710c838347Ae178B4a" });
    expect((await app.ledger({})).entries[0]?.client).toBe("bot [secret]");
    expect(allBytes(home)).not.toContain("16C7e42F292c6912E7710c838347Ae178B4a");
  });
});

test("a browser whose private windows cannot be told from others is named", async () => {
  const { app, desktop, launch } = await start();
  desktop.focus({ app: "firefox", title: "a" });
  expect((await app.status()).notes).toEqual([]);
  desktop.focus({ app: "chromium", title: "a" });
  const { notes, health } = await app.status();
  expect(notes[0]?.reason).toContain("chromium: private windows cannot be told from others here");
  expect(health).toBe("ok");
  await app.close();
  const strict = await launch('[privacy]\nunmarked_browsers = "app-only"\n');
  desktop.focus({ app: "chromium", title: "b" });
  expect((await strict.status()).notes[0]?.reason).toContain("only the name is recorded");
});

test("every file belongs to its owner alone", async () => {
  const { app, home, desktop } = await start();
  desktop.focus({ title: "x" });
  await app.pause({});
  const files = readdirSync(join(home, "data"), { withFileTypes: true });
  expect(files.map(({ name }) => name)).toContain("pause.json");
  for (const { parentPath, name } of files) {
    expect([name, statSync(join(parentPath, name)).mode & 0o077]).toEqual([name, 0]);
  }
});
