import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/log.ts";
import { createBackup, listBackups } from "../../src/store/backups.ts";
import { openEventStore } from "../../src/store/events.ts";
import { parseConfig } from "../../src/config.ts";
import { ALL, refusalOf, startApp, titlesOf } from "../helpers/app-rig.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { allBytes } from "../helpers/files-below.ts";
import { until } from "../helpers/until.ts";

describe("forgetting by text", () => {
  const canary = "Canary-7731-Zeppelin";

  test("leaves the text in no file: not in titles, songs, documents, search, totals, ledger or log", async () => {
    const { app, desktop, home, work } = await startApp();
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
    expect(titlesOf((await app.events(ALL)).events)).toEqual(["other 0", "other 1", "other 2"]);
    await app.close();
    expect(allBytes(home).toLowerCase()).not.toContain("zeppelin");
  });

  test("the blocks that the gateway keeps go with it", async () => {
    const { app, desktop, home, work } = await startApp();
    desktop.focus({ title: canary });
    work(1);
    const { block } = await app.context({ form: "exact" });
    mkdirSync(join(home, "data", "gateway"));
    writeFileSync(join(home, "data", "gateway", "turns.jsonl"), JSON.stringify(["key", 1, block]));
    expect((await app.forget({ match: canary })).proof?.foundIn).toEqual([]);
    expect(allBytes(home)).not.toContain(canary);
  });

  test("no backup and no copy that was set aside keeps it; a new backup takes their place", async () => {
    const { app, desktop, work, home, clock } = await startApp();
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
    const again = (await startApp({ home, clock })).app;
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
    const { app, desktop, clock, home, work } = await startApp();
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
    expect(titlesOf(events)).toEqual(["something else"]);
    expect(events.some((event) => event.kind === "gap" && event.reason === "filtered")).toBe(true);
    desktop.focus({ title: `${canary} 3` });
    expect(titlesOf((await app.events(ALL)).events)).toContain(`${canary} 3`);
  });

  test("finds what hides behind full-width letters and zero-width spaces", async () => {
    const { app, desktop, work } = await startApp();
    desktop.focus({ title: "Ｃａｎａｒｙ-7731-Zep\u200bpelin" });
    work(1);
    desktop.focus({ title: "other" });
    expect(await app.forget({ match: canary })).toMatchObject({ events: 1 });
    expect(titlesOf((await app.events(ALL)).events)).toEqual(["other"]);
  });

  test("finds waiting messages of sessions, and whatever table a client's text went to", async () => {
    const { app, home } = await startApp();
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
    const again = (await startApp({ home })).app;
    expect(await again.forget({ match: canary })).toMatchObject({ otherRows: 1 });
    expect(await again.forget({ fromUs: 0, toUs: 3 })).toMatchObject({ otherRows: 1 });
    expect(allBytes(home)).not.toContain(canary);
  });
});

describe("forgetting by time and application", () => {
  async function fourHours() {
    const rig = await startApp();
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
    expect(titlesOf(events)).toEqual(["one", "two", "three"]);
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
    expect(titlesOf((await app.events(ALL)).events)).toEqual(["one", "three"]);
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
    const { app, work } = await startApp();
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
    const { app, desktop, work } = await startApp();
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
    const { app } = await startApp();
    expect(await refusalOf(app.forget(request))).toContain(said);
  });

  test("two at once are refused", async () => {
    const { app } = await fourHours();
    const first = app.forget({ lastMinutes: 1 });
    expect(await refusalOf(app.forget({ lastMinutes: 1 }))).toMatch(/^database_busy/);
    await first;
  });
});

