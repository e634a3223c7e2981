// @ts-check
/**
 * Whether the daemon grows: days of a desktop are played back faster than they happen, while clients ask for the
 * block and for digests, and its memory in the last three hours is compared with that in the first three after a warm-up.
 * Usage: scripts/bench/soak [--runs 3] [--days 1] [--speed 720]      (720: a day takes two minutes)
 *
 * A made-up day: a change of window each 29 seconds among 60 documents an hour, songs, absences, and states of the
 * machine; a block is asked for ten times a second and a digest each second, some 1,100 and 110 a day at that speed.
 * The daemon runs as the service runs it. Each run begins with an empty record.
 *
 * Left out as warm-up: the first three hours, and as many as go by in 15 seconds, until when the heap finds its size.
 * What the daemon does by its own clock, such as looking at the idle time each second, goes at its usual pace. A second day
 * (`--days 2`) tells what fills up once, such as caches, from what goes on growing.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ALLOCATOR_VARIABLES } from "../../dist/daemon/service/plan.js";
import { median } from "./paired.mjs";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "3" },
    days: { type: "string", default: "1" },
    speed: { type: "string", default: "720" },
  },
});
const RUNS = wholeNumber(values.runs, 100);
const DAYS = wholeNumber(values.days, 100);
// Faster, and the warm-up would reach into the hours that it is compared with.
const SPEED = wholeNumber(values.speed, 4320);
const HOURS = 24 * DAYS;
const HOUR_MS = 3_600_000;
const WARM_UP_MS = 15_000;
/** The hour at which the warm-up is over. */
const WARM_HOUR = Math.max(3, Math.ceil((WARM_UP_MS * SPEED) / HOUR_MS));
const GOAL_MB = 3;
const TURNS = [
  "what was I doing before lunch?",
  "is this right?",
  "when did I last look at document 7?",
];

const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

console.log(
  `${RUNS} runs of ${HOURS} hours, ${SPEED} times as fast, MB of memory (RSS). Warm-up, left out: ${WARM_HOUR} hours, which take ${((WARM_HOUR * HOUR_MS) / SPEED / 1000).toFixed(0)} s.\n`,
);
/** @type {Awaited<ReturnType<typeof play>>[]} */
const runs = [];
for (let run = 1; run <= RUNS; run += 1) {
  const played = await play();
  runs.push(played);
  console.log(
    `run ${run}: every three hours ${played.course.map((mb) => mb.toFixed(1)).join(", ")}; at most ${played.peak.toFixed(1)} (${played.events} events, ${played.asked} blocks)`,
  );
}
console.log();
const last = (/** @type {number} */ day) => `${day * 24 - 3} to ${day * 24}`;
report(
  `hours ${WARM_HOUR} to ${WARM_HOUR + 3}`,
  runs.map(({ early }) => early),
);
for (let day = 1; day <= DAYS; day += 1) {
  const late = runs.map(({ ends }) => ends[day - 1] ?? Number.NaN);
  report(`hours ${last(day)}`, late);
  const before = runs.map(({ early, ends }) => (day === 1 ? early : (ends[day - 2] ?? Number.NaN)));
  const grown = report(
    `growth over day ${day}`,
    late.map((mb, run) => mb - (before[run] ?? Number.NaN)),
  );
  if (day === 1)
    console.log(
      `${"".padEnd(20)} ${grown <= GOAL_MB ? "within" : "MISSES"} the goal of ${GOAL_MB} MB, by the median`,
    );
}

/** @param {string} text @param {number} most */
function wholeNumber(text, most) {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= most) return number;
  console.error(`soak: "${text}" is no whole number from 1 to ${most}.`);
  return process.exit(2);
}

/** @param {string} what @param {readonly number[]} mb One per run. @returns {number} The median. */
function report(what, mb) {
  const spread = `${Math.min(...mb).toFixed(1)} to ${Math.max(...mb).toFixed(1)}`;
  console.log(`${what.padEnd(20)} median ${median([...mb]).toFixed(1)} MB (${spread})`);
  return median([...mb]);
}

