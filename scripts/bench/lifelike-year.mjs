// @ts-check
/**
 * Fills a data folder with a made-up year of somebody's work, for what is looked at rather than counted: days that
 * begin and end at their own times, work in turns on a few projects, breaks, calls, music, private windows, holes of
 * every kind. The same number and end give the same record. Titles that try to break out stand in an hour of the
 * last full day.
 */
import { openEventStore } from "../../dist/store/events.js";
import { silentLog } from "./generate-store.mjs";

const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;
const HOUR_US = 60 * MINUTE_US;
const DAY_US = 24 * HOUR_US;
const DAYS = 365;

/** Titles that strangers may write, and what a page must show as text. */
export const HOSTILE_TITLES = [
  `<img src=x onerror="document.title='broken out'"><script>document.title="broken out"</script>`,
  "\u202etxt.exe\u2066 مرحبا بالعالم \u2067שלום",
  "👩‍👩‍👧‍👦 family ".repeat(40),
  `${"A title of ten thousand letters ".repeat(313)}.`,
  "'; DROP TABLE event; -- {{constructor}} ${alert(1)} &lt;b&gt;",
  `Z${"\u0301\u0489".repeat(300)}algo`,
];

/** @typedef {{ app: string, titles: readonly string[], places?: readonly string[], files?: readonly string[], project?: string }} Work */

/** @type {readonly { readonly weight: number, readonly works: readonly Work[] }[]} */
const PROJECTS = [
  {
    weight: 5,
    works: [
      {
        app: "Code",
        project: "shop-front",
        titles: ["cart.ts", "checkout.test.ts", "README.md", "api.ts", "styles.css"].map(
          (file) => `${file} - shop-front - Visual Studio Code`,
        ),
        files: [
          "src/cart.ts",
          "test/checkout.test.ts",
          "README.md",
          "src/api.ts",
          "src/styles.css",
        ],
      },
      {
        app: "firefox",
        titles: [
          "Pull request #482: round prices once — Mozilla Firefox",
          "Intl.NumberFormat - JavaScript | MDN — Mozilla Firefox",
          "localhost:5173 — Mozilla Firefox",
        ],
        places: [
          "github.com/meadow/shop-front/pull/482",
          "developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/Intl/NumberFormat",
          "localhost:5173",
        ],
      },
      { app: "kitty", titles: ["npm test", "~/code/shop-front", "git rebase -i main"] },
    ],
  },
  {
    weight: 3,
    works: [
      {
        app: "Code",
        project: "tide-tables",
        titles: ["harmonics.py", "test_harmonics.py", "pyproject.toml"].map(
          (file) => `${file} - tide-tables - Visual Studio Code`,
        ),
        files: ["tide/harmonics.py", "tests/test_harmonics.py", "pyproject.toml"],
      },
      {
        app: "firefox",
        titles: [
          "Harmonic analysis of tides - Wikipedia — Mozilla Firefox",
          "numpy.fft — NumPy v2.3 Manual — Mozilla Firefox",
        ],
        places: [
          "en.wikipedia.org/wiki/Theory_of_tides",
          "numpy.org/doc/stable/reference/routines.fft.html",
        ],
      },
      { app: "kitty", titles: ["pytest -q", "~/code/tide-tables"] },
    ],
  },
  {
    weight: 2,
    works: [
      {
        app: "libreoffice-writer",
        titles: [
          "Quarterly letter.odt — LibreOffice Writer",
          "Offer Hansen.odt — LibreOffice Writer",
        ],
      },
      { app: "libreoffice-calc", titles: ["Budget 2026.ods — LibreOffice Calc"] },
      {
        app: "thunderbird",
        titles: ["Inbox — ada@example.org — Thunderbird", "Re: delivery dates — Thunderbird"],
      },
    ],
  },
  {
    weight: 2,
    works: [
      {
        app: "Slack",
        titles: ["#design (Channel) - Meadow - Slack", "Ben Okafor (DM) - Meadow - Slack"],
      },
      { app: "zoom", titles: ["Weekly planning", "Zoom Meeting"] },
      {
        app: "firefox",
        titles: ["Sprint 41 — board — Mozilla Firefox", "Calendar — week 48 — Mozilla Firefox"],
        places: ["board.example.org/sprint/41", "calendar.example.org/week"],
      },
    ],
  },
  {
    weight: 1,
    works: [
      {
        app: "firefox",
        titles: [
          "Bicycle routes along the coast — Mozilla Firefox",
          "Bread with caraway — Mozilla Firefox",
        ],
        places: ["routes.example.net/coast", "recipes.example.net/caraway"],
      },
      { app: "org.gnome.Nautilus", titles: ["Downloads", "Pictures"] },
    ],
  },
];

const SONGS = [
  ["So What", "Miles Davis"],
  ["Gymnopédie No. 1", "Erik Satie"],
  ["Avril 14th", "Aphex Twin"],
  ["Clair de lune", "Claude Debussy"],
];

