/** Turns that ask whether something was done, and not what. */
import { describe, expect, it } from "vitest";
import { createDigester } from "../../src/capture/context-digest.ts";
import { createMemoryHistory, type RecordedWindow } from "../helpers/memory-history.ts";

function us(text: string): number {
  const [day = "", clock = ""] = text.split(" ");
  return Date.parse(`2026-11-${day}T${clock}:00+01:00`) * 1000;
}

function show(app: string, title: string, at: string, to: string, place?: string): RecordedWindow {
  const endUs = us(`${at.split(" ")[0]} ${to}`);
  return { app, title, startUs: us(at), endUs, ...(place === undefined ? {} : { place }) };
}

const HISTORY = createMemoryHistory([
  show("Writer", "Barn rent.odt", "24 09:00", "11:00"),
  show("Firefox", "Cheese forum", "24 11:00", "11:30", "cheeseforum.example/new"),
  show("Calc", "Milk prices.ods", "25 09:00", "12:00"),
  show("zoom", "Call with Mr Roth — Zoom Meeting", "25 13:00", "13:30"),
  show("Firefox", "The Vineyard: Part 3 - Filmhaus", "25 20:00", "21:00", "filmhaus.example/3"),
]);

function body(turn: string): readonly string[] {
  const request = { turn, nowUs: us("26 09:00"), timeZone: "Europe/Berlin" };
  const { block } = createDigester({ history: HISTORY }).render(request);
  return (block ?? "").split("\n").filter((line) => line.startsWith("- "));
}

describe("a turn that asks whether something was done in a time", () => {
  it.each([
    "did I watch filmhaus yesterday?",
    "was I on filmhaus yesterday",
    "can you check if I watched filmhaus yesterday",
    "hab ich gestern filmhaus geschaut?",
    "war ich gestern abend auf filmhaus",
    "ayer vi filmhaus?",
    "j'ai regardé filmhaus hier ?",
    "est-ce que j'étais sur filmhaus hier",
  ])("is told that alone: %s", (turn) => {
    expect(body(turn)).toEqual([
      '- 20:00–21:00 (1 h) Firefox: "The Vineyard: Part 3 - Filmhaus" filmhaus.example/3',
    ]);
  });

  it.each(["did I talk to roth this week?", "ai-je parlé à m. roth cette semaine ?"])(
    "is told the calls with somebody: %s",
    (turn) => {
      expect(body(turn).join("\n")).toContain("Call with Mr Roth");
      for (const line of body(turn)) expect(line).toMatch(/roth/iu);
    },
  );

  it.each(["was I on the cheese forum yesterday?", "war ich gestern im Cheese forum"])(
    "is told that it was not, and when it was last: %s",
    (turn) => {
      expect(body(turn)).toEqual([
        expect.stringMatching(
          /^- nothing recorded about "cheese forum" Wed 25 Nov \(history since 24 Nov 2026\)$/iu,
        ),
        '- 11:00–11:30 (30 min) Firefox: "Cheese forum" cheeseforum.example/new',
      ]);
    },
  );

  it.each([
    "was I on instagram yesterday?",
    "did I open instagram yesterday",
    "was I looking at instagram on Tuesday?",
    "war ich gestern auf instagram?",
    "j'ai ouvert instagram hier ?",
    "¿ayer entré en instagram?",
  ])("is told that what it names was never recorded: %s", (turn) => {
    expect(body(turn)).toEqual([
      '- nothing recorded about "instagram" (history since 24 Nov 2026)',
    ]);
  });

  it.each([
    "did I do anything yesterday?",
    "did I procrastinate yesterday?",
    "was I productive yesterday?",
    "what did I do yesterday?",
    "hab ich gestern viel gearbeitet?",
  ])("is told all of it where nothing is named: %s", (turn) => {
    expect(body(turn).length).toBeGreaterThan(2);
  });
});

describe("a turn that asks what others did in a time", () => {
  it.each([
    "what did the council decide yesterday?",
    "did it snow on Tuesday",
    "hat Hertha gestern gewonnen?",
    "ganó el Betis anoche?",
    "il s'est passé quoi à la bourse hier ?",
  ])("is told nothing of one's own: %s", (turn) => {
    expect(body(turn)).toEqual([]);
  });

  it.each([
    "what did the cheese forum say on Tuesday",
    "was hat das Cheese forum am Dienstag gesagt",
  ])("is told what was looked at under that name: %s", (turn) => {
    expect(body(turn)).toEqual([expect.stringContaining("Cheese forum")]);
  });
});

describe("a task that makes something for days to come", () => {
  it.each([
    "make me a playlist for the weekend",
    "plan a menu for saturday",
    "create a shopping list for the weekend",
    "mach mir einen Trainingsplan fürs Wochenende",
    "hazme una playlist para el finde",
    "prépare-moi un menu pour le week-end",
  ])("gets nothing: %s", (turn) => {
    expect(body(turn)).toEqual([]);
  });

  it.each([
    "make a list of the pages from Tuesday",
    "make me a timesheet for Tuesday",
    "show me my week",
    "break down my week please",
    "how did my week go?",
    "my week so far",
    "zeig mir meine Woche",
    "muéstrame mi semana",
    "montre-moi ma semaine",
    "reopen the barn rent",
    "mach mir eine Liste der Seiten vom Dienstag",
    "hazme una lista de lo que hice el martes",
    "fais-moi une liste de ce que j'ai ouvert mardi",
  ])("gets what it is to be made of: %s", (turn) => {
    expect(body(turn).length).toBeGreaterThan(0);
  });
});

describe("one word", () => {
  it.each(["vineyard", "vineyard?", "Roth", "¿roth?"])("may name what was recorded: %s", (turn) => {
    expect(body(turn).length).toBe(1);
  });

  it.each(["genau", "perfecto", "parfait", "milk", "pergola"])(
    "may say nothing of it: %s",
    (turn) => {
      expect(body(turn)).toEqual([]);
    },
  );
});

describe("a turn that tells what others did", () => {
  it.each([
    "the vet postponed the visit yesterday",
    "die Prüfung am Dienstag wurde verschoben",
    "hier le robot ne marchait pas",
  ])("gets nothing: %s", (turn) => {
    expect(body(turn)).toEqual([]);
  });

  it("that would like to know gets an answer", () => {
    expect(body("ich würde gern wissen was gestern war").length).toBeGreaterThan(2);
  });
});
