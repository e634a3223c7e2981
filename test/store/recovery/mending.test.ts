/** A database that is recovered aside, while its store goes on. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Recoverer } from "../../../src/store/recovery/aside.ts";
import { readRemains } from "../../../src/store/recovery.ts";
import { createTempHome } from "../../helpers/temp-home.ts";
import { fill, NOW, openStore, overwrite, S, span, window } from "./damaged-store.ts";

const RECOVERING = expect.objectContaining({ code: "database_recovering" });

describe("while a damaged database is recovered aside", () => {
  it("nothing of it is read, changed or taken for empty, and then all of it is there", () => {
    const home = damagedHome(200);
    const aside = createAside();
    const store = openStore(home, aside.recoverer);
    expect(store.recovering()).toEqual({ sinceUs: NOW, failure: null });
    for (const use of [
      () => store.between(0, NOW),
      () => store.latest("window", 1),
      () => store.activeOn("2026-11-27"),
      () => store.begin(window(1), span(NOW)),
      () => store.settle(),
      () => store.requireRecord(),
      () => store.database.prepare("SELECT 1").get(),
      () => store.database.execute("SELECT 1"),
    ])
      expect(use).toThrow(RECOVERING);
    const heard: boolean[] = [];
    store.onRecovering((isBegun) => void heard.push(isBegun));
    aside.finish();
    expect(heard).toEqual([false]);
    expect(store.recovering()).toBeNull();
    expect(store.recovery()).toMatchObject({ salvaged: 200, fromBackup: 0 });
    expect(store.begin(window(1), span(NOW))).toBe(NOW);
    expect(store.summary().eventCount).toBe(201);
    expect(store.latest("window", 1)).toMatchObject([{ id: NOW }]);
  });

  it("damage that is met by a change or a reading leaves the store at once", () => {
    const home = createTempHome();
    const aside = createAside();
    const store = openStore(home, aside.recoverer);
    fill(store, 300);
    const page = store.database
      .prepare<{ pageno: number }>("SELECT pageno FROM dbstat WHERE name = 'label_hash' LIMIT 1")
      .get();
    store.database.checkpoint("truncate");
    store.database.execute("PRAGMA shrink_memory");
    overwrite(join(home, "activity.db"), page?.pageno ?? 0);
    expect(() => store.begin(window(4000), span(NOW))).toThrow(RECOVERING);
    aside.finish();
    expect(store.recovery()).toMatchObject({ salvaged: 300 });
    expect(store.begin(window(4000), span(NOW))).toBe(NOW);
  });

  it("a recovery that fails is told and tried again", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const home = damagedHome(20);
    const aside = createAside();
    const store = openStore(home, aside.recoverer);
    aside.fail(new Error("there is no room"));
    expect(store.recovering()).toMatchObject({ failure: "there is no room" });
    expect(() => store.latest("window", 1)).toThrow(RECOVERING);
    vi.advanceTimersByTime(60_000);
    aside.finish();
    expect(store.latest("window", 1)).toHaveLength(1);
  });

  it("one whose outcome is spoiled as it is put in place is done once more", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const home = damagedHome(20);
    let tries = 0;
    const store = openStore(home, (place, done) => {
      tries += 1;
      const counts = readRemains(place);
      if (tries === 1) writeFileSync(`${place.path}.recovering`, Buffer.alloc(9000, 0x5a));
      done(counts);
      return { close: () => {} };
    });
    expect(store.recovering()?.failure).toContain("Damaged database");
    vi.advanceTimersByTime(60_000);
    expect(tries).toBe(2);
    expect(store.recovering()).toBeNull();
  });

  it("what waits outlives the process, is put in once, and is gone from beside it then", () => {
    const home = damagedHome(20);
    const killed = openStore(home, createAside().recoverer);
    const waiting = { id: NOW, ...window(1), ...span(NOW) };
    killed.hold([waiting]);
    killed.hold([{ ...waiting, endUs: NOW + 90 * S }]);
    killed.hold([{ ...waiting, endUs: NOW + 60 * S }]);
    killed.close();
    const aside = createAside();
    const store = openStore(home, aside.recoverer);
    const later = { id: NOW + 100 * S, ...window(2), ...span(NOW + 100 * S) };
    store.hold([later]);
    aside.finish();
    // As the recorder does: what it has in memory first, and then that nothing waits.
    store.begin(later, later);
    store.hold([]);
    expect(store.between(NOW, NOW + 1000 * S).events).toMatchObject([
      { id: NOW, endUs: NOW + 60 * S },
      { id: NOW + 100 * S },
    ]);
    expect(existsSync(join(home, "activity.db.held"))).toBe(false);
    expect(store.summary().eventCount).toBe(22);
  });

  it("who can do without it gets nothing of it, also where this very reading met the damage", () => {
    const home = createTempHome();
    const aside = createAside();
    const store = openStore(home, aside.recoverer);
    fill(store, 300);
    expect(store.readIfThere(() => store.latest("window", 1).length)).toBe(1);
    const page = store.database
      .prepare<{ pageno: number }>(
        "SELECT pageno FROM dbstat WHERE name = 'event' AND pagetype = 'leaf' ORDER BY pageno DESC LIMIT 1",
      )
      .get();
    store.database.checkpoint("truncate");
    store.database.execute("PRAGMA shrink_memory");
    overwrite(join(home, "activity.db"), page?.pageno ?? 0);
    const read = vi.fn(() => store.between(0, NOW).events.length);
    expect(store.readIfThere(read)).toBeNull();
    expect(read).toHaveBeenCalledTimes(1);
    expect(store.recovering()).not.toBeNull();
    expect(store.readIfThere(read)).toBeNull();
    expect(read).toHaveBeenCalledTimes(1);
    aside.finish();
    expect(store.readIfThere(read)).toBeGreaterThan(0);
    const wrong = new Error("of the reader itself");
    const fail = (): never => {
      throw wrong;
    };
    expect(() => store.readIfThere(fail)).toThrow(wrong);
  });

  it("who asks how the store is is told, also where the count met the damage", () => {
    const home = createTempHome();
    const aside = createAside();
    const before = openStore(home);
    fill(before, 300);
    const page = before.database
      .prepare<{ pageno: number }>(
        "SELECT pageno FROM dbstat WHERE name = 'event' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1",
      )
      .get();
    before.close();
    const store = openStore(home, aside.recoverer);
    overwrite(join(home, "activity.db"), page?.pageno ?? 0);
    store.database.execute("PRAGMA shrink_memory");
    expect(store.summary()).toMatchObject({ eventCount: null });
    expect(store.recovering()).not.toBeNull();
  });

  it("two of a kind that begin at one moment are both kept", () => {
    const home = damagedHome(20);
    const killed = openStore(home, createAside().recoverer);
    killed.hold([
      { id: NOW, ...window(1), ...span(NOW) },
      { id: NOW, ...window(2), ...span(NOW) },
    ]);
    killed.close();
    const next = openStore(home);
    expect(next.between(NOW, NOW + S).events).toHaveLength(2);
  });

  it("what is held is for its owner's eyes, and what a killed process held is taken up where the next has nothing", () => {
    const home = damagedHome(20);
    const killed = openStore(home, createAside().recoverer);
    killed.hold([{ id: NOW, ...window(1), ...span(NOW) }]);
    expect(statSync(join(home, "activity.db.held")).mode & 0o777).toBe(0o600);
    killed.close();
    const aside = createAside();
    const store = openStore(home, aside.recoverer);
    aside.finish();
    expect(store.latest("window", 1)).toMatchObject([{ id: NOW }]);
    expect(existsSync(join(home, "activity.db.held"))).toBe(false);
  });

  it("held events whose file is damaged keep nothing from being recorded, and what is left of them is put in", () => {
    const home = damagedHome(20);
    const killed = openStore(home, createAside().recoverer);
    killed.hold([{ id: NOW, ...window(1), ...span(NOW) }]);
    killed.close();
    const held = join(home, "activity.db.held");
    const bytes = readFileSync(held);
    bytes.fill(0, 0, 90);
    writeFileSync(held, bytes);
    const store = openStore(home);
    expect(store.recovery()).toMatchObject({ salvaged: 20 });
    expect(store.begin(window(2), span(NOW + 60 * S))).toBe(NOW + 60 * S);
    expect(store.between(NOW, NOW + 120 * S).events).toMatchObject([
      { id: NOW },
      { id: NOW + 60 * S },
    ]);
    expect(existsSync(held)).toBe(false);
    const aside = readdirSync(join(home, "damaged")).flatMap((name) =>
      readdirSync(join(home, "damaged", name)),
    );
    expect(aside.toSorted()).toEqual(["activity.db", "activity.db.held"]);
  });

  it("held events of which nothing can be read keep nothing from being recorded", () => {
    const home = damagedHome(20);
    writeFileSync(join(home, "activity.db.held"), Buffer.alloc(9000, 0x5a));
    const store = openStore(home);
    expect(store.begin(window(2), span(NOW))).toBe(NOW);
    expect(store.summary().eventCount).toBe(21);
  });

  it("one that fails leaves no part of it in the room that is wanted", () => {
    const home = damagedHome(20);
    rmSync(join(home, "activity.db"));
    const place = { directory: home, path: join(home, "activity.db"), nowUs: NOW };
    expect(() => readRemains(place)).toThrow("ENOENT");
    expect(readdirSync(home).filter((name) => name.includes("recovering"))).toEqual([]);
  });
});

/** A recovery that ends when a test says so. */
function createAside() {
  let end: (() => void) | null = null;
  let fail: ((error: Error) => void) | null = null;
  const recoverer: Recoverer = (place, done) => {
    end = () => done(readRemains(place));
    fail = done;
    return { close: () => {} };
  };
  return {
    recoverer,
    finish: () => end?.(),
    fail: (error: Error) => fail?.(error),
  };
}

function damagedHome(count: number): string {
  const sound = createTempHome();
  const store = openStore(sound);
  fill(store, count);
  store.close();
  const home = join(createTempHome(), "data");
  mkdirSync(home);
  cpSync(join(sound, "activity.db"), join(home, "activity.db"));
  const path = join(home, "activity.db");
  const bytes = readFileSync(path);
  bytes.fill(0, 0, 90);
  writeFileSync(path, bytes);
  return home;
}
