// @ts-check
/**
 * Tries to make the store lose or spoil something: a writer is killed with SIGKILL at random moments while its
 * disk fails now and then and others read, two processes fight for one folder, and pages are overwritten at
 * random. Everything that was acknowledged must be there afterwards, and every start must come up.
 *
 * Usage: scripts/torture [kills] [--json]        (1,000 kills unless given)
 * Needs a C compiler, for the disk that fails.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { openDatabase } from "../dist/store/database.js";
import { findDamage } from "../dist/store/sqlite.js";
import { acquireInstanceLock } from "../dist/store/lock.js";
import { openEventStore } from "../dist/store/events.js";

const SELF = fileURLToPath(import.meta.url);
const READERS = 20;
const START_US = Date.parse("2026-11-27T09:00:00Z") * 1000;
const log = { info: () => {}, warn: () => {}, error: () => {} };
const clock = { nowUs: () => Date.now() * 1000, monotonicUs: () => 0, timeZone: () => "UTC" };

const [role, directory = ""] = process.argv.slice(2);
if (!isMainThread) readForever(workerData);
else if (role === "write") write(directory);
else if (role === "fight") fight(directory);
else await torture();

async function torture() {
  const kills = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 1000);
  const home = mkdtempSync(join(tmpdir(), "activityd-torture-"));
  try {
    const shim = buildShim(home);
    const counts = await killAgainAndAgain(home, kills, shim);
    const fights = Math.max(Math.floor(kills / 10), 5);
    const doubles = await fightAgainAndAgain(home, fights);
    const damaged = overwriteAgainAndAgain(home, fights);
    const result = { ...counts, fights, ...doubles, ...damaged };
    if (process.argv.includes("--json")) console.log(JSON.stringify(result));
    else tell(result);
    const isBad =
      result.losses +
        result.corruptions +
        result.readErrors +
        result.doubleHolders +
        result.failedStarts >
      0;
    process.exitCode = isBad ? 1 : 0;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** @param {Record<string, number>} result */
function tell(result) {
  console.log(`kills                     ${result["kills"]}`);
  console.log(
    `faults injected           ${result["faults"]} (ENOSPC and EIO that a write was told of)`,
  );
  console.log(`acknowledged changes      ${result["acknowledged"]}`);
  console.log(`losses                    ${result["losses"]}`);
  console.log(`corruptions               ${result["corruptions"]}`);
  console.log(
    `reads beside it           ${result["reads"]} by ${READERS} readers, ${result["readErrors"]} failed`,
  );
  console.log(
    `fights for one folder     ${result["fights"]}, ${result["doubleHolders"]} won by both`,
  );
  console.log(
    `damaged starts            ${result["damagedStarts"]}, ${result["failedStarts"]} failed; ` +
      `${result["recovered"]} recovered, ${result["keptPercent"]} % of their events kept`,
  );
}

/** @param {string} home */
function buildShim(home) {
  const source = fileURLToPath(new URL("faults/failing-disk.c", import.meta.url));
  const target = join(home, "failing-disk.so");
  const { status, stderr } = spawnSync("cc", [
    "-shared",
    "-fPIC",
    "-O1",
    "-o",
    target,
    source,
    "-ldl",
  ]);
  if (status === 0) return target;
  console.error(
    `torture: cannot build the failing disk: ${stderr?.toString() ?? "there is no cc"}`,
  );
  console.error("  Install a C compiler, such as the package gcc.");
  process.exit(1);
}

/**
 * @param {string} home
 * @param {number} kills
 * @param {string} shim
 */
