// @ts-check
/**
 * Changes the grammar of injected context in every small way there is, and holds each changed program against
 * the contract's examples and laws. A change that none of them notices is a hole in the tests.
 *
 *     node scripts/mutants.mjs              all mutants; fails when one survives
 *     node scripts/mutants.mjs --list       what survives, with its line
 *     node scripts/mutants.mjs --share 10   every tenth
 *     node scripts/mutants.mjs --file turn  those of one file
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { transformWithOxc } from "vite";
import { EQUIVALENT } from "./mutants/equivalent.mjs";
import { listMutants } from "./mutants/operators.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
// Below node_modules, so that bare imports of the copies are found.
const workspace = join(root, "node_modules", ".cache", `activityd-mutants-${process.pid}`);

/** What is mutated: the grammar, the turn and the leak stripper. */
const MUTATED = [
  "src/context/markers.ts",
  "src/context/turn.ts",
  "src/gateway/echo-end.ts",
  "src/gateway/voice-steering.ts",
];
/** What stands around it, as it is. */
const KEPT = [
  "src/auto-reply/reply/session-updates.ts",
  "src/auto-reply/reply/system-events-memory.ts",
  "src/auto-reply/reply/system-events.ts",
  "src/context/block-lines.ts",
  "src/context/plain-text.ts",
  "src/errors.ts",
  "src/tui/tui-formatters.ts",
  "test/contract/contract-suite.ts",
  "test/helpers/arbitraries.ts",
];
/** How many are judged at a time. */
const LANES = Math.max(1, Math.min(2, availableParallelism()));
/**
 * A mutant that loops for ever is dead: one call of it takes more processor time than all calls of a sound one do. Time that
 * merely passes says nothing on a busy machine.
 */
const STUCK_CPU_MS = 2000;
const LOOK_EVERY_MS = 100;

const { values } = parseArgs({
  options: {
    list: { type: "boolean", default: false },
    share: { type: "string", default: "1" },
    file: { type: "string", default: "" },
  },
});
const share = Number(values.share);

/** @type {Map<string, string>} path of a source to its JavaScript */
const compiled = new Map();

try {
  for (const path of [...MUTATED, ...KEPT]) compiled.set(path, await compile(path, read(path)));
  const mutants = await compileMutants();
  const chosen = mutants.filter((_, index) => index % share === 0);
  process.exitCode = tell(chosen, await runAll(chosen));
} finally {
  rmSync(workspace, { recursive: true, force: true });
}

/**
 * @typedef {{ file: string, line: number, from: string, to: string, code: string, js: string, id: number }} Mutant
 */

/** Every mutant that is another program: not one that does not compile, nor one that only changes a type. */
async function compileMutants() {
  /** @type {Mutant[]} */
  const mutants = [];
  for (const file of MUTATED.filter((each) => each.includes(values.file))) {
    const source = read(file);
    for (const { start, end, to } of listMutants(source)) {
      const changed = source.slice(0, start) + to + source.slice(end);
      const js = await compile(file, changed).catch(() => null);
      if (js === null || js === compiled.get(file)) continue;
      const line = source.slice(0, start).split("\n").length;
      const code = (source.split("\n")[line - 1] ?? "").trim();
      mutants.push({
        file,
        line,
        from: source.slice(start, end),
        to,
        code,
        js,
        id: mutants.length,
      });
    }
  }
  return mutants;
}

/**
 * @param {Mutant[]} mutants
 * @returns {Promise<Map<number, string | null>>} what each mutant breaks, null when nothing
 */
async function runAll(mutants) {
  const verdicts = new Map();
  const queue = [...mutants];
  await Promise.all(Array.from({ length: LANES }, () => runLane(queue, verdicts)));
  return verdicts;
}

/**
 * @param {Mutant[]} queue
 * @param {Map<number, string | null>} verdicts
 */
async function runLane(queue, verdicts) {
  const calls = new Int32Array(new SharedArrayBuffer(4));
  let worker = startWorker(calls);
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const directory = writeTree(mutant);
    const verdict = await judge(worker, directory, calls);
    if (verdict === "timed out") {
      await worker.terminate();
      worker = startWorker(calls);
    }
    verdicts.set(mutant.id, verdict);
    rmSync(directory, { recursive: true, force: true });
  }
  await worker.terminate();
}