/** One daemon over all days, from an empty record. */
async function play() {
  const home = mkdtempSync(join(tmpdir(), "activityd-soak-"));
  const socketPath = join(home, "run", "activityd.sock");
  writeFileSync(join(home, "session.jsonl"), madeUpDays());
  writeFileSync(
    join(home, "config.toml"),
    `[capture]\nreplay = ${JSON.stringify(join(home, "session.jsonl"))}\nreplay_speed = ${SPEED}\n`,
  );
  const child = spawn(process.execPath, [main, "start"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      ACTIVITYD_HOME: home,
      ...ALLOCATOR_VARIABLES,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  const exited = once(child, "exit");
  try {
    while (!said.includes("listens on")) {
      if (child.exitCode !== null) throw new Error(`the daemon ended: ${said}`);
      await sleep(20);
    }
    const from = performance.now();
    /** @type {{ hour: number, mb: number }[]} */
    const samples = [];
    let asked = 0;
    for (;;) {
      const hour = ((performance.now() - from) * SPEED) / HOUR_MS;
      if (hour >= HOURS) break;
      await ask(socketPath, { form: "exact" });
      if (asked % 10 === 0) {
        await ask(socketPath, { form: "digest", turn: TURNS[(asked / 10) % TURNS.length] });
      }
      asked += 1;
      samples.push({ hour, mb: readRssMb(child.pid ?? 0) });
      await sleep(100);
    }
    const { store } = JSON.parse(await exchange(socketPath, "GET", "/v1/status", ""));
    /** @param {number} first */
    const during = (first) =>
      median(samples.filter(({ hour }) => hour >= first && hour < first + 3).map(({ mb }) => mb));
    return {
      early: during(WARM_HOUR),
      ends: Array.from({ length: DAYS }, (_, day) => during(day * 24 + 21)),
      course: Array.from({ length: HOURS / 3 }, (_, part) => during(part * 3)),
      peak: Math.max(...samples.map(({ mb }) => mb)),
      events: Number(store.eventCount),
      asked,
    };
  } finally {
    child.kill("SIGTERM");
    await exited;
    rmSync(home, { recursive: true, force: true });
  }
}

function madeUpDays() {
  const lines = [
    JSON.stringify({ format: "activityd-session", version: 1, recordedAt: "2026-11-27T00:00:00Z" }),
  ];
  /** @param {number} atMs @param {string} kind @param {unknown} value */
  const tell = (atMs, kind, value) => {
    lines.push(JSON.stringify({ atMs, kind, result: { ok: true, value } }));
  };
  const unknown = { url: null, pid: null, executable: null, private: null };
  for (let n = 0; n * 29_000 < HOURS * HOUR_MS; n += 1) {
    const atMs = n * 29_000;
    const hour = Math.floor(atMs / HOUR_MS);
    const document = hour * 60 + ((n * 7919) % 60);
    tell(atMs, "window", {
      app: ["Code", "Firefox", "Terminal", "Slack"][document % 4],
      title: `document ${document} — project ${document % 12}`,
      ...unknown,
    });
    tell(atMs, "input", { idleMs: n % 40 > 36 ? 400_000 : 500 });
    if (n % 7 === 0) {
      tell(atMs, "media", [
        { player: "vlc", title: `song ${n % 90}`, artist: `artist ${n % 20}`, playing: true },
      ]);
    }
    if (n % 10 === 0) {
      tell(atMs, "system", {
        power: "ac",
        batteryPercent: 100 - (n % 90),
        online: true,
        cpuLoad: (n % 100) / 100,
        memoryUsed: 0.4,
        displayCount: 1,
      });
    }
  }
  return `${lines.join("\n")}\n`;
}

/** @param {string} socketPath @param {object} body */
async function ask(socketPath, body) {
  await exchange(socketPath, "POST", "/v1/context", JSON.stringify(body));
}

/**
 * @param {string} socketPath
 * @param {string} method
 * @param {string} path
 * @param {string} body
 * @returns {Promise<string>}
 */
function exchange(socketPath, method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = {
      host: "localhost",
      ...(body === ""
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
    };
    const sent = request({ socketPath, method, path, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      answer.once("end", () => resolve(text));
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

/** @param {number} pid */
function readRssMb(pid) {
  const kb = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kb) / 1000;
}

/** @param {number} ms */
function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
