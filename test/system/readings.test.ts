/** The process in which a real daemon reads its record: it comes when it is asked, and goes with whoever started it. */
import { readFileSync } from "node:fs";
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
  expect(nice(reader ?? 0)).toBe(Math.max(10, nice((await daemon.api.status()).pid)));
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