async function killAgainAndAgain(home, kills, shim) {
  const data = join(home, "data");
  const counts = {
    kills,
    faults: 0,
    acknowledged: 0,
    losses: 0,
    corruptions: 0,
    reads: 0,
    readErrors: 0,
  };
  openEventStore({ directory: data, clock, log }).close();
  const readers = Array.from({ length: READERS }, () => startReader(join(data, "activity.db")));
  for (let kill = 1; kill <= kills; kill += 1) {
    // Every other writer has a sound disk, so that both the quick and the hindered paths are cut.
    const every = kill % 2 === 0 ? 0 : 5 + (kill % 60);
    const { ends, faults } = await writeUntilKilled(data, every, kill, shim);
    counts.faults += faults;
    counts.acknowledged += ends.size;
    const isLast = kill === kills;
    counts.corruptions += isSound(data, kill % 20 === 0 || isLast) ? 0 : 1;
    counts.losses += countLost(data, ends);
  }
  for (const { worker, state } of readers) {
    await worker.terminate();
    counts.reads += state.reads;
    counts.readErrors += state.errors;
  }
  return counts;
}

/**
 * One writer from its start to its death: what it acknowledged, the last end of each event.
 *
 * @param {string} data
 * @param {number} every one of so many writes fails; 0: none
 * @param {number} seed
 * @param {string} shim
 */
async function writeUntilKilled(data, every, seed, shim) {
  const env = {
    ...process.env,
    LD_PRELOAD: shim,
    FAILING_DISK_EVERY: String(every),
    FAILING_DISK_SEED: String(seed * 7919),
  };
  const child = spawn(process.execPath, [SELF, "write", data], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  let text = "";
  child.stdout.setEncoding("latin1");
  child.stdout.on("data", (/** @type {string} */ chunk) => (text += chunk));
  await Promise.race([once(child.stdout, "data"), closed]);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
  child.kill("SIGKILL");
  await closed;
  /** @type {Map<number, number>} */
  const ends = new Map();
  let faults = 0;
  // What was cut in the middle of a line was not acknowledged.
  for (const line of text.split("\n").slice(0, -1)) {
    const [what, id, end] = line.split(" ");
    if (what === "fault") faults += 1;
    else ends.set(Number(id), Number(end));
  }
  return { ends, faults };
}

/** Begins and ends events as fast as it can and says so after each commit, until it is killed. @param {string} data */
function write(data) {
  const store = openEventStore({ directory: data, clock, log });
  let atUs = Math.max(store.latest("window", 1)[0]?.endUs ?? 0, START_US) + 1_000_000;
  const span = () => ({ startUs: atUs, endUs: atUs, utcOffsetMinutes: 0, timeZone: "UTC" });
  const attempt = (/** @type {() => string} */ change) => {
    try {
      writeSync(1, `${change()}\n`);
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || error.code !== "database_unwritable")
        throw error;
      writeSync(1, "fault\n");
    }
  };
  writeSync(1, "up 0 0\n");
  for (let n = 0; ; n += 1) {
    const title =
      Math.random() < 0.3 ? `title ${Math.random()} ${"x".repeat(n % 5000)}` : `title ${n % 40}`;
    const facts = /** @type {any} */ ({ kind: "window", app: `app ${n % 7}`, title, place: null });
    let id = 0;
    attempt(() => `begin ${(id = store.begin(facts, span()))} ${atUs}`);
    atUs += 500_000;
    if (id !== 0) {
      store.pulse(atUs, [id]);
      attempt(() => {
        store.setEnd(id, atUs);
        return `end ${id} ${atUs}`;
      });
    }
    if (n % 50 === 49) attempt(() => (store.settle(), "settle 0 0"));
    atUs += 1000;
  }
}

/**
 * @param {string} data
 * @param {boolean} thorough
 */
function isSound(data, thorough) {
  return findDamage(join(data, "activity.db"), thorough ? "thorough" : "quick") === null;
}

/**
 * @param {string} data
 * @param {ReadonlyMap<number, number>} ends
 */
function countLost(data, ends) {
  const store = openEventStore({ directory: data, clock, log });
  const find = store.database.prepare(
    "SELECT start_us + duration_us AS end_us FROM event WHERE start_us = ?",
  );
  let lost = store.recovery() === null ? 0 : 1;
  for (const [id, endUs] of ends) {
    if (id === 0) continue;
    const endNow = find.get(id)?.["end_us"];
    if (typeof endNow !== "number" || endNow < endUs) lost += 1;
  }
  store.close();
  return lost;
}

