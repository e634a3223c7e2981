import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDigester, type DigestAnswer } from "../../src/capture/context-digest.ts";
import type { LinePicker } from "../../src/capture/triage/model.ts";
import { stripLeadingSystemContext } from "../../src/tui/tui-formatters.ts";
import type { ActivityHistory } from "../../src/store/history.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { createMemoryHistory, type RecordedWindow } from "../helpers/memory-history.ts";
import { propertyRuns } from "../helpers/property-runs.ts";

const ZONE = "Europe/Berlin";

/** Microseconds of a Berlin winter time such as "26 10:15": the day in November 2026 and the clock. */
function us(text: string): number {
  const [day = "", clock = ""] = text.split(" ");
  return Date.parse(`2026-11-${day.padStart(2, "0")}T${clock}:00+01:00`) * 1000;
}

function show(
  app: string,
  title: string,
  from: string,
  to: string,
  place?: string,
): RecordedWindow {
  const day = from.split(" ")[0] ?? "";
  const endUs = us(to.includes(" ") ? to : `${day} ${to}`);
  return { app, title, startUs: us(from), endUs, ...(place === undefined ? {} : { place }) };
}

const WINDOWS: readonly RecordedWindow[] = [
  show("Code", "cart.ts — shop — Visual Studio Code", "23 09:00", "10:00"),
  show("Firefox", "Octopus brains - BBC — Mozilla Firefox", "24 20:00", "20:06", "bbc.com/octopus"),
  show("Code", "cart.ts — shop — Visual Studio Code", "26 09:00", "09:30"),
  show("Firefox", "Payment intents | Stripe", "26 09:30", "09:40", "stripe.com/intents"),
  show("Code", "● checkout.ts — shop — Visual Studio Code", "26 09:40", "10:25"),
  show("zoom", "Call with Ines — Zoom Meeting", "26 10:30", "11:00"),
  show("LibreOffice", "Rent 2026.ods — LibreOffice Calc", "26 11:00", "12:20"),
  show("Slack", "(3) #team — Slack", "26 13:05", "13:15"),
  show("LibreOffice", "Letter.odt — LibreOffice Writer", "26 13:15", "14:00"),
];
const NOW = us("26 14:01");

function ask(
  turn: string,
  more: {
    history?: ActivityHistory;
    previousTurns?: readonly string[];
    budgetTokens?: number;
  } = {},
): DigestAnswer {
  const { history = createMemoryHistory(WINDOWS), ...rest } = more;
  return createDigester({ history }).render({ turn, nowUs: NOW, timeZone: ZONE, ...rest });
}

function bodyOf(answer: DigestAnswer): readonly string[] {
  return answer.block?.trimEnd().split("\n").slice(1, -1) ?? [];
}

describe("what a digest does without", () => {
  const leftOut = (turn: string, budgetTokens = 400) =>
    createDigester({ history: createMemoryHistory(WINDOWS) }).render({
      turn,
      nowUs: NOW,
      timeZone: ZONE,
      budgetTokens,
      withLeftOut: true,
    });

  it("is told only when it is asked for", () => {
    expect(ask("what did I do today?").leftOut).toBeUndefined();
    expect(leftOut("what did I do today?").leftOut).toBeDefined();
  });

  it("are the lines that found no room, each with its cost and its reason", () => {
    const all = leftOut("what did I do today?");
    const tight = leftOut("what did I do today?", 60);
    const told = bodyOf(tight).filter((line) => line.startsWith("- "));
    expect(told.length).toBeGreaterThan(0);
    const missing = bodyOf(all).filter((line) => line.startsWith("- ") && !told.includes(line));
    expect(missing.length).toBeGreaterThan(0);
    const [untold = [], reasons = []] = [
      tight.leftOut?.map(({ text }) => text),
      tight.leftOut?.map(({ reason }) => reason),
    ];
    for (const line of missing) expect(untold).toContain(line);
    expect(reasons[0]).toBe("time in the window; no room within 60 tokens");
    for (const { tokens } of tight.leftOut ?? []) expect(tokens).toBeGreaterThan(0);
  });

  it("never holds a line that is told", () => {
    for (const turn of ["what did I do today?", "find the octopus article", "the shop on Monday"]) {
      const answer = leftOut(turn);
      const told = new Set(bodyOf(answer));
      for (const { text } of answer.leftOut ?? []) expect(told).not.toContain(text);
    }
  });

  it("marks the words of strangers", () => {
    const [first] = leftOut("find the octopus article", 1).leftOut ?? [];
    expect(first?.untrustedSpans.map(({ start, end }) => first.text.slice(start, end))).toEqual([
      "Firefox",
      "Octopus brains - BBC",
      "bbc.com/octopus",
    ]);
    expect(first?.startUs).toBe(us("24 20:00"));
  });

  it("is nothing for small talk", () => {
    expect(leftOut("thank you, that was lovely!").leftOut).toEqual([]);
  });
});

