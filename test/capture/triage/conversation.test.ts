import { describe, expect, it } from "vitest";
import { readInContext } from "../../../src/capture/triage/conversation.ts";

const ZONE = "Europe/Berlin";
/** Friday 27 November 2026, 16:12. */
const NOW = Date.parse("2026-11-27T16:12:00+01:00") * 1000;

/** "26 Nov 12:00 → 26 Nov 18:00" for the times of a turn that follows another. */
function after(previous: string | readonly string[], turn: string, nowUs = NOW): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: ZONE,
    month: "short",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  const show = (us: number): string => format.format(us / 1000).replace(",", "");
  const previousTurns = typeof previous === "string" ? [previous] : previous;
  const asked = { turn, previousTurns, nowUs, timeZone: ZONE };
  const { reading } = readInContext(asked, () => false);
  return reading.times.map(({ fromUs, toUs }) => `${show(fromUs)} → ${show(toUs)}`).join("; ");
}

describe("a turn that follows another", () => {
  it.each([
    ["what did I do yesterday morning?", "and in the afternoon?", "26 Nov 12:00 → 26 Nov 18:00"],
    ["was hab ich gestern gemacht?", "und nachmittags?", "26 Nov 12:00 → 26 Nov 18:00"],
    ["what was I on at 3pm on Monday?", "and at 10?", "23 Nov 09:30 → 23 Nov 10:30"],
    ["was hatte ich gestern um 15 Uhr offen?", "und um 10?", "26 Nov 09:30 → 26 Nov 10:30"],
    ["what did I do on Monday?", "and between 2 and 4?", "23 Nov 14:00 → 23 Nov 16:00"],
  ])(
    "has a clock or a part of the day on the day that was spoken of: %s %s",
    (before, turn, want) => {
      expect(after(before, turn)).toBe(want);
    },
  );

  it.each([
    ["what did I do yesterday?", "and this morning?", "27 Nov 06:00 → 27 Nov 12:00"],
    ["what did I do yesterday?", "what about Monday evening", "23 Nov 18:00 → 24 Nov 00:00"],
    ["what did I do last week?", "and in the morning?", "27 Nov 06:00 → 27 Nov 12:00"],
    ["what did I do last night?", "and in the morning?", "27 Nov 06:00 → 27 Nov 12:00"],
  ])(
    "keeps a day of its own, and today's where none was spoken of: %s %s",
    (before, turn, want) => {
      expect(after(before, turn)).toBe(want);
    },
  );

  it.each([
    ["what did I do yesterday?", "and the day before?", "25 Nov 00:00 → 26 Nov 00:00"],
    ["was war am Montag?", "und am Tag danach?", "24 Nov 00:00 → 25 Nov 00:00"],
    ["what did I do last week?", "and the week before?", "09 Nov 00:00 → 16 Nov 00:00"],
    ["was hab ich gestern gemacht?", "und davor?", "25 Nov 00:00 → 26 Nov 00:00"],
    ["what was I doing yesterday at 3?", "and after that?", "26 Nov 15:30 → 26 Nov 16:30"],
    ["qu'est-ce que j'ai fait hier ?", "et la veille ?", "25 Nov 00:00 → 26 Nov 00:00"],
    ["j'ai fait quoi lundi ?", "et le lendemain ?", "24 Nov 00:00 → 25 Nov 00:00"],
    ["j'ai fait quoi la semaine dernière ?", "et celle d'avant ?", "09 Nov 00:00 → 16 Nov 00:00"],
    ["¿qué hice ayer?", "¿y el día anterior?", "25 Nov 00:00 → 26 Nov 00:00"],
    ["¿qué hice la semana pasada?", "¿y la semana de antes?", "09 Nov 00:00 → 16 Nov 00:00"],
  ])(
    "counts days and what came before from the time that was spoken of: %s %s",
    (before, turn, want) => {
      expect(after(before, turn)).toBe(want);
    },
  );

  it("counts days by the calendar where the clock changes", () => {
    const monday = Date.parse("2026-10-26T16:12:00+01:00") * 1000;
    expect(after("what did I do yesterday?", "and before that?", monday)).toBe(
      "24 Oct 00:00 → 25 Oct 00:00",
    );
  });

  it("leaves a day that something else stands beside alone", () => {
    expect(after("what did I do on Monday?", "and the day before the fair?")).toBe(
      "23 Nov 00:00 → 24 Nov 00:00",
    );
  });

  it.each([
    [
      ["what did I do on Monday?", "and Tuesday?"],
      "and in the afternoon?",
      "24 Nov 12:00 → 24 Nov 18:00",
    ],
    [
      ["was hab ich am Montag gemacht?", "danke!"],
      "und am Dienstag?",
      "24 Nov 00:00 → 25 Nov 00:00",
    ],
    [
      ["j'ai fait quoi lundi ?", "et mardi ?", "merci !"],
      "et le matin ?",
      "24 Nov 06:00 → 24 Nov 12:00",
    ],
    [
      ["¿qué hice hoy a las 10?", "y a las 11", "gracias"],
      "¿y a las 12?",
      "27 Nov 11:30 → 27 Nov 12:30",
    ],
  ])("leans on all that was said since something was asked: %s %s", (before, turn, want) => {
    expect(after(before, turn)).toBe(want);
  });

  it.each([
    ["what did I do on Monday?", "no, Tuesday", "24 Nov 00:00 → 25 Nov 00:00"],
    ["what did I do yesterday?", "sorry, the day before", "25 Nov 00:00 → 26 Nov 00:00"],
    ["was war gestern los?", "nachmittags meine ich", "26 Nov 12:00 → 26 Nov 18:00"],
    ["j'ai fait quoi hier ?", "non, le matin", "26 Nov 06:00 → 26 Nov 12:00"],
    ["¿qué hice el martes?", "mejor el miércoles", "25 Nov 00:00 → 26 Nov 00:00"],
    ["¿qué hice ayer?", "solo por la mañana", "26 Nov 06:00 → 26 Nov 12:00"],
    ["what did I do on Monday?", "I meant Tuesday", "24 Nov 00:00 → 25 Nov 00:00"],
    ["what did I do on Monday?", "not Monday, Tuesday", "24 Nov 00:00 → 25 Nov 00:00"],
    ["was war am Montag?", "nicht Montag, Dienstag", "24 Nov 00:00 → 25 Nov 00:00"],
    ["j'ai fait quoi lundi ?", "mardi plutôt", "24 Nov 00:00 → 25 Nov 00:00"],
    ["j'ai fait quoi lundi ?", "et le surlendemain ?", "25 Nov 00:00 → 26 Nov 00:00"],
    ["¿qué hice el lunes?", "el martes digo", "24 Nov 00:00 → 25 Nov 00:00"],
    ["¿qué hice ayer por la mañana?", "¿y todo el día?", "26 Nov 00:00 → 27 Nov 00:00"],
  ])("is put right by a time alone: %s %s", (before, turn, want) => {
    expect(after(before, turn)).toBe(want);
  });

  it.each([
    ["what was I on yesterday at 3?", "and an hour later?", "26 Nov 15:30 → 26 Nov 16:30"],
    [
      "was hatte ich gestern um 15 Uhr offen?",
      "und zwei Stunden vorher?",
      "26 Nov 12:30 → 26 Nov 13:30",
    ],
    ["je faisais quoi hier à 14h ?", "et une heure plus tard ?", "26 Nov 14:30 → 26 Nov 15:30"],
    ["¿qué hice el lunes?", "¿y dos días después?", "25 Nov 00:00 → 26 Nov 00:00"],
  ])("counts from the time that was spoken of: %s %s", (before, turn, want) => {
    expect(after(before, turn)).toBe(want);
  });

  it.each([
    "tell me more",
    "mehr Details bitte",
    "plus de détails",
    "más detalles",
    "cuéntame más",
  ])("asks for the same again: %s", (turn) => {
    expect(after("what did I do on Monday?", turn)).toBe("23 Nov 00:00 → 24 Nov 00:00");
  });

  it.each([
    "and thanks a lot",
    "and what about you?",
    "no thanks",
    "see you on Friday",
    "later",
    "und gute Nacht",
    "bis Montag",
    "und wer schrieb Faust?",
    "et merci",
    "bonne soirée",
    "à lundi",
    "et la capitale du Pérou ?",
    "y gracias por todo",
    "hasta el lunes",
    "y buenas noches",
  ])("asks nothing of what was asked before: %s", (turn) => {
    const asked = {
      turn,
      previousTurns: ["what did I do on Tuesday?"],
      nowUs: NOW,
      timeZone: ZONE,
    };
    const { reading } = readInContext(asked, () => false);
    expect(reading.times.some(({ text }) => text === "Tuesday")).toBe(false);
    expect(reading.intents.window < 0.5 || reading.needsNoRecord).toBe(true);
  });
});
