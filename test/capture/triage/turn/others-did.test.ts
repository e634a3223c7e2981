import { describe, expect, it } from "vitest";
import { readTurn } from "../../../../src/capture/triage/read-turn.ts";

/** Friday 27 November 2026, 16:12 in Berlin. */
const NOW_US = Date.parse("2026-11-27T15:12:00Z") * 1000;

function asksOfOthers(turn: string): boolean {
  return readTurn(turn, NOW_US, "Europe/Berlin").asksOfOthers;
}

describe("a question about what others did", () => {
  it.each([
    "what did the council decide on Tuesday?",
    "what has the ministry announced this week",
    "did the jury vote on Friday",
    "did it rain yesterday?",
    "what happened in the senate yesterday",
    "was hat der Stadtrat am Dienstag beschlossen?",
    "hat es gestern geschneit",
    "hat Hertha gestern gewonnen?",
    "was ist gestern im Landtag passiert",
    "qué anunció el alcalde ayer",
    "nevó ayer?",
    "ganó el Betis anoche",
    "qué pasó ayer en el senado",
    "le maire a annoncé quoi hier",
    "qu'est-ce que le syndicat a décidé lundi ?",
    "a-t-il neigé hier ?",
    "il s'est passé quoi à la bourse hier",
  ])("is told: %s", (turn) => {
    expect(asksOfOthers(turn)).toBe(true);
  });

  it.each([
    "what did I do yesterday?",
    "what happened yesterday?",
    "what did the meeting with Otto end with yesterday",
    "what did this week consist of?",
    "where did all the time go on Tuesday",
    "what was open on Friday?",
    "has the file been open today?",
    "did Otto call me yesterday",
    "was ist gestern passiert?",
    "wurde gestern was aufgezeichnet?",
    "¿qué hubo el martes?",
    "qué pasó ayer",
    "cuánto duró la reunión ayer",
    "il s'est passé quoi hier ?",
    "ça a duré combien lundi ?",
    "il y a quelque chose pour hier ?",
    "quel temps a été consacré au bail lundi ?",
    "what does the council do?",
  ])("is not told of one's own day, its events or a record: %s", (turn) => {
    expect(asksOfOthers(turn)).toBe(false);
  });
});

describe("an English name in another language", () => {
  it("is no slip of the finger", () => {
    const { anchors } = readTurn("apple a annoncé quoi hier", NOW_US, "Europe/Berlin");
    expect(anchors).toEqual([]);
  });
});
