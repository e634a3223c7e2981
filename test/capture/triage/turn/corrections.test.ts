import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTurn } from "../../../../src/capture/triage/read-turn.ts";
import { nastyText } from "../../../helpers/arbitraries.ts";
import { propertyRuns } from "../../../helpers/property-runs.ts";

/** Friday 27 November 2026, 16:12 in Berlin. */
const NOW_US = Date.parse("2026-11-27T15:12:00Z") * 1000;

function read(turn: string) {
  return readTurn(turn, NOW_US, "Europe/Berlin");
}

/** The times of a turn, as "26 09:00–26 11:00". */
function times(turn: string): readonly string[] {
  const clock = (us: number): string =>
    new Date(us / 1000 + 3_600_000).toISOString().slice(8, 16).replace("T", " ");
  return read(turn).times.map(({ fromUs, toUs }) => `${clock(fromUs)}–${clock(toUs)}`);
}

describe("a time that a turn takes back", () => {
  it.each([
    ["what was I up to on monday no wait tuesday", "24 00:00–25 00:00"],
    ["what did I do on tuesday, sorry, wednesday last week", "18 00:00–19 00:00"],
    ["was war am montag, quatsch, dienstag", "24 00:00–25 00:00"],
    ["qué hice el lunes, bueno no, el miércoles", "25 00:00–26 00:00"],
    ["qu'est-ce que j'ai fait mardi, euh non mercredi", "25 00:00–26 00:00"],
    ["monday no, tuesday no, wednesday?", "25 00:00–26 00:00"],
  ])("gives way to the one behind it: %s", (turn, want) => {
    expect(times(turn)).toEqual([want]);
  });

  it.each([
    ["nicht gestern sondern vorgestern", "25 00:00–26 00:00"],
    ["ayer no, anteayer", "25 00:00–26 00:00"],
    ["no el lunes sino el martes", "24 00:00–25 00:00"],
    ["pas jeudi, mercredi", "25 00:00–26 00:00"],
    ["not yesterday, the day before: which pages did I read", "25 00:00–26 00:00"],
    ["friday, not thursday", "20 00:00–21 00:00"],
  ])("may be denied: %s", (turn, want) => {
    expect(times(turn)).toEqual([want]);
  });

  it.each([
    ["what did I have open yesterday at 4, I mean at 2", "26 13:30–26 14:30"],
    ["was hab ich montag um 10 gemacht, ich meine um 16 uhr", "23 15:30–23 16:30"],
    ["ayer a las 11, digo a las 5", "26 16:30–26 17:30"],
    ["ayer a las 9, a las 4 mejor dicho", "26 15:30–26 16:30"],
    ["hier à 9h, enfin plutôt à 11h", "26 10:30–26 11:30"],
    ["gestern zwischen 8 und 10, nee moment, zwischen 10 und 12", "26 10:00–26 12:00"],
    ["what did I do at 4 today, i mean 10", "27 09:30–27 10:30"],
    ["at 4 on monday, at 10 rather", "23 09:30–23 10:30"],
  ])("leaves its day to an hour: %s", (turn, want) => {
    expect(times(turn)).toEqual([want]);
  });

  it("leaves its hours to a day", () => {
    expect(times("what did I do between 9 and 11 today, no sorry, yesterday")).toEqual([
      "26 09:00–26 11:00",
    ]);
  });

  it("leaves no words of taking back as a matter", () => {
    for (const turn of ["ayer a las 11, digo a las 5", "vendredi à 9h, plutôt à 15h"]) {
      expect(read(turn).contentWords).toEqual([]);
    }
  });

  it("may be a vague one that is followed by which", () => {
    expect(times("so the other day, wednesday evening, I was watching something")).toEqual([
      "25 18:00–26 00:00",
    ]);
  });
});

describe("two times that are both meant", () => {
  it.each([
    "on Monday and Wednesday",
    "what did I do on Monday, and what on Wednesday?",
    "was hab ich gestern und am Montag gemacht",
    "did I read it yesterday or was that on Wednesday",
    "el lunes y el miércoles",
  ])("are both read: %s", (turn) => {
    expect(times(turn).length).toBe(2);
  });
});

describe("places in a turn that takes something back", () => {
  it("stay where they are", () => {
    const turn = "was hab ich montag, quatsch, dienstag am Zaunplan gemacht";
    const { contentWords } = read(turn);
    for (const { text, startIndex } of contentWords) {
      expect(turn.slice(startIndex, startIndex + text.length)).toBe(text);
    }
    expect(contentWords.map(({ text }) => text)).toContain("Zaunplan");
  });

  it("lie within the turn, whatever it holds", { timeout: 300_000 }, () => {
    const cue = fc.constantFrom(", no wait, ", " sondern ", ", digo ", " not ", ", ", ", i mean ");
    const day = fc.constantFrom("monday", "gestern", "ayer a las 9", "at 4 today", "7", "mardi");
    fc.assert(
      fc.property(nastyText(), day, cue, day, nastyText(), (head, first, taking, second, tail) => {
        const turn = head + first + taking + second + tail;
        for (const { startIndex, endIndex } of read(turn).times) {
          expect(startIndex).toBeGreaterThanOrEqual(0);
          expect(endIndex).toBeLessThanOrEqual(turn.length);
        }
      }),
      { numRuns: propertyRuns(200, 5_000) },
    );
  });
});
