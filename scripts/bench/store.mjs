// @ts-check
/**
 * What ten years in the store cost. Questions are put to a record of 1,000 events and to one of N in turn,
 * call by call in one run, and the ratio of the medians is told; the records are made up, see
 * `generate-store.mjs`.
 *
 * Usage: scripts/bench/store [N]        (1,000,000 unless given)
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { renderContextBlock } from "../../dist/capture/context-block.js";
import { createElsewhere } from "../../dist/capture/elsewhere.js";
import { readSnapshot } from "../../dist/capture/snapshot.js";
import { createDevices } from "../../dist/store/devices.js";
import { openReadings } from "../../dist/store/readings.js";
import { END_US, eventOfAge, generateStore, openBenchStore, word } from "./generate-store.mjs";
import { median } from "./paired.mjs";

const SMALL = 1000;
const N = Number((process.argv[2] ?? "1000000").replaceAll("_", ""));
if (!Number.isSafeInteger(N) || N < SMALL) {
  console.error(`store: "${process.argv[2]}" is no number of events of at least ${SMALL}.`);
  process.exit(2);
}
const home = mkdtempSync(join(process.env["ACTIVITYD_BENCH_DIR"] ?? tmpdir(), "activityd-bench-"));
const DAY_TOTALS = `SELECT app, sum(active_us) AS us FROM day_total JOIN document ON document.id = document_id
  WHERE local_day = 20261127 GROUP BY app ORDER BY us DESC`;
const DAY_SCAN = `SELECT app, sum(duration_us) AS us FROM event JOIN label ON label.id = label_id
  JOIN document ON document.id = label.document_id
  WHERE event.start_us >= ? AND event.start_us < ? AND label_id & 15 = 0 GROUP BY app ORDER BY us DESC`;
/** @typedef {ReturnType<typeof openBenchStore>} Store */
/** @type {WeakMap<Store, ReturnType<Store["database"]["prepare"]>>} */
const prepared = new WeakMap();
/** @type {WeakMap<Store, ReturnType<typeof createElsewhere>>} */
const elsewhereOf = new WeakMap();

