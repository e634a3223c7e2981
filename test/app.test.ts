import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startApp } from "./helpers/app-rig.ts";
import { createTempHome } from "./helpers/temp-home.ts";

test("a record that was damaged and recovered is a problem until its owner has done what is said of it", async () => {
  const home = createTempHome();
  mkdirSync(join(home, "data"), { mode: 0o700 });
  writeFileSync(join(home, "data", "activity.db"), "x".repeat(20_000), { mode: 0o600 });
  const { app } = await startApp({ home });
  const problemsOf = async () =>
    (await app.status()).problems.filter(({ reason }) => reason.includes("was damaged"));
  const [told] = await problemsOf();
  const [, command = ""] = /no more: (.*)$/.exec(told?.remedy ?? "") ?? [];
  execFileSync("sh", ["-c", command]);
  expect(await problemsOf()).toEqual([]);
});

test("whoever follows hears at once, after a change of the screen, and after a client was refused", async () => {
  const { app, desktop } = await startApp();
  hastenTime();
  const stop = new AbortController();
  const heard: number[] = [];
  const changes = [
    () => desktop.focus({ app: "Code", title: "a.ts" }),
    () => void app.setClient({ client: "tool", access: "revoked" }),
    () => stop.abort(),
  ];
  for await (const { id } of app.follow(stop.signal)) {
    heard.push(id);
    changes.shift()?.();
  }
  expect(heard).toHaveLength(3);
  expect(heard).toEqual([...new Set(heard)].toSorted((a, b) => a - b));
});

test("many changes in a second are one, and nothing of following is noted", async () => {
  const { app } = await startApp();
  hastenTime();
  const stop = new AbortController();
  const startedMs = performance.now();
  let heard = 0;
  for await (const _ of app.follow(stop.signal)) {
    heard += 1;
    for (let n = 0; n < 20; n += 1) void app.setClient({ client: `${n}`, access: "revoked" });
    if (heard === 3) stop.abort();
  }
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(2_000);
  expect((await app.ledger({})).entries).toEqual([]);
});

test("whoever follows hears of what was forgotten apart from other changes, and not of a look at what would be", async () => {
  const { app, desktop } = await startApp();
  hastenTime();
  const stop = new AbortController();
  const heard: number[] = [];
  const changes: (() => Promise<void>)[] = [
    async () => desktop.focus({ app: "Code", title: "a.ts" }),
    async () => {
      await app.forget({ fromUs: 0, dryRun: true });
      desktop.focus({ app: "Code", title: "b.ts" });
    },
    async () => {
      await app.forget({ match: "a.ts" });
    },
    async () => stop.abort(),
  ];
  for await (const { forgotten } of app.follow(stop.signal)) {
    heard.push(forgotten);
    await changes.shift()?.();
  }
  expect(heard).toEqual([0, 0, 0, 1]);
});

test("following ends with the daemon", async () => {
  const { app } = await startApp();
  const heard: number[] = [];
  for await (const { id } of app.follow(new AbortController().signal)) {
    heard.push(id);
    void app.close();
  }
  expect(heard).toHaveLength(1);
});

test("with keep_turns = false the ledger keeps what was given, and nothing of what the owner wrote", async () => {
  const { app, desktop } = await startApp({ config: "[ledger]\nkeep_turns = false\n" });
  desktop.focus({ app: "Code", title: "a.ts" });
  await app.composeTurn({ session: "s", ownerText: "a private matter", form: "exact" });
  const { entries } = await app.ledger({});
  expect(entries).toMatchObject([{ ownerText: null, text: expect.stringContaining("a.ts") }]);
});

test("a long turn is kept cut, at a whole character", async () => {
  const { app, desktop } = await startApp();
  desktop.focus({ app: "Code", title: "a.ts" });
  const ownerText = `${"x".repeat(1999)}😀 and more`;
  await app.composeTurn({ session: "s", ownerText, form: "exact" });
  const { entries } = await app.ledger({});
  expect(entries[0]?.ownerText).toBe("x".repeat(1999));
});

test("what goes on is told up to now, however long ago its end was written", async () => {
  const { app, desktop, clock } = await startApp();
  desktop.focus({ app: "Code", title: "a.ts" });
  const startUs = clock.nowUs();
  clock.advanceMs(4_000);
  const { events } = await app.events({ fromUs: startUs, kinds: ["window"] });
  expect(events).toMatchObject([{ title: "a.ts", startUs, endUs: startUs + 4_000_000 }]);
  const late = await app.events({ fromUs: startUs + 3_000_000, kinds: ["window"], limit: 1 });
  expect(late).toEqual({ events, truncated: false });
  const before = await app.events({
    fromUs: startUs - 9_000_000,
    toUs: startUs,
    kinds: ["window"],
  });
  expect(before.events).toEqual([]);
});

/** What waits for a time goes on as soon as nothing else is to be done; `performance` says how long it took. */
function hastenTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  vi.setTimerTickMode("nextTimerAsync");
  onTestFinished(() => void vi.useRealTimers());
}
