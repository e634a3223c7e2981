// @ts-check
/**
 * What ActivityWatch's watchers cost: heartbeats of four clients while a month is queried, a merge in a large
 * bucket against one in an empty one, a month flooded, categorised and merged, and a block beside all of it.
 * Ratios are taken interleaved, in one run, with file storage.
 *
 *     scripts/bench/activitywatch [--short]
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectActivity } from "../../dist/local-api/client.js";
import { comparePaired, median } from "./paired.mjs";

const SHORT = process.argv.includes("--short");
const DAYS = 30;
const EVENTS_PER_DAY = 2_900;
const LARGE = 200_000;
const START_MS = Date.parse("2026-10-01T00:00:00Z");

const home = mkdtempSync(join(tmpdir(), "activityd-bench-"));
const port = await freePort();
writeFileSync(
  join(home, "config.toml"),
  `[activitywatch]\nenabled = true\nport = ${port}\n[capture]\nwindow = false\n`,
);
const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const daemon = spawn(process.execPath, [main, "start"], {
  env: { ...process.env, ACTIVITYD_HOME: home },
  stdio: "ignore",
});
const ended = new Promise((resolve) => daemon.once("exit", resolve));
// Python's client opens a connection for each request; the others keep theirs. The harder case is measured.
const agent = new Agent({ keepAlive: false });

try {
  await untilAnswers();
  for (const name of ["empty", "large", "month", "c0", "c1", "c2", "c3"])
    await ask("POST", `/buckets/${name}`, { client: "bench", type: "bench", hostname: "h" });
  await fill("large", LARGE);
  await fill("month", DAYS * EVENTS_PER_DAY);
  await report();
} finally {
  daemon.kill("SIGTERM");
  await ended;
  rmSync(home, { recursive: true, force: true });
}

async function report() {
  const queryTimes = [];
  for (let run = 0; run < (SHORT ? 2 : 6); run += 1) {
    const from = performance.now();
    await query();
    // The first starts the thread.
    if (run > 0) queryTimes.push(performance.now() - from);
  }
  line(
    `flood + categorize + merge over ${DAYS} days of ${EVENTS_PER_DAY} events`,
    `median ${median(queryTimes).toFixed(0)} ms (wanted ≤ 250), ${Math.min(...queryTimes).toFixed(0)}–${Math.max(...queryTimes).toFixed(0)}`,
  );

  let second = 0;
  const merge = (/** @type {string} */ bucket) => () => {
    second += 1;
    return ask("POST", `/buckets/${bucket}/heartbeat?pulsetime=1e9`, beat(second));
  };
  const merges = await comparePaired({
    a: merge("empty"),
    b: merge("large"),
    rounds: SHORT ? 3 : 11,
    perRound: SHORT ? 40 : 150,
  });
  line(
    `merge heartbeat, bucket of ${LARGE.toLocaleString("en-US")} events : empty one`,
    `${merges.ratio.toFixed(2)} (wanted ≤ 2), ${merges.lowest.toFixed(2)}–${merges.highest.toFixed(2)}; ${merges.bUs.toFixed(0)} µs : ${merges.aUs.toFixed(0)} µs`,
  );

  const cpuBefore = cpuMs();
  const count = SHORT ? 1_000 : 4_000;
  for (let n = 0; n < count; n += 1)
    await ask("POST", "/buckets/c0/heartbeat?pulsetime=2", beat(n, n % 50));
  const each = (cpuMs() - cpuBefore) / count;
  line(
    "processor time of the daemon for a heartbeat on a connection of its own, whatever else the machine does",
    `${each.toFixed(2)} ms, which is ${(1000 / each).toFixed(0)} a second of one core`,
  );

  const { rate, p99 } = await load(SHORT ? 2_000 : 10_000, async () => {});
  line(
    "heartbeats of 4 clients while the month is queried",
    `${rate.toFixed(0)} a second (wanted ≥ 1500), p99 ${p99.toFixed(1)} ms (wanted ≤ 20)`,
  );

  const api = connectActivity({ socketPath: join(home, "run", "activityd.sock") });
  const block = async () => {
    const from = performance.now();
    await api.context({ form: "exact" });
    return performance.now() - from;
  };
  /** @type {number[]} */
  const quiet = [];
  /** @type {number[]} */
  const loaded = [];
  for (let turn = 0; turn < (SHORT ? 2 : 5); turn += 1) {
    for (let n = 0; n < 200; n += 1) {
      quiet.push(await block());
      await pause(2);
    }
    await paced(400, async () => {
      loaded.push(await block());
    });
  }
  await api.close();
  const [a, b] = [percentile(quiet, 99), percentile(loaded, 99)];
  line(
    "block, p99 beside 20 heartbeats a second and a query : alone",
    `${(b / a).toFixed(2)} (wanted ≤ 1.5); ${b.toFixed(2)} ms : ${a.toFixed(2)} ms; medians ${median(loaded).toFixed(2)} : ${median(quiet).toFixed(2)}`,
  );
}

