// @ts-check
/**
 * Whether the daemon grows: 24 hours of a desktop are played back faster than they happen, while clients ask for the
 * block and for digests, and its memory in the last hours is compared with that in the early ones.
 * Usage: scripts/bench/soak [SPEED]      (720: the day takes two minutes)
 *
 * A made-up day: a change of window each 29 seconds among 60 documents an hour, songs, absences, and states of the
 * machine. The first three hours are left out: until then the heap finds its size.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./paired.mjs";

const SPEED = Number(process.argv[2] ?? 720);
const HOURS = 24;
const HOUR_MS = 3_600_000;
const GOAL_MB = 3;
const TURNS = [
  "what was I doing before lunch?",
  "is this right?",
  "when did I last look at document 7?",
];

const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "activityd-soak-"));
const socketPath = join(home, "run", "activityd.sock");
mkdirSync(home, { recursive: true });
writeFileSync(join(home, "session.jsonl"), madeUpDay());
writeFileSync(
  join(home, "config.toml"),
  `[capture]\nreplay = ${JSON.stringify(join(home, "session.jsonl"))}\nreplay_speed = ${SPEED}\n`,
);

const child = spawn(process.execPath, [main, "start"], {
  env: { PATH: process.env["PATH"] ?? "", HOME: home, ACTIVITYD_HOME: home },
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
    await ask({ form: "exact" });
    if (asked % 10 === 0) await ask({ form: "digest", turn: TURNS[(asked / 10) % TURNS.length] });
    asked += 1;
    samples.push({ hour, mb: readRssMb(child.pid ?? 0) });
    await sleep(100);
  }
  const { store } = JSON.parse(await get("/v1/status"));
  /** @param {number} first @param {number} last */
  const during = (first, last) =>
    median(samples.filter(({ hour }) => hour >= first && hour < last).map(({ mb }) => mb));
  const [early, late] = [during(3, 6), during(21, 24)];
  const course = Array.from({ length: HOURS / 3 }, (_, part) => during(part * 3, part * 3 + 3));
  console.log(`every three hours: ${course.map((mb) => mb.toFixed(1)).join(", ")} MB`);
  const peak = Math.max(...samples.map(({ mb }) => mb));
  console.log(
    `24 hours in ${((HOURS * HOUR_MS) / SPEED / 1000).toFixed(0)} s: ${store.eventCount} events recorded, ${asked} blocks asked for`,
  );
  console.log(
    `memory: ${early.toFixed(1)} MB in the hours 3 to 6, ${late.toFixed(1)} MB in the hours 21 to 24, at most ${peak.toFixed(1)} MB`,
  );
  console.log(
    `growth: ${(late - early).toFixed(1)} MB: ${late - early <= GOAL_MB ? "within" : "MISSES"} the goal of ${GOAL_MB} MB`,
  );
} finally {
  child.kill("SIGTERM");
  await exited;
  rmSync(home, { recursive: true, force: true });
}

function madeUpDay() {
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

/** @param {object} body */
async function ask(body) {
  await exchange("POST", "/v1/context", JSON.stringify(body));
}

/** @param {string} path */
function get(path) {
  return exchange("GET", path, "");
}

/**
 * @param {string} method
 * @param {string} path
 * @param {string} body
 * @returns {Promise<string>}
 */
function exchange(method, path, body) {
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
