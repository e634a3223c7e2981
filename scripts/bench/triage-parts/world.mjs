// @ts-check
/**
 * Weeks of device activity of an invented person. A world file says who they are (projects, pages, people, ways of
 * asking); this module lays out their days and keeps the truth, so that every question has a known answer.
 */
import { createRandom } from "./random.mjs";

/**
 * @typedef {{ slug: string, files: string[], pages: [string, string][], asked: [string, string, string] }} ProjectSpec
 * @typedef {{ life: string, language: "en" | "de" | "es" | "fr", projects: ProjectSpec[],
 *   pages: [title: string, place: string, exact: string, inflected: string, other: string][], people: string[],
 *   absent: string[], small: string[], phrases: Record<string, string[]> }} WorldSpec
 * @typedef {{ app: string, title: string, place?: string, startUs: number, endUs: number, project: string | null, key: string }} Window
 * @typedef {{ startUs: number, endUs: number, why: "lunch" | "pause" | "night" }} Absence
 * @typedef {{ startUs: number, endUs: number, person: string }} Call
 * @typedef {{ startUs: number, endUs: number, project: ProjectSpec }} Sitting
 * @typedef {{ spec: WorldSpec, windows: Window[], absences: Absence[], calls: Call[], sittings: Sitting[], nowUs: number }} World
 */

const MINUTE = 60_000;

/**
 * @param {WorldSpec} spec
 * @param {{ seed: number, days?: number, endDay?: [number, number, number], pace?: number }} options `pace`: events per
 *   hour against the usual. `endDay`: year, month (1–12), day on which the last question is asked, in the zone of the process.
 * @returns {World}
 */
