import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ALL, refusalOf, startApp, titlesOf } from "../helpers/app-rig.ts";
import { allBytes } from "../helpers/files-below.ts";

describe("a pause", () => {
  test("writes no row but its gap, tells nothing but itself, and ends by itself", async () => {
    const { app, desktop, clock, work } = await startApp();
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
    expect(titlesOf(events)).toEqual(["before", "secret two"]);
    expect(events.filter((event) => event.kind === "gap")).toMatchObject([
      { reason: "paused", startUs: paused?.sinceUs },
    ]);
  });

  test("is no time at the window that was there before and after", async () => {
    const { app, desktop, work } = await startApp();
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
    const { app, launch, desktop, clock } = await startApp();
    await app.pause({});
    await app.close();
    clock.advanceMs(3_600_000);
    const again = await launch();
    desktop.focus({ title: "secret" });
    expect((await again.status()).paused?.untilUs).toBeNull();
    expect((await again.context({ form: "exact" })).block).toContain("paused since 12:00");
    await again.resume();
    expect(titlesOf((await again.events(ALL)).events)).toEqual(["secret"]);
  });

  test("goes on when the daemon starts with half a pause file", async () => {
    const { app, launch, home, desktop } = await startApp();
    await app.close();
    writeFileSync(join(home, "data", "pause.json"), '{"since');
    const again = await launch();
    desktop.focus({ title: "secret" });
    expect(titlesOf((await again.events(ALL)).events)).toEqual([]);
    expect((await again.status()).paused).not.toBeNull();
  });

  test("of no length or of two lengths is refused", async () => {
    const { app } = await startApp();
    expect(await refusalOf(app.pause({ minutes: -1 }))).toMatch(
      /^bad_request: Cannot pause for -1/,
    );
    expect(await refusalOf(app.pause({ until: "soon" }))).toMatch(
      /^bad_request: Cannot read until "soon"/,
    );
    expect(await refusalOf(app.pause({ until: "2027-02-30T00:00:00Z" }))).toMatch(
      /^bad_request: Cannot read until "2027-02-30/,
    );
    expect(await refusalOf(app.pause({ until: "2020-01-01T00:00:00Z" }))).toMatch(
      /before it begins/,
    );
    expect(await refusalOf(app.pause({ minutes: 1, until: "2027-01-01" }))).toMatch(
      /exclude each other/,
    );
  });
});

describe("the ledger", () => {
  test("names the events of every byte that was given", async () => {
    const { app, desktop, clock, work } = await startApp();
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
    const { app, desktop, work } = await startApp();
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
    const leftOut = async (budgetTokens: number) =>
      (await app.context({ form: "exact", budgetTokens })).reasons.at(-1);
    expect(await leftOut(60)).toBe("2 lines of less worth did not fit into 60 tokens");
    expect(await leftOut(85)).toBe("1 line of less worth did not fit into 85 tokens");
  });

  test("tells what a watcher was sent", async () => {
    const { app, desktop } = await startApp();
    desktop.focus({ title: "watched" });
    for await (const { answer } of app.watch({ client: "bar" })) {
      expect((await app.ledger({ client: "bar" })).entries).toMatchObject([{ text: answer.block }]);
      break;
    }
  });

  test("tells of searches and of events that were read, and forgets what they gave", async () => {
    const { app, desktop, work } = await startApp();
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
    const { app, home } = await startApp();
    await app.context({ form: "exact", client: "bot ghp_16C7e42F292c6912E7710c838347Ae178B4a" });
    expect((await app.ledger({})).entries[0]?.client).toBe("bot [secret]");
    expect(allBytes(home)).not.toContain("16C7e42F292c6912E7710c838347Ae178B4a");
  });
});

test("a browser whose private windows cannot be told from others is named", async () => {
  const { app, desktop, launch } = await startApp();
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
  const { app, home, desktop } = await startApp();
  desktop.focus({ title: "x" });
  await app.pause({});
  const files = readdirSync(join(home, "data"), { withFileTypes: true });
  expect(files.map(({ name }) => name)).toContain("pause.json");
  for (const { parentPath, name } of files) {
    expect([name, statSync(join(parentPath, name)).mode & 0o077]).toEqual([name, 0]);
  }
});
