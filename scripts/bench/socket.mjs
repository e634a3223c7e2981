// @ts-check
/**
 * How much the block costs over Node's own HTTP: the running daemon against a bare node:http server that
 * answers the same bytes, both on Unix sockets, in processes of their own, asked in turn.
 *
 * Usage: scripts/bench/socket
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { comparePaired } from "./paired.mjs";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

const [role, barePath, body] = process.argv.slice(2);
if (role === "bare") serveBare(barePath ?? "", Buffer.from(body ?? ""));
else await measure();

/**
 * @param {string} path
 * @param {Buffer} body
 */
function serveBare(path, body) {
  createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": body.byteLength });
    response.end(body);
  }).listen(path, () => console.error("up"));
}

async function measure() {
  const home = mkdtempSync(join(tmpdir(), "activityd-bench-"));
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, ACTIVITYD_HOME: home };
  const daemon = spawn(process.execPath, [MAIN, "start"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise((resolve) => daemon.stderr.once("data", resolve));
  const askDaemon = client(join(home, "run", "activityd.sock"));
  const block = await askDaemon();
  const bare = spawn(
    process.execPath,
    [fileURLToPath(import.meta.url), "bare", join(home, "bare.sock"), block],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  await new Promise((resolve) => bare.stderr.once("data", resolve));
  const before = rssMb(daemon.pid);
  try {
    const result = await comparePaired({ a: client(join(home, "bare.sock")), b: askDaemon });
    console.log(
      `block over the socket / bare node:http echo of ${Buffer.byteLength(block)} bytes, p50: ` +
        `${result.ratio.toFixed(2)} (${result.lowest.toFixed(2)}–${result.highest.toFixed(2)} over ` +
        `${result.rounds} rounds of ${result.perRound}); ${result.bUs.toFixed(0)} µs / ${result.aUs.toFixed(0)} µs. Goal: 1.25.`,
    );
    const after = rssMb(daemon.pid);
    console.log(
      `memory of the daemon: ${before.toFixed(1)} MB, ${after.toFixed(1)} MB after the requests; ` +
        `bare ${rssMb(bare.pid).toFixed(1)} MB. Goal: 75.`,
    );
    process.exitCode = result.ratio <= 1.25 && after <= 75 ? 0 : 1;
  } finally {
    for (const child of [daemon, bare]) child.kill();
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Asks for the block over one connection that stays open.
 *
 * @param {string} socketPath
 * @returns {() => Promise<string>}
 */
function client(socketPath) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return () =>
    new Promise((resolve, reject) => {
      get({ socketPath, path: "/v1/context", agent }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part) => (text += part));
        response.once("end", () => resolve(text));
      }).once("error", reject);
    });
}

/** @param {number | undefined} pid */
function rssMb(pid) {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1]) / 1024;
}
