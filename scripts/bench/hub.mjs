// @ts-check
/**
 * What a hub of three real nats-servers on this machine carries, between real daemons in homes of their own:
 *
 * 1. how long a history takes from one device to another, and what memory both need meanwhile;
 * 2. how many messages an active device sends;
 * 3. how long the block of a device takes that catches up with a long absence, against that of one that has nothing
 *    to do: both are asked in turn, so that whatever else the machine does falls on both.
 *
 * Usage: scripts/bench/hub [--events 100000] [--rounds 3] [--steady SECONDS] [--catch-up 1000000]
 * 0 leaves a part out.
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../../dist/store/database.js";
import { generateStore } from "./generate-store.mjs";
import { median } from "./paired.mjs";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const HUB_UP = fileURLToPath(new URL("../hub-up", import.meta.url));
const EVENTS = option("--events", 100_000);
const ROUNDS = option("--rounds", 3);
const STEADY_S = option("--steady", 60);
const CATCH_UP = option("--catch-up", 1_000_000);
const TICKS_PER_SECOND = 100;
const [SECONDS_GOAL, MESSAGES_GOAL, RATIO_GOAL] = [30, 1, 1.5];

/** @typedef {{ home: string, pid: number, stop: () => Promise<void> }} Daemon */

const root = mkdtempSync(join(tmpdir(), "activityd-bench-hub-"));
const hub = join(root, "hub");
/** @type {Set<Daemon>} */
const running = new Set();
let isGood = true;
let devices = 0;
try {
  hubUp();
  if (EVENTS > 0) await carryHistories();
  if (STEADY_S > 0) await countMessages();
  if (CATCH_UP > 0) await catchUp();
} finally {
  for (const daemon of running) await daemon.stop();
  hubUp("--stop");
  rmSync(root, { recursive: true, force: true });
}
process.exitCode = isGood ? 0 : 1;

async function carryHistories() {
  generateStore(join(root, "history", "data"), EVENTS);
  const seconds = [];
  const [sending, receiving] = [[0], [0]].map(() => /** @type {number[]} */ ([]));
  const [early, late, peak] = [[0], [0], [0]].map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = newHome(join(root, "history"));
    const to = newHome();
    join2(from, to);
    const receiver = await start(to);
    const begun = performance.now();
    const sender = await start(from);
    /** @type {number[][]} */
    const memory = [];
    let come = 0;
    while (!hasAll(from, to)) {
      await sleep(250);
      come = countHeard(to);
      memory.push([come, rssMb(sender.pid), rssMb(receiver.pid)]);
    }
    seconds.push((performance.now() - begun) / 1000);
    sending?.push(cpuSeconds(sender.pid));
    receiving?.push(cpuSeconds(receiver.pid));
    for (const side of [1, 2]) {
      early?.push(memory.find(([heard = 0]) => heard >= come / 4)?.[side] ?? 0);
      late?.push(memory.at(-1)?.[side] ?? 0);
      peak?.push(Math.max(...memory.map((sample) => sample[side] ?? 0)));
    }
    await sender.stop();
    await receiver.stop();
  }
  const took = median(seconds);
  tell(
    `${EVENTS} events from one device to another through three servers: ${took.toFixed(1)} s ` +
      `(${low(seconds).toFixed(1)}–${high(seconds).toFixed(1)} over ${ROUNDS} rounds, ` +
      `${Math.round(EVENTS / took)} events/s), with ${median(sending ?? []).toFixed(1)} s of processor time at the sender and ` +
      `${median(receiving ?? []).toFixed(1)} s at the receiver. Goal: ${SECONDS_GOAL} s.`,
    took <= SECONDS_GOAL || EVENTS > 100_000,
  );
  const grown = (late ?? []).map((mb, index) => mb - (early?.[index] ?? 0));
  tell(
    `memory from the first quarter of them to the last, both devices: ${median(grown).toFixed(1)} MB more ` +
      `(${low(grown).toFixed(1)}–${high(grown).toFixed(1)}), ${high(peak ?? []).toFixed(0)} MB at most.`,
    median(grown) <= 15,
  );
}