/**
 * @param {string} directory
 * @param {{ endUs: number, timeZone: string, events?: number }} options `endUs`: the present of the made-up owner
 */
export function writeLifelikeYear(directory, { endUs, timeZone, events = 250_000 }) {
  const clock = { nowUs: () => endUs, monotonicUs: () => 0, timeZone: () => timeZone };
  const store = openEventStore({ directory, clock, log: silentLog });
  const offsetOf = createOffsets(timeZone);
  const perDay = weightsOfDays(endUs);
  const sum = perDay.reduce((total, weight) => total + weight, 0);
  let written = 0;
  for (let index = 0; index < DAYS; index += 1) {
    const age = DAYS - 1 - index;
    const startUs = dayStart(endUs - age * DAY_US, offsetOf);
    const due = Math.round((events * perDay.slice(0, index + 1).reduce((a, b) => a + b, 0)) / sum);
    const count = due - written;
    const options = { startUs, age, isLastFull: age === 1, isFree: (perDay[index] ?? 1) < 0.5 };
    // How many events a pace gives is seen when a day was made: the second time it is the right one.
    const paceUs = (9 * HOUR_US) / Math.max(1, count);
    const day = dayOf({
      ...options,
      paceUs: (paceUs * dayOf({ ...options, paceUs }).length) / count,
    });
    store.database.transaction(() => {
      for (const { facts, from, to } of day) {
        if (from >= endUs) continue;
        store.begin(facts, {
          startUs: from,
          endUs: Math.min(to, endUs),
          utcOffsetMinutes: offsetOf(from) / MINUTE_US,
          timeZone,
        });
      }
    });
    written = due;
  }
  store.settle();
  store.database.checkpoint("truncate");
  store.close();
}

/** How busy each of the days is, oldest first. @param {number} endUs */
function weightsOfDays(endUs) {
  return Array.from({ length: DAYS }, (_, index) => {
    const weekday = new Date((endUs - (DAYS - 1 - index) * DAY_US) / 1000).getUTCDay();
    // Yesterday is always a day of work, whatever day today is: it is what is looked at first.
    const isFree = (weekday === 0 || weekday === 6) && index !== DAYS - 2;
    return (isFree ? 0.12 : 1) * (0.8 + (mix(index + 5) % 40) / 100);
  });
}

/**
 * @param {{ startUs: number, age: number, paceUs: number, isFree: boolean, isLastFull: boolean }} day `paceUs`: how long a
 *   window stays in front, on average
 * @returns {{ facts: any, from: number, to: number }[]} facts of events; the brand of their texts is made by the
 *   privacy gate alone, which these pass by
 */
function dayOf({ startUs, age, paceUs, isFree, isLastFull }) {
  const random = createRandom(age + 1);
  /** @type {{ facts: any, from: number, to: number }[]} */
  const events = [];
  const beginUs = startUs + (isFree ? 10.5 : 8.2) * HOUR_US + random(50) * MINUTE_US;
  const lengthUs = (isFree ? 2.5 : 8.9) * HOUR_US + random(50) * MINUTE_US;
  const lunchUs = startUs + 12.3 * HOUR_US + random(30) * MINUTE_US;
  let atUs = beginUs;
  let works = pickProject(random);
  let untilUs = atUs + (20 + random(40)) * MINUTE_US;
  let hadLunch = isFree;
  while (atUs < beginUs + lengthUs) {
    if (!hadLunch && atUs > lunchUs) {
      hadLunch = true;
      const backUs = atUs + (35 + random(25)) * MINUTE_US;
      events.push({ facts: { kind: "lock" }, from: atUs, to: backUs });
      atUs = backUs;
    }
    if (atUs > untilUs) {
      works = pickProject(random);
      untilUs = atUs + (15 + random(45)) * MINUTE_US;
      atUs = interrupt(events, random, atUs);
    }
    const work = works[random(works.length)] ?? { app: "kitty", titles: ["~"] };
    const pick = Math.min(random(work.titles.length), random(work.titles.length));
    const toUs = atUs + Math.round(paceUs * (0.15 + (random(1000) / 1000) ** 2 * 2.6));
    pushWork(events, work, pick, atUs, toUs);
    if (random(60) === 0) pushSong(events, random, atUs);
    atUs = toUs + (random(8) === 0 ? random(20) * SECOND_US : 0);
  }
  if (isLastFull) pushHostile(events, startUs + 14 * HOUR_US);
  events.push({
    facts: { kind: "gap", reason: "not-running" },
    from: atUs,
    to: startUs + DAY_US + 8 * HOUR_US,
  });
  return events.toSorted((a, b) => a.from - b.from);
}

