/** Turns that ask for one kind of thing in a time: calls, pages, files. */
import { describe, expect, it } from "vitest";
import { createDigester } from "../../src/capture/context-digest.ts";
import { linesOf, show, us } from "../helpers/digest-rig.ts";
import { createMemoryHistory } from "../helpers/memory-history.ts";

const HISTORY = createMemoryHistory([
  show("zoom", "Call with Ines — Zoom Meeting", "24 09:00", "09:20"),
  show("Calc", "Milk prices.ods", "24 09:20", "12:00"),
  show("Firefox", "Hoof care - Vet Weekly", "24 12:00", "12:20", "vetweekly.example/hoof"),
  show("zoom", "Call with Mr Roth — Zoom Meeting", "25 09:00", "09:30"),
  show("Writer", "Barn rent.odt", "25 09:30", "15:00"),
  show("Thunderbird", "Re: hay - Thunderbird", "25 15:00", "15:20"),
]);

const bodyOf = (turn: string): readonly string[] => linesOf(HISTORY, turn);

function titles(turn: string): readonly string[] {
  return bodyOf(turn).map((line) => /"(.+?)"/.exec(line)?.[1] ?? "");
}

describe("a turn that asks for one kind of thing in a time", () => {
  it.each([
    [
      "which calls did I have this week?",
      ["Call with Ines — Zoom Meeting", "Call with Mr Roth — Zoom Meeting"],
    ],
    ["who did I talk to yesterday", ["Call with Mr Roth — Zoom Meeting"]],
    ["mit wem hab ich am Dienstag telefoniert", ["Call with Ines — Zoom Meeting"]],
    ["what emails did I read yesterday", ["Re: hay"]],
    ["welche Seiten hab ich am Dienstag gelesen", ["Hoof care - Vet Weekly"]],
    ["which files did I edit yesterday", ["Barn rent.odt"]],
    ["qué llamadas tuve ayer", ["Call with Mr Roth — Zoom Meeting"]],
    ["quels appels j'ai eus mardi ?", ["Call with Ines — Zoom Meeting"]],
    ["qué páginas leí el martes", ["Hoof care - Vet Weekly"]],
    ["welche Tabelle hatte ich am Dienstag offen?", ["Milk prices.ods"]],
  ])("gets those alone: %s", (turn, want) => {
    expect(titles(turn)).toEqual(want);
  });

  it("gets their time", () => {
    expect(bodyOf("how much time did I spend in meetings this week?")[0]).toMatch(
      /^- total on "meetings": 50 min of 9 h 40 min active/,
    );
    expect(bodyOf("how long was I on spreadsheets yesterday?")).toEqual([
      '- nothing recorded about "spreadsheets" Wed 25 Nov (history since 24 Nov 2026)',
    ]);
  });

  it("gets all of the time where nothing was of that kind", () => {
    expect(titles("which videos did I watch yesterday?")).toContain("Barn rent.odt");
  });

  it.each([
    "what did I do between meetings yesterday?",
    "what did I do yesterday apart from meetings",
    "was hab ich gestern außer Besprechungen gemacht",
    "what did I do for the meeting yesterday",
    "qué hice ayer entre reuniones",
    "qu'est-ce que j'ai fait hier à part les réunions",
  ])("gets more where it is asked for something beside those: %s", (turn) => {
    expect(titles(turn)).toContain("Barn rent.odt");
  });

  it("gets what its other words name where it has some", () => {
    expect(titles("the page about hoof care from Tuesday")).toEqual(["Hoof care - Vet Weekly"]);
    expect(titles("what did I do yesterday?")).toContain("Barn rent.odt");
  });
});

describe("a follow-up that asks for one kind of thing", () => {
  const after = (turn: string, before: string): readonly string[] => linesOf(HISTORY, turn, before);

  it.each(["and how much of that was calls?", "how much of that was meetings"])(
    "gets its part of the time that was spoken of: %s",
    (turn) => {
      expect(after(turn, "what did I do yesterday?")[0]).toMatch(
        /^- total on "(?:calls|meetings)": 30 min of 6 h 20 min active, Wed 25 Nov 2026$/,
      );
    },
  );

  it.each(["and emails?", "what about emails?", "und Mails?"])(
    "gets those of the same time where no matter was named: %s",
    (turn) => {
      expect(after(turn, "which calls did I have yesterday?")).toEqual([
        '- 15:00–15:20 (20 min) Thunderbird: "Re: hay"',
      ]);
    },
  );

  it("is told of a time without any of them, and not that there never was one", () => {
    const asked = "how long was I on spreadsheets this week?";
    expect(after("and yesterday?", asked)).toEqual([
      '- nothing recorded about "spreadsheets" Wed 25 Nov (history since 24 Nov 2026)',
    ]);
    expect(after("and last week?", asked)).toEqual([
      "- nothing recorded Mon 16 Nov – Sun 22 Nov (history since 24 Nov 2026)",
    ]);
  });
});

describe("a sum over a time", () => {
  it.each(["how long was I on the milk prices last week?", "how much time did I spend last week"])(
    "in which nothing was recorded is none: %s",
    (turn) => {
      expect(bodyOf(turn)).toEqual([
        "- nothing recorded Mon 16 Nov – Sun 22 Nov (history since 24 Nov 2026)",
      ]);
    },
  );

  it("is called as it was named, without how it was asked", () => {
    expect(bodyOf("wie viel Zeit hab ich diese Woche mit den milk prices verbracht?")[0]).toMatch(
      /^- total on "milk prices": /,
    );
  });

  it("begins where the record does", () => {
    expect(bodyOf("how long was I on the milk prices this month?")[0]).toBe(
      '- total on "milk prices": 2 h 40 min of 9 h 40 min active, Tue 24 Nov – Thu 26 Nov 2026',
    );
    expect(bodyOf("top apps this month")[0]).toMatch(/, Tue 24 Nov – Thu 26 Nov 2026$/);
  });
});

describe("the last of its kind", () => {
  it.each([
    ["the last spreadsheet I had open", "Milk prices.ods"],
    ["last website I visited", "Hoof care - Vet Weekly"],
    ["who did I last talk to?", "Call with Mr Roth — Zoom Meeting"],
    ["wann war mein letzter Termin?", "Call with Mr Roth — Zoom Meeting"],
    ["welche Datei hatte ich zuletzt offen?", "Barn rent.odt"],
  ])("is told whenever it was: %s", (turn, want) => {
    expect(titles(turn)).toContain(want);
    expect(titles(turn)).not.toContain("Re: hay");
  });
});

describe("a turn about talking with somebody", () => {
  it("is about the calls, and not about what else has the name", () => {
    const history = createMemoryHistory([
      show("Writer", "Offer Roth barn.odt", "24 09:00", "12:00"),
      show("zoom", "Call with Mr Roth — Zoom Meeting", "25 09:00", "09:30"),
      show("Writer", "Offer Roth barn.odt", "25 10:00", "11:00"),
    ]);
    for (const turn of ["how long did I talk to Roth", "wie lange hab ich mit Roth telefoniert?"]) {
      const { block } = createDigester({ history }).render({
        turn,
        nowUs: us("25 12:00"),
        timeZone: "Europe/Berlin",
      });
      expect(block).toMatch(/total on "(?:talk to )?Roth": 30 min/);
      expect(block).not.toContain("Offer");
    }
  });
});
