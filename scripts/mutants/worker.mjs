// @ts-check
/** Loads one mutant after another and says what of the contract each breaks first. */
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

const SEED = 20_261_130;
/** How many calls the mutants have got so far: who waits for a verdict sees that it is on its way. */
const calls = new Int32Array(workerData.calls);

parentPort?.on("message", (/** @type {string} */ directory) => {
  void judge(directory).then((verdict) => parentPort?.postMessage(verdict));
});

/** @param {string} directory @returns {Promise<string | null>} */
async function judge(directory) {
  /** @param {string} path */
  const load = (path) => import(`${pathToFileURL(directory).href}/${path}`);
  try {
    const surface = counted({
      ...(await load("src/context/markers.js")),
      ...(await load("src/context/turn.js")),
      ...(await load("src/tui/tui-formatters.js")),
      ...(await load("src/gateway/voice-steering.js")),
      ...(await load("src/auto-reply/reply/session-updates.js")),
      ...(await load("src/auto-reply/reply/system-events-memory.js")),
    });
    const { firstBreach } = await load("test/contract/contract-suite.js");
    return (
      firstBreach(surface, { runs: 30, seed: SEED }) ??
      firstBreach(surface, { runs: 200, seed: SEED + 1 })
    );
  } catch (thrown) {
    return `does not load: ${String(thrown)}`;
  }
}

/** @param {Record<string, unknown>} surface */
function counted(surface) {
  const each = Object.entries(surface).map(([name, value]) => {
    if (typeof value !== "function") return [name, value];
    /** @param {unknown[]} values */
    const call = (...values) => {
      Atomics.add(calls, 0, 1);
      return value(...values);
    };
    return [name, call];
  });
  return Object.fromEntries(each);
}
