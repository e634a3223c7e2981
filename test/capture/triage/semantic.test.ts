import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDigester } from "../../../src/capture/context-digest.ts";
import { openWordVectors } from "../../../src/capture/triage/word-vectors.ts";
import { createMemoryHistory, type RecordedWindow } from "../../helpers/memory-history.ts";
import { createTempHome } from "../../helpers/temp-home.ts";

const MINUTE_US = 60_000_000;
const T0 = Date.parse("2026-11-02T09:00:00Z") * 1000;

/** Pages of everyday matters, each read for some minutes, one a day. */
const TITLES = [
  "Cheap hotels in Rome - Booking.com",
  "How to fix a leaking tap - DIY Doctor",
  "Puppy vaccination schedule | PDSA",
  "Solar panel grants 2026 - Energy Saving Trust",
  "Chocolate brownies in one bowl - Good Food",
  "Violin strings explained - The Strad",
  "Train times Leeds to York - National Rail",
  "Chess openings for beginners - Lichess",
  "Tyre pressure chart - Michelin",
  "History of the Roman aqueducts - Britannica",
  "Sailing courses on the Solent - RYA",
  "Knitting patterns for babies - Ravelry",
  "Mortgage rates today - MoneySavingExpert",
  "Asthma inhaler technique - Asthma UK",
  "Bird feeders that squirrels hate - RSPB",
  "Divorce solicitor fees - Co-op Legal",
  "Garden shed planning permission - Planning Portal",
  "Noise cancelling headphones ranked - RTINGS",
  "Learn Spanish in three months - Fluent",
  "Marathon training plan - Runner's World",
  "Coffee grinder burr sizes - Home Grounds",
  "How volcanoes erupt - National Geographic",
  "Wedding photographer prices - Hitched",
  "Second world war timeline - IWM",
  "Bitcoin price chart - CoinGecko",
  "Tax return deadlines - GOV.UK",
];

function ask(
  turn: string,
  titles: readonly string[] = TITLES,
  minutes = 4,
): ReturnType<ReturnType<typeof createDigester>["render"]> {
  const windows: readonly RecordedWindow[] = titles.map((title, index) => {
    const startUs = T0 + index * 1440 * MINUTE_US;
    const place = `example.org/${index}`;
    return { app: "Firefox", title, place, startUs, endUs: startUs + minutes * MINUTE_US };
  });
  const digester = createDigester({ history: createMemoryHistory(windows), vectors });
  return digester.render({ turn, nowUs: T0 + 30 * 1440 * MINUTE_US, timeZone: "Europe/Berlin" });
}

const vectors = openWordVectors();

describe("topics that share no word with a title", () => {
  it.each([
    ["when did I look at the lung medicine?", "Asthma inhaler technique"],
    ["when did I look at the railway timetable?", "Train times Leeds to York"],
    ["when did I look at the marriage pictures?", "Wedding photographer prices"],
  ])("%j is found by meaning", (turn, title) => {
    const answer = ask(turn);
    expect(answer.source).toBe("semantic");
    expect(answer.block).toContain(title);
  });

  it("are told as not recorded when nothing stands out, or the title was only glanced at", () => {
    for (const turn of [
      "when did I look at kubernetes operators?",
      "when did I look at the plumbing accordion?",
      "when did I read the zoning committee decision?",
    ]) {
      expect(ask(turn)).toMatchObject({ source: "rules" });
      expect(ask(turn).block).toContain("nothing recorded about");
    }
    const glance = ask("when did I look at the railway timetable?", TITLES, 0.5);
    expect(glance.block).toContain("nothing recorded about");
  });

  it("never break the silence of small talk, and never replace what words found", () => {
    expect(ask("what is the capital of Italy?").block).toBeNull();
    expect(ask("find the hotels in Rome page").source).toBe("rules");
  });
});

describe("the table of word vectors", () => {
  it("knows related words by their cosine, and no word of nonsense", () => {
    const likeness = (a: string, b: string): number =>
      vectors.likenessTo(vectors.find(a))[vectors.find(b)] ?? 0;
    expect(likeness("guitar", "violin")).toBeGreaterThan(likeness("guitar", "tax"));
    expect(likeness("train", "railway")).toBeGreaterThan(likeness("train", "onion"));
    expect(vectors.find("xqzvb")).toBe(-1);
    expect(vectors.bytes).toBeLessThan(4_000_000);
  });

  it("is refused when the file is damaged", () => {
    const path = join(createTempHome(), "vectors.bin");
    writeFileSync(path, Buffer.from([1, 0, 0, 0, 2, 0, 0, 0, 9]));
    expect(() => openWordVectors(path)).toThrow(expect.objectContaining({ code: "internal" }));
  });
});