export function createWorld(spec, { seed, days = 28, endDay = [2026, 11, 18], pace = 1 }) {
  const random = createRandom(seed);
  const { pick, between, chance } = random;
  /** @type {Window[]} */
  const windows = [];
  /** @type {Absence[]} */
  const absences = [];
  /** @type {Call[]} */
  const calls = [];
  /** @type {Sitting[]} */
  const sittings = [];
  const browser = pick(["Firefox", "Chromium"]);
  const suffix = browser === "Firefox" ? " — Mozilla Firefox" : " - Chromium";
  const decoys = createDecoys(spec, random);
  const lastDay = new Date(endDay[0], endDay[1] - 1, endDay[2] + Math.floor(between(0, 5)));

  /** @param {Omit<Window, "startUs" | "endUs">} what @param {number} from @param {number} to */
  const show = (what, from, to) => {
    if (to - from >= 1000) {
      windows.push({ ...what, startUs: Math.round(from) * 1000, endUs: Math.round(to) * 1000 });
    }
    return Math.max(from, to);
  };
  /** @param {number} from @param {number} to @param {Absence["why"]} why */
  const leave = (from, to, why) => {
    if (to > from)
      absences.push({ startUs: Math.round(from) * 1000, endUs: Math.round(to) * 1000, why });
    return Math.max(from, to);
  };
  /** @param {number} typicalMs */
  const stay = (typicalMs) => random.length(typicalMs) / pace;
  /** @param {string} title @param {string} place @param {string | null} project @param {number} from @param {number} limit @param {number} typicalMs */
  const browse = (title, place, project, from, limit, typicalMs) => {
    const counter = chance(0.15) ? `(${Math.floor(between(1, 9))}) ` : "";
    return show(
      { app: browser, title: counter + title + suffix, place, project, key: title },
      from,
      Math.min(limit, from + stay(typicalMs)),
    );
  };
  /** @param {number} from @param {number} limit */
  const idleAway = (from, limit) => {
    const [title, place] = decoys();
    return browse(title, place, null, from, limit, 45_000);
  };

  /** @param {ProjectSpec} project @param {number} from @param {number} to */
  const work = (project, from, to) => {
    let at = from;
    let file = pick(project.files);
    while (at < to) {
      const dice = random.next();
      if (dice < 0.52) {
        if (chance(0.28)) file = pick(project.files);
        at = show(fileWindow(project, file, chance(0.3)), at, Math.min(to, at + stay(110_000)));
      } else if (dice < 0.64) {
        at = show(folderWindow(project, random), at, Math.min(to, at + stay(30_000)));
      } else if (dice < 0.82) {
        const [title, place] = pick(project.pages);
        at = browse(title, place, project.slug, at, to, 75_000);
      } else if (dice < 0.92) {
        const unread = chance(0.4) ? `(${Math.floor(between(1, 12))}) ` : "";
        const channel = pick(["#team", "#announcements", "#random", `DM: ${pick(spec.people)}`]);
        const title = `${unread}${channel} — Slack`;
        at = show(
          { app: "Slack", title, project: null, key: channel },
          at,
          Math.min(to, at + stay(30_000)),
        );
      } else at = idleAway(at, to);
    }
    sittings.push({ startUs: Math.round(from) * 1000, endUs: Math.round(to) * 1000, project });
    return to;
  };
  /** @param {number} from @param {number} to */
  const relax = (from, to) => {
    let at = from;
    while (at < to) at = idleAway(at, to);
    return at;
  };
  /** @param {number} from @param {number} to */
  const readMail = (from, to) => {
    let at = from;
    while (at < to) {
      const subject = pick(["Inbox", "Re: Thursday", "Fwd: form", "Newsletter"]);
      at = show(
        {
          app: "Thunderbird",
          title: `${subject} - Mozilla Thunderbird`,
          project: null,
          key: subject,
        },
        at,
        Math.min(to, at + stay(50_000)),
      );
    }
    return at;
  };
  /** @param {Call} call */
  const talk = (call) => {
    let at = call.startUs / 1000;
    const end = call.endUs / 1000;
    const title = `Call with ${call.person} — Zoom Meeting`;
    while (at < end) {
      at = show(
        { app: "zoom", title, project: null, key: title },
        at,
        Math.min(end, at + stay(240_000)),
      );
      if (at < end && chance(0.4)) {
        const [page, place] = pick(pick(spec.projects).pages);
        at = browse(page, place, null, at, end, 18_000);
      }
    }
    calls.push(call);
    return end;
  };

  // Each page of interest is read once or twice on some day.
  /** @type {Map<number, number[]>} */
  const reading = new Map();
  for (const page of spec.pages.keys()) {
    for (let visit = chance(0.6) ? 1 : 2; visit > 0; visit -= 1) {
      const back = 1 + Math.floor(random.next() * (Math.min(days, 24) - 1));
      reading.set(back, [...(reading.get(back) ?? []), page]);
    }
  }
  /** @param {number[]} due @param {number} from @param {number} limit */
  const readPage = (due, from, limit) => {
    const page =
      due.length > 0 && from + 2 * MINUTE < limit ? spec.pages[due.pop() ?? 0] : undefined;
    if (page === undefined) return from;
    return browse(page[0], page[1], null, from, Math.min(limit, from + 9 * MINUTE), 140_000);
  };

  const nowHour = between(15.4, 17.3);
  for (let back = days - 1; back >= 0; back -= 1) {
    const midnight = new Date(lastDay.getFullYear(), lastDay.getMonth(), lastDay.getDate() - back);
    /** @param {number} hour */
    const at = (hour) =>
      new Date(
        midnight.getFullYear(),
        midnight.getMonth(),
        midnight.getDate(),
        0,
        hour * 60,
      ).getTime();
    const stop = back === 0 ? at(nowHour) : Infinity;
    const due = [...(reading.get(back) ?? [])];
    const isWeekend = midnight.getDay() % 6 === 0;
    if (isWeekend) {
      const start = at(between(10, 20));
      const end = start + between(40, 90) * MINUTE;
      let time = start;
      while (due.length > 0)
        time = relax(readPage(due, time, end + 60 * MINUTE), time + 12 * MINUTE);
      relax(time, Math.max(end, time + 5 * MINUTE));
      continue;
    }
    let time = readMail(at(between(8.3, 9.5)), at(between(9.55, 9.8)));
    const planned = planCalls(random, spec.people);
    const lunchAt = at(between(12.1, 12.7));
    const end = Math.min(at(between(17.3, 18.6)), stop);
    let hadLunch = false;
    while (time < end) {
      const nextCall = planned[0];
      const callAt = nextCall === undefined ? Infinity : at(nextCall.hour);
      if (nextCall !== undefined && time >= callAt - MINUTE) {
        planned.shift();
        const until = Math.min(end, time + nextCall.minutes * MINUTE);
        time = talk({
          startUs: Math.round(time) * 1000,
          endUs: Math.round(until) * 1000,
          person: nextCall.person,
        });
        continue;
      }
      if (!hadLunch && time >= lunchAt) {
        hadLunch = true;
        time = leave(time, time + between(32, 60) * MINUTE, "lunch");
        continue;
      }
      const limit = Math.min(callAt, hadLunch ? Infinity : lunchAt, end);
      const until = Math.min(limit, time + between(22, 80) * MINUTE);
      if (until - time < 4 * MINUTE) time = readMail(time, Math.max(until, time + MINUTE));
      else if (chance(0.1)) time = relax(time, Math.min(until, time + 11 * MINUTE));
      else {
        const project = pick(spec.projects);
        const middle = due.length > 0 ? time + between(0.3, 0.7) * (until - time) : until;
        time = work(project, time, middle);
        if (middle < until) time = work(project, readPage(due, time, until), until);
      }
      if (chance(0.33) && time < end)
        time = leave(time, Math.min(end, time + between(5, 14) * MINUTE), "pause");
    }
    if (back === 0) break;
    let evening = leave(time, at(20.3), "pause");
    if (due.length > 0 || chance(0.4)) {
      const close = evening + between(35, 100) * MINUTE;
      while (due.length > 0)
        evening = relax(readPage(due, evening, close + 60 * MINUTE), evening + 14 * MINUTE);
      evening = chance(0.3) ? work(pick(spec.projects), evening, close) : relax(evening, close);
    }
    leave(evening, at(24 + 7.5), "night");
  }
  windows.sort((a, b) => a.startUs - b.startUs);
  absences.sort((a, b) => a.startUs - b.startUs);
  calls.sort((a, b) => a.startUs - b.startUs);
  const nowUs = (windows.at(-1)?.endUs ?? 0) + 3_000_000;
  return { spec, windows, absences, calls, sittings, nowUs };
}