/** A whole tree of its own: a module that was loaded once is never loaded again. @param {Mutant} mutant */
function writeTree(mutant) {
  const directory = join(workspace, String(mutant.id));
  for (const [path, js] of compiled) {
    const target = join(directory, path.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, path === mutant.file ? mutant.js : js);
  }
  const cases = "test/contract/contract-cases.jsonl";
  copyFileSync(join(root, cases), join(directory, cases));
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  return directory;
}

/** @param {Int32Array<SharedArrayBuffer>} calls where it counts what it calls */
function startWorker(calls) {
  return new Worker(new URL("mutants/worker.mjs", import.meta.url), {
    workerData: { calls: calls.buffer },
  });
}

/**
 * @param {Worker} worker
 * @param {string} directory
 * @param {Int32Array<SharedArrayBuffer>} calls
 * @returns {Promise<string | null>}
 */
function judge(worker, directory, calls) {
  return new Promise((resolve) => {
    let seen = Atomics.load(calls, 0);
    let sinceMs = cpuMs();
    const look = () => {
      const now = Atomics.load(calls, 0);
      if (now !== seen) sinceMs = cpuMs();
      seen = now;
      // All lanes count together here, and have equal shares.
      if (cpuMs() - sinceMs > STUCK_CPU_MS * LANES) settle("timed out");
    };
    const timer = setInterval(look, LOOK_EVERY_MS);
    /** @param {string | null} verdict */
    const settle = (verdict) => {
      clearInterval(timer);
      worker.off("message", settle);
      worker.off("error", onError);
      resolve(verdict);
    };
    // Out of memory, for one: the worker is gone, and the next mutant needs another.
    const onError = () => settle("timed out");
    worker.on("message", settle);
    worker.on("error", onError);
    worker.postMessage(directory);
  });
}

/** Of all threads. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * @param {Mutant[]} mutants
 * @param {Map<number, string | null>} verdicts
 */
function tell(mutants, verdicts) {
  const gone = EQUIVALENT.filter(
    ({ file, code, from, to }) =>
      share === 1 &&
      file.includes(values.file) &&
      !mutants.some(
        (each) => each.file === file && each.code === code && each.from === from && each.to === to,
      ),
  );
  const survivors = mutants.filter(({ id }) => verdicts.get(id) === null);
  const isKnown = (/** @type {Mutant} */ mutant) =>
    EQUIVALENT.some(
      ({ file, code, from, to }) =>
        file === mutant.file && code === mutant.code && from === mutant.from && to === mutant.to,
    );
  const unknown = survivors.filter((mutant) => !isKnown(mutant));
  const killed = mutants.length - survivors.length;
  console.log(
    `mutants: ${mutants.length} of the grammar, ${killed} killed, ${survivors.length - unknown.length} equivalent, ${unknown.length} survived`,
  );
  for (const { file, line, from, to, code } of unknown) {
    console.log(`  ${file}:${line}: ${JSON.stringify(from)} -> ${JSON.stringify(to)} in  ${code}`);
  }
  const stale = mutants.filter((mutant) => isKnown(mutant) && verdicts.get(mutant.id) !== null);
  for (const { file, line, from, to } of stale) {
    console.log(`  ${file}:${line}: ${from} -> ${to} is called equivalent, and was killed`);
  }
  for (const { file, code } of gone) {
    console.log(`  ${file}: no mutant any more, but called equivalent: ${code}`);
  }
  if (values.list)
    for (const { id, line, from, to } of mutants)
      console.log(line, from, "->", to, "|", verdicts.get(id));
  return unknown.length + stale.length + gone.length === 0 ? 0 : 1;
}

/** @param {string} path @param {string} source */
async function compile(path, source) {
  const { code } = await transformWithOxc(source, join(root, path), { sourcemap: false });
  return code.replaceAll(/(from\s*"\.[^"]*)\.ts"/g, '$1.js"');
}

/** @param {string} path */
function read(path) {
  return readFileSync(join(root, path), "utf8");
}
