/** What a terminal may get of text that somebody else wrote. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTerminalText, toTerminalText } from "../../src/tui/terminal-text.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { propertyRuns } from "../helpers/property-runs.ts";

/** C0 but line feed and tab, DEL, C1, and what turns the writing around. */
const ACTING = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

describe("text on its way to a terminal", () => {
  it.each([
    ["a colour", "a\u001B[31mb", "a␛[31mb"],
    ["the name of the window", "\u001B]0;x\u0007", "␛]0;x␇"],
    ["the clipboard", "\u001B]52;c;eA==\u001B\\", "␛]52;c;eA==␛\\"],
    ["a sequence of eight bits", "\u009B2J", "<9b>2J"],
    ["a return to the line's start", "secret\rshown", "secret␍shown"],
    ["a step back", "a\bb", "a␈b"],
    ["writing turned around", "a\u202Eb", "a<202e>b"],
    ["half a character", "a\uD83D", "a\uFFFD"],
  ])("shows %s as signs", (_what, text, shown) => {
    expect(toTerminalText(text)).toBe(shown);
  });

  it.each([
    ["lines and tabs", "a\n\tb\n"],
    ["words of any script", "漢字 Ünï Привет שלום 👩‍💻🎉"],
  ])("leaves %s as they are", (_what, text) => {
    expect(toTerminalText(text)).toBe(text);
  });

  it("ends lines with a line feed, however they ended", () => {
    expect(toTerminalText("a\r\nb\u2028c\u2029d")).toBe("a\nb\nc\nd");
  });

  it("is the same for every way of cutting it, and nothing of it acts", () => {
    const cuts = fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(nastyText(), cuts, (text, sizes) => {
        const stream = createTerminalText();
        let shown = "";
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const size = (sizes[turn % sizes.length] ?? 0) + (turn % 2);
          shown += stream.push(text.slice(at, at + size));
          at += size;
        }
        shown += stream.flush();
        expect(shown).toBe(toTerminalText(text));
        expect(shown).not.toMatch(ACTING);
      }),
      { numRuns: propertyRuns(200, 5_000) },
    );
  });
});
