/** Turns about this moment: the machine, what plays, and how long the owner has been at what is in front. */
import { describe, expect, it } from "vitest";
import { readTurn } from "../../../../src/capture/triage/read-turn.ts";
import { createDigester } from "../../../../src/capture/context-digest.ts";
import { createMemoryHistory } from "../../../helpers/memory-history.ts";

const NOW = Date.parse("2026-11-26T15:00:00+01:00") * 1000;
const ZONE = "Europe/Berlin";

function isNow(turn: string): boolean {
  return readTurn(turn, NOW, ZONE).intents.now === 1;
}

describe("a turn about this moment", () => {
  it.each([
    "how much battery do I have left?",
    "what's my battery at",
    "is my laptop charging?",
    "am I still online?",
    "how much memory is in use right now",
    "what's playing?",
    "what song is this",
    "how long have I been sitting here?",
    "how long have I been on this page",
    "how long have I been working on this already",
    "wie viel Akku hab ich noch?",
    "lädt mein Laptop gerade?",
    "welches Lied läuft da gerade",
    "wie lange sitze ich jetzt schon hier?",
    "¿cuánta batería me queda?",
    "¿qué canción suena ahora?",
    "cuánto tiempo llevo en esto",
    "il me reste combien de batterie ?",
    "ça fait combien de temps que je suis là-dessus ?",
    "est-ce que mon ordi charge ?",
  ])("asks for what is so now: %s", (turn) => {
    expect(isNow(turn)).toBe(true);
  });

  it.each([
    "how much battery does a phone need to start?",
    "what is memory?",
    "is charging overnight bad for the battery",
    "how much memory do elephants have",
    "what song should I play at the wedding?",
    "how long have I been married",
    "how long was I on this page yesterday?",
    "how long have I been at the barn rent this week?",
    "what was playing yesterday evening?",
    "wie viel Akku braucht ein Roller",
    "wie lange bin ich schon verheiratet",
    "qué canción es mejor para una boda",
    "combien de batterie consomme un vélo",
  ])("is no other one: %s", (turn) => {
    expect(isNow(turn)).toBe(false);
  });

  it("is answered by what is in front, and not by a sum of a week", () => {
    const history = createMemoryHistory([
      { app: "Writer", title: "Barn rent.odt", startUs: NOW - 3_600_000_000, endUs: NOW },
    ]);
    const request = { turn: "how long have I been working on this?", nowUs: NOW, timeZone: ZONE };
    expect(createDigester({ history }).render(request)).toMatchObject({
      intent: "now",
      block: expect.stringContaining('- 14:00–15:00 (1 h) Writer: "Barn rent.odt"'),
    });
  });
});
