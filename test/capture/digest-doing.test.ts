/** Turns that ask for what was done and with which program, for what had the most time, and for works called like a kind of thing. */
import { describe, expect, it } from "vitest";
import { createDigester } from "../../src/capture/context-digest.ts";
import { linesOf, show, us } from "../helpers/digest-rig.ts";
import { createMemoryHistory } from "../helpers/memory-history.ts";

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
  const answer = (turn: string): readonly string[] => linesOf(history, turn);
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
    expect(linesOf(both, "what did I do in slack yesterday?").join()).toContain("Barn");
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
  const sums = (turn: string): readonly (readonly string[])[] =>
    linesOf(digester, turn).flatMap((line) => {
      const [, name, time] = /^- total on "(.+?)": (.+?) of /u.exec(line) ?? [];
      return name === undefined || time === undefined ? [] : [[name, time]];
    });

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
    expect(linesOf(none, "top sites yesterday").join()).toContain("Barn");
  });
});

describe("a work that is called like a kind of thing", () => {
  const history = createMemoryHistory([
    show("Code", "index.html - website - Visual Studio Code", "24 09:00", "10:00"),
    show("Code", "style.css - website - Visual Studio Code", "24 10:00", "10:30"),
    show("Firefox", "Seed catalogue", "24 10:30", "11:00", "seeds.example/2027"),
    show("Writer", "Barn rent.odt", "25 09:00", "15:00"),
  ]);
  const answer = (turn: string): string => linesOf(history, turn).join("\n");

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
    expect(linesOf(work, "how long did I work yesterday?")).toContain(
      "- total: 6 h 30 min active, Wed 25 Nov 2026",
    );
  });

  it("has its own time, and not that of all pages", () => {
    expect(answer("how long did I work on the website this week?")).toContain(
      'total on "website": 1 h 30 min of 8 h active',
    );
    expect(answer("which websites did I visit this week?")).toContain("Seed catalogue");
  });
});