/**
 * Sends heartbeats as fast as four clients can, each waiting for its answer, with queries all the while.
 *
 * @param {number} count
 * @param {() => Promise<void>} beside
 */
async function load(count, beside) {
  /** @type {number[]} */
  const times = [];
  const over = new AbortController();
  const queries = queryUntil(over.signal);
  const from = performance.now();
  await Promise.all(
    ["c0", "c1", "c2", "c3"].map(async (bucket) => {
      for (let n = 0; n < count / 4; n += 1) {
        const begun = performance.now();
        await ask("POST", `/buckets/${bucket}/heartbeat?pulsetime=2`, beat(n, n % 50));
        times.push(performance.now() - begun);
        await beside();
      }
    }),
  );
  const elapsedMs = performance.now() - from;
  over.abort();
  await queries;
  return { rate: (count / elapsedMs) * 1000, p99: percentile(times, 99) };
}

/**
 * Heartbeats as a busy desk sends them, twenty a second, with queries all the while.
 *
 * @param {number} turns
 * @param {() => Promise<void>} beside
 */
async function paced(turns, beside) {
  const over = new AbortController();
  const queries = queryUntil(over.signal);
  for (let n = 0; n < turns; n += 1) {
    if (n % 5 === 0) void ask("POST", "/buckets/c0/heartbeat?pulsetime=2", beat(n, n % 50));
    await beside();
    await pause(10);
  }
  over.abort();
  await queries;
}

/** @param {AbortSignal} signal */
async function queryUntil(signal) {
  while (!signal.aborted) await query();
}

function query() {
  const classes = JSON.stringify([
    [["Work"], { type: "regex", regex: "Code|Terminal" }],
    [["Media"], { type: "regex", regex: "youtube", ignore_case: true }],
  ]);
  const end = new Date(START_MS + (DAYS + 1) * 86_400_000).toISOString();
  return ask("POST", "/query/", {
    query: [
      'e = flood(query_bucket("month"));',
      `e = categorize(e, ${classes});`,
      'RETURN = merge_events_by_keys(e, ["$category"]);',
    ],
    timeperiods: [`${new Date(START_MS).toISOString()}/${end}`],
  });
}

/**
 * @param {string} bucket
 * @param {number} count
 */
async function fill(bucket, count) {
  const stepMs = (DAYS * 86_400_000) / count;
  for (let from = 0; from < count; from += 5_000) {
    const events = [];
    for (let n = from; n < Math.min(count, from + 5_000); n += 1) {
      const title = `Document ${n % 600} of a usual length`;
      const app = ["Code", "Firefox", "Terminal", "Mail"][n % 4];
      events.push({
        timestamp: new Date(START_MS + n * stepMs).toISOString(),
        duration: (stepMs / 1000) * 0.9,
        data: { app, title },
      });
    }
    await ask("POST", `/buckets/${bucket}/events`, events);
  }
}

/**
 * @param {number} second
 * @param {number} n
 */
function beat(second, n = 0) {
  return {
    timestamp: new Date(START_MS + (DAYS + 2) * 86_400_000 + second * 1000).toISOString(),
    duration: 0,
    data: { app: "Code", title: `file ${n}` },
  };
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<string>}
 */
function ask(method, path, body) {
  return new Promise((resolve, reject) => {
    const sent = body === undefined ? null : Buffer.from(JSON.stringify(body));
    const asked = request(
      {
        host: "127.0.0.1",
        port,
        path: `/api/0${path}`,
        method,
        agent,
        headers:
          sent === null
            ? {}
            : { "content-type": "application/json", "content-length": sent.length },
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        answer.on("end", () =>
          (answer.statusCode ?? 500) < 400 ? resolve(text) : reject(new Error(text)),
        );
      },
    );
    asked.on("error", reject);
    asked.end(sent);
  });
}

async function untilAnswers() {
  for (let tries = 0; ; tries += 1) {
    try {
      await ask("GET", "/info");
      return;
    } catch (error) {
      if (tries > 200) throw error;
      await pause(50);
    }
  }
}

/**
 * @param {number[]} values
 * @param {number} share
 */
function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return (
    sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? Number.NaN
  );
}

/** Processor time of the daemon so far, in steps of 10 ms; proc_pid_stat(5). */
function cpuMs() {
  const stat = readFileSync(`/proc/${daemon.pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/**
 * @param {string} what
 * @param {string} figures
 */
function line(what, figures) {
  process.stdout.write(`${what}: ${figures}\n`);
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        resolve(typeof address === "object" && address !== null ? address.port : 0),
      );
    });
  });
}
