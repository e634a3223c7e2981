import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTurn } from "../../../src/capture/triage/read-turn.ts";
import { INTENTS, type Intent } from "../../../src/capture/triage/turn/reading.ts";

const NOW_US = Date.parse("2026-11-27T16:12:00+01:00") * 1000;

function read(turn: string) {
  return readTurn(turn, NOW_US, "Europe/Berlin");
}

function best(turn: string): Intent {
  const { intents } = read(turn);
  return INTENTS.reduce((top, intent) => (intents[intent] > intents[top] ? intent : top));
}

describe("what a turn asks for", () => {
  it.each<readonly [Intent, string]>([
    ["window", "what did I work on yesterday afternoon?"],
    ["topic", "payments stuff yesterday"],
    ["topic", "link for the beehive thing?"],
    ["anchor", "thanks that worked, now what was i doing before the call"],
    ["anchor", "lunch before?"],
    ["duration", "how long did I spend on the roof survey this week?"],
    ["lastseen", "when did I last open the roof survey?"],
    ["resume", "where was I before I stepped away?"],
    ["now", "summarise this page for me"],
    ["none", "how long does it take to boil an egg"],
    ["none", "when was the last time Germany won the world cup"],
    ["none", "what was the link between the two wars"],
    ["none", "where was I born"],
    ["none", "who called the election"],
    ["none", "what happened in 1848"],
    ["none", "summarise this text: The committee met on Tuesday and postponed the vote."],
    ["none", "write a haiku about rain"],
    ["none", "good morning!"],
  ])("%s: %s", (intent, turn) => {
    expect(best(turn)).toBe(intent);
  });

  it("a turn without a word asks for nothing", () => {
    for (const turn of ["", "   ", "?!", "…", "👍👍", "\ud800"]) {
      expect(read(turn).intents.none).toBe(1);
    }
  });
});

describe("sides and events of a turn", () => {
  it.each([
    ["what was I doing before the call with Ines?", "before", "call", null],
    ["what did I have open right before Ines called", "before", "call", "start"],
    ["what have I done since I got up", "since", "sleep", "end"],
    ["lunch before?", "before", "lunch", null],
    ["was war vorm mittag?", "before", "lunch", null],
    ["was habe ich vor dem Mittagessen gemacht", "before", "lunch", null],
    ["was hab ich seit dem aufstehen gemacht", "since", "sleep", "end"],
    ["qué hice después de la reunión con Ines", "after", "call", null],
    ["que estaba haciendo antes de comer", "before", "lunch", null],
    ["qu'est-ce que je faisais avant l'appel avec Ines", "before", "call", null],
    ["j'ai fait quoi apres le dejeuner", "after", "lunch", null],
    ["en rentrant de déjeuner j'ai fait quoi", "after", "lunch", null],
    ["de retour de réunion j'ai ouvert quoi", "after", "call", null],
    ["saliendo de la reunión qué abrí", "after", "call", null],
    ["al terminar la junta qué hice", "after", "call", null],
    ["j'ai fait quoi après le repas", "after", "lunch", null],
    ["al colgar con Ines qué abrí", "after", "call", "end"],
    ["antes de platicar con Ines qué hacía", "before", "call", "start"],
    ["avant d'éteindre l'ordi je faisais quoi", "before", "away", "start"],
    ["quand je me suis levé de mon bureau je faisais quoi", "when", "away", "start"],
  ])("%s", (turn, side, kind, edge) => {
    const [anchor] = read(turn).anchors;
    expect([anchor?.side?.side, anchor?.kind, anchor?.edge]).toEqual([side, kind, edge]);
  });

  it("a preposition of a time is no side", () => {
    expect(read("was habe ich vor 20 Minuten gemacht").sides).toEqual([]);
    expect(read("what did I do after 5pm yesterday").sides).toEqual([]);
  });

  it("'when' places an event and does not when it asks", () => {
    expect(read("what was I doing when I stepped away").sides.map(({ side }) => side)).toEqual([
      "when",
    ]);
    expect(read("when did I open the roof survey").sides).toEqual([]);
  });
});

