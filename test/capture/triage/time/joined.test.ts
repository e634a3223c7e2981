import { describe, expect, it } from "vitest";
import { createDigester } from "../../../../src/capture/context-digest.ts";
import { readTurn } from "../../../../src/capture/triage/read-turn.ts";
import { createMemoryHistory } from "../../../helpers/memory-history.ts";

const ZONE = "Europe/Berlin";
/** Friday 27 November 2026, 16:12. */
const NOW = Date.parse("2026-11-27T16:12:00+01:00") * 1000;

function times(turn: string): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: ZONE,
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  });
  const show = (us: number): string => format.format(us / 1000).replace(", ", " ");
  return readTurn(turn, NOW, ZONE)
    .times.map(({ fromUs, toUs }) => `${show(fromUs)} → ${show(toUs)}`)
    .join("; ");
}

describe("times beside each other", () => {
  it.each([
    ["what did I do yesterday and today", "26 00:00 → 27 16:12"],
    ["was hab ich gestern und heute gemacht", "26 00:00 → 27 16:12"],
    ["what did I do last week and this week?", "16 00:00 → 27 16:12"],
    ["what did I do on Saturday and Sunday", "21 00:00 → 23 00:00"],
    ["Montag, Dienstag und Mittwoch", "23 00:00 → 26 00:00"],
    ["what did I do yesterday morning and afternoon", "26 06:00 → 26 18:00"],
    ["heute und gestern", "26 00:00 → 27 16:12"],
    ["was hab ich mo bis mi gemacht", "23 00:00 → 26 00:00"],
    ["sum up mon-wed for me", "23 00:00 → 26 00:00"],
    ["sum up Mon-Fri for me", "16 00:00 → 21 00:00"],
    ["Sa und So", "21 00:00 → 23 00:00"],
  ])("that meet are one: %s", (turn, want) => {
    expect(times(turn)).toBe(want);
  });

  it.each([
    ["what did I do on Monday and Wednesday", "23 00:00 → 24 00:00; 25 00:00 → 26 00:00"],
    ["yesterday between 9 and 10 and between 2 and 3", "26 09:00 → 26 10:00; 26 14:00 → 26 15:00"],
    ["heute vormittag und gestern nachmittag", "27 06:00 → 27 12:00; 26 12:00 → 26 18:00"],
  ])("that do not meet are each: %s", (turn, want) => {
    expect(times(turn)).toBe(want);
  });

  it.each([
    "the cat sat there and the sun was out",
    "so mach das mal",
    "can we do it, so that he may see",
  ])("are none: %s", (turn) => {
    expect(times(turn)).toBe("");
  });

  it.each([
    "call with Mr Friday",
    "das Telefonat mit Frau Montag",
    "Herr Freitag hat angerufen",
    "the call with August",
  ])("are none where they are people: %s", (turn) => {
    expect(times(turn)).toBe("");
  });

  it("are read where digits stand without a mark, and early in the morning", () => {
    expect(times("Sonntag um halb zwei nachts")).toBe("22 01:15 → 22 01:45");
    expect(times("Sonntagnacht um halb zwei")).toBe("23 01:15 → 23 01:45");
    expect(times("gestern nacht zwischen 1 und 4")).toBe("27 01:00 → 27 04:00");
    expect(times("last night between 1am and 3am")).toBe("27 01:00 → 27 03:00");
    expect(times("last night between 9 and 11")).toBe("26 21:00 → 26 23:00");
    expect(times("last night from 11 to 1")).toBe("26 23:00 → 27 01:00");
    expect(times("gestern Nachmittag nach drei")).toBe("26 15:00 → 26 18:00");
    expect(times("gestern nach drei")).toBe("26 15:00 → 27 00:00");
    expect(times("did I work on ticket 4711 last week")).toBe("16 00:00 → 23 00:00");
    expect(times("was war mit Zimmer 7 letzte Woche")).toBe("16 00:00 → 23 00:00");
    expect(times("was war mit Los 5 vor zwei Tagen")).toBe("25 00:00 → 26 00:00");
    expect(times("fünf vor zwei")).toBe("27 13:40 → 27 14:10");
    expect(times("die 2 letzten Stunden")).toBe("27 14:12 → 27 16:12");
    expect(times("what was on at 330pm yesterday")).toBe("26 15:15 → 26 15:45");
    expect(times("was war am frühen Morgen")).toBe("27 05:00 → 27 09:00");
  });
});

describe("a turn about several times", () => {
  const us = (day: number, clock: string): number =>
    Date.parse(`2026-11-${day}T${clock}:00+01:00`) * 1000;
  const show = (title: string, day: number) => ({
    app: "Writer",
    title,
    startUs: us(day, "09:00"),
    endUs: us(day, "11:00"),
  });
  const history = createMemoryHistory([
    show("Seed list.odt", 23),
    show("Fence plan.odt", 24),
    show("Milk prices.odt", 25),
    show("Seed list.odt", 26),
  ]);
  const block = (turn: string): string =>
    createDigester({ history }).render({ turn, nowUs: NOW, timeZone: ZONE }).block ?? "";

  it("is answered for each of them", () => {
    const answer = block("what did I do on Monday and Wednesday?");
    expect(answer).toContain("Seed list");
    expect(answer).toContain("Milk prices");
    expect(answer).not.toContain("Fence plan");
  });

  it("has a sum for each of them", () => {
    const answer = block("how long was I on the seed list on Monday and on Thursday?");
    expect(answer.match(/total on "seed list": 2 h of 2 h active/g)).toHaveLength(2);
  });
});