describe("the digest answers", () => {
  it("what was before a call, with the call", () => {
    const answer = ask("what was I doing right before the call with Ines?");
    expect(answer.intent).toBe("anchor");
    expect(bodyOf(answer)).toEqual([
      "Thu 26 Nov 2026 (today):",
      '- 10:10–10:25 (15 min) Code: "checkout.ts — shop"',
      '- 10:30–11:00 (30 min) zoom: "Call with Ines — Zoom Meeting"',
    ]);
    expect(answer.reasons).toHaveLength(2);
    expect(answer.eventIds).toEqual([us("26 10:30")]);
  });

  it("what came after lunch, which is the longest absence around noon", () => {
    expect(bodyOf(ask("what did I do after lunch?"))).toEqual([
      "Thu 26 Nov 2026 (today):",
      '- 13:05–13:15 (10 min) Slack: "#team"',
      '- 13:15–13:35 (20 min) LibreOffice: "Letter.odt"',
    ]);
  });

  it.each([
    ["Ines rang me, and before that, what was I doing?", "checkout.ts"],
    ["what was I on when Ines called?", "checkout.ts"],
    ["once the call with Ines was over, what did I turn to?", "Rent 2026.ods"],
    ["what have I been doing after talking to Ines", "Rent 2026.ods"],
    ["when I came back from lunch, what did I do?", "#team"],
    ["was habe ich nach dem Gespräch mit Ines gemacht", "Rent 2026.ods"],
    ["¿qué estaba haciendo antes de la llamada con Ines?", "checkout.ts"],
    ["je faisais quoi avant l'appel avec Ines ?", "checkout.ts"],
  ])("%j beside its event", (turn, title) => {
    const answer = ask(turn);
    expect(answer.intent).toBe("anchor");
    const [first] = bodyOf(answer).filter((line) => /^- (?!.*Zoom)/.test(line));
    expect(first).toContain(title);
  });

  it("what the turn is about, when an event stands beside it that is to come", () => {
    const answer = ask("before the meeting starts: how far did I get with the shop?");
    expect(answer.intent).toBe("topic");
    expect(answer.block).toContain("checkout.ts — shop");
  });

  it("what came right after an event apart from all that followed", () => {
    const windows = [...WINDOWS, show("Code", "cart.ts — shop", "26 14:01", "16:30")];
    const history = createMemoryHistory(windows);
    const digester = createDigester({ history });
    const turn = "what have I done since lunch?";
    const lines = bodyOf(digester.render({ turn, nowUs: us("26 16:30"), timeZone: ZONE }));
    expect(lines).toEqual([
      "Thu 26 Nov 2026 (today):",
      '- 13:05–13:15 (10 min) Slack: "#team"',
      '- 13:15–13:35 (20 min) LibreOffice: "Letter.odt"',
      '- 13:35–14:00 (25 min) LibreOffice: "Letter.odt"',
      '- 14:01–16:30 (2 h 29 min) Code: "cart.ts — shop"',
    ]);
  });

  it("what happened in a time", () => {
    expect(bodyOf(ask("what did I do on Monday?"))).toEqual([
      "Mon 23 Nov 2026:",
      '- 09:00–10:00 (1 h) Code: "cart.ts — shop"',
    ]);
  });

  it("where a page was, and how long a piece of work took", () => {
    expect(bodyOf(ask("find the octopus article I was reading"))).toEqual([
      "Tue 24 Nov 2026:",
      '- 20:00–20:06 (6 min) Firefox: "Octopus brains - BBC" bbc.com/octopus',
    ]);
    const total = bodyOf(ask("how long did I work on the shop this week?"))[0];
    expect(total).toMatch(
      /^- total on "shop": 2 h 15 min of 5 h 16 min active, Mon 23 Nov – Thu 26 Nov 2026$/,
    );
  });

  it("what is in front now, passing over the assistant's own window", () => {
    const windows = [...WINDOWS, show("Claude", "Chat", "26 14:00", "14:01")];
    const digester = createDigester({
      history: createMemoryHistory(windows),
      isAssistant: (app) => app === "Claude",
    });
    const answer = digester.render({ turn: "summarise this document", nowUs: NOW, timeZone: ZONE });
    expect(answer.intent).toBe("now");
    expect(bodyOf(answer)[1]).toContain("Letter.odt");
  });

  it("a follow-up with what the turn before was about", () => {
    const answer = ask("and what about Monday?", {
      previousTurns: ["how long did I work on the shop today?"],
    });
    expect(bodyOf(answer)[0]).toContain("1 h of 1 h active, Mon 23 Nov 2026");
  });

  it("a follow-up that asks something else with what it asks, of what the turn before was about", () => {
    const total = ask("and how long on the cart?", { previousTurns: ["what did I do on Monday?"] });
    expect(total.intent).toBe("duration");
    expect(bodyOf(total)[0]).toBe('- total on "cart": 1 h of 1 h active, Mon 23 Nov 2026');
    const same = ask("and how long was that?", { previousTurns: ["find the octopus article"] });
    expect(bodyOf(same)[0]).toMatch(/^- total on "octopus article": 6 min of /);
  });

  it.each([
    [
      ["how long did I work on the shop today?", "and on the rent?"],
      "just today",
      '- total on "rent"',
    ],
    [["find the octopus article"], "when was that?", "octopus"],
    [["find the octopus article", "thanks"], "tell me more", "octopus"],
  ])(
    "a follow-up with what was asked before it, over several turns: %s %s",
    (before, turn, want) => {
      const told = ask(turn, { previousTurns: before });
      expect(bodyOf(told).join()).toContain(want);
    },
  );

  it.each([
    [["what did I do after the call with Ines?"], "and before?", "checkout.ts"],
    [["was hab ich vor dem Call mit Ines gemacht?"], "und danach?", "Rent 2026.ods"],
    [["qu'est-ce que je faisais avant l'appel avec Ines ?"], "et après ?", "Rent 2026.ods"],
    [["¿qué hice después de la llamada con Ines?"], "¿y antes?", "checkout.ts"],
    [["when did I read about payment intents?"], "what did I do right after that?", "checkout.ts"],
    [["¿cuándo vi lo de payment intents?"], "¿y qué hice después de eso?", "checkout.ts"],
    [["quand est-ce que j'ai vu payment intents ?"], "et ensuite j'ai fait quoi ?", "checkout.ts"],
    [["wann war ich bei payment intents?"], "was kam direkt danach?", "checkout.ts"],
    [["what did I do after lunch?"], "and before?", "Rent 2026.ods"],
    [["what was I doing before lunch?", "and after?"], "and before the call?", "checkout.ts"],
  ])("a follow-up that asks beside it with what was there: %s %s", (before, turn, want) => {
    const told = ask(turn, { previousTurns: before });
    expect(bodyOf(told).join()).toContain(want);
  });

  it.each([
    ["je faisais quoi avant de dîner ce midi ?", "Rent 2026.ods"],
    ["après le dîner j'ai fait quoi", "Slack"],
    ["what was I on before dinner", "Rent 2026.ods"],
    ["al regresar de comer qué abrí", "Slack"],
  ])("a dinner at noon with what was beside it: %s", (turn, want) => {
    expect(bodyOf(ask(turn)).join()).toContain(want);
  });

  it.each([
    ["qu'est-ce que j'ai fait après la formation premiers secours ?", "Letter.odt"],
    ["je faisais quoi avant la rencontre avec Ondine ?", "Menu.odt"],
    ["¿qué hice después de la junta con Facundo?", "Letter.odt"],
  ])("what was beside a training and a talk by other names: %s", (turn, want) => {
    const history = createMemoryHistory([
      show("Teams", "Junta con Facundo | Microsoft Teams", "25 09:00", "09:30"),
      show("Writer", "Letter.odt — LibreOffice Writer", "25 09:30", "10:00"),
      show("Firefox", "Formation premiers secours - Croix", "25 10:00", "11:00", "croix.example/f"),
      show("Writer", "Letter.odt — LibreOffice Writer", "25 11:00", "11:30"),
      show("Writer", "Menu.odt — LibreOffice Writer", "26 09:30", "10:30"),
      show("Teams", "Rencontre avec Ondine | Microsoft Teams", "26 10:30", "11:00"),
      show("Code", "cart.ts — shop — Visual Studio Code", "26 11:00", "14:00"),
      show("zoom", "Call with Ines — Zoom Meeting", "26 14:00", "14:01"),
    ]);
    expect(bodyOf(ask(turn, { history })).join()).toContain(want);
  });

  it.each([
    ["je voudrais continuer le rent 2026", "Rent 2026.ods"],
    ["me gustaría continuar con el rent 2026", "Rent 2026.ods"],
    ["la dernière chose que j'ai faite aujourd'hui", "Letter.odt"],
    ["¿qué fue lo primero que hice hoy?", "cart.ts"],
    ["j'ai commencé ma journée par quoi", "cart.ts"],
  ])("wishes and ends of a day in French and Spanish: %s", (turn, want) => {
    expect(bodyOf(ask(turn))[1]).toContain(want);
  });

  it("a follow-up about somebody else with what was beside their call", () => {
    const history = createMemoryHistory([
      show("Writer", "Menu.odt — LibreOffice Writer", "25 09:30", "10:30"),
      show("zoom", "Call with Otto — Zoom Meeting", "25 10:30", "11:00"),
      ...WINDOWS.filter(({ startUs }) => startUs > us("26 00:00")),
    ]);
    const previousTurns = ["what was I doing before the call with Ines?"];
    expect(bodyOf(ask("and with Otto?", { history, previousTurns }))[1]).toContain("Menu.odt");
  });

  it("a follow-up beside something that was never there as not recorded", () => {
    const previousTurns = ["when did I look at the scuba course?"];
    const answer = ask("and what did I do right after that?", { previousTurns });
    expect(bodyOf(answer)).toEqual([
      '- nothing recorded about "scuba course" (history since 23 Nov 2026)',
    ]);
  });

  it("the file of somebody who was never seen as not recorded, and not with that of another", () => {
    const history = createMemoryHistory([
      ...WINDOWS,
      show("Firefox", "Expediente Canela - Vet", "25 09:00", "09:30", "vet.example/canela"),
      show("Firefox", "Expediente Rocky - Vet", "25 10:00", "10:30", "vet.example/rocky"),
    ]);
    expect(bodyOf(ask("¿cuándo abrí el expediente de Firulais?", { history })).join()).toContain(
      'nothing recorded about "expediente de Firulais"',
    );
    expect(bodyOf(ask("¿cuándo abrí el expediente de Rocky?", { history })).join()).toContain(
      "Rocky",
    );
    expect(bodyOf(ask("when did I read the octopus brains article by Otto?")).join()).toContain(
      "Octopus",
    );
  });

  it.each([
    ["how long was I on Slack today?", '- total on "Slack": 10 min'],
    ["combien de temps j'ai passé sur Slack aujourd'hui", '- total on "Slack": 10 min'],
    ["when was I last in Slack?", "13:05–13:15 (10 min) Slack"],
    ["à quelle heure j'ai terminé lundi", "09:30–10:00"],
    ["on reprend le rent 2026", "Rent 2026.ods"],
    ["faut que je finisse le rent 2026, j'en étais où", "Rent 2026.ods"],
  ])("a program by its name, and what is taken up again: %s", (turn, want) => {
    expect(bodyOf(ask(turn)).join()).toContain(want);
  });

  it("the time in a program with all of its windows, however many", () => {
    const at = (minutes: number): string =>
      `25 ${String(8 + Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
    const pages = Array.from({ length: 60 }, (_, index) =>
      show("Firefox", `Page ${index} of many`, at(4 * index), at(4 * index + 4).slice(3)),
    );
    const answer = ask("how long was I in Firefox yesterday?", {
      history: createMemoryHistory([...pages, ...WINDOWS.slice(2)]),
    });
    expect(bodyOf(answer)[0]).toContain('total on "Firefox": 4 h of 4 h active');
    const again = [
      show("Code", "cart.ts — shop", "25 12:00", "13:00"),
      show("Firefox", "Page 3 of many", "25 13:00", "13:02"),
      show("Code", "cart.ts — shop", "25 13:02", "14:00"),
    ];
    const last = ask("when was I last in Firefox?", {
      history: createMemoryHistory([...pages, ...again]),
    });
    expect(bodyOf(last).at(-1)).toContain('13:00–13:02 (2 min) Firefox: "Page 3 of many"');
  });

  it("what was before a call that followed a break", () => {
    const told = ask("what was I doing before the chat in Slack?");
    expect(bodyOf(told).join()).toContain("Rent 2026.ods");
  });

  it("a follow-up about something that was never there by the words of the turn before", () => {
    const answer = ask("and on Monday?", {
      previousTurns: ["how long was I on the scuba course?"],
    });
    expect(bodyOf(answer)).toEqual([
      '- nothing recorded about "scuba course" (history since 23 Nov 2026)',
    ]);
  });

  it.each([
    ["what was the last thing I did today?", "Letter.odt"],
    ["womit hab ich am Dienstag aufgehört?", "Octopus brains"],
    ["what time did I start work today?", "cart.ts"],
    ["when did I log off on Tuesday", "Octopus brains"],
    ["wann hab ich am Dienstag Schluss gemacht", "Octopus brains"],
    ["what did I start today with?", "cart.ts"],
    ["was hab ich heute als Erstes aufgemacht?", "cart.ts"],
  ])("the end of a time that is asked for with what stands there: %s", (turn, title) => {
    const lines = bodyOf(ask(turn)).filter((line) => line.startsWith("- "));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(title);
  });

  it("nothing to a turn that tells how a day was, and a matter of it by its name", () => {
    for (const turn of [
      "I spent this morning at my brother's",
      "gestern war ich beim Zahnarzt",
      "my flight was late this morning",
      "der Termin mit dem Klempner lief gut",
    ]) {
      expect(ask(turn).block).toBeNull();
    }
    expect(bodyOf(ask("I was reading Octopus brains on Tuesday"))[1]).toContain("Octopus brains");
  });

  it.each([
    ["what did I do between the call and lunch?", ["Rent 2026.ods"]],
    ["was hab ich zwischen dem Call mit Ines und der Mittagspause gemacht?", ["Rent 2026.ods"]],
    ["what did I have open between lunch and 13:30?", ["#team", "Letter.odt"]],
    ["was hatte ich von der Mittagspause bis 13:30 offen?", ["#team", "Letter.odt"]],
    ["what was I on between 11:30 and lunch?", ["Rent 2026.ods"]],
  ])("the time between two events with what was then: %s", (turn, titles) => {
    const answer = ask(turn);
    expect(answer.intent).toBe("anchor");
    const lines = bodyOf(answer).filter((line) => line.startsWith("- "));
    expect(lines.map((line) => /"(.*)"/.exec(line)?.[1])).toEqual(titles);
  });

  it.each(["what was I on up to lunch?", "what did I have open right up to lunch"])(
    "what was there until an event: %s",
    (turn) => {
      const answer = ask(turn);
      expect(answer.intent).toBe("anchor");
      expect(bodyOf(answer)[1]).toContain("Rent 2026.ods");
    },
  );

  it("what somebody got up to as no getting up", () => {
    const answer = ask("what did I get up to in the last hour?");
    expect(answer.intent).toBe("window");
    expect(bodyOf(answer).join("\n")).not.toContain("cart.ts");
  });

  it("with nothing at all to small talk, however much is recorded", () => {
    for (const turn of ["thanks!", "tell me a joke", "", "…", "what is the capital of Peru?"]) {
      expect(ask(turn)).toMatchObject({ block: null, intent: "none", tokens: 0 });
    }
  });

  it("with one line for a time in which nothing was recorded, and with nothing for one to come", () => {
    expect(bodyOf(ask("what was I doing last Sunday at 3 am?"))).toEqual([
      expect.stringMatching(
        /^- nothing recorded Sun 22 Nov 0[0-9]:\d\d–0[0-9]:\d\d \(history since 23 Nov 2026\)$/,
      ),
    ]);
    expect(ask("what will I be doing tomorrow at 3 pm?").block).toBeNull();
    const asleep = [{ kind: "sleep", startUs: us("24 23:00"), endUs: us("25 07:00") }] as const;
    const night = ask("what was I doing on Wednesday at 3 am?", {
      history: createMemoryHistory(WINDOWS, asleep),
    });
    expect(bodyOf(night)[0]).toMatch(/^- nothing recorded Wed 25 Nov \S+: asleep \(history since/);
    const noon = ask("what was I doing on Wednesday at noon?", {
      history: createMemoryHistory(WINDOWS, asleep),
    });
    expect(bodyOf(noon)[0]).toMatch(/^- nothing recorded Wed 25 Nov \S+ \(history since/);
  });

  it("with one line when the topic was never there, and when nothing was recorded yet", () => {
    const answer = ask("when did I look at the scuba diving course?");
    expect(bodyOf(answer)).toEqual([
      '- nothing recorded about "scuba diving course" (history since 23 Nov 2026)',
    ]);
    expect(answer.tokens).toBeLessThanOrEqual(45);
    const empty = ask("find the octopus article", { history: createMemoryHistory([]) });
    expect(bodyOf(empty)).toEqual(['- nothing recorded about "octopus article" (no history yet)']);
  });

  it.each(["what was I doing before lunch?", "where did I leave off?"])(
    "with one line when nothing was recorded yet and no time is named: %s",
    (turn) => {
      const history = createMemoryHistory([]);
      expect(bodyOf(ask(turn, { history }))).toEqual(["- nothing recorded (no history yet)"]);
    },
  );

  it("with nothing to small talk and to general questions, also when nothing was recorded yet", () => {
    const history = createMemoryHistory([]);
    for (const turn of ["thanks", "hello there", "what is the capital of France?"])
      expect(ask(turn, { history }).block).toBeNull();
  });
});

describe("whatever is asked of whatever was recorded, a digest", () => {
  const questions = fc.constantFrom(
    "what was I doing yesterday?",
    "how long did I spend on the shop this week?",
    "find the octopus page",
    "what was I doing before lunch?",
    "where was I?",
    "summarise this page",
  );

  it("stays within its budget, is the same twice, and can be stripped off the turn", () => {
    fc.assert(
      fc.property(
        fc.oneof(questions, nastyText(12)),
        fc.array(nastyText(6), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 400 }),
        (turn, titles, budgetTokens) => {
          const hostile = titles.map((title, index) =>
            show("Firefox", title, `26 13:${20 + index}`, `26 13:${21 + index}`),
          );
          const history = createMemoryHistory([...WINDOWS, ...hostile]);
          const answer = ask(turn, { history, budgetTokens });
          expect(ask(turn, { history, budgetTokens })).toEqual(answer);
          expect(answer.tokens).toBeLessThanOrEqual(budgetTokens);
          if (answer.block === null) return;
          expect(stripLeadingSystemContext(`${answer.block}hello`)).toBe("hello");
          expect(answer.reasons).toHaveLength(
            answer.block.split("\n").filter((line) => line.startsWith("- ")).length,
          );
        },
      ),
      { numRuns: propertyRuns(40, 3000) },
    );
  });

  it("does not depend on the turns before, nor on what happened later", () => {
    const whole = createMemoryHistory(WINDOWS);
    const used = createDigester({ history: whole });
    used.render({ turn: "find the octopus page", nowUs: NOW, timeZone: ZONE });
    const request = { turn: "what did I do on Monday?", nowUs: us("24 08:00"), timeZone: ZONE };
    const early = createDigester({ history: createMemoryHistory(WINDOWS.slice(0, 1)) });
    expect(used.render(request)).toEqual(early.render(request));
  });
});

describe("a model that may choose lines", () => {
  const turn = "what was I doing right before the call with Ines?";
  const request = { turn, nowUs: NOW, timeZone: ZONE };
  const digester = createDigester({ history: createMemoryHistory(WINDOWS) });

  it("is offered the lines of the rules first, and its choice alone is told", async () => {
    let offered: readonly string[] = [];
    const picker: LinePicker = {
      pick: async (_turn, lines) => {
        offered = lines;
        return [1];
      },
    };
    const answer = await digester.renderWith(request, picker, 0);
    expect(offered[0]).toBe('- 10:10–10:25 (15 min) Code: "checkout.ts — shop"');
    expect(offered.length).toBeGreaterThan(2);
    expect(offered.length).toBeLessThanOrEqual(40);
    expect(answer.source).toBe("model");
    expect(bodyOf(answer).filter((line) => line.startsWith("- "))).toEqual([offered[1]]);
  });

  it("is passed over when it gives nothing, and the answer says so", async () => {
    const answer = await digester.renderWith(request, { pick: async () => null }, 0);
    expect(answer).toEqual({ ...digester.render(request), source: "fallback" });
  });

  it("is not asked about small talk or what is in front", async () => {
    const picker: LinePicker = { pick: () => Promise.reject(new Error("was asked")) };
    for (const other of ["thanks!", "summarise this page"]) {
      const asked = { ...request, turn: other };
      expect(await digester.renderWith(asked, picker, 0)).toEqual(digester.render(asked));
    }
  });
});

describe("a call in a browser that tells no address", () => {
  const calls = [
    show("Code", "cart.ts — shop — Visual Studio Code", "26 09:00", "09:30"),
    show("Google Chrome", "Meet – Weekly with Bo - Google Chrome", "26 09:30", "10:00"),
    show("LibreOffice", "Rent 2026.ods — LibreOffice Calc", "26 10:00", "10:40"),
    show("firefox", "Reunión con Pía | Microsoft Teams — Mozilla Firefox", "26 10:40", "11:00"),
    show("Slack", "Pía (DM) - Slack", "26 13:00", "13:01"),
  ];
  it.each([
    ["what was I doing before the call with Bo?", "cart.ts"],
    ["¿qué hacía antes de la reunión con Pía?", "Rent 2026.ods"],
  ])("is one to look beside: %s", (turn, before) => {
    const answer = ask(turn, { history: createMemoryHistory(calls) });
    expect(answer.intent).toBe("anchor");
    expect(answer.block).toContain(before);
  });
});

describe("a topic that is written without spaces", () => {
  const windows = [
    show("soffice", "見積書の下書き.odt — LibreOffice Writer", "26 09:00", "09:30"),
    show("Firefox", "竹細工の歴史 - 博物館 — Mozilla Firefox", "26 09:30", "09:40"),
  ];
  it.each([
    ["où j'en étais avec 見積書 ?", "見積書の下書き.odt"],
    ["¿dónde vi 竹細工の歴史?", "竹細工の歴史"],
    ["how long did I spend on 下書き today?", '- total on "下書き": 30 min'],
    ["find 盆栽の手入れ", '- nothing recorded about "盆栽の手入れ"'],
  ])("is found in titles that go on: %s", (turn, expected) => {
    expect(ask(turn, { history: createMemoryHistory(windows) }).block).toContain(expected);
  });
});

describe("a time to come", () => {
  it.each([
    "et la semaine prochaine, j'ai quoi ?",
    "¿qué tengo el martes que viene?",
    "what do I have on tomorrow?",
    "je fais quoi ce soir ?",
  ])("is asked about in vain: %s", (turn) => {
    expect(ask(turn).block).toBeNull();
    expect(ask(turn, { previousTurns: ["what did I do on Monday?"] }).block).toBeNull();
  });

  it.each([
    ["je dois finir pour demain, où j'en étais ?", "Rent 2026.ods"],
    ["where was I with the rent, it is due next week", "Rent 2026.ods"],
  ])("does not hide what was: %s", (turn, expected) => {
    expect(ask(turn).block).toContain(expected);
  });
});

describe("a time at which a topic was not there", () => {
  it("is told before a title that is only like it", () => {
    const history = createMemoryHistory([
      show("Firefox", "Medication chart", "24 09:00", "10:00"),
      show("Firefox", "Symptoms of shingles", "25 22:00", "22:30"),
    ]);
    const turn = "what was that medical thing I read last night?";
    expect(ask(turn, { history }).block).toContain("shingles");
    expect(ask(turn, { history, budgetTokens: 60 }).block).toContain("shingles");
  });
});

describe("a turn that is a name and nothing else", () => {
  it.each([
    ["payment intents", "Payment intents"],
    ["the octopus brains page", "Octopus brains"],
    ["rent 2026 please", "Rent 2026.ods"],
    ["Ines's call", "Call with Ines"],
    ["stripe payments", "Payment intents"],
  ])("gets what is called so: %s", (turn, title) => {
    expect(ask(turn).block).toContain(title);
  });

  it.each(["good work", "octopus salad", "brains", "tax rates 2025", "payment please"])(
    "gets nothing where nothing is: %s",
    (turn) => {
      expect(ask(turn).block).toBeNull();
    },
  );

  it("names a part of a compound, in German", () => {
    const history = createMemoryHistory([
      show("Okular", "Kündigungsschreiben Schäfer.pdf", "25 09:00", "09:30"),
    ]);
    expect(ask("Schaefer Kündigung", { history }).block).toContain("Schäfer");
    expect(ask("Schaefer Einladung", { history }).block).toBeNull();
  });

  it("is told apart by a single digit", () => {
    const history = createMemoryHistory([
      show("Okular", "Greenhouse plan 7.pdf", "25 09:00", "09:30"),
      show("Okular", "Greenhouse plan 8.pdf", "25 10:00", "11:30"),
    ]);
    expect(ask("the greenhouse plan 7", { history }).block).toContain("plan 7");
    expect(ask("the greenhouse plan 7", { history }).block).not.toContain("plan 8");
    expect(ask("find greenhouse plan 8", { history }).block).not.toContain("plan 7");
  });
});

describe("a work that a folder is named after", () => {
  it("was last seen when its files were", () => {
    const windows = ["19", "20", "23", "24", "25"].flatMap((day) => [
      show("org.gnome.Nautilus", "Lantern walk", `${day} 09:00`, "09:02"),
      show("soffice", "Routes.odt — LibreOffice Writer", `${day} 09:02`, "09:20"),
      show("Firefox", "Octopus brains - BBC — Mozilla Firefox", `${day} 10:00`, "16:00"),
    ]);
    windows.push(show("soffice", "Routes.odt — LibreOffice Writer", "26 09:00", "09:30"));
    const answer = ask("when did I last touch the lantern walk?", {
      history: createMemoryHistory(windows),
    });
    expect(answer.block).toContain('09:00–09:30 (30 min) soffice: "Routes.odt"');
  });
});
