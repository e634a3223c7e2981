/** The process in which a real daemon reads its record: it comes when it is asked, and goes with whoever started it. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ActivityError } from "../../src/errors.ts";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

let daemon: DaemonRig;
beforeEach(async () => {
  daemon = openDaemonRig(createProcesses(), {});
  await daemon.start();
});
afterEach(() => daemon.close());

const RANGE = { fromUs: 0, toUs: 1e15 };

test("a daemon that nobody asks about the past has none", async () => {
  await daemon.api.context({ form: "exact" });
  expect(await readers()).toEqual([]);
});

test("one process reads for all questions, and yields to the daemon", async () => {
  await Promise.all([
    daemon.api.timeline(RANGE),
    daemon.api.totals({ ...RANGE, by: "application" }),
    daemon.api.days({ fromDay: "2026-11-01", toDay: "2026-11-30" }),
    daemon.api.search({ q: "nothing" }),
  ]);
  const [reader, ...more] = await readers();
  expect(more).toEqual([]);
  const nice = (pid: number): number =>
    Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[16]);
  expect(nice(reader ?? 0)).toBe(Math.max(5, nice((await daemon.api.status()).pid)));
});

test("one that was killed costs at most the question that it was asked, and the next has another", async () => {
  await daemon.api.timeline(RANGE);
  const [reader = 0] = await readers();
  process.kill(reader, "SIGKILL");
  // What was under way fails with a reason, or had been answered.
  const asked = await daemon.api.timeline(RANGE).catch((error: unknown) => error);
  expect(asked instanceof ActivityError ? asked.code : "answered").toMatch(/^internal$|^answered$/);
  expect((await daemon.api.timeline(RANGE)).lanes).not.toEqual([]);
  expect(await readers()).not.toContain(reader);
});

test("it ends with a daemon that was killed", async () => {
  await daemon.api.timeline(RANGE);
  const [reader = 0] = await readers();
  expect(reader).toBeGreaterThan(0);
  process.kill((await daemon.api.status()).pid, "SIGKILL");
  await until("the reader to end", () => !isAlive(reader));
});

test("it moves the log of a writer that has much to write, which need not move it", () => {
  const store = new URL("../../dist/store/", import.meta.url).href;
  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", WRITER, store], {
    env: { PATH: process.env["PATH"], HOME: daemon.home, DIRECTORY: join(daemon.home, "written") },
    encoding: "utf8",
  });
  expect(JSON.parse(said)).toEqual({ left: 0, isFileWhole: true });
});

/** Writes until its log is long, waits until it was moved, and reads the file without the log. */
const WRITER = `
  import { copyFileSync } from "node:fs";
  const [store] = process.argv.slice(1);
  const { openEventStore } = await import(store + "events.js");
  const { openReadings } = await import(store + "readings.js");
  const { openDatabase } = await import(store + "database.js");
  const directory = process.env.DIRECTORY;
  const log = { info() {}, warn() {}, error() {} };
  const clock = { nowUs: () => 1e15, monotonicUs: () => 0, timeZone: () => "UTC" };
  const events = openEventStore({ directory, clock, log });
  const { database, checkpoints } = events;
  const readings = openReadings(database.path);
  checkpoints.shareWith(readings.moveLog);
  const span = (n) => ({ startUs: n * 1e6, endUs: n * 1e6 + 5e5, utcOffsetMinutes: 0, timeZone: "UTC" });
  const facts = (n) => ({ kind: "window", app: "Code", title: "file " + n, place: null, media: null, exe: null });
  let written = 0;
  while (database.logPages() < 4000) events.begin({ ...facts(written) }, span((written += 1)));
  // The writer looks now and then only.
  for (let n = 0; n < 16; n += 1) events.begin(facts(written), span((written += 1)));
  await checkpoints.settled();
  const left = database.logPages();
  copyFileSync(database.path, database.path + ".copy");
  const copy = openDatabase({ path: database.path + ".copy", role: "reader" });
  const { n } = copy.prepare("SELECT count(*) AS n FROM event").get();
  copy.close();
  readings.close();
  events.close();
  console.log(JSON.stringify({ left, isFileWhole: n === written }));
`;

/** The children of the daemon. */
async function readers(): Promise<readonly number[]> {
  const { pid } = await daemon.api.status();
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children === "" ? [] : children.split(" ").map(Number);
}

/** A process that ended and was not yet waited for is a zombie: gone, for what matters here. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