describe("applying the rules backwards", () => {
  test("drops and rewrites what today's rules would not have stored, everywhere", async () => {
    const { app, launch, desktop, home, work } = await startApp();
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
    expect(titlesOf((await again.events(ALL)).events)).toEqual(["[redacted] budget", "lunch"]);
    expect(allBytes(home)).not.toMatch(/zeus|payroll/i);
    expect((await again.context({ form: "exact" })).block).toContain("2 h active today");
    expect(await again.forget({ byRules: true, dryRun: true })).toMatchObject({
      events: 0,
      rewritten: 0,
    });
    expect((await again.status()).problems).toEqual([]);
  });
});

describe("rules that are written while the daemon runs", () => {
  const rulesOf = (title: string) =>
    parseConfig(`[[privacy.rules]]\naction = "drop"\ntitle = "${title}"\n`, "config.toml").privacy;

  test("count from then on, also for what is on the screen, and tell what of the record they would not store", async () => {
    const { app, desktop, work } = await startApp();
    desktop.focus({ title: "payroll 2026" });
    work(1);
    await app.reloadRules(() => rulesOf("payroll"));
    await until("the window to be hidden", async () => {
      const { block } = await app.context({ form: "exact" });
      return block?.includes("Focused: Code") === false;
    });
    expect((await app.context({ form: "exact" })).block).toContain("withheld by a privacy rule");
    expect((await app.status()).problems).toMatchObject([
      { reason: "1 stored event falls under privacy rules that came later." },
    ]);
    work(5);
    desktop.focus({ title: "lunch" });
    work(1);
    const { events } = await app.events(ALL);
    expect(titlesOf(events)).toEqual(["payroll 2026", "lunch"]);
    expect(events.find(({ kind }) => kind === "gap")).toMatchObject({ reason: "filtered" });
    await app.forget({ byRules: true });
    expect(titlesOf((await app.events(ALL)).events)).toEqual(["lunch"]);
    expect((await app.status()).problems).toEqual([]);
  });

  test("leave the rules of before in force when they cannot be understood, and say so until they can", async () => {
    const { app, desktop, work } = await startApp({
      config: '[[privacy.rules]]\naction = "drop"\ntitle = "payroll"\n',
    });
    await app.reloadRules(() => rulesOf("(unclosed"));
    const [problem] = (await app.status()).problems;
    expect(problem?.reason).toMatch(
      /^The settings were changed, and cannot be read: .*unclosed.* The privacy rules of before stay in force\.$/s,
    );
    // It goes on meanwhile: nobody has to start it again.
    expect(problem?.remedy).toBe("Mend it and save it: it is read again at once.");
    desktop.focus({ title: "payroll" });
    work(1);
    expect(titlesOf((await app.events(ALL)).events)).toEqual([]);
    await app.reloadRules(() => rulesOf("payroll"));
    expect((await app.status()).problems).toEqual([]);
  });
});

test("what lies ahead of the clock, forgotten, makes the clock one that is believed again", async () => {
  const ahead = await startApp({ clock: createFakeClock("2026-12-03T12:00:00Z") });
  ahead.desktop.focus({ title: "from days ahead" });
  ahead.work(1);
  await ahead.app.close();
  const clock = createFakeClock("2026-11-30T12:00:00Z");
  const { app, desktop, work } = await startApp({ home: ahead.home, clock });
  desktop.focus({ title: "before" });
  work(1);
  // Nothing was seen before now, so that it may be the clock which is wrong: time goes on from the record's end.
  expect((await app.events(ALL)).events.every(({ startUs }) => startUs > clock.nowUs())).toBe(true);
  await app.forget({ fromUs: clock.nowUs() - 1_000, toUs: Date.parse("2100-01-01") * 1000 });
  const sinceUs = clock.nowUs();
  work(1);
  desktop.focus({ title: "after" });
  work(1);
  const { events } = await app.events(ALL);
  expect(titlesOf(events)).toEqual(["before", "after"]);
  for (const { startUs, endUs } of events) {
    expect(startUs).toBeGreaterThanOrEqual(sinceUs);
    expect(endUs).toBeLessThanOrEqual(clock.nowUs());
  }
});
