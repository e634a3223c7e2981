/** Sums, first times and stretches that lean on events and names. */
import { describe, expect, it } from "vitest";
import { createDigester } from "../../src/capture/context-digest.ts";
import { createMemoryHistory, type RecordedWindow } from "../helpers/memory-history.ts";

function us(text: string): number {
  const [day = "", clock = ""] = text.split(" ");
  return Date.parse(`2026-11-${day}T${clock}:00+01:00`) * 1000;
}

function show(app: string, title: string, day: string, from: string, to: string): RecordedWindow {
  return { app, title, startUs: us(`${day} ${from}`), endUs: us(`${day} ${to}`) };
}

const HISTORY = createMemoryHistory([
  show("Writer", "Milk contract.odt", "24", "09:00", "10:00"),
  show("Okular", "Stable plan 7.pdf", "26", "07:30", "08:30"),
  show("Writer", "Milk contract.odt", "26", "08:30", "09:00"),
  show("zoom", "Call with Ines — Zoom Meeting", "26", "09:00", "09:30"),
  show("Writer", "Milk contract.odt", "26", "09:30", "11:00"),
  show("Writer", "Hay orders.odt", "26", "11:00", "12:05"),
  show("Writer", "Milk contract.odt", "26", "12:50", "13:20"),
  show("Writer", "Egg labels.odt", "26", "13:20", "15:00"),
]);

function body(turn: string): string {
  const { block } = createDigester({ history: HISTORY }).render({
    turn,
    nowUs: us("26 15:00"),
    timeZone: "Europe/Berlin",
  });
  return block ?? "";
}

describe("a follow-up about that day", () => {
  const after = (before: string, turn: string): string => {
    const { block } = createDigester({ history: HISTORY }).render({
      turn,
      previousTurns: [before],
      nowUs: us("27 15:00"),
      timeZone: "Europe/Berlin",
    });
    return block ?? "";
  };

  it.each([
    ["when did I look at the stable plan?", "what else did I do that day?"],
    ["wann war ich am Stable plan", "was hab ich an dem Tag sonst noch gemacht?"],
    ["cuándo vi el stable plan", "¿qué más hice ese día?"],
    ["quand est-ce que j'ai vu le stable plan", "qu'est-ce que j'ai fait d'autre ce jour-là ?"],
    ["did I talk to Ines yesterday at 9?", "what did I do that day?"],
  ])("is about the day of what was told, or of what was asked: %s %s", (before, turn) => {
    const block = after(before, turn);
    for (const title of ["Stable plan", "Ines", "Milk contract", "Egg labels"])
      expect(block).toContain(title);
    expect(block).not.toContain("24 Nov");
  });

  it("asks of that day what it names", () => {
    expect(
      after("when was I on the egg labels?", "how long was I on the milk contract that day?"),
    ).toContain('total on "milk contract": 2 h 30 min of 6 h 45 min active, Thu 26 Nov 2026');
  });

  it("is told what was told before where that was nothing", () => {
    expect(after("when did I read about kayaks?", "what else did I do that day?")).toContain(
      'nothing recorded about "kayaks"',
    );
  });
});

describe("time beside an event", () => {
  it.each([
    ["how long was I on the milk contract before lunch?", "2 h of 4 h 35 min active"],
    ["wie lange saß ich nach dem Mittagessen am milk contract?", "30 min of 2 h 10 min active"],
    ["how long did I spend on the milk contract since lunch", "30 min of 2 h 10 min active"],
  ])("is that of the day of the event: %s", (turn, want) => {
    expect(body(turn)).toContain(want);
  });

  it.each([
    "what did I do between Ines's call and lunch?",
    "what was I on between my rather long call with Ines and lunch",
    "was hab ich zwischen dem Call mit Ines und dem Mittagessen gemacht",
  ])("is what lies between two: %s", (turn) => {
    expect(body(turn)).toContain('09:30–11:00 (1 h 30 min) Writer: "Milk contract.odt"');
    expect(body(turn)).toContain("Hay orders");
    expect(body(turn)).not.toContain("Egg labels");
  });
});

describe("the first time of something", () => {
  it.each([
    "when did I first open the milk contract?",
    "when was the first time I opened the milk contract",
  ])("is told as that: %s", (turn) => {
    expect(body(turn)).toContain("Tue 24 Nov 2026");
    expect(body(turn)).not.toContain("26 Nov");
  });
});

describe("all the time that went to something", () => {
  it.each([
    "how long was I on the milk contract altogether?",
    "wie lang saß ich am milk contract insgesamt",
  ])("is counted from the beginning: %s", (turn) => {
    const history = createMemoryHistory([
      show("Writer", "Milk contract.odt", "05", "09:00", "10:00"),
      show("Writer", "Milk contract.odt", "26", "09:00", "10:00"),
    ]);
    const request = { turn, nowUs: us("26 15:00"), timeZone: "Europe/Berlin" };
    const { block } = createDigester({ history }).render(request);
    expect(block).toContain('total on "milk contract": 2 h of 2 h active');
  });
});

describe("a number behind a name", () => {
  it("is no hour", () => {
    expect(body("how long was I on stable plan 7 this morning?")).toContain("1 h of 4 h");
  });
});

describe("a task that gives an account", () => {
  it.each([
    "write me a summary of the day",
    "please summarise my day",
    "fass meinen Tag zusammen",
    "schreib mir einen Bericht über meinen Tag",
    "mach bitte den Tagesbericht",
  ])("of today gets today: %s", (turn) => {
    expect(body(turn)).toContain("Egg labels");
    expect(body(turn)).not.toContain("24 Nov");
  });

  it.each(["draft the weekly report", "mach mir den Wochenbericht", "give me a recap of my week"])(
    "of the week gets the week: %s",
    (turn) => {
      expect(body(turn)).toContain("Egg labels");
      expect(body(turn)).toMatch(/Milk contract|Stable plan/);
    },
  );

  it.each([
    "write a report about the day the wall fell",
    "make a daily plan",
    "write a weekly newsletter",
  ])("of something else gets nothing: %s", (turn) => {
    expect(body(turn)).toBe("");
  });
});

describe("a day and its part by themselves", () => {
  it.each(["gestern früh", "vorgestern früh", "Montagabend", "So nachmittag"])(
    "are no greeting: %s",
    (turn) => {
      expect(body(turn)).not.toBe("");
    },
  );

  it("end with that day behind ab", () => {
    expect(body("ab acht Uhr am Dienstag")).toContain("Milk contract");
    expect(body("ab acht Uhr am Dienstag")).not.toContain("26 Nov");
  });

  it.each(["Morgen!", "evening all", "Feierabend!"])("may be one: %s", (turn) => {
    expect(body(turn)).toBe("");
  });
});

describe("when a meal was", () => {
  it("is told by the absence", () => {
    expect(body("wann war ich heute in der Mittagspause?")).toContain("Thu 26 Nov 12:05–12:50");
  });
});
