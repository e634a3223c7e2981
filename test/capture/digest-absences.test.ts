/** What the digest says of the time that its owner was not there. */
import { describe, expect, it } from "vitest";
import { createDigester } from "../../src/capture/context-digest.ts";
import type { Absence } from "../../src/store/history.ts";
import { createMemoryHistory, type RecordedWindow } from "../helpers/memory-history.ts";

const ZONE = "Europe/Berlin";

/** Microseconds of a Berlin winter time such as "26 10:15": the day in November 2026 and the clock. */
function us(text: string): number {
  const [day = "", clock = ""] = text.split(" ");
  return Date.parse(`2026-11-${day}T${clock}:00+01:00`) * 1000;
}

function show(title: string, day: string, from: string, to: string): RecordedWindow {
  return { app: "Writer", title, startUs: us(`${day} ${from}`), endUs: us(`${day} ${to}`) };
}

function away(from: string, to: string): Absence {
  return { kind: "idle", startUs: us(from), endUs: us(to) };
}

const HISTORY = createMemoryHistory(
  [
    show("Seed list.odt", "24", "09:00", "12:00"),
    show("Novel.epub", "24", "21:00", "23:00"),
    show("Fence plan.odt", "25", "08:00", "12:10"),
    show("Milk prices.odt", "25", "12:55", "15:00"),
    show("Barn rent.odt", "25", "16:10", "18:00"),
    show("Egg labels.odt", "26", "07:30", "12:05"),
    show("Hay delivery.odt", "26", "12:50", "15:00"),
  ],
  [
    away("24 12:00", "24 21:00"),
    away("24 23:00", "25 08:00"),
    away("25 12:10", "25 12:55"),
    away("25 15:00", "25 16:10"),
    away("25 18:00", "26 07:30"),
    away("26 12:05", "26 12:50"),
  ],
);

function bodyOf(turn: string): readonly string[] {
  const request = { turn, nowUs: us("26 15:00"), timeZone: ZONE };
  const { block } = createDigester({ history: HISTORY }).render(request);
  return block?.trimEnd().split("\n").slice(1, -1) ?? [];
}

describe("how long the owner was away", () => {
  it.each([
    ["how long was I away at lunch today?", ["Thu 26 Nov 12:05–12:50: away"]],
    ["how long was my lunch break yesterday", ["Wed 25 Nov 12:10–12:55: away"]],
    ["wie lang war ich mittags weg heute", ["Thu 26 Nov 12:05–12:50: away"]],
    ["wie lange war ich weg?", ["Thu 26 Nov 12:05–12:50: away"]],
    ["how long did I sleep last night", ["Wed 25 Nov 18:00 – Thu 26 Nov 07:30: away"]],
    [
      "wie lange war ich gestern Nachmittag weg",
      ["Wed 25 Nov 12:10–12:55: away", "Wed 25 Nov 15:00–16:10: away"],
    ],
  ])("is told with when it was: %s", (turn, want) => {
    expect(bodyOf(turn)).toEqual(
      want.map((text) => `- nothing recorded ${text} (history since 24 Nov 2026)`),
    );
  });
});

describe("a night and a way home are those of the day that is named", () => {
  it.each([
    ["what was the last thing I did before bed on Tuesday?", "Novel.epub", "Barn rent"],
    ["what was I doing before I went to bed yesterday", "Barn rent", "Novel"],
    ["what did I do after I got up yesterday", "Fence plan", "Egg labels"],
    ["what did I do yesterday after I came back", "Barn rent", "Fence plan"],
    ["what did I do after bed?", "Egg labels", "Barn rent"],
    ["was hab ich gestern gemacht bevor ich weg bin", "Milk prices", "Egg labels"],
  ])("%s", (turn, want, other) => {
    expect(bodyOf(turn).join("\n")).toContain(want);
    expect(bodyOf(turn).join("\n")).not.toContain(other);
  });
});

describe("a bed", () => {
  it("is no night where no side of one is named", () => {
    const titles = [show("Double bed oak.pdf", "24", "09:00", "12:00")];
    const history = createMemoryHistory(
      [...titles, show("Egg labels.odt", "26", "07:30", "12:05")],
      [away("24 12:00", "26 07:30")],
    );
    const answer = createDigester({ history }).render({
      turn: "where is the double bed pdf",
      nowUs: us("26 12:05"),
      timeZone: ZONE,
    });
    expect(answer.intent).not.toBe("anchor");
    expect(answer.block).not.toContain("Egg labels");
  });
});
