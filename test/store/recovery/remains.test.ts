/** What a process that was killed leaves in a data folder, and what becomes of it. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/log.ts";
import { openEventStore } from "../../../src/store/events.ts";
import { clearRemains } from "../../../src/store/recovery/remains.ts";
import { restoreBackup } from "../../../src/store/recovery/repair.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { createTempHome } from "../../helpers/temp-home.ts";

const NOW_MS = Date.parse("2026-11-27T12:00:00Z");
const T0 = NOW_MS * 1000 - 3_600_000_000;

function fill(directory: string, count: number): void {
  const clock = createFakeClock("2026-11-27T12:00:00Z");
  const store = openEventStore({ directory, clock, log: silentLog });
  for (let n = 0; n < count; n += 1) {
    const startUs = T0 + n * 60_000_000;
    const span = { startUs, endUs: startUs + 1, utcOffsetMinutes: 0, timeZone: "UTC" };
    store.begin({ kind: "lock" }, span);
  }
  store.close();
}

function countIn(directory: string): number | null {
  const clock = createFakeClock("2026-11-27T12:00:00Z");
  const store = openEventStore({ directory, clock, log: silentLog });
  const { eventCount } = store.summary();
  store.close();
  return eventCount;
}

describe("what a killed process left", () => {
  it("is removed where it was never whole, and what was recorded stays", () => {
    const directory = createTempHome();
    fill(directory, 3);
    const wanted = readdirSync(directory).toSorted();
    for (const suffix of ["restoring", "encrypting", "encrypting-journal", "recovering-wal"])
      writeFileSync(join(directory, `activity.db.${suffix}`), "half");
    mkdirSync(join(directory, "import-x8Kq2a"));
    writeFileSync(join(directory, "import-x8Kq2a", "copy.db"), "a raw title");
    clearRemains(directory, NOW_MS);
    expect(readdirSync(directory).toSorted()).toEqual(wanted);
    expect(countIn(directory)).toBe(3);
  });

  it("of a backup is removed when nobody writes it any more", () => {
    const directory = createTempHome();
    const folder = join(directory, "backups");
    mkdirSync(folder);
    const names = ["a.db.partial", "b.db.partial-journal", "activity-20261127T110000.000Z.db"];
    for (const name of names) writeFileSync(join(folder, name), "half");
    utimesSync(join(folder, names[1] ?? ""), NOW_MS / 1000, NOW_MS / 1000 - 3600);
    utimesSync(join(folder, names[0] ?? ""), NOW_MS / 1000, NOW_MS / 1000 - 10);
    clearRemains(directory, NOW_MS);
    expect(new Set(readdirSync(folder))).toEqual(new Set([names[0], names[2]]));
  });

  it.each([
    ["before the old database was moved", true],
    ["after the old database was moved", false],
  ])("of a database that was put in place is ended: cut off %s", (_when, isThere) => {
    const [directory, other] = [createTempHome(), createTempHome()];
    fill(directory, 3);
    fill(other, 5);
    copyFileSync(join(other, "activity.db"), join(directory, "activity.db.ready"));
    if (!isThere) renameSync(join(directory, "activity.db"), join(other, "moved.db"));
    clearRemains(directory, NOW_MS);
    expect(countIn(directory)).toBe(5);
    expect(existsSync(join(directory, "replaced"))).toBe(isThere);
    expect(existsSync(join(directory, "activity.db.ready"))).toBe(false);
  });
});

describe("restoring", () => {
  it("leaves the backup as it is, and gives a database that its owner alone can read and write", () => {
    const [directory, medium] = [createTempHome(), createTempHome()];
    fill(medium, 4);
    const backup = join(medium, "activity.db");
    chmodSync(backup, 0o444);
    const before = readFileSync(backup);
    restoreBackup(directory, backup, NOW_MS * 1000);
    expect(statSync(join(directory, "activity.db")).mode & 0o777).toBe(0o600);
    expect(readFileSync(backup).equals(before)).toBe(true);
    expect(statSync(backup).mode & 0o777).toBe(0o444);
    expect(countIn(directory)).toBe(4);
  });

  it("a file that is none changes nothing, names that file, and leaves nothing behind", () => {
    const directory = createTempHome();
    fill(directory, 3);
    const wanted = readdirSync(directory).toSorted();
    const file = join(createTempHome(), "noise.db");
    writeFileSync(file, Buffer.alloc(8192, 0x5a));
    expect(() => restoreBackup(directory, file, NOW_MS * 1000)).toThrow(
      `The backup ${file} is not sound: it is encrypted, or no database.`,
    );
    expect(readdirSync(directory).toSorted()).toEqual(wanted);
    expect(countIn(directory)).toBe(3);
  });
});
