// @ts-check
/**
 * Tries to make a hub lose or double something: three real nats-servers are killed and frozen at random while one
 * device appends and another reads, and both devices are ended and begun again in between. Everything that was
 * acknowledged must come out once, in order.
 *
 * Usage: scripts/torture-hub [rounds] [--freeze SECONDS] [--seed N]     (20 rounds, 30 s unless given)
 */
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openNatsDriver } from "../dist/hub/nats.js";
import { systemClock } from "../dist/clock.js";
import { silentLog } from "../dist/log.js";

const ADA = "a0".repeat(16);
const BOB = "b0".repeat(16);
const HUB = "c0".repeat(16);
const HUB_UP = fileURLToPath(new URL("hub-up", import.meta.url));
const RECORDS_AT_ONCE = 16;
const LONGEST_WAIT_MS = 180_000;

const rounds = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 20);
const freezeSeconds = Number(option("--freeze") ?? 30);
const seed = Number(option("--seed") ?? Date.now() % 1_000_000);
const random = createRandom(seed);

const folder = mkdtempSync(join(tmpdir(), "activityd-torture-hub-"));
try {
  process.exitCode = (await torture()) ? 0 : 1;
} finally {
  hubUp("--stop");
  rmSync(folder, { recursive: true, force: true });
}

async function torture() {
  hubUp();
  const state = {
    seq: 0,
    acknowledged: 0,
    again: 0,
    longestMs: 0,
    /** @type {string[]} by seq - 1 */
    sent: [],
    /** @type {Map<number, string>} */
    received: new Map(),
    doubled: 0,
    disordered: 0,
    changed: 0,
    highest: 0,
    /** @type {string | null} */
    cursor: null,
    ended: false,
  };
  const writing = write(state);
  const reading = read(state);
  /** @type {Record<string, number>} */
  const faults = {};
  while (state.acknowledged === 0) await sleep(100);
  for (let round = 0; round < rounds; round += 1) {
    const fault = await doHarm();
    faults[fault] = (faults[fault] ?? 0) + 1;
    process.stderr.write(`${round + 1}/${rounds} ${fault}: ${state.acknowledged} acknowledged\n`);
    await sleep(2_000 + random() * 4_000);
  }
  state.ended = true;
  await Promise.all([writing, reading]);
  const lost = state.sent.filter((_, index) => !state.received.has(index + 1)).length;
  for (const [index, hash] of state.sent.entries()) {
    if ((state.received.get(index + 1) ?? hash) !== hash) state.changed += 1;
  }
  console.log(`seed                  ${seed}`);
  console.log(`faults                ${JSON.stringify(faults)}`);
  console.log(`sent, acknowledged    ${state.sent.length}`);
  console.log(`received              ${state.received.size}`);
  console.log(`lost                  ${lost}`);
  console.log(`doubled               ${state.doubled}`);
  console.log(`changed               ${state.changed}`);
  console.log(`out of order          ${state.disordered}`);
  console.log(
    `appends called again  ${state.again}, the longest wait ${Math.round(state.longestMs)} ms`,
  );
  return lost + state.doubled + state.changed + state.disordered === 0;
}

/** @param {any} state */
async function write(state) {
  let driver = await open("laptop", ADA);
  while (!state.ended) {
    const records = Array.from({ length: RECORDS_AT_ONCE }, () => ({
      device: ADA,
      epoch: 1,
      seq: (state.seq += 1),
      bytes: randomBytes(200 + Math.floor(random() * 2_000)),
    }));
    const begun = performance.now();
    for (;;) {
      try {
        await driver.append(records, 3_000);
        break;
      } catch (error) {
        if (/** @type {any} */ (error).code !== "hub_away") throw error;
        if (performance.now() - begun > LONGEST_WAIT_MS) throw error;
        state.again += 1;
        // A daemon that is ended while it waits begins with what was not acknowledged.
        if (random() < 0.3) {
          await driver.close();
          driver = await open("laptop", ADA);
        }
      }
    }
    state.longestMs = Math.max(state.longestMs, performance.now() - begun);
    for (const { bytes } of records) state.sent.push(hashOf(bytes));
    state.acknowledged = state.sent.length;
    await sleep(20);
  }
  await driver.close();
}

/** @param {any} state */
async function read(state) {
  const begunWaiting = () => performance.now();
  let lastMs = begunWaiting();
  for (;;) {
    const driver = await open("desktop", BOB);
    const subscription = driver.subscribe({
      cursor: state.cursor,
      deliver: async (records, cursor) => {
        for (const { seq, bytes } of records) {
          if (state.received.has(seq)) state.doubled += 1;
          if (seq < state.highest) state.disordered += 1;
          state.highest = Math.max(state.highest, seq);
          state.received.set(seq, hashOf(bytes));
        }
        state.cursor = cursor;
        lastMs = performance.now();
      },
    });
    const untilMs = performance.now() + 5_000 + random() * 20_000;
    while (performance.now() < untilMs || state.ended) {
      if (state.ended && state.received.size >= state.sent.length) break;
      if (state.ended && performance.now() - lastMs > LONGEST_WAIT_MS) break;
      await sleep(100);
    }
    await subscription.close();
    await driver.close();
    if (state.ended) return;
  }
}

/** One fault, and its end. Gives its name. */
async function doHarm() {
  const server = 1 + Math.floor(random() * 3);
  const pid = Number(readFileSync(join(folder, `node-${server}`, "nats.pid"), "utf8"));
  if (random() < 0.3) {
    process.kill(pid, "SIGSTOP");
    await sleep(freezeSeconds * 1_000);
    process.kill(pid, "SIGCONT");
    return "frozen";
  }
  process.kill(pid, "SIGKILL");
  while (existsSync(`/proc/${pid}`)) await sleep(10);
  await sleep(1_000 + random() * 8_000);
  hubUp();
  return "killed";
}

/** @param {string} name @param {string} device */
function open(name, device) {
  const ports = readFileSync(join(folder, "ports"), "utf8").trim().split("\n");
  return openNatsDriver({
    hub: HUB,
    device,
    settings: {
      driver: "nats",
      folder: "",
      servers: ports.map((line) => `tls://127.0.0.1:${line.split(" ")[0]}`),
      credentials_file: join(folder, "devices", `${name}.nk`),
      ca_file: join(folder, "ca.pem"),
      keep_days: 30,
    },
    clock: systemClock,
    log: silentLog,
  });
}

/** @param {string[]} more */
function hubUp(...more) {
  execFileSync(HUB_UP, ["--folder", folder, ...more], { stdio: ["ignore", "ignore", "pipe"] });
}

/** @param {string} name */
function option(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

/** @param {Uint8Array} bytes */
function hashOf(bytes) {
  return createHash("sha256").update(bytes).digest("base64");
}

/** Mulberry32: the same faults in the same order for the same seed. @param {number} start */
function createRandom(start) {
  let at = start >>> 0;
  return () => {
    at = (at + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** @param {number} ms */
function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
