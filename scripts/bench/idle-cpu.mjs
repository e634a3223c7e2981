// @ts-check
/**
 * What capture costs: CPU time of the daemon against a bare node process with a timer of one second, in the
 * same seconds, while nothing changes and while the title of the focused window churns.
 *
 * Usage: scripts/bench/idle-cpu [seconds]
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import {
  cpuNs,
  createCleanup,
  openSwayDesktop,
  openXDesktop,
  sleep,
  startDaemon,
} from "./desktop.mjs";

const SECONDS = Number(process.argv[2] ?? 60);
const GOAL_RATIO = 3;
const GOAL_RSS_MB = 75;

let isMet = true;
for (const [name, openDesktop] of /** @type {const} */ ([
  ["x11 (openbox)", openXDesktop],
  ["sway", openSwayDesktop],
])) {
  const cleanup = createCleanup();
  try {
    const desktop = await openDesktop(cleanup);
    const window = await desktop.open("still");
    desktop.focus(window);
    const { pid } = await startDaemon(cleanup, desktop.env);
    const bare = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
      stdio: "ignore",
    });
    cleanup.add(() => bare.kill());
    // Past the start: compilation, the first reads, the first garbage.
    await sleep(15_000);

    const still = await measure(pid, bare.pid ?? 0, SECONDS);
    console.log(
      `${name}, nothing changes, ${SECONDS} s: daemon ${percent(still.daemon)} of a core, bare node ` +
        `${percent(still.bare)}: ratio ${(still.daemon / still.bare).toFixed(2)}. Goal: ${GOAL_RATIO}.`,
    );
    const children = childrenOf(pid);
    console.log(
      `  RSS ${rssMb(pid).toFixed(1)} MB (goal ${GOAL_RSS_MB}), child processes: ${children}`,
    );
    isMet =
      isMet &&
      still.daemon <= GOAL_RATIO * still.bare &&
      rssMb(pid) <= GOAL_RSS_MB &&
      children === 0;

    if (name.startsWith("x11")) {
      const slow = await whileRenaming(desktop, window, 2, () =>
        measure(pid, bare.pid ?? 0, SECONDS / 2),
      );
      const fast = await whileRenaming(desktop, window, 20, () =>
        measure(pid, bare.pid ?? 0, SECONDS / 2),
      );
      console.log(
        `${name}, a title that changes 20 times a second: ${percent(fast.daemon)} of a core; twice a second: ` +
          `${percent(slow.daemon)}; ratio ${(fast.daemon / slow.daemon).toFixed(2)}. Goal: 1.`,
      );
    }
  } finally {
    cleanup.run();
  }
}
process.exit(isMet ? 0 : 1);

/**
 * Shares of a core over the same stretch of time.
 * @param {number} daemon @param {number} bare @param {number} seconds
 */
async function measure(daemon, bare, seconds) {
  const before = { daemon: cpuNs(daemon), bare: cpuNs(bare), at: performance.now() };
  await sleep(seconds * 1000);
  const ns = (performance.now() - before.at) * 1e6;
  return { daemon: (cpuNs(daemon) - before.daemon) / ns, bare: (cpuNs(bare) - before.bare) / ns };
}

/**
 * @template T
 * @param {import("./desktop.mjs").Desktop} desktop @param {number} window @param {number} perSecond
 * @param {() => Promise<T>} work
 */
async function whileRenaming(desktop, window, perSecond, work) {
  let count = 0;
  const timer = setInterval(() => desktop.rename(window, `step ${(count += 1)}`), 1000 / perSecond);
  try {
    await sleep(3_000);
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** @param {number} share */
function percent(share) {
  return `${(share * 100).toFixed(4)} %`;
}

/** @param {number} pid */
function rssMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** @param {number} pid */
function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`)
    .map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim())
    .filter((text) => text !== "").length;
}