/** @param {(below: number) => number} random @returns {readonly Work[]} */
function pickProject(random) {
  let dice = random(PROJECTS.reduce((sum, { weight }) => sum + weight, 0));
  for (const { weight, works } of PROJECTS) {
    if (dice < weight) return works;
    dice -= weight;
  }
  return [];
}

/** @param {{ facts: any, from: number, to: number }[]} events @param {Work} work @param {number} pick @param {number} from @param {number} to */
function pushWork(events, work, pick, from, to) {
  const { app, project } = work;
  const title = work.titles[pick] ?? null;
  const place = work.places?.[pick] ?? null;
  events.push({ facts: { kind: "window", app, title, place }, from, to });
  const file = work.files?.[pick];
  if (file !== undefined) {
    const facts = { kind: "editor", app, file, project, branch: "main", language: null };
    events.push({ facts, from, to });
  }
  if (place !== null) {
    const bare = title?.replace(" — Mozilla Firefox", "") ?? null;
    events.push({ facts: { kind: "tab", app, title: bare, place, audible: false }, from, to });
  }
}

/** A break, or a hole in the record, between two works. @param {{ facts: any, from: number, to: number }[]} events @param {(below: number) => number} random @param {number} atUs */
function interrupt(events, random, atUs) {
  const dice = random(40);
  const minutes = (/** @type {number} */ least) => (least + random(12)) * MINUTE_US;
  /** @param {any} facts @param {number} lengthUs */
  const push = (facts, lengthUs) => {
    events.push({ facts, from: atUs, to: atUs + lengthUs });
    return atUs + lengthUs;
  };
  if (dice < 14) return push({ kind: "idle", state: "away" }, minutes(4));
  if (dice < 17) return push({ kind: "idle", state: "passive" }, minutes(6));
  if (dice < 20) return push({ kind: "gap", reason: "filtered" }, minutes(3));
  if (dice < 21) return push({ kind: "gap", reason: "paused" }, minutes(15));
  if (dice < 22) return push({ kind: "gap", reason: "source-lost" }, minutes(1));
  if (dice < 23) return push({ kind: "gap", reason: "stalled" }, minutes(2));
  return atUs;
}

/** @param {{ facts: any, from: number, to: number }[]} events @param {(below: number) => number} random @param {number} from */
function pushSong(events, random, from) {
  const [title, artist] = SONGS[random(SONGS.length)] ?? [];
  const facts = { kind: "media", player: "Spotify", title, artist, playing: true };
  events.push({ facts, from, to: from + (3 + random(5)) * MINUTE_US });
}

/** @param {{ facts: any, from: number, to: number }[]} events @param {number} startUs */
function pushHostile(events, startUs) {
  const endUs = startUs + HOUR_US;
  const rest = events.filter(({ from, to }) => to <= startUs || from >= endUs);
  events.splice(0, events.length, ...rest);
  HOSTILE_TITLES.forEach((title, index) => {
    const from = startUs + (index * HOUR_US) / HOSTILE_TITLES.length;
    const to = startUs + ((index + 1) * HOUR_US) / HOSTILE_TITLES.length;
    const place = `evil.example/${index}`;
    events.push({ facts: { kind: "window", app: "firefox", title, place }, from, to });
    events.push({ facts: { kind: "tab", app: "firefox", title, place, audible: true }, from, to });
    const song = { kind: "media", player: "Spotify", title, artist: title, playing: true };
    events.push({ facts: song, from, to });
  });
}

/** @param {number} atUs @param {(atUs: number) => number} offsetOf */
function dayStart(atUs, offsetOf) {
  const midnight = Math.floor((atUs + offsetOf(atUs)) / DAY_US) * DAY_US;
  return midnight - offsetOf(midnight - offsetOf(midnight));
}

/** Local time minus UTC, by the hour. @param {string} timeZone @returns {(atUs: number) => number} */
function createOffsets(timeZone) {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
  });
  /** @type {Map<number, number>} */
  const known = new Map();
  return (atUs) => {
    const hour = Math.floor(atUs / HOUR_US);
    const before = known.get(hour);
    if (before !== undefined) return before;
    /** @type {Record<string, number>} */
    const part = {};
    for (const { type, value } of format.formatToParts((hour * HOUR_US) / 1000)) {
      part[type] = Number(value);
    }
    const { year = 1970, month = 1, day = 1, hour: local = 0 } = part;
    const offset = Date.UTC(year, month - 1, day, local) * 1000 - hour * HOUR_US;
    known.set(hour, offset);
    return offset;
  };
}

/** Whole numbers below a bound, without a pattern, the same for the same seed. @param {number} seed */
function createRandom(seed) {
  let count = 0;
  return (/** @type {number} */ below) => {
    count += 1;
    return mix(seed * 100_003 + count) % Math.max(1, Math.floor(below));
  };
}

/** @param {number} value */
function mix(value) {
  let hash = (value ^ 0x9e3779b9) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) >>> 0;
  return (hash ^ (hash >>> 16)) >>> 0;
}
