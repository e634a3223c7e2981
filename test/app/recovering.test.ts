/** What a daemon answers while its record is being recovered, and when it is there again. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRemains } from "../../src/store/recovery.ts";
import type { Recoverer } from "../../src/store/recovery/aside.ts";
import { moveLog } from "../../src/store/sqlite.ts";
import { ALL, refusalOf, startApp, titlesOf } from "../helpers/app-rig.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createTempHome } from "../helpers/temp-home.ts";

test("the present is told at once, what is unknown as unknown, and nothing that happens is lost", async () => {
  const { app, desktop, work, finish } = await startDamaged();
  desktop.focus({ app: "Code", title: "new.ts" });
  work(2);
  desktop.focus({ app: "Files", title: "things" });
  work(1);
  const { block } = await app.context({ form: "exact" });
  expect(block).toContain('- Focused: Files: "things"');
  expect(block).toContain('- Before: Code: "new.ts"');
  expect(block).toContain("- History: unknown before 14:00, the record was damaged");
  expect(block).not.toContain("old.ts");
  const status = await app.status();
  expect(status.health).toBe("degraded");
  expect(status.problems.map(({ reason }) => reason).join()).toContain("is being recovered");
  expect(status.problems.map(({ reason }) => reason).join()).not.toContain("cannot be written");
  expect(app.isAlive()).toBe(true);

  finish();
  const after = (await app.context({ form: "exact" })).block;
  expect(after).not.toContain("History:");
  expect(after).toContain("not recording");
  const { events } = await app.events(ALL);
  expect(titlesOf(events)).toEqual(["old.ts", "new.ts", "things"]);
  expect((await app.status()).problems.map(({ reason }) => reason).join()).toContain("was damaged");
});

test("a turn about the past gets the present that says so, and what reads the record alone is refused", async () => {
  const { app, desktop, finish } = await startDamaged();
  desktop.focus({ app: "Code", title: "new.ts" });
  for (const form of ["auto", "digest"] as const) {
    const given = await app.context({ form, turn: "what did I read on Friday?" });
    expect(given.form).toBe("exact");
    expect(given.block).toContain("- History: unknown");
  }
  const turn = await app.composeTurn({ session: "s", ownerText: "what did I read on Friday?" });
  expect(turn.modelText).toContain("- History: unknown");
  for (const asked of [
    app.events(ALL),
    app.search({ q: "old" }),
    app.totals({ fromUs: 0, toUs: 1, by: "application" }),
    app.ledger({}),
    app.forget({ match: "old" }),
    app.enqueueEvent({ session: "s", text: "built" }),
    app.context({ form: "exact", now: "2026-11-27T12:00:00Z" }),
  ])
    expect(await refusalOf(asked)).toContain("database_recovering: ");
  finish();
  expect((await app.search({ q: "old" })).hits).toHaveLength(1);
  expect((await app.ledger({})).entries.length).toBeGreaterThan(0);
});

test("who was refused is refused all the while", async () => {
  const { app, finish } = await startDamaged();
  const asked = () => refusalOf(app.context({ form: "exact", client: "tool" }));
  expect(await asked()).toContain("client_revoked");
  finish();
  expect(await asked()).toContain("client_revoked");
  expect((await app.context({ form: "exact", client: "other" })).block).not.toBeNull();
});

test("what happened until a daemon was ended in the midst of it is in the record of the next", async () => {
  const { app, desktop, work, launch, finish } = await startDamaged();
  desktop.focus({ app: "Code", title: "new.ts" });
  work(2);
  await app.close();
  const next = await launch();
  finish();
  const windows = (await next.events({ ...ALL, kinds: ["window"] })).events;
  // The last is what the next daemon sees.
  expect(titlesOf(windows)).toEqual(["old.ts", "new.ts", "new.ts"]);
  expect((windows[1]?.endUs ?? 0) - (windows[1]?.startUs ?? 0)).toBe(120_000_000);
});

test("damage that a search meets is recovered from, and told as that", async () => {
  const home = createTempHome();
  const { app, desktop, work } = await startApp({
    home,
    clock: createFakeClock("2026-11-27T12:00:00Z"),
    recoverer: () => ({ close: () => {} }),
  });
  for (let n = 0; n < 300; n += 1) {
    desktop.focus({ app: "Code", title: `needle ${n}` });
    work(1);
  }
  expect((await app.search({ q: "needle" })).hits.length).toBeGreaterThan(0);
  const path = join(home, "data", "activity.db");
  moveLog(path);
  const bytes = readFileSync(path);
  bytes.fill(0x5a, 4096);
  writeFileSync(path, bytes);
  expect(await refusalOf(app.search({ q: "needle" }))).toContain("database_recovering: ");
  expect((await app.context({ form: "exact" })).block).toContain("- History: unknown");
});

/** A daemon that has just found its record damaged, in which a window was and a client is refused. */
async function startDamaged() {
  const home = createTempHome();
  const before = await startApp({ home, clock: createFakeClock("2026-11-27T12:00:00Z") });
  before.desktop.focus({ app: "Code", title: "old.ts" });
  before.work(3);
  await before.app.setClient({ client: "tool", access: "revoked" });
  await before.app.close();
  const path = join(home, "data", "activity.db");
  const bytes = readFileSync(path);
  bytes.fill(0, 0, 90);
  writeFileSync(path, bytes);

  let end = (): void => {};
  const recoverer: Recoverer = (place, done) => {
    let isClosed = false;
    end = () => {
      if (!isClosed) done(readRemains(place));
    };
    return {
      close: () => {
        isClosed = true;
      },
    };
  };
  const rig = await startApp({ home, clock: createFakeClock("2026-11-30T14:00:00Z"), recoverer });
  return { ...rig, finish: () => end() };
}
