// @ts-check
/**
 * Fills a data folder with made-up years of use, through the store's own code. The same count and end give the
 * same record, and a longer record ends in the very events of a shorter one, so that what is asked about the
 * last day differs in nothing but what lies before it.
 *
 * A day has 1,000 events: work on a few documents at a time, to and fro, with idle times, states of the machine
 * and notifications among the windows. There is one distinct title for ten events, from a vocabulary of 30,000
 * words of which a few are frequent, as in any language.
 */
import { openEventStore } from "../../dist/store/events.js";

export const EVENTS_PER_DAY = 1000;
/** Noon on a Friday, in a zone with daylight saving. */
export const END_US = Date.parse("2026-11-27T17:00:00Z") * 1000;
const SECOND_US = 1_000_000;
const DAY_US = 86_400 * SECOND_US;
const EVENTS_PER_SESSION = 40;
const APPS = 60;

export const silentLog = { info: () => {}, warn: () => {}, error: () => {} };
export const benchClock = {
  nowUs: () => END_US,
  monotonicUs: () => Number(process.hrtime.bigint() / 1000n),
  timeZone: () => "Europe/Berlin",
};

/** @param {string} directory */
export function openBenchStore(directory) {
  return openEventStore({ directory, clock: benchClock, log: silentLog });
}

/**
 * @param {string} directory
 * @param {number} count
 * @param {(done: number) => void} [onProgress]
 */
export function generateStore(directory, count, onProgress = () => {}) {
  const store = openBenchStore(directory);
  for (let from = count; from > 0; from -= 5000) {
    store.database.transaction(() => {
      for (let age = from; age > Math.max(from - 5000, 0); age -= 1) {
        const { facts, span } = eventOfAge(age);
        store.begin(facts, span);
      }
    });
    onProgress(count - from);
  }
  store.database.checkpoint("truncate");
  store.close();
}

/**
 * The event that lies `age` events before the end.
 *
 * @param {number} age
 */
export function eventOfAge(age) {
  const day = Math.floor((age - 1) / EVENTS_PER_DAY);
  const inDay = (age - 1) % EVENTS_PER_DAY;
  // A day's events fill eight hours, 28.8 seconds each, and nights are free.
  const startUs = END_US - day * DAY_US - (inDay + 1) * 28_800_000;
  const random = mix(age);
  const lengthUs = 5 * SECOND_US + (random % 23_000) * 1000;
  const span = {
    startUs,
    endUs: startUs + lengthUs,
    utcOffsetMinutes: 60,
    timeZone: "Europe/Berlin",
  };
  return { facts: factsOf(age, random), span };
}

/**
 * @param {number} age
 * @param {number} random
 * @returns {any} facts of an event; the brand of its texts is made by the privacy gate alone, which these pass by
 */
function factsOf(age, random) {
  const dice = random % 100;
  if (dice < 3) return { kind: "idle", state: "away" };
  if (dice < 4) return { kind: "notification", app: "Signal", summary: words(mix(age + 7), 3) };
  if (dice < 6) {
    const batteryPercent = 20 + (random % 80);
    const facts = {
      batteryPercent,
      online: true,
      cpuLoad: null,
      memoryUsed: null,
      displayCount: 2,
    };
    return { kind: "system", power: "ac", ...facts };
  }
  // A session goes to and fro between five of the documents of its weeks; a tenth of all is from any time.
  const session = Math.floor(age / EVENTS_PER_SESSION);
  const pick = mix(session * 8 + (mix(age + 3) % 5));
  const fresh = session * (EVENTS_PER_SESSION / 10);
  const document = pick % 10 === 0 ? pick % 997 : fresh + (pick % 400);
  const app = `Application ${mix(document + 11) % APPS}`;
  return { kind: "window", app, title: words(mix(document + 13), 7), place: null };
}

/**
 * @param {number} seed
 * @param {number} count
 */
function words(seed, count) {
  const chosen = [];
  for (let n = 0; n < count; n += 1) {
    const random = mix(seed + n * 101) / 2 ** 32;
    // Cubed: low numbers are frequent, as the first words of a language are.
    chosen.push(word(Math.floor(random ** 3 * 30_000)));
  }
  return chosen.join(" ");
}

const SYLLABLES = ["ka", "lo", "mi", "ren", "tu", "sa", "vel", "do", "pi", "nor", "ez", "ga", "hu"];

/** @param {number} number */
export function word(number) {
  let text = "";
  for (let rest = number + 13; rest > 0; rest = Math.floor(rest / 13)) text += SYLLABLES[rest % 13];
  return text;
}

/** @param {number} value A number without a pattern for each number: 32 bits. */
function mix(value) {
  let hash = (value ^ 0x9e3779b9) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) >>> 0;
  return (hash ^ (hash >>> 16)) >>> 0;
}
