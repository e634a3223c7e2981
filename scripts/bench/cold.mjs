// @ts-check
/**
 * How long the commands take that stand in front of every turn, cold, against `node -e 0` in the same rounds; and
 * what the MCP server costs. Prints medians, the spread and the ratio.
 *
 * usage: scripts/bench/cold [rounds=15]
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const rounds = Number(process.argv[2] ?? 15);
const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "activityd-bench-"));
const env = { ...process.env, ACTIVITYD_HOME: home };

/**
 * Milliseconds from start to end of a process.
 * @param {string[]} args
 */
function time(args, input = "") {
  const startedAt = performance.now();
  spawnSync(process.execPath, args, { env, input });
  return performance.now() - startedAt;
}

/** @param {number[]} values */
const median = (values) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
/** @param {number[]} values */
const show = (values) =>
  `${median(values).toFixed(0)} ms (${Math.min(...values).toFixed(0)}–${Math.max(...values).toFixed(0)})`;

/** Starts the MCP server and gives the time to its first answer and its memory then. */
async function measureMcp() {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [main, "mcp"], { env, stdio: ["pipe", "pipe", "ignore"] });
  const request = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    },
  };
  child.stdin.write(`${JSON.stringify(request)}\n`);
  await new Promise((resolve) => {
    child.stdout.once("data", resolve);
  });
  const firstAnswerMs = performance.now() - startedAt;
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  child.kill();
  return { firstAnswerMs, rssMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024 };
}

const daemon = spawn(process.execPath, [main, "start"], {
  env,
  stdio: ["ignore", "ignore", "pipe"],
});
await new Promise((resolve) => {
  daemon.stderr.on("data", (chunk) => String(chunk).includes("listens") && resolve(null));
});
try {
  const hookInput = JSON.stringify({ prompt: "what was I doing before lunch?", session_id: "a" });
  /** @type {{ bare: number[], now: number[], hook: number[] }} */
  const taken = { bare: [], now: [], hook: [] };
  for (let round = 0; round < rounds; round += 1) {
    taken.bare.push(time(["-e", "0"]));
    taken.now.push(time([main, "now"]));
    taken.hook.push(time([main, "hook", "claude-code"], hookInput));
  }
  /** @param {number[]} values */
  const ratios = (values) =>
    values.map((value, index) => value / (taken.bare[index] ?? Number.NaN));
  console.log(`node -e 0          ${show(taken.bare)}, ${rounds} rounds`);
  for (const name of /** @type {const} */ (["now", "hook"])) {
    console.log(
      `activityd ${name.padEnd(9)}${show(taken[name])}, ratio ${median(ratios(taken[name])).toFixed(2)} (aim 1.6)`,
    );
  }
  const mcp = await measureMcp();
  console.log(
    `activityd mcp      first answer ${mcp.firstAnswerMs.toFixed(0)} ms (aim 1000), RSS ${mcp.rssMb.toFixed(0)} MB (aim 90)`,
  );
} finally {
  daemon.kill();
  rmSync(home, { recursive: true, force: true });
}
