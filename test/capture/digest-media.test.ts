/** Turns that ask for one kind of thing in a time: calls, pages, files. */
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
  show("zoom", "Call with Ines — Zoom Meeting", "24 09:00", "09:20"),
  show("Calc", "Milk prices.ods", "24 09:20", "12:00"),
  show("Firefox", "Hoof care - Vet Weekly", "24 12:00", "12:20", "vetweekly.example/hoof"),
  show("zoom", "Call with Mr Roth — Zoom Meeting", "25 09:00", "09:30"),
  show("Writer", "Barn rent.odt", "25 09:30", "15:00"),
  show("Thunderbird", "Re: hay - Thunderbird", "25 15:00", "15:20"),
]);

function bodyOf(turn: string): readonly string[] {
  const { block } = createDigester({ history: HISTORY }).render({
    turn,
    nowUs: us("26 09:00"),
    timeZone: "Europe/Berlin",
  });
  return (block ?? "").split("\n").filter((line) => line.startsWith("- "));
}

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

describe("a turn that asks for what was done rather than with what", () => {
  const history = createMemoryHistory([
    show("jetbrains-idea", "Silo.kt - granary", "25 08:00", "09:00"),
    show("Code", "notes - granary - Visual Studio Code", "25 09:00", "09:30"),
    show("Firefox", "Seed catalogue", "25 09:30", "09:50", "seeds.example/2027"),
    show("Firefox", "Hay for sale | Facebook", "25 09:50", "10:00", "facebook.com/groups/hay"),
    show("Slack", "#harvest - Co-op - Slack", "25 10:00", "10:20"),
    show("kitty", "make: granary", "25 10:20", "10:25"),
    show("Writer", "Barn rent.odt", "25 10:30", "15:00"),
  ]);
  const answer = (turn: string): readonly string[] => {
    const request = { turn, nowUs: us("26 09:00"), timeZone: "Europe/Berlin" };
    const { block } = createDigester({ history }).render(request);
    return (block ?? "").split("\n").filter((line) => line.startsWith("- "));
  };
  const told = (turn: string): string => answer(turn).join("\n");

  it.each([
    ["how long did I code yesterday?", "code", "1 h 30 min"],
    ["how much time did I spend programming yesterday", "programming", "1 h 30 min"],
    ["wie lange hab ich gestern programmiert", "programmiert", "1 h 30 min"],
    ["combien de temps j'ai codé hier", "codé", "1 h 30 min"],
    ["how much coding did I do yesterday?", "coding", "1 h 30 min"],
    ["how long was I browsing yesterday", "browsing", "30 min"],
    ["how long was I in the browser yesterday", "browser", "30 min"],
    ["wie lange hab ich gestern gesurft", "gesurft", "30 min"],
    ["how long was I chatting yesterday", "chatting", "20 min"],
    ["how much time did I waste on social media yesterday?", "social media", "10 min"],
    ["cuánto tiempo perdí ayer en redes sociales", "redes sociales", "10 min"],
    ["combien de temps j'ai passé sur les réseaux sociaux hier ?", "réseaux sociaux", "10 min"],
    ["how long was I in VS Code yesterday?", "VS Code", "1 h 30 min"],
  ])("gets its time: %s", (turn, name, time) => {
    expect(answer(turn)[0]).toBe(
      `- total on "${name}": ${time} of 6 h 55 min active, Wed 25 Nov 2026`,
    );
  });

  it.each([
    "which browser tabs did I have open yesterday?",
    "welche Tabs hatte ich gestern offen",
    "what was in my browser yesterday",
    "qué pestañas tenía abiertas ayer",
    "what did I have open in firefox yesterday",
    "qu'est-ce que j'avais ouvert dans Firefox hier",
  ])("gets what was in the browser alone: %s", (turn) => {
    expect(told(turn)).toContain("Seed catalogue");
    expect(answer(turn)).toHaveLength(2);
  });

  it.each([
    ["what did I do in slack yesterday?", "#harvest"],
    ["was hab ich gestern in Writer gemacht", "Barn rent"],
    ["what did I do in kitty yesterday", "make"],
    ["what did I do in the terminal yesterday", "make"],
  ])("gets what was in the program that it names: %s", (turn, want) => {
    expect(answer(turn)).toEqual([expect.stringContaining(want)]);
  });

  it.each([
    "how often did I check slack yesterday?",
    "did I check Slack often yesterday?",
    "wie oft war ich gestern auf Slack",
    "combien de fois j'ai ouvert Slack hier, souvent ?",
  ])("gets the program also where it is asked how often: %s", (turn) => {
    expect(told(turn)).toContain("#harvest");
    expect(told(turn)).not.toMatch(/nothing recorded|Barn/u);
  });

  it("gets all of the time where the program was not used in it", () => {
    const both = createMemoryHistory([
      show("Slack", "#harvest - Co-op - Slack", "24 10:00", "10:20"),
      show("Writer", "Barn rent.odt", "25 10:30", "15:00"),
    ]);
    const request = { nowUs: us("26 09:00"), timeZone: "Europe/Berlin" };
    const turn = "what did I do in slack yesterday?";
    expect(createDigester({ history: both }).render({ turn, ...request }).block).toContain("Barn");
  });

  it("gets the matter where one is named as well", () => {
    expect(told("how long did I code on the silo yesterday?")).toContain("Silo.kt");
    expect(told("how long did I code on the silo yesterday?")).not.toContain("notes");
    expect(told("what did I read about seeds yesterday?")).toContain("Seed catalogue");
  });
});

