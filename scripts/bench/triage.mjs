// @ts-check
/**
 * Whether the digest tells the right activity, and how fast, beside simpler ways of choosing context.
 *
 * Usage: scripts/bench/triage [--seeds 6] [--unseen] [--semantic] [--year] [--short]
 *        [--show FAMILY[:WORDING]]
 *
 * Worlds of invented people are generated with questions whose answers are known by construction. Those in
 * triage/worlds are for development; `--unseen` takes those in triage/unseen, which nobody looked into while the
 * rules were made. `--year` measures latency on a year of 250,000 events. `--short` is for CI: few seeds, and an
 * exit code when a floor is missed.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { systemClock } from "../../dist/clock.js";
import { silentLog } from "../../dist/log.js";
import { openEventStore } from "../../dist/store/events.js";
import { grade } from "./triage-parts/grade.mjs";
import { askAbout } from "./triage-parts/questions.mjs";
import { createSystems } from "./triage-parts/systems.mjs";
import { createWorld } from "./triage-parts/world.mjs";

// Times of day are asked and graded on one wall clock, whatever the machine's.
process.env["TZ"] = "Europe/Berlin";
const TIME_ZONE = "Europe/Berlin";
const BUDGET_TOKENS = 400;
/** Below these the short form fails: the digest alone, over the development worlds. */
const FLOORS = { recall: 0.82, precision: 0.8, silence: 0.92, p95Ms: 25 };

const { values } = parseArgs({
  options: {
    seeds: { type: "string" },
    unseen: { type: "boolean", default: false },
    year: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    semantic: { type: "boolean", default: false },
    show: { type: "string" },
  },
});

/** @typedef {import("./triage-parts/grade.mjs").Grade & { ms: number }} Result */
/** @type {Map<string, Map<string, Result[]>>} */
const table = new Map();

const folder = fileURLToPath(
  new URL(values.unseen ? "./triage-parts/unseen" : "./triage-parts/worlds", import.meta.url),
);
const seeds = Number(values.seeds ?? (values.short ? 2 : values.year ? 1 : 6));
for (const file of readdirSync(folder).sort()) {
  /** @type {import("./triage-parts/world.mjs").WorldSpec} */
  const spec = JSON.parse(readFileSync(join(folder, file), "utf8"));
  for (let seed = 1; seed <= seeds; seed += 1) {
    const span = values.year ? { days: 365, pace: 2.6 } : {};
    runWorld(createWorld(spec, { seed, ...span }), seed, file);
    if (values.year) break;
  }
  if (values.year) break;
}
printTable();
if (values.short) checkFloors();

