// @ts-check
/**
 * What many devices cost three nats-servers on this machine: each device has a key and a connection of its own, sends
 * one sealed record of a kilobyte in five seconds, and reads the others of its hub. Tells what the servers take in
 * processor time and memory for each device, against the same servers with nobody there, and how long records take.
 *
 * Usage: scripts/bench/hub-fleet [DEVICES] [DEVICES OF A HUB] [SECONDS]      (300, 3 and 60 unless given)
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../dist/clock.js";
import { openNatsDriver } from "../../dist/hub/nats.js";
import { silentLog } from "../../dist/log.js";
import { median } from "./paired.mjs";

const HUB_UP = fileURLToPath(new URL("../hub-up", import.meta.url));
const [DEVICES = 300, OF_A_HUB = 3, SECONDS = 60] = process.argv.slice(2).map(Number);
const EVERY_MS = 5_000;
const RECORD_BYTES = 1_024;
const TICKS_PER_SECOND = 100;
const OPENED_AT_ONCE = 20;

const folder = mkdtempSync(join(tmpdir(), "activityd-bench-fleet-"));
try {
  await measure();
} finally {
  hubUp("--stop");
  rmSync(folder, { recursive: true, force: true });
}

async function measure() {
  hubUp(...Array.from({ length: DEVICES }, (_, index) => ["--device", `d${index}`]).flat());
  await sleep(5_000);
  const idleFrom = readServers();
  await sleep(10_000);
  const idle = readServers();
  const idleCpu = (idle.cpuSeconds - idleFrom.cpuSeconds) / 10;

  /** @type {import("../../dist/hub/driver.js").HubDriver[]} */
  const drivers = [];
  for (let at = 0; at < DEVICES; at += OPENED_AT_ONCE) {
    const some = Array.from({ length: Math.min(OPENED_AT_ONCE, DEVICES - at) }, (_, n) => at + n);
    drivers.push(...(await Promise.all(some.map((index) => open(index)))));
    await waitUntil(() => drivers.every((driver) => driver.state().state === "connected"));
  }
  /** @type {number[]} */
  const tookMs = [];
  /** @type {number[]} */
  const appendMs = [];
  let heard = 0;
  for (const driver of drivers) {
    driver.subscribe({
      cursor: null,
      deliver: async (records) => {
        for (const { bytes } of records) {
          heard += 1;
          tookMs.push(Date.now() - Number(Buffer.from(bytes).readBigUInt64BE(0)));
        }
      },
    });
  }
  await sleep(5_000);
  const ending = new AbortController();
  const sending = drivers.map((driver, index) => sendOn(driver, index, ending.signal, appendMs));
  await sleep(10_000);
  tookMs.length = appendMs.length = heard = 0;
  const from = readServers();
  await sleep(SECONDS * 1_000);
  const busy = readServers();
  const [ms, acks] = [tookMs, appendMs].map((each) => each.toSorted((a, b) => a - b));
  const cpu = (busy.cpuSeconds - from.cpuSeconds) / SECONDS;
  ending.abort();
  await Promise.all(sending);
  await Promise.all(drivers.map((driver) => driver.close()));

  const perSecond = appendMs.length / SECONDS;
  console.log(
    `${DEVICES} devices in hubs of ${OF_A_HUB}, each one record of ${RECORD_BYTES} bytes in ${EVERY_MS / 1000} s: ` +
      `${perSecond.toFixed(0)} appended and ${(heard / SECONDS).toFixed(0)} read a second.`,
  );
  console.log(
    `processor time of the three servers: ${((cpu - idleCpu) * 100).toFixed(1)} % of a core beside ` +
      `${(idleCpu * 100).toFixed(1)} % with nobody there; ${(((cpu - idleCpu) / perSecond) * 1000).toFixed(2)} ms a record, all copies.`,
  );
  console.log(
    `memory of the three servers: ${busy.mb.toFixed(0)} MB against ${idle.mb.toFixed(0)} MB with nobody there; ` +
      `${(((busy.mb - idle.mb) * 1024) / DEVICES).toFixed(0)} KB a device.`,
  );
  console.log(
    `acknowledged by two of three after ${median(acks ?? []).toFixed(0)} ms (p99 ${at99(acks ?? [])} ms), ` +
      `read by another after ${median(ms ?? [])} ms (p99 ${at99(ms ?? [])} ms).`,
  );
}

/**
 * @param {import("../../dist/hub/driver.js").HubDriver} driver
 * @param {number} index
 * @param {AbortSignal} signal
 * @param {number[]} appendMs
 */
async function sendOn(driver, index, signal, appendMs) {
  // Devices do not beat in time.
  await sleep(Math.random() * EVERY_MS);
  for (let seq = 1; !signal.aborted; seq += 1) {
    const begun = performance.now();
    const bytes = randomBytes(RECORD_BYTES);
    bytes.writeBigUInt64BE(BigInt(Date.now()), 0);
    await driver.append([{ device: idOf(index), epoch: 1, seq, bytes }], 30_000);
    const took = performance.now() - begun;
    appendMs.push(Math.round(took));
    await sleep(Math.max(0, EVERY_MS - took));
  }
}

/** @param {number} index */
function open(index) {
  const ports = readFileSync(join(folder, "ports"), "utf8").trim().split("\n");
  return openNatsDriver({
    hub: idOf(Math.floor(index / OF_A_HUB)),
    device: idOf(index),
    settings: {
      driver: "nats",
      folder: "",
      servers: ports.map((line) => `tls://127.0.0.1:${line.split(" ")[0]}`),
      credentials_file: join(folder, "devices", `d${index}.nk`),
      ca_file: join(folder, "ca.pem"),
      keep_days: 30,
    },
    clock: systemClock,
    log: silentLog,
  });
}

/** @param {number} index */
function idOf(index) {
  return index.toString(16).padStart(32, "0");
}

/** Processor time and memory of all servers together. */
function readServers() {
  let [cpuSeconds, mb] = [0, 0];
  for (const number of [1, 2, 3]) {
    const pid = readFileSync(join(folder, `node-${number}`, "nats.pid"), "utf8").trim();
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    cpuSeconds += (Number(stat[11]) + Number(stat[12])) / TICKS_PER_SECOND;
    const rss = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    mb += Number(rss) / 1024;
  }
  return { cpuSeconds, mb };
}

/** @param {string[]} more */
function hubUp(...more) {
  const args = ["--folder", folder, ...more];
  execFileSync(HUB_UP, args, { stdio: ["ignore", "ignore", "pipe"] });
}

/** @param {number[]} sorted */
function at99(sorted) {
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}

/** @param {() => boolean} isSo */
async function waitUntil(isSo) {
  while (!isSo()) await sleep(20);
}

/** @param {number} ms */
function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