/** @param {string} path */
function startReader(path) {
  const state = { reads: 0, errors: 0 };
  const worker = new Worker(SELF, { workerData: path });
  worker.on("message", ({ reads, errors }) => {
    state.reads += reads;
    state.errors += errors;
  });
  return { worker, state };
}

/** @param {string} path */
function readForever(path) {
  const database = openDatabase({ path, role: "reader" });
  const last = database.prepare(
    "SELECT count(*) AS n, max(start_us) AS last FROM (SELECT start_us FROM event ORDER BY start_us DESC LIMIT 100)",
  );
  setInterval(() => {
    const told = { reads: 1, errors: 0 };
    try {
      last.get();
    } catch {
      told.errors = 1;
    }
    parentPort?.postMessage(told);
  }, 25);
}

/**
 * @param {string} home
 * @param {number} fights
 */
async function fightAgainAndAgain(home, fights) {
  let doubleHolders = 0;
  for (let n = 0; n < fights; n += 1) {
    const data = join(home, `fight-${n}`);
    mkdirSync(data);
    const fighters = await Promise.all([0, 1].map(() => startFighter(data)));
    // Only now that both have told their outcome may the winner let go.
    const won = await Promise.all(fighters.map(({ end }) => end()));
    if (won.filter((text) => text.includes("won")).length !== 1) doubleHolders += 1;
    rmSync(data, { recursive: true });
  }
  return { doubleHolders };
}

/** A process that fights for a folder, once it has told whether it won. @param {string} data */
async function startFighter(data) {
  const child = spawn(process.execPath, [SELF, "fight", data], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => (text += String(chunk)));
  await once(child.stdout, "data");
  const end = async () => {
    const closed = once(child, "close");
    child.stdin.end();
    await closed;
    return text;
  };
  return { end };
}

/** @param {string} data */
function fight(data) {
  /** Held on to: a lock that nobody can release any more would be collected, and with it let go. */
  let release = () => {};
  try {
    release = acquireInstanceLock(data, process.pid);
    writeSync(1, "won\n");
  } catch {
    writeSync(1, "lost\n");
  }
  process.stdin.once("end", () => release());
  process.stdin.resume();
}

/**
 * @param {string} home
 * @param {number} rounds
 */
function overwriteAgainAndAgain(home, rounds) {
  const original = join(home, "data", "activity.db");
  const before = openEventStore({ directory: join(home, "data"), clock, log });
  const count = before.summary().eventCount ?? 0;
  before.database.checkpoint("truncate");
  before.close();
  const result = { damagedStarts: 0, failedStarts: 0, recovered: 0, keptPercent: 100 };
  let kept = 0;
  for (let n = 0; n < rounds; n += 1) {
    const data = join(home, `damaged-${n}`);
    mkdirSync(data);
    copyFileSync(original, join(data, "activity.db"));
    overwritePages(join(data, "activity.db"));
    result.damagedStarts += 1;
    try {
      const store = openEventStore({ directory: data, clock, log });
      if (store.recovery() !== null) {
        result.recovered += 1;
        kept += (store.summary().eventCount ?? 0) / count;
      }
      store.close();
    } catch (error) {
      result.failedStarts += 1;
      console.error(`torture: a damaged start failed: ${String(error)}`);
    }
    rmSync(data, { recursive: true });
  }
  if (result.recovered > 0) result.keptPercent = Math.round((kept / result.recovered) * 1000) / 10;
  return result;
}

/** Up to five pages of random bytes, at random. @param {string} path */
function overwritePages(path) {
  const bytes = readFileSync(path);
  const pages = Math.floor(bytes.length / 4096);
  const wounds = 1 + Math.floor(Math.random() * 5);
  for (let n = 0; n < wounds; n += 1) {
    const page = Math.floor(Math.random() * pages);
    for (let at = 0; at < 4096; at += 1) bytes[page * 4096 + at] = Math.floor(Math.random() * 256);
  }
  writeFileSync(path, bytes);
}
