/**
 * Commands that copy a database, on a disk with too little room for the copy: the record stays as it was, in use. And a
 * daemon that is started where there is none at all.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { createTempHome } from "../helpers/temp-home.ts";
import { until } from "../helpers/until.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const execute = promisify(execFile);

test("an import or a restore that finds no room says so, changes nothing and leaves nothing behind", async () => {
  const home = createTempHome();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", home]);
  onTestFinished(() => {
    execFileSync("umount", [home]);
  });
  const run = async (...argv: readonly string[]) => {
    const env = { PATH: process.env["PATH"] ?? "", HOME: home, ACTIVITYD_HOME: home };
    const done = await execute(process.execPath, [MAIN, ...argv], { env }).catch(
      (failure: { readonly stdout: string; readonly stderr: string }) => failure,
    );
    return { out: done.stdout, talk: done.stderr };
  };
  const elsewhere = createTempHome();
  const file = join(elsewhere, "export.ndjson");
  const span = { startUs: 1_780_000_000_000_000, endUs: 1_780_000_001_000_000 };
  const event = { kind: "lock", ...span, utcOffsetMinutes: 0, timeZone: "UTC" };
  writeFileSync(file, `{"activityd":"export","format":1}\n${JSON.stringify(event)}\n`);
  await run("import", file);
  const [record, data] = [(await run("export")).out, join(home, "data")];
  expect(record).toContain('"lock"');

  const large = join(elsewhere, "large.db");
  const database = new Database(large);
  database.exec("CREATE TABLE t(a)");
  database.prepare("INSERT INTO t VALUES(?)").run(Buffer.alloc(6 * 1024 * 1024));
  database.close();
  mkdirSync(join(data, "backups"), { recursive: true });
  for (const command of ["import", "restore"]) {
    const { talk } = await run(command, large);
    expect(talk).toMatch(/^activityd: Cannot write the database .*the disk is full\./);
    expect(talk).toContain("Check free space");
    expect(readdirSync(data).filter((name) => /import-|restoring|ready/.test(name))).toEqual([]);
    expect((await run("export")).out).toBe(record);
  }
});

test("a daemon that is started on a full disk answers, and writes once there is room", async () => {
  const home = createTempHome();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", home]);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, ACTIVITYD_HOME: home };
  const run = async (...argv: readonly string[]) =>
    (await execute(process.execPath, [MAIN, ...argv], { env })).stdout;
  onTestFinished(async () => {
    await run("stop");
    execFileSync("umount", [home]);
  });
  await run("start", "--detach");
  await run("stop");
  const before = await run("export");
  const { bavail, bsize } = statfsSync(home);
  writeFileSync(join(home, "fill"), Buffer.alloc(bavail * bsize));
  await run("start", "--detach");
  expect(await run("now")).toContain("# Device Activity (exact, real-time)");
  rmSync(join(home, "fill"));
  const lines = before.trim().split("\n");
  await until("it is written", async () => {
    const now = (await run("export")).trim().split("\n");
    return lines.every((line) => now.includes(line)) && now.length > lines.length;
  });
});
