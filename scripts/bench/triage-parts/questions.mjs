// @ts-check
/** Questions about a world, each with the facts that a right answer tells. */
import { createRandom } from "./random.mjs";
import { TIMES } from "./times.mjs";

/**
 * @typedef {{ title: string | null, fromUs?: number, toUs?: number, durationUs?: number }} Fact
 *   `title`: must stand in the line; `fromUs`–`toUs`: the line's time must lie in it; `durationUs`: a duration in the line.
 * @typedef {{ family: string, wording: "exact" | "inflected" | "other" | null, turn: string, facts: Fact[],
 *   related: string[], window: [number, number] | null }} Question
 *   `related` and `window`: what a line may also be about without being noise.
 */

const MINUTE_US = 60_000_000;
const WORDINGS = /** @type {const} */ (["exact", "inflected", "other"]);

/**
 * @param {import("./world.mjs").World} world
 * @param {number} seed
 * @returns {Question[]}
 */
export function askAbout(world, seed) {
  const { spec, windows, absences, calls, sittings, nowUs } = world;
  const { pick, chance, next } = createRandom(seed * 31 + 7);
  /** @type {Question[]} */
  const questions = [];
  /** @param {string} family @param {string} turn @param {Fact[]} facts @param {Partial<Question>} [rest] */
  const ask = (family, turn, facts, rest = {}) => {
    questions.push({ family, wording: null, turn, facts, related: [], window: null, ...rest });
  };
  /** @param {string} name @param {Record<string, string>} slots */
  const phrase = (name, slots = {}) => {
    let text = pick(spec.phrases[name] ?? []);
    for (const [slot, value] of Object.entries(slots)) text = text.replaceAll(`{${slot}}`, value);
    return text;
  };
  /** The documents that had most of a window, as facts. @param {number} fromUs @param {number} toUs @param {number} count */
  const mostOf = (fromUs, toUs, count) =>
    attention(windows, fromUs, Math.min(toUs, nowUs))
      .filter(({ activeUs }) => activeUs >= 3 * MINUTE_US)
      .slice(0, count)
      .map(({ key, firstUs, lastUs }) => ({ title: key, fromUs: firstUs, toUs: lastUs }));
  /** @param {string} family @param {string} turn @param {number} fromUs @param {number} toUs @param {number} count */
  const askWindow = (family, turn, fromUs, toUs, count) => {
    const facts = mostOf(fromUs, toUs, count);
    if (facts.length > 0) ask(family, turn, facts, { window: [fromUs, toUs] });
  };

  const times = TIMES[spec.language](new Date(nowUs / 1000), next);
  for (let count = 0; count < 7; count += 1) {
    const time = pick(times);
    const isLong = time.toMs - time.fromMs > 26 * 3_600_000;
    askWindow(
      "time",
      phrase("time", { T: time.text }),
      time.fromMs * 1000,
      time.toMs * 1000,
      isLong ? 5 : 3,
    );
  }

  for (const project of spec.projects) {
    const related = [...project.files, ...project.pages.map(([title]) => title), project.slug];
    const last = sittings.findLast(
      (sitting) => sitting.project === project && sitting.endUs < nowUs - 1_000_000,
    );
    const which = Math.floor(next() * 3);
    if (last !== undefined) {
      const main = attention(windows, last.startUs, last.endUs).find(
        ({ project: slug, key }) =>
          slug === project.slug &&
          (project.files.includes(key) || project.pages.some(([title]) => title === key)),
      );
      if (main !== undefined) {
        const turn = phrase("project", { X: project.asked[which] ?? "" });
        const facts = [{ title: main.key, fromUs: main.firstUs, toUs: main.lastUs }];
        ask("project", turn, facts, { wording: WORDINGS[which] ?? null, related });
      }
    }
    if (chance(0.55)) {
      const time = pick(times.filter(({ isWholeDays }) => isWholeDays));
      const spentUs = windows
        .filter((window) => window.project === project.slug)
        .reduce((sum, { startUs, endUs }) => {
          const clipped =
            Math.min(endUs, time.toMs * 1000, nowUs) - Math.max(startUs, time.fromMs * 1000);
          return sum + Math.max(0, clipped);
        }, 0);
      if (spentUs > 5 * MINUTE_US) {
        const turn = phrase("duration", { X: project.asked[0], T: time.text });
        ask("duration", turn, [{ title: null, durationUs: spentUs }], {
          related,
          window: [time.fromMs * 1000, time.toMs * 1000],
        });
      }
    }
    const file = pick(project.files);
    const seen = windows.findLast(({ key }) => key === file);
    if (chance(0.45) && seen !== undefined && seen.endUs < nowUs - 2 * MINUTE_US) {
      const spoken = file.replace(/\.\w+$/, "").replaceAll(/[_-]/g, " ");
      const facts = [{ title: file, fromUs: seen.startUs, toUs: seen.endUs }];
      ask("lastseen", phrase("lastSeen", { X: spoken }), facts, { related: [file] });
    }
  }

  for (const [title, , ...asked] of spec.pages) {
    const seen = windows.findLast(({ key }) => key === title);
    const which = Math.floor(next() * 3);
    if (seen === undefined || chance(0.3)) continue;
    const facts = [{ title, fromUs: seen.startUs, toUs: seen.endUs }];
    const turn = phrase("page", { X: asked[which] ?? "" });
    ask("page", turn, facts, { wording: WORDINGS[which] ?? null, related: [title] });
  }

  for (const person of spec.people) {
    const call = calls.findLast((one) => one.person === person && one.endUs < nowUs - MINUTE_US);
    if (call === undefined) continue;
    const reach = 20 * MINUTE_US;
    if (chance(0.5)) {
      askWindow(
        "anchor",
        phrase("beforeCall", { N: person }),
        call.startUs - reach,
        call.startUs,
        2,
      );
    } else
      askWindow("anchor", phrase("afterCall", { N: person }), call.endUs, call.endUs + reach, 2);
  }
  const midnightUs = new Date(nowUs / 1000).setHours(0, 0, 0, 0) * 1000;
  const lunch = absences.findLast(
    ({ why, startUs, endUs }) => why === "lunch" && startUs > midnightUs && endUs < nowUs,
  );
  if (lunch !== undefined) {
    const reach = 30 * MINUTE_US;
    askWindow("anchor", phrase("beforeLunch"), lunch.startUs - reach, lunch.startUs, 2);
    askWindow("anchor", phrase("afterLunch"), lunch.endUs, lunch.endUs + reach, 2);
  }

  const front = windows.at(-1);
  if (front !== undefined) {
    for (let count = 0; count < 2; count += 1)
      ask("now", phrase("now"), [{ title: front.key }], { related: [front.key] });
  }
  const away = absences.findLast(
    ({ startUs, endUs }) => endUs < nowUs && endUs - startUs >= 4 * MINUTE_US,
  );
  if (away !== undefined && nowUs - away.endUs < 5 * 60 * MINUTE_US) {
    askWindow("resume", phrase("resume"), away.startUs - 15 * MINUTE_US, away.startUs, 1);
  }
  for (let count = 0; count < 5; count += 1) ask("smalltalk", pick(spec.small), []);
  for (let count = 0; count < 2; count += 1)
    ask("absent", phrase("page", { X: pick(spec.absent) }), []);
  return questions;
}

/**
 * Time per document within a span, most first.
 * @param {readonly import("./world.mjs").Window[]} windows @param {number} fromUs @param {number} toUs
 */
export function attention(windows, fromUs, toUs) {
  /** @type {Map<string, { key: string, project: string | null, activeUs: number, firstUs: number, lastUs: number }>} */
  const documents = new Map();
  for (const { key, project, startUs, endUs } of windows) {
    const [from, to] = [Math.max(startUs, fromUs), Math.min(endUs, toUs)];
    if (to <= from) continue;
    const seen = documents.get(key) ?? { key, project, activeUs: 0, firstUs: from, lastUs: to };
    seen.activeUs += to - from;
    seen.lastUs = Math.max(seen.lastUs, to);
    documents.set(key, seen);
  }
  return [...documents.values()].sort((a, b) => b.activeUs - a.activeUs);
}
