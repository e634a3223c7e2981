/** Turns that wish something to be left out, and those that put one matter in the place of another. */
import { describe, expect, it } from "vitest";
import { createDigester } from "../../src/capture/context-digest.ts";
import { createMemoryHistory, type RecordedWindow } from "../helpers/memory-history.ts";

function us(text: string): number {
  const [day = "", clock = ""] = text.split(" ");
  return Date.parse(`2026-11-${day}T${clock}:00+01:00`) * 1000;
}

function show(app: string, title: string, at: string, to: string): RecordedWindow {
  return { app, title, startUs: us(at), endUs: us(`${at.split(" ")[0]} ${to}`) };
}

const HISTORY = createMemoryHistory([
  show("Writer", "Barn rent.odt", "25 09:00", "11:00"),
  show("Calc", "Milk prices.ods", "25 11:00", "12:00"),
  show("Okular", "Cheese cellar plan.pdf", "25 12:00", "12:30"),
]);

function body(turn: string, previousTurns: readonly string[] = []): string {
  const request = { turn, previousTurns, nowUs: us("26 09:00"), timeZone: "Europe/Berlin" };
  return createDigester({ history: HISTORY }).render(request).block ?? "";
}

describe("what a turn leaves out", () => {
  it.each([
    "everything yesterday except the barn rent",
    "what did I work on other than barn rent yesterday",
    "was hab ich gestern außer Barn rent gemacht",
    "qué hice ayer aparte de barn rent",
    "qué hice ayer que no fuera barn rent",
    "qu'est-ce que j'ai fait hier à part barn rent ?",
  ])("is not told, and all else is: %s", (turn) => {
    expect(body(turn)).toContain("Milk prices");
    expect(body(turn)).toContain("Cheese cellar");
    expect(body(turn)).not.toContain("Barn rent");
  });

  it("may be something that was never there", () => {
    const text = body("what did I do yesterday apart from the tractor");
    expect(text).toContain("Barn rent");
    expect(text).not.toContain("nothing recorded");
  });

  it("ends with its clause", () => {
    expect(body("apart from the milk prices, when did I open the barn rent")).toContain(
      "Barn rent",
    );
  });
});

describe("a follow-up that puts another matter in the place of the one before", () => {
  it.each([
    ["how long was I on the barn rent yesterday", "no i mean the milk prices"],
    ["how long was I on the barn rent yesterday", "no, the milk prices"],
    ["wie lange war ich gestern an barn rent", "nein, ich meinte milk prices"],
    ["cuánto tiempo estuve ayer con barn rent", "no, digo milk prices"],
    ["combien de temps j'ai passé hier sur barn rent", "non, je voulais dire milk prices"],
  ])("asks the same of it: %s — %s", (before, turn) => {
    expect(body(turn, [before])).toMatch(/total on "milk prices": 1 h of 3 h 30 min active/);
  });
});