/** @param {import("./triage-parts/world.mjs").World} world @param {number} seed @param {string} file */
function runWorld(world, seed, file) {
  const directory = mkdtempSync(join(tmpdir(), "activityd-triage-"));
  const store = openEventStore({ directory, clock: systemClock, log: silentLog });
  try {
    fill(store, world);
    const systems = createSystems(store.database, { semantic: values.semantic });
    // The first answer learns the words and works of the whole record; a daemon does that while it starts.
    for (const { answer } of systems) ask(answer, "hello", world.nowUs);
    for (const question of askAbout(world, seed)) {
      for (const { name, answer } of systems) {
        // Time of the processor: what else the machine does must not decide over a floor.
        const before = process.cpuUsage();
        const block = ask(answer, question.turn, world.nowUs);
        const { user, system } = process.cpuUsage(before);
        const ms = (user + system) / 1000;
        const graded = grade(question, block, { budgetTokens: BUDGET_TOKENS, countTokens });
        note(name, question, { ...graded, ms });
        if (name === "digest") show(file, seed, question, block, graded.recall);
      }
    }
  } finally {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param {(ask: import("./triage-parts/systems.mjs").Ask) => string} answer @param {string} turn @param {number} nowUs */
function ask(answer, turn, nowUs) {
  return answer({ turn, nowUs, timeZone: TIME_ZONE, budgetTokens: BUDGET_TOKENS });
}

/** @param {import("../../dist/store/events.js").EventStore} store @param {import("./triage-parts/world.mjs").World} world */
function fill(store, world) {
  /** @param {string} text @returns {import("../../dist/capture/events.js").StorableText} */
  const storable = (text) => /** @type {any} */ (text);
  const zone = { utcOffsetMinutes: 60, timeZone: TIME_ZONE };
  store.database.transaction(() => {
    for (const { app, title, place, startUs, endUs } of world.windows) {
      const facts = {
        kind: /** @type {const} */ ("window"),
        app: storable(app),
        title: storable(title),
        place: place === undefined ? null : storable(place),
      };
      store.begin(facts, { startUs, endUs, ...zone });
    }
    for (const { startUs, endUs } of world.absences) {
      store.begin({ kind: "idle", state: "away" }, { startUs, endUs, ...zone });
    }
  });
  // Visits follow the events about once a minute; the daemon settles before it answers.
  store.settle();
}

/** @param {string} name @param {import("./triage-parts/questions.mjs").Question} question @param {Result} result */
function note(name, { family, wording }, result) {
  const families = table.get(name) ?? new Map();
  table.set(name, families);
  for (const key of wording === null ? [family] : [family, `${family}:${wording}`]) {
    families.set(key, [...(families.get(key) ?? []), result]);
  }
}

/** @param {string} file @param {number} seed @param {import("./triage-parts/questions.mjs").Question} question @param {string} block @param {number} recall */
function show(file, seed, question, block, recall) {
  const { family, wording, turn, facts } = question;
  if (values.show === undefined || recall === 1) return;
  if (values.show !== family && values.show !== `${family}:${wording}`) return;
  console.log(
    `\n[${file} ${seed}] ${turn}\n wanted ${JSON.stringify(facts)}\n${block || "(silence)"}`,
  );
}

/** Recall by family and system, then what it costs. */
function printTable() {
  const names = [...table.keys()];
  const families = [
    ...new Set([...table.values()].flatMap((byFamily) => [...byFamily.keys()])),
  ].sort();
  /** @param {string} label @param {readonly string[]} cells */
  const row = (label, cells) =>
    console.log(label.padEnd(24) + cells.map((cell) => cell.padStart(16)).join(""));
  row("recall", names);
  for (const family of families) {
    const count = table.get("digest")?.get(family)?.length ?? 0;
    const cells = names.map((name) => {
      const results = table.get(name)?.get(family) ?? [];
      return mean(results.map(({ recall }) => recall)).toFixed(3);
    });
    row(`${family} (${count})`, cells);
  }
  const sums = names.map((name) => summarize(table.get(name) ?? new Map()));
  row(
    "macro",
    sums.map(({ recall }) => recall.toFixed(3)),
  );
  console.log();
  row(
    "precision",
    sums.map(({ precision }) => precision.toFixed(2)),
  );
  row(
    "tokens, questions",
    sums.map(({ tokens }) => tokens.toFixed(0)),
  );
  row(
    "tokens, small talk",
    sums.map(({ idleTokens }) => idleTokens.toFixed(0)),
  );
  row(
    "answers over budget",
    sums.map(({ overBudget }) => String(overBudget)),
  );
  row(
    "p50 CPU ms",
    sums.map(({ p50Ms }) => p50Ms.toFixed(2)),
  );
  row(
    "p95 CPU ms",
    sums.map(({ p95Ms }) => p95Ms.toFixed(2)),
  );
}

/** @param {Map<string, Result[]>} families */
function summarize(families) {
  const whole = [...families].filter(([family]) => !family.includes(":"));
  const results = whole.flatMap(([, list]) => list);
  const times = results.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    recall: mean(whole.map(([, list]) => mean(list.map(({ recall }) => recall)))),
    precision: mean(results.map(({ precision }) => precision).filter((p) => p !== null)),
    p50Ms: times[Math.floor(times.length * 0.5)] ?? 0,
    p95Ms: times[Math.floor(times.length * 0.95)] ?? 0,
    overBudget: results.filter(({ overBudget }) => overBudget).length,
    tokens: mean(
      whole
        .filter(([family]) => family !== "smalltalk" && family !== "absent")
        .flatMap(([, list]) => list.map(({ tokens }) => tokens)),
    ),
    idleTokens: mean((families.get("smalltalk") ?? []).map(({ tokens }) => tokens)),
  };
}

function checkFloors() {
  const families = table.get("digest") ?? new Map();
  const { recall, precision, overBudget, p95Ms } = summarize(families);
  const silent = [...(families.get("smalltalk") ?? []), ...(families.get("absent") ?? [])];
  const silence = mean(silent.map((result) => result.recall));
  const missed = [
    recall < FLOORS.recall && `macro recall ${recall.toFixed(3)} is below ${FLOORS.recall}`,
    precision < FLOORS.precision &&
      `precision ${precision.toFixed(2)} is below ${FLOORS.precision}`,
    silence < FLOORS.silence && `silence ${silence.toFixed(2)} is below ${FLOORS.silence}`,
    overBudget > 0 && `${overBudget} answers went over the budget`,
    p95Ms > FLOORS.p95Ms && `p95 ${p95Ms.toFixed(0)} ms is above ${FLOORS.p95Ms} ms`,
  ].filter((reason) => reason !== false);
  for (const reason of missed) console.error(`missed: ${reason}`);
  if (missed.length > 0) process.exitCode = 1;
  else console.log("\nevery floor is held");
}

/** @param {readonly number[]} list */
function mean(list) {
  return list.reduce((sum, value) => sum + value, 0) / Math.max(1, list.length);
}