const PROGRAMS = /** @type {const} */ ([
  [/\.(xlsx|ods)$/, "LibreOffice Calc", " — LibreOffice Calc"],
  [/\.(docx|odt)$/, "LibreOffice Writer", " — LibreOffice Writer"],
  [/\.pdf$/, "Okular", " — Okular"],
  [/\.dwg$/, "LibreCAD", " - LibreCAD"],
]);

/** @param {ProjectSpec} project @param {string} file @param {boolean} modified */
function fileWindow(project, file, modified) {
  const program = PROGRAMS.find(([ending]) => ending.test(file));
  const mark = modified ? "● " : "";
  const shared = { project: project.slug, key: file };
  if (program !== undefined) return { ...shared, app: program[1], title: file + program[2] };
  return { ...shared, app: "Code", title: `${mark}${file} — ${project.slug} — Visual Studio Code` };
}

/** Where work is started from: a shell for those who have one, else the folder, mostly a nameless one. */
/** @param {ProjectSpec} project @param {import("./random.mjs").Random} random */
function folderWindow(project, { pick }) {
  const shared = { project: project.slug };
  const isOffice = project.files.every((file) => PROGRAMS.some(([ending]) => ending.test(file)));
  if (isOffice) {
    const folder = pick(["Documents", "Downloads", project.slug]);
    return { ...shared, app: "Nautilus", title: `${folder} — Files`, key: folder };
  }
  const command = pick(["make test", "git log", "ls", "top"]);
  const title = `${command} — ~/src/${project.slug}`;
  return { ...shared, app: "Terminal", title, key: title };
}

/** @param {import("./random.mjs").Random} random @param {readonly string[]} people */
function planCalls({ pick, chance }, people) {
  const planned = [];
  for (const hour of chance(0.5)
    ? [pick([10, 10.5, 11])]
    : [pick([9.75, 11]), pick([14, 14.5, 15])]) {
    planned.push({ hour, minutes: pick([15, 30, 30, 60]), person: pick(people) });
  }
  return planned;
}

const SITES = /** @type {const} */ ([
  ["Wikipedia", "wikipedia.org/wiki"],
  ["YouTube", "youtube.com/watch"],
  ["Reddit", "reddit.com/r"],
  ["eBay", "ebay.com/itm"],
  ["Medium", "medium.com"],
]);
const DAILY = /** @type {const} */ ([
  ["YouTube", "youtube.com"],
  ["Hacker News", "news.ycombinator.com"],
  ["Weather forecast", "weather.example"],
  ["World news - live", "news.example/live"],
]);

/**
 * Pages that share one word with what is asked for and are about something else, in the person's own language.
 * @param {WorldSpec} spec @param {import("./random.mjs").Random} random
 */
function createDecoys(spec, { pick, chance, between }) {
  const wanted = spec.pages.flatMap(([, , exact, inflected]) => wordsOf(`${exact} ${inflected}`));
  // A page that is asked for by one word must stay the only one with it, and a topic whose one telling word stands in a
  // decoy would have been looked at.
  const words = [
    ...spec.absent.filter((topic) => wordsOf(topic).length > 2),
    ...spec.pages.map(([title]) => title),
  ]
    .flatMap(wordsOf)
    .filter((word) => !wanted.some((other) => other.slice(0, 4) === word.slice(0, 4)));
  return () => {
    if (chance(0.6)) return pick(DAILY);
    const [site, place] = pick(SITES);
    const frame = pick([
      "10 {W} 2026",
      "{W} (album)",
      "{W} & Co",
      "Vintage {W}",
      "{W} — FAQ",
      "{W} memes",
      "{W}: 1998",
    ]);
    return /** @type {const} */ ([
      `${frame.replace("{W}", pick(words))} - ${site}`,
      `${place}/${Math.floor(between(1, 99_999))}`,
    ]);
  };
}

/** @param {string} text */
function wordsOf(text) {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 3);
}
