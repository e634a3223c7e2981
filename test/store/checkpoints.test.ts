/** Who moves the write-ahead log of a database, and when. */
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createCheckpoints } from "../../src/store/checkpoints.ts";
import { openDatabase } from "../../src/store/database.ts";
import { moveLog } from "../../src/store/sqlite.ts";

function openWritten() {
  const folder = mkdtempSync(join(tmpdir(), "activityd-checkpoints-"));
  const path = join(folder, "activity.db");
  const database = openDatabase({ path });
  onTestFinished(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  database.execute("CREATE TABLE written(value)");
  const insert = database.prepare("INSERT INTO written VALUES(?)");
  const commit = (times: number, value: number | Buffer = 1): void => {
    for (let n = 0; n < times; n += 1) database.transaction(() => insert.run(value));
  };
  const logBytes = (): number => statSync(`${path}-wal`).size;
  return { path, database, commit, logBytes };
}

describe("the write-ahead log", () => {
  it("is moved in an idle moment once it is worth it, and begins again at its start", () => {
    const { database, commit, logBytes } = openWritten();
    const checkpoints = createCheckpoints(database);
    commit(100);
    checkpoints.whenIdle();
    expect(database.logPages()).toBeGreaterThan(100);
    commit(1_000);
    checkpoints.whenIdle();
    expect(database.logPages()).toBe(0);
    const moved = logBytes();
    commit(100);
    expect(logBytes()).toBe(moved);
  });

  it("is left to grow in an idle moment between many commits, where it is moved elsewhere soon", () => {
    const { database, commit } = openWritten();
    const checkpoints = createCheckpoints(database);
    checkpoints.shareWith(async () => {});
    commit(1_500);
    checkpoints.whenIdle();
    expect(database.logPages()).toBeGreaterThan(1_500);
    commit(100);
    checkpoints.whenIdle();
    expect(database.logPages()).toBe(0);
  });

  it("is moved elsewhere while much is written, once at a time, and does not grow without an end", async () => {
    const { path, database, commit, logBytes } = openWritten();
    const checkpoints = createCheckpoints(database);
    let moving = 0;
    let most = 0;
    let moves = 0;
    checkpoints.shareWith(async () => {
      most = Math.max(most, (moving += 1));
      // Others write on meanwhile, less each time: so does the time that it takes.
      await new Promise(setImmediate);
      commit(Math.floor(600 / 2 ** moves));
      moveLog(path);
      commit(Math.floor(600 / 2 ** moves));
      moves += 1;
      moving -= 1;
    });
    const sizes: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      moves = 0;
      commit(4_000);
      // In an idle moment nothing is done twice.
      checkpoints.whenIdle();
      await checkpoints.settled();
      expect(moves).toBeGreaterThan(1);
      expect(database.logPages()).toBe(0);
      sizes.push(logBytes());
    }
    expect(most).toBe(1);
    expect(Math.max(...sizes)).toBe(sizes[0]);
  });

  it("is moved by the commits themselves where nobody else does, before it has 64 MB", async () => {
    const { database, commit, logBytes } = openWritten();
    const checkpoints = createCheckpoints(database);
    let tries = 0;
    checkpoints.shareWith(async () => {
      tries += 1;
      throw new Error("no process to be had");
    });
    const sizes: number[] = [];
    for (let round = 0; round < 40; round += 1) {
      // Two pages and more each.
      commit(200, Buffer.alloc(8_000));
      await checkpoints.settled();
      sizes.push(logBytes());
    }
    expect(tries).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeGreaterThan(32e6);
    expect(Math.max(...sizes)).toBeLessThan(68e6);
    expect(sizes.some((bytes, round) => bytes < (sizes[round - 1] ?? 0))).toBe(true);
  });

  it("makes no database where its file is gone", () => {
    const { path } = openWritten();
    expect(() => moveLog(`${path}.gone`)).toThrow("Cannot");
    expect(existsSync(`${path}.gone`)).toBe(false);
  });
});