async function countMessages() {
  const from = newHome();
  const to = newHome();
  // A window every three seconds: somebody who works fast.
  writeFileSync(join(from, "session.jsonl"), madeUpSession());
  writeFileSync(
    join(from, "config.toml"),
    `[capture]\nreplay = ${JSON.stringify(join(from, "session.jsonl"))}\n`,
  );
  join2(from, to);
  const daemons = [await start(from), await start(to)];
  // What devices say of themselves when they come, and what the first windows are, is no steady state.
  await sleep(10_000);
  const before = await countStored();
  const seconds = [];
  for (let at = 0; at + 5 <= STEADY_S; at += 5) {
    const had = await countStored();
    await sleep(5_000);
    seconds.push((await countStored()) - had);
  }
  const total = (await countStored()) - before;
  const per = total / (seconds.length || 1);
  tell(
    `messages of an active device beside one that rests, in 5 s: ${per.toFixed(2)} ` +
      `(${low(seconds)}–${high(seconds)} over ${seconds.length} times 5 s). Goal: ${MESSAGES_GOAL}.`,
    per <= MESSAGES_GOAL,
  );
  for (const daemon of daemons) await daemon.stop();
}

async function catchUp() {
  const from = newHome();
  generateStore(join(from, "data"), CATCH_UP);
  const [to, quiet] = [newHome(), newHome()];
  join2(from, to);
  const rested = await start(quiet);
  const sender = await start(from);
  const sent = await waitUntilSent(from);
  await sender.stop();
  const asking = [client(quiet), client(to)];
  const receiver = await start(to);
  await waitUntil(() => countHeard(to) > 0);
  /** @type {number[]} */
  const ratios = [];
  /** @type {[number[], number[]]} */
  const p99s = [[], []];
  while (!hasAll(from, to)) {
    /** @type {[number[], number[]]} */
    const times = [[], []];
    for (let turn = 0; turn < 300; turn += 1) {
      for (const side of turn % 2 === 0 ? [0, 1] : [1, 0]) {
        const begun = process.hrtime.bigint();
        await asking[side]?.();
        times[side]?.push(Number(process.hrtime.bigint() - begun) / 1000);
      }
      await sleep(5);
    }
    const [a, b] = times.map(
      (each) => each.toSorted((x, y) => x - y)[Math.floor(each.length * 0.99)],
    );
    if (a === undefined || b === undefined) continue;
    p99s[0].push(a);
    p99s[1].push(b);
    ratios.push(b / a);
  }
  tell(
    `p99 of the block while a device catches up with ${sent} events / that of one beside it that rests: ` +
      `${median(ratios).toFixed(2)} (${low(ratios).toFixed(2)}–${high(ratios).toFixed(2)} over ${ratios.length} rounds ` +
      `of 300); ${median(p99s[1]).toFixed(0)} µs / ${median(p99s[0]).toFixed(0)} µs. Goal: ${RATIO_GOAL}. ` +
      `Memory at the end: ${rssMb(receiver.pid).toFixed(0)} MB.`,
    median(ratios) <= RATIO_GOAL,
  );
  await receiver.stop();
  await rested.stop();
}

/** @param {string} line @param {boolean} isMet */
function tell(line, isMet) {
  console.log(`${line}${isMet ? "" : "  MISSED"}`);
  isGood &&= isMet;
}

/** A home of its own, with a copy of another's data. @param {string} [of] */
function newHome(of) {
  const home = join(root, `home-${(devices += 1)}`);
  mkdirSync(home, { recursive: true });
  if (of !== undefined) cpSync(of, home, { recursive: true });
  return home;
}

/** A hub of two homes. @param {string} from @param {string} to */
function join2(from, to) {
  const servers = ports().map(([port]) => `tls://127.0.0.1:${port}`);
  const place = ["--server", ...servers, "--ca", join(hub, "ca.pem")];
  const code = run(from, ["hub", "create", "--name", "from", ...place, ...key(from)]).trim();
  run(to, ["hub", "join", code, "--name", "to", "--ca", join(hub, "ca.pem"), ...key(to)]);
}

/** @param {string} home */
function key(home) {
  const name = `device${home.slice(home.lastIndexOf("-"))}`;
  hubUp("--device", name);
  return ["--credentials", join(hub, "devices", `${name}.nk`)];
}

/** @param {string} home @param {string[]} args */
function run(home, args) {
  return execFileSync(process.execPath, [MAIN, ...args], {
    env: envOf(home),
    stdio: ["ignore", "pipe", "pipe"],
  }).toString();
}