try {
  await measure();
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function measure() {
  const began = Date.now();
  generateStore(join(home, "small"), SMALL);
  generateStore(join(home, "large"), N, (done) => {
    if (process.stderr.isTTY)
      process.stderr.write(`\rgenerating ${Math.floor((done / N) * 100)} % `);
  });
  console.log(
    `records of ${SMALL} and ${N} events made in ${((Date.now() - began) / 1000).toFixed(1)} s\n`,
  );
  const small = openBenchStore(join(home, "small"));
  const large = openBenchStore(join(home, "large"));
  console.log(`the same question to ${N} events and to ${SMALL}, p50 in µs`);
  questions(small, large);
  console.log("\nother ratios");
  totals(large);
  besideOthers(small);
  records();
  await searches(large);
  console.log("\nsizes");
  sizes(large);
  small.close();
  large.close();
  day();
}

/** @param {Store} store @param {import("../../dist/capture/elsewhere.js").Elsewhere} [given] */
function renderBlock(store, given) {
  const zone = "Europe/Berlin";
  const elsewhere = given ?? elsewhereOf.get(store) ?? createElsewhere(store, []);
  if (given === undefined) elsewhereOf.set(store, elsewhere);
  const snapshot = readSnapshot({
    store,
    elsewhere,
    present: null,
    nowUs: END_US,
    timeZone: zone,
    assistantApps: [],
  });
  return renderContextBlock(snapshot, 170);
}

/**
 * @param {Store} small
 * @param {Store} large
 */
function questions(small, large) {
  const halfHour = 1_800_000_000;
  /** @type {[string, (store: Store) => unknown, number | null][]} */
  const asked = [
    ["real-time block", renderBlock, 1.15],
    ["current window", (store) => store.latest("window", 1), 1.15],
    ["last 30 minutes", (store) => store.between(END_US - halfHour, END_US), 1.15],
    ["active time of a day", (store) => store.activeOn("2026-11-27"), 1.15],
    // Documents of a day lie on as many pages as they were first seen at different times: on four in the small
    // record, on a hundred in the large one. Nothing that answers a turn asks it.
    ["totals of a day by application", dayTotals, null],
  ];
  for (const [name, ask, goal] of asked) {
    report(
      name,
      compare(
        () => ask(small),
        () => ask(large),
      ),
      goal,
    );
  }
}

/** @param {Store} store */
function dayTotals(store) {
  const statement = prepared.get(store) ?? store.database.prepare(DAY_TOTALS);
  prepared.set(store, statement);
  return statement.all();
}

/** @param {Store} store */
function totals(store) {
  const scan = store.database.prepare(DAY_SCAN);
  const from = END_US - 64_800_000_000;
  const scanned = () => scan.all(from, END_US);
  const kept = compare(scanned, () => store.activeOn("2026-11-27"));
  report("active time of a day / scan of its events", kept, 0.05);
  report(
    "totals by application / scan of its events",
    compare(scanned, () => dayTotals(store)),
    null,
  );
}

/** What other devices add to the block, and what looking for them costs where there are none. @param {Store} store */
function besideOthers(store) {
  const nobody = { read: () => [] };
  const look = () =>
    compare(
      () => renderBlock(store, nobody),
      () => renderBlock(store),
    );
  report("block with a look for other devices / without", look(), 1.05);
  const devices = createDevices(store.database);
  for (const name of ["lap", "phone"]) {
    const { key } = devices.ensure(name, name);
    devices.update(key, { offsetUs: 0, sentUs: END_US, receivedUs: END_US });
    const windows = Array.from({ length: 1000 }, (_, n) => {
      const { facts, span } = eventOfAge(1000 - n);
      return { facts, ...span, isOpen: false };
    });
    store.remote().put(key, 1, windows);
  }
  report("block that tells of two other devices / of none", look(), null);
}

/** Begins and ends an event, against one insert of the same numbers without any of the rest. */
function records() {
  const store = openBenchStore(join(home, "written"));
  const bare = new Database(join(home, "bare.db"));
  bare.pragma("journal_mode = WAL");
  bare.pragma("synchronous = NORMAL");
  bare.exec(
    "CREATE TABLE event(start_us INTEGER PRIMARY KEY, duration_us INTEGER, label_id INTEGER, zone_id INTEGER)",
  );
  const insert = bare.prepare("INSERT INTO event VALUES(?, ?, ?, ?)");
  let bareStart = END_US;
  let age = 100_000;
  let id = 0;
  const oneInsert = () => insert.run((bareStart += 1_000_000), 5_000_000, 17, 0);
  const begin = () => {
    const { facts, span } = eventOfAge((age -= 1));
    id = store.begin(facts, { ...span, endUs: span.startUs });
  };
  report("begin() / bare insert", compare(oneInsert, begin, 3), 2);
  let endUs = id;
  const setEnd = () => store.setEnd(id, (endUs += 1000));
  report("setEnd() / bare insert", compare(oneInsert, setEnd, 3), 2);
  bare.close();
  store.close();
}

/** @param {Store} store */
async function searches(store) {
  const search = openReadings(store.database.path);
  // Every hundredth rank of the vocabulary, so frequent and rare words alike, one and two at a time.
  const words = Array.from({ length: 300 }, (_, n) =>
    n % 3 === 2 ? `${word(n)} ${word((n * 7) % 500)}` : word((n * n) % 30_000),
  );
  await timeSearches(search, "search, 280 questions", words);
  // What somebody types on the way to a word, and words of which no title has all.
  const harder = Array.from({ length: 300 }, (_, n) => {
    const begun = word(400 + n * 97).slice(0, 1 + (n % 4));
    if (n % 3 === 0) return begun;
    return n % 3 === 1
      ? `${word(n)} ${begun}`
      : `${word(n)} ${word(n + 1)} ${word(n + 2)} ${begun}`;
  });
  await timeSearches(search, "search by beginnings and several words", harder);
  /** @type {number[]} */
  const alone = [];
  /** @type {number[]} */
  const during = [];
  for (let round = 0; round < 40; round += 1) {
    for (let n = 0; n < 50; n += 1) alone.push(timeUs(() => renderBlock(store)));
    const running = search.search({ q: word(round % 5) });
    const state = { ended: false };
    void running.then(() => (state.ended = true));
    while (!state.ended) {
      during.push(timeUs(() => renderBlock(store)));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  search.close();
  const ratio = quantile(during, 0.99) / quantile(alone, 0.99);
  const told = `${quantile(during, 0.99).toFixed(0)} / ${quantile(alone, 0.99).toFixed(0)} µs = ${ratio.toFixed(2)}`;
  console.log(
    `${"block p99 during a search / without".padEnd(44)} ${told}${verdict(ratio, 1.5)} (${during.length} blocks during)`,
  );
}

/**
 * @param {ReturnType<typeof openReadings>} search
 * @param {string} name
 * @param {readonly string[]} questions The first twenty warm up: the thread, and the pages of the file.
 */
async function timeSearches(search, name, questions) {
  const times = [];
  for (const [n, q] of questions.entries()) {
    const start = process.hrtime.bigint();
    await search.search({ q });
    if (n >= 20) times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  console.log(
    `${name.padEnd(44)} p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms${verdict(p99, 25)}`,
  );
}

/** @param {Store} store */
function sizes(store) {
  const rows = store.database
    .prepare("SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC")
    .all();
  /** @param {RegExp} pattern */
  const bytesOf = (pattern) =>
    rows
      .filter(({ name }) => pattern.test(String(name)))
      .reduce((sum, { bytes }) => sum + Number(bytes), 0);
  const count = (/** @type {string} */ table) =>
    Number(store.database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
  const events = bytesOf(/^event/) / N;
  const derived = bytesOf(/^(visit|day|hour)/) / N;
  const documents = count("document");
  const text = bytesOf(/^(document|label|sqlite_autoindex_document)/) / documents;
  console.log(
    `${"event rows and their indexes".padEnd(44)} ${events.toFixed(1)} B per event${verdict(events, 25)}`,
  );
  console.log(
    `${"visits, day and hour totals".padEnd(44)} ${derived.toFixed(1)} B per event (${count("visit")} visits)`,
  );
  console.log(
    `${"titles, labels and the search index".padEnd(44)} ${text.toFixed(0)} B for each of ${documents} distinct documents`,
  );
}

/** What a day of real use writes: its events, a pulse each five seconds for eight hours, and checkpoints as they come. */
function day() {
  const store = openBenchStore(join(home, "day"));
  const before = writtenBytes();
  for (let age = 1000; age > 0; age -= 1) {
    const { facts, span } = eventOfAge(age);
    const id = store.begin(facts, { ...span, endUs: span.startUs });
    for (let second = 5; second < 29; second += 5) {
      store.pulse(span.startUs + second * 1e6, [id]);
      // As the sampler does.
      if (second % 15 === 0) store.setEnd(id, span.startUs + second * 1e6);
    }
    store.setEnd(id, span.endUs);
  }
  store.close();
  const megabytes = (writtenBytes() - before) / 1e6;
  console.log(
    `${"written on a day of 1,000 events".padEnd(44)} ${megabytes.toFixed(1)} MB${verdict(megabytes, 50)}`,
  );
}

/** Bytes that this process handed to write(), as Linux counts them. */
function writtenBytes() {
  return Number(/wchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? Number.NaN);
}

/**
 * Calls `a` and `b` in turn, each call timed; medians of rounds and their ratios.
 *
 * @param {() => unknown} a
 * @param {() => unknown} b
 */
function compare(a, b, rounds = 9, perRound = 400) {
  const ratios = [];
  const as = [];
  const bs = [];
  for (let round = 0; round <= rounds; round += 1) {
    const [aUs, bUs] = [[0], [0]].map((list) => list.slice(1));
    for (let turn = 0; turn < perRound; turn += 1) {
      if (turn % 2 === 0) {
        aUs?.push(timeUs(a));
        bUs?.push(timeUs(b));
      } else {
        bUs?.push(timeUs(b));
        aUs?.push(timeUs(a));
      }
    }
    if (round === 0) continue;
    as.push(median(aUs ?? []));
    bs.push(median(bUs ?? []));
    ratios.push(median(bUs ?? []) / median(aUs ?? []));
  }
  return {
    aUs: median(as),
    bUs: median(bs),
    ratio: median(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
  };
}

/**
 * @param {string} name
 * @param {ReturnType<typeof compare>} result
 * @param {number | null} goal
 */
function report(name, { aUs, bUs, ratio, lowest, highest }, goal) {
  const spread = `(${lowest.toFixed(3)}–${highest.toFixed(3)})`;
  const told = `${bUs.toFixed(1)} / ${aUs.toFixed(1)} = ${ratio.toFixed(3)} ${spread}`;
  console.log(`${name.padEnd(44)} ${told}${goal === null ? "" : verdict(ratio, goal)}`);
}

/**
 * @param {number} value
 * @param {number} goal
 */
function verdict(value, goal) {
  return value <= goal ? `  ok, at most ${goal}` : `  MISSED, at most ${goal}`;
}

/** @param {() => unknown} work */
function timeUs(work) {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1000;
}

/**
 * @param {number[]} values
 * @param {number} share
 */
function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}
