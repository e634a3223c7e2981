// @ts-check
/**
 * How much the local API costs over Node's own HTTP: the block over the daemon's server against a bare
 * node:http server that answers the same bytes, both on Unix sockets, in processes of their own.
 *
 * Usage: npm run build && node scripts/bench/socket.mjs
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { comparePaired } from "./paired.mjs";

const BLOCK = `# Device Activity (exact, real-time)
- Now: Fri 27 Nov 2026 16:12 CET (UTC+01:00)
- Focused: Code: "retry.ts — payments-api", since 16:00 (12 min)
- Before: Firefox: "Idempotent requests | Stripe API Reference" docs.stripe.com/api, 15:56–16:00 (4 min)
- Before: zoom: "Call with Priya — Zoom Meeting", 15:25–15:55 (30 min)
- Input: active; last idle 15:55–15:56 (1 min); 5 h 40 min active today since 09:04
- System: on AC, battery 82 %; unlocked; online; CPU 12 %; memory 41 %
---
`;

const [role, socketPath] = process.argv.slice(2);
if (role === "bare") serveBare(socketPath ?? "");
else if (role === "api") await serveApi(socketPath ?? "");
else await measure();

/** @param {string} path */
function serveBare(path) {
  const body = Buffer.from(BLOCK);
  createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": body.byteLength });
    response.end(body);
  }).listen(path, () => console.log("up"));
}

/** @param {string} path */
async function serveApi(path) {
  // As the daemon does: the young generation of a process that answers now and then need not grow.
  setFlagsFromString("--semi-space-growth-factor=1");
  const { serveActivityApi } = await import("../../dist/local-api/server.js");
  const answer = {
    block: BLOCK,
    form: "exact",
    intent: "now",
    source: "rules",
    tokens: 160,
    ms: 0,
    asOfUs: 0,
    reasons: [],
    eventIds: [],
    untrustedSpans: [],
    etag: "1",
  };
  const api = /** @type {any} */ ({ context: async () => answer });
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  await serveActivityApi({ api, at: { socketPath: path }, log, version: "bench" });
  console.log("up");
}

async function measure() {
  const home = mkdtempSync(join(tmpdir(), "activityd-bench-"));
  const bare = await start("bare", join(home, "bare.sock"));
  const api = await start("api", join(home, "api.sock"));
  try {
    const result = await comparePaired({ a: bare.ask, b: api.ask });
    console.log(
      `block over the socket / bare node:http echo of ${Buffer.byteLength(BLOCK)} bytes, p50: ` +
        `${result.ratio.toFixed(2)} (${result.lowest.toFixed(2)}–${result.highest.toFixed(2)} over ` +
        `${result.rounds} rounds of ${result.perRound}); ${result.bUs.toFixed(0)} µs / ${result.aUs.toFixed(0)} µs. Goal: 1.25.`,
    );
    console.log(`memory after it: api ${api.rssMb()} MB, bare ${bare.rssMb()} MB RSS.`);
    process.exitCode = result.ratio <= 1.25 ? 0 : 1;
  } finally {
    bare.stop();
    api.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * @param {string} role
 * @param {string} path
 */
async function start(role, path) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), role, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    ask: () =>
      new Promise((resolve, reject) => {
        get({ socketPath: path, path: "/v1/context", agent }, (response) => {
          response.resume();
          response.once("end", resolve);
        }).once("error", reject);
      }),
    rssMb: () => {
      const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"));
      return (Number(line?.[1]) / 1024).toFixed(1);
    },
    stop: () => {
      agent.destroy();
      child.kill();
    },
  };
}