/** @param {string} home @returns {Promise<Daemon>} */
async function start(home) {
  const child = spawn(process.execPath, [MAIN, "start"], {
    env: envOf(home),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  const ended = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  await waitUntil(() => {
    if (child.exitCode !== null) throw new Error(`the daemon ended: ${said}`);
    return said.includes("listens on");
  });
  const daemon = {
    home,
    pid: child.pid ?? 0,
    stop: async () => {
      running.delete(daemon);
      child.kill("SIGTERM");
      await ended;
    },
  };
  running.add(daemon);
  return daemon;
}

/** @param {string} home */
function envOf(home) {
  return { PATH: process.env["PATH"] ?? "", HOME: home, ACTIVITYD_HOME: home };
}

/**
 * Whether a device has taken in everything that another told. Events are not counted for it: the receiver's own gate
 * leaves some out, such as notifications that its owner does not record.
 *
 * @param {string} from
 * @param {string} to
 */
function hasAll(from, to) {
  const told = ask(from, "SELECT count(*) = 0 AS n FROM hub_change") === 1;
  const sequence = ask(from, "SELECT seq AS n FROM hub_log");
  return (
    told && sequence > 0 && ask(to, "SELECT max(version) AS n FROM device") % 2 ** 40 === sequence
  );
}

/** @param {string} home */
function countHeard(home) {
  return ask(home, "SELECT count(*) AS n FROM remote_event");
}

/** @param {string} home @param {string} sql */
function ask(home, sql) {
  const database = openDatabase({ path: join(home, "data", "activity.db"), role: "reader" });
  try {
    const row = /** @type {{ n: number | null } | undefined} */ (database.prepare(sql).get());
    return row?.n ?? 0;
  } finally {
    database.close();
  }
}

/** Waits until everything is with the hub; gives how many events that were. @param {string} home */
async function waitUntilSent(home) {
  await waitUntil(() => {
    const answer = JSON.parse(run(home, ["hub", "status", "--json"]));
    return answer.lastSentUs !== null && answer.waiting === 0;
  }, 1_000);
  return CATCH_UP;
}

/** Messages that the stream holds, as its leader's monitor tells. */
async function countStored() {
  let most = 0;
  for (const [, , monitor] of ports()) {
    const answer = await fetch(`http://127.0.0.1:${monitor}/jsz`);
    const { messages } = /** @type {{ messages?: number }} */ (await answer.json());
    most = Math.max(most, messages ?? 0);
  }
  return most;
}

function ports() {
  return readFileSync(join(hub, "ports"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
}

/** @param {string[]} more */
function hubUp(...more) {
  const args = ["--folder", hub, "--max-store", "4GB", ...more];
  execFileSync(HUB_UP, args, { stdio: ["ignore", "ignore", "pipe"] });
}

/** Asks for the block over one connection that stays open. @param {string} home */
function client(home) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const socketPath = join(home, "run", "activityd.sock");
  return () =>
    new Promise((resolve, reject) => {
      get({ socketPath, path: "/v1/context", agent }, (response) => {
        response.resume();
        response.once("end", resolve);
      }).once("error", reject);
    });
}

function madeUpSession() {
  const lines = [
    JSON.stringify({ format: "activityd-session", version: 1, recordedAt: "2026-11-27T00:00:00Z" }),
  ];
  const unknown = { url: null, pid: null, executable: null, private: null };
  for (let atMs = 0; atMs < (STEADY_S + 60) * 1000; atMs += 3_000) {
    const value = { app: "Code", title: `document ${(atMs / 3_000) % 40}`, ...unknown };
    lines.push(JSON.stringify({ atMs, kind: "window", result: { ok: true, value } }));
    const input = { ok: true, value: { idleMs: 500 } };
    lines.push(JSON.stringify({ atMs, kind: "input", result: input }));
  }
  return `${lines.join("\n")}\n`;
}

/** @param {() => boolean} isSo @param {number} [everyMs] */
async function waitUntil(isSo, everyMs = 20) {
  while (!isSo()) await sleep(everyMs);
}

/** @param {number} pid */
function rssMb(pid) {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1]) / 1024;
}

/** Processor time of a process. @param {number} pid */
function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(stat[11]) + Number(stat[12])) / TICKS_PER_SECOND;
}

/** @param {string} name @param {number} otherwise */
function option(name, otherwise) {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
}

/** @param {number[]} values */
function low(values) {
  return Math.min(...values);
}

/** @param {number[]} values */
function high(values) {
  return Math.max(...values);
}

/** @param {number} ms */
function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