describe("a turn that asks for what had the most time", () => {
  const history = createMemoryHistory([
    show("Writer", "Barn rent.odt", "24 09:00", "11:00"),
    show("Firefox", "Seed catalogue", "24 11:00", "11:40", "www.seeds.example/2027"),
    show("Firefox", "Hay for sale", "24 11:40", "12:00", "hay.example/sale"),
    show("Firefox", "Seeds: order", "25 09:00", "09:50", "seeds.example/order"),
    show("Calc", "Milk prices.ods", "25 10:00", "11:00"),
    show("Koi", "a question", "25 11:00", "14:00"),
  ]);
  const digester = createDigester({ history, isAssistant: (app) => app === "Koi" });
  const sums = (turn: string): readonly (readonly string[])[] => {
    const { block } = digester.render({ turn, nowUs: us("26 09:00"), timeZone: "Europe/Berlin" });
    return [...(block ?? "").matchAll(/^- total on "(.+?)": (.+?) of .*$/gmu)].map(
      ([, name = "", time = ""]) => [name, time],
    );
  };

  it.each([
    "which apps did I use most this week?",
    "top apps this week",
    "what apps did I use this week",
    "welche App hab ich diese Woche am meisten benutzt",
    "qué aplicación usé más esta semana",
    "quelle appli j'ai le plus utilisée cette semaine",
    "quels logiciels j'ai utilisés cette semaine ?",
  ])("gets the sums of programs: %s", (turn) => {
    expect(sums(turn)).toEqual([
      ["Writer", "2 h"],
      ["Firefox", "1 h 50 min"],
      ["Calc", "1 h"],
    ]);
  });

  it.each([
    "which site did I spend the most time on this week?",
    "most visited sites this week",
    "welche Seiten hab ich diese Woche am meisten besucht",
  ])("gets the sums of sites: %s", (turn) => {
    expect(sums(turn)).toEqual([
      ["seeds.example", "1 h 30 min"],
      ["hay.example", "20 min"],
    ]);
  });

  it("names the events that the names were read from, so that they go with them", () => {
    const request = { nowUs: us("26 09:00"), timeZone: "Europe/Berlin" };
    const { eventIds, untrustedSpans } = digester.render({
      turn: "top apps this week",
      ...request,
    });
    // Firefox was there from the 24th to the 25th.
    const ends = ["24 09:00", "24 11:00", "25 09:00", "25 10:00"];
    expect(eventIds).toEqual(ends.map(us));
    expect(untrustedSpans).toHaveLength(3);
  });

  it.each(["most recent app I had open yesterday", "what did I do most of the day yesterday?"])(
    "gets no sums where it is asked for another thing: %s",
    (turn) => {
      expect(sums(turn)).toEqual([]);
    },
  );

  it("gets all of the time where there was no site in it", () => {
    const none = createMemoryHistory([show("Writer", "Barn rent.odt", "25 10:30", "15:00")]);
    const request = { nowUs: us("26 09:00"), timeZone: "Europe/Berlin" };
    const turn = "top sites yesterday";
    expect(createDigester({ history: none }).render({ turn, ...request }).block).toContain("Barn");
  });
});

describe("a work that is called like a kind of thing", () => {
  const history = createMemoryHistory([
    show("Code", "index.html - website - Visual Studio Code", "24 09:00", "10:00"),
    show("Code", "style.css - website - Visual Studio Code", "24 10:00", "10:30"),
    show("Firefox", "Seed catalogue", "24 10:30", "11:00", "seeds.example/2027"),
    show("Writer", "Barn rent.odt", "25 09:00", "15:00"),
  ]);
  const answer = (turn: string): string => {
    const request = { turn, nowUs: us("26 09:00"), timeZone: "Europe/Berlin" };
    return createDigester({ history }).render(request).block ?? "";
  };

  it.each(["where did I leave off on the website?", "where was I with the website"])(
    "is taken up again where it was left: %s",
    (turn) => {
      expect(answer(turn)).toContain("style.css");
      expect(answer(turn)).not.toMatch(/Barn|Seed/u);
    },
  );

  it("is not meant by a word of asking", () => {
    const work = createMemoryHistory([
      show("Code", "todo.md - work - Visual Studio Code", "25 08:00", "08:30"),
      show("Writer", "Barn rent.odt", "25 09:00", "15:00"),
    ]);
    const request = { turn: "how long did I work yesterday?", nowUs: us("26 09:00") };
    const { block } = createDigester({ history: work }).render({
      ...request,
      timeZone: "Europe/Berlin",
    });
    expect(block).toContain("- total: 6 h 30 min active, Wed 25 Nov 2026");
  });

  it("has its own time, and not that of all pages", () => {
    expect(answer("how long did I work on the website this week?")).toContain(
      'total on "website": 1 h 30 min of 8 h active',
    );
    expect(answer("which websites did I visit this week?")).toContain("Seed catalogue");
  });
});

describe("a follow-up that asks for one kind of thing", () => {
  const after = (turn: string, ...previousTurns: readonly string[]): readonly string[] => {
    const request = { turn, previousTurns, nowUs: us("26 09:00"), timeZone: "Europe/Berlin" };
    const { block } = createDigester({ history: HISTORY }).render(request);
    return (block ?? "").split("\n").filter((line) => line.startsWith("- "));
  };

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
