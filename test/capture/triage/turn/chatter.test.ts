import { describe, expect, it } from "vitest";
import { createDigester } from "../../../../src/capture/context-digest.ts";
import { readTurn } from "../../../../src/capture/triage/read-turn.ts";
import { createMemoryHistory } from "../../../helpers/memory-history.ts";

const NOW = Date.parse("2026-11-27T16:12:00+01:00") * 1000;

function needsNone(turn: string): boolean {
  return readTurn(turn, NOW, "Europe/Berlin").needsNoRecord;
}

describe("a turn that is said by the way", () => {
  it.each([
    "thanks for yesterday",
    "thank you, that really helped on Monday",
    "ok thanks for this morning",
    "danke für gestern",
    "vielen Dank für die Hilfe heute Vormittag",
    "how was your weekend",
    "how was your day today?",
    "wie war dein Wochenende?",
    "how is it going today?",
    "na, wie läuft's heute?",
    "wie geht's dir heute",
    "yesterday was exhausting",
    "today was really busy",
    "gestern war echt anstrengend",
    "heute ist ziemlich viel los",
    "had a long day yesterday",
    "Abendessen gestern war lecker",
    "Urlaub war schön",
    "boah war das heute anstrengend",
  ])("asks for nothing: %s", (turn) => {
    expect(needsNone(turn)).toBe(true);
  });

  it.each([
    "what happened in the world yesterday",
    "what was in the news on Tuesday?",
    "was kam gestern in den Nachrichten",
    "was lief gestern Abend im Fernsehen?",
    "what day is it today",
    "what's the date today?",
    "welcher Tag ist heute",
    "welches Datum war letzten Montag",
    "is there a bank holiday on Monday?",
    "are the banks open on Saturday",
    "ist am Montag Feiertag?",
    "hat der Baumarkt am Samstag offen?",
    "which trains go to Leeds on Friday?",
    "welche Züge fahren am Freitag nach Bonn?",
    "help me plan next week",
    "hilf mir die nächste Woche zu planen",
    "what time is sunset today?",
    "what time does the baker open on Saturday",
    "recommend a film for the weekend",
    "plan a trip for Saturday",
  ])("asks after the world: %s", (turn) => {
    expect(needsNone(turn)).toBe(true);
  });

  it.each([
    "translate: I was at the dentist last night",
    "please fix: I seen him yesterday at the gym",
    "can you proofread this: The tractor was delivered on Monday.",
    "korrigier bitte: Ich habe gestern den Antrag gelesen.",
    "Übersetze ins Englische: Ich war gestern im Büro",
    "rewrite more politely: you were late on Tuesday",
  ])("brings the text that it is about: %s", (turn) => {
    expect(needsNone(turn)).toBe(true);
  });
});

describe("a turn that only begins so", () => {
  it.each([
    "thanks, and what did I do yesterday?",
    "danke, und was war gestern?",
    "thanks. show me Monday too",
    "danke, zeig mir noch Dienstag",
    "how was my week",
    "wie war mein Tag gestern",
    "yesterday was the call with whom?",
    "gestern war da so ein Artikel über Bienen",
    "gestern war doch diese Seite offen",
    "what was the news page I read yesterday",
    "was hab ich gestern in den Nachrichten gelesen",
    "is there anything I read on Monday about bees",
    "is the page from Monday still around",
    "which pages did I have open on Friday",
    "welche Seiten hatte ich am Freitag offen",
    "what day did I last open the thesis",
    "which day was the call with Ines?",
    "an welchem Tag war der Termin mit Ines",
    "summarise: what did I do on Monday",
    "fass zusammen: mein Dienstag",
    "summarise this week: what did I read",
    "help me remember what I did last week",
    "hilf mir mal, wo war ich gestern stehen geblieben",
    "what do you have recorded for yesterday",
    "what is in your log for Monday",
    "Akte Hoffmann gestern",
    "war das gestern der Vertrag mit Roth",
    "war das am Dienstag?",
    "what time was the call with Ines yesterday",
    "suggest a summary of what I did on Monday",
    "Budget war gestern wo",
  ])("may need the record: %s", (turn) => {
    expect(needsNone(turn)).toBe(false);
  });

  it.each(["help me plan next week", "hilf mir die nächste Woche zu planen"])(
    "is not about the page in front either: %s",
    (turn) => {
      const startUs = NOW - 3_600_000_000;
      const history = createMemoryHistory([
        { app: "Writer", title: "Bees.odt", startUs, endUs: NOW },
      ]);
      const answer = createDigester({ history }).render({
        turn,
        nowUs: NOW,
        timeZone: "Europe/Berlin",
      });
      expect(answer.block).toBeNull();
    },
  );

  it("is not looked for by the words of the text that it brings", () => {
    const startUs = NOW - 3_600_000_000;
    const history = createMemoryHistory([
      { app: "Writer", title: "Tractor delivery.odt", startUs, endUs: NOW },
    ]);
    const turn = "please proofread this: The tractor delivery was on Monday.";
    const answer = createDigester({ history }).render({
      turn,
      nowUs: NOW,
      timeZone: "Europe/Berlin",
    });
    expect(answer.block).toBeNull();
  });
});