describe("content words of a turn", () => {
  const matters = (turn: string): string[] =>
    read(turn)
      .contentWords.filter(({ generic }) => !generic)
      .map(({ text }) => text);

  it.each([
    ["where did I get to with the roof survey yesterday?", ["roof", "survey"]],
    ["wo war ich gestern bei der Dachvermessung?", ["Dachvermessung"]],
    ["¿dónde me quedé con el presupuesto de la boda ayer por la tarde?", ["presupuesto", "boda"]],
    ["où en étais-je avec le plan du jardin hier soir ?", ["plan", "jardin"]],
    ["jen étais où avec le plan du jardin", ["plan", "jardin"]],
    ["j'arrive plus à remettre la main sur le plan du jardin", ["plan", "jardin"]],
    ["rouvre-moi le plan du jardin stp", ["plan", "jardin"]],
    ["je cherche le plan du jardin que j'ai vu passer", ["plan", "jardin"]],
    ["retomemos el presupuesto de la boda porfa", ["presupuesto", "boda"]],
    ["¿podría localizar el presupuesto que estuve consultando?", ["presupuesto"]],
    ["what was I doing before lunch?", []],
    ["the coffee grinder review", ["coffee", "grinder"]],
  ])("%s", (turn, expected) => {
    expect(matters(turn)).toEqual(expected);
  });

  it("a small word that is misspelt is generic, and a word one letter from it is not", () => {
    expect(matters("wehn did i last opne the roof survey")).toEqual(["roof", "survey"]);
    expect(matters("waht was i lookng at for the bread")).toEqual(["bread"]);
  });

  it("words that name a medium are marked as generic", () => {
    expect(read("find the page about roofs").contentWords).toEqual([
      { text: "find", folded: "find", startIndex: 0, generic: true },
      { text: "page", folded: "page", startIndex: 9, generic: true },
      { text: "roofs", folded: "roofs", startIndex: 20, generic: false },
    ]);
  });
});

describe("greetings", () => {
  it.each([
    "good morning!",
    "guten Abend",
    "buenas tardes",
    "bonne soirée",
    "have a nice weekend",
    "morning!",
    "evening all",
  ])("%s names no time", (turn) => {
    expect(read(turn).times).toEqual([]);
  });
});

describe("languages and follow-ups", () => {
  it.each([
    ["what was I doing", "en"],
    ["was habe ich gestern gemacht", "de"],
    ["que estaba haciendo ayer", "es"],
    ["je faisais quoi hier", "fr"],
    ["cosa stavo facendo ieri", "other"],
    ["昨日何をしていましたか", "other"],
  ])("%s is %s", (turn, language) => {
    expect(read(turn).language).toBe(language);
  });

  it.each(["and what about yesterday?", "und davor?", "y ayer?", "et hier ?", "what about lunch"])(
    "%s leans on the turn before",
    (turn) => {
      expect(read(turn).followUp).toBe(true);
    },
  );

  it("a whole question does not", () => {
    expect(read("what was I doing yesterday?").followUp).toBe(false);
  });

  it("quoted pieces are told without their marks", () => {
    expect(read('find "roof survey" and „Dachplan“').quoted).toEqual(["roof survey", "Dachplan"]);
  });
});

describe("laws of readings", () => {
  const numRuns = Number(
    process.env["ACTIVITYD_PROPERTY_RUNS"] ?? (process.env["CI"] ? 5000 : 300),
  );

  it("no text breaks the reading, and the scores add up to one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (turn) => {
        const { intents, contentWords } = read(turn);
        const total = INTENTS.reduce((sum, intent) => sum + intents[intent], 0);
        expect(total).toBeCloseTo(1, 6);
        for (const { text, startIndex } of contentWords) {
          expect(turn.slice(startIndex, startIndex + text.length)).toBe(text);
        }
      }),
      { numRuns },
    );
  });

  it("a flood of times, quotes or marks is read in part", () => {
    expect(read("12.11. ".repeat(500)).times.length).toBe(12);
    expect(read('"a" '.repeat(500)).quoted.length).toBe(8);
    expect(read("between 2 and ".repeat(280)).times.length).toBeLessThanOrEqual(12);
    expect(read(`${"?".repeat(3999)} yesterday`).times.map(({ text }) => text)).toEqual([
      "yesterday",
    ]);
  });

  it("of a turn of a megabyte the head and the tail are read", () => {
    const turn = `what was I doing yesterday? ${"lorem ipsum ".repeat(90_000)} and before lunch`;
    const reading = read(turn);
    expect(reading.times.map(({ text }) => text)).toEqual(["yesterday"]);
    expect(reading.anchors.map(({ kind }) => kind)).toContain("lunch");
    expect(reading.contentWords.length).toBeLessThan(1000);
  });
});
