// @ts-check
/**
 * How long the daemon takes from its start to the first answer, with a full database, beside `node -e 0` in the same
 * run; and how long it takes to stop. Usage: scripts/bench/start [EVENTS] [ROUNDS]
 *
 * Both are started in turn, the order swapped each round, so that whatever else the machine does falls on both. The
 * first answer is the real-time block over the socket, asked again and again from the moment the process is made.
 * Processor time is told beside the time on the wall, because it does not depend on what else the machine does.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateStore } from "./generate-store.mjs";
import { median } from "./paired.mjs";

const EVENTS = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = Number(process.argv[3] ?? 9);
const GOAL = 2;
const STOP_GOAL_MS = 200;

const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "activityd-bench-"));
const socketPath = join(home, "run", "activityd.sock");
const env = { PATH: process.env["PATH"] ?? "", HOME: home, ACTIVITYD_HOME: home };

try {
  process.stderr.write(`writing ${EVENTS} events\n`);
  generateStore(join(home, "data"), EVENTS);
  /** @type {number[]} */
  const bare = [];
  /** @type {number[]} */
  const starts = [];
  /** @type {number[]} */
  const stops = [];
  /** @type {number[]} */
  const bareCpu = [];
  /** @type {number[]} */
  const startCpu = [];
  let rssMb = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bareFirst = round % 2 === 0;
    const first = bareFirst ? await timeBare() : null;
    const { startMs, cpuMs, stopMs, rss } = await timeDaemon(round === 0);
    const bareRun = first ?? (await timeBare());
    rssMb = rss;
    // The first round fills the caches of the disk, and that of the daemon's compiled code.
    if (round === 0) {
      console.log(
        `the first of all:      ${startMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of processor time`,
      );
      continue;
    }
    bare.push(bareRun.ms);
    bareCpu.push(bareRun.cpuMs);
    startCpu.push(cpuMs);
    starts.push(startMs);
    stops.push(stopMs);
  }
  const ratios = starts.map((ms, round) => ms / (bare[round] ?? Number.NaN));
  console.log(`node -e 0:             ${show(bare, "ms")}`);
  console.log(`start to first answer: ${show(starts, "ms")}, ${EVENTS} events`);
  console.log(
    `ratio:                 ${show(ratios, "x")}: ${median(ratios) <= GOAL ? "within" : "MISSES"} the goal of ${GOAL}`,
  );
  console.log(
    `processor time:        ${show(bareCpu, "ms")} and ${show(startCpu, "ms")}, ratio ${(median(startCpu) / median(bareCpu)).toFixed(2)}`,
  );
  console.log(
    `SIGTERM to the end:    ${show(stops, "ms")}: ${median(stops) <= STOP_GOAL_MS ? "within" : "MISSES"} the goal of ${STOP_GOAL_MS} ms`,
  );
  console.log(`memory after a start:  ${rssMb.toFixed(1)} MB`);
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** @param {number[]} values @param {string} unit */
function show(values, unit) {
  const digits = unit === "x" ? 2 : 0;
  return `median ${median(values).toFixed(digits)} ${unit} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;
}

async function timeBare() {
  const from = performance.now();
  const child = spawn(process.execPath, ["-e", "0"], { env, stdio: "ignore" });
  await once(child, "close");
  const ms = performance.now() - from;
  // What it took of the processors it has to say itself, which takes a little longer than nothing.
  const own = "const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)";
  return { ms, cpuMs: Number(execFileSync(process.execPath, ["-e", own], { env })) };
}

/** @param {boolean} untilReady whether the start may go on to its end before the daemon is told to stop */
async function timeDaemon(untilReady) {
  const from = performance.now();
  const child = spawn(process.execPath, [main, "start"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  const exited = once(child, "exit");
  while (!(await isAnswered())) {
    if (child.exitCode !== null) throw new Error(`the daemon ended: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
  const startMs = performance.now() - from;
  const cpuMs = readCpuMs(child.pid ?? 0);
  const kb = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
  if (untilReady) {
    while (!said.includes("listens on")) await once(child.stderr, "data");
  }
  const stopFrom = performance.now();
  child.kill("SIGTERM");
  await exited;
  return { startMs, cpuMs, stopMs: performance.now() - stopFrom, rss: Number(kb) / 1000 };
}

/** @returns {Promise<boolean>} */
function isAnswered() {
  return new Promise((resolve) => {
    const asked = request(
      { socketPath, path: "/v1/context", headers: { host: "localhost" } },
      (answer) => {
        answer.resume();
        answer.once("end", () => resolve(answer.statusCode === 200));
      },
    );
    asked.once("error", () => resolve(false));
    asked.end();
  });
}

/**
 * What all threads of a process have had of the processors.
 *
 * @param {number} pid
 */
function readCpuMs(pid) {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const [ns = "0"] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    return sum + Number(ns) / 1e6;
  }, 0);
}
