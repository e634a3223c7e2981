// @ts-check
/**
 * What the live view costs while nobody does anything: CPU time of `activityd live` in a terminal against a bare
 * node process with a timer of one second, in the same seconds, and how often it woke.
 *
 * usage: scripts/bench/live [seconds=60]
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cpuNs, createCleanup, openXDesktop, sleep, startDaemon, until } from "./desktop.mjs";

const SECONDS = Number(process.argv[2] ?? 60);
const GOAL_SHARE = 0.01;
const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

const cleanup = createCleanup();
let isMet = false;
try {
  const desktop = await openXDesktop(cleanup);
  desktop.focus(await desktop.open("still"));
  const { home } = await startDaemon(cleanup, desktop.env);
  const folder = mkdtempSync(join(tmpdir(), "activityd-bench-tmux-"));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  /** @param {string[]} words */
  const tmux = (...words) =>
    execFileSync("tmux", ["-S", join(folder, "socket"), "-f", "/dev/null", ...words], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, LANG: "C.UTF-8", TERM: "xterm" },
    });
  const command = `ACTIVITYD_HOME='${home}' exec '${process.execPath}' '${MAIN}' live`;
  tmux("new-session", "-d", "-x", "100", "-y", "30", command);
  cleanup.add(() => tmux("kill-server"));
  await until("the view is there", () => tmux("capture-pane", "-p").includes("● recording"));
  const pid = Number(tmux("display-message", "-p", "#{pane_pid}"));
  const bare = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  cleanup.add(() => bare.kill());
  // Past the start: compilation, the first garbage.
  await sleep(15_000);

  const before = take(pid, bare.pid ?? 0);
  await sleep(SECONDS * 1000);
  const after = take(pid, bare.pid ?? 0);
  const ns = (after.at - before.at) * 1e6;
  const live = (after.live - before.live) / ns;
  const idle = (after.bare - before.bare) / ns;
  console.log(
    `activityd live, nobody does anything, ${SECONDS} s: ${percent(live)} of a core (aim ${percent(GOAL_SHARE)}), ` +
      `bare node ${percent(idle)}; ${((after.wakes - before.wakes) / SECONDS).toFixed(1)} wakes a second; ` +
      `RSS ${rssMb(pid).toFixed(0)} MB`,
  );
  isMet = live <= GOAL_SHARE;
} finally {
  cleanup.run();
}
process.exit(isMet ? 0 : 1);

/** @param {number} live @param {number} bare */
function take(live, bare) {
  return { live: cpuNs(live), bare: cpuNs(bare), wakes: wakes(live), at: performance.now() };
}

/** How often the main thread gave up the processor by itself. @param {number} pid */
function wakes(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
}

/** @param {number} pid */
function rssMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** @param {number} share */
function percent(share) {
  return `${(share * 100).toFixed(3)} %`;
}
