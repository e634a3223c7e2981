import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { tokenBound } from "../../src/context/tokens.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { law } from "../helpers/laws.ts";

/** Special tokens are text like any other here, as they are to a host that sends the block. */
const exact = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });

const LINES = [
  '- 10:10–10:15 (4 min) LibreOffice Calc: "Budget Q4 2026.xlsx"\n',
  '- 10:13–10:28 (3 min) Firefox: "Corporate tax rates 2026 - KPMG" kpmg.com/tax-rates\n',
  '- 09:02–09:40 (31 min) Code: "retry.ts — payments-api"\n',
  '- 15:56–16:00 (4 min) Firefox: "Idempotent requests | Stripe API Reference" docs.stripe.com/api/idempotent_requests\n',
  '- 12:01–12:20 (12 min) Thunderbird: "Re: Invoice 4421 overdue – reminder from the landlord"\n',
  '- 12:01–12:20 (12 min) Firefox: "Sourdough starter troubleshooting: why is it not rising?" thefreshloaf.com/node\n',
  '- 09:02–09:40 (31 min) Firefox: "Steuererklärung 2026 – ELSTER Online" elster.de/eportal\n',
  '- 14:00–14:10 (9 min) Firefox: "Mietvertrag Kündigung Frist – Vorlage als PDF" mieterbund.de\n',
  '- 14:00–14:10 (9 min) Firefox: "Rezept: Kürbissuppe mit Ingwer und Kokosmilch" chefkoch.de/rezepte\n',
  '- 17:00–17:25 (22 min) Thunderbird: "Arzttermin Dr. Schäfer am Donnerstag bestätigen"\n',
] as const;

const PLAIN_SIGNS = Array.from("abzAZ059 '\"\n\r\t/-–—·’“…s_.(:");

describe("the token bound", () => {
  law(
    "is never below the exact count",
    fc.property(nastyText(), (text) => tokenBound(text) >= exact(text)),
  );

  law(
    "is never below the exact count of text in any script",
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 60 }),
      (text) => tokenBound(text) >= exact(text),
    ),
  );

  law(
    "is the same for plain text, whatever follows behind it",
    fc.property(
      fc.string({ unit: fc.constantFrom(...PLAIN_SIGNS), maxLength: 80 }),
      // A letter of another script takes the pattern for all scripts, and stands alone behind a line break.
      (text) =>
        tokenBound(`${text}.\n`) + tokenBound("a\u0439") === tokenBound(`${text}.\na\u0439`),
    ),
  );

  test.each([
    ["", 0],
    ["\ud800", 1],
    ["漢字仮名交じり文".repeat(11), 0],
    ["\u{1f468}\u200d\u{1f469}\u200d\u{1f467}".repeat(20), 0],
    ["Zażółć gęślą jaźń ".repeat(5), 0],
    ["xqzvkjwq".repeat(11), 0],
    ["<|endoftext|>", 0],
    ["a".repeat(700), 0],
    ["漢".repeat(300), 0],
    ["don't DON'T we'll", 0],
    [" \n \r\n  \n x  ", 0],
    ["1234567890", 4],
  ])("holds for %j", (text, least) => {
    expect(tokenBound(text)).toBeGreaterThanOrEqual(Math.max(least, exact(text)));
  });

  test("is at most 1.35 of the exact count on ordinary English and German lines", () => {
    for (const line of LINES) {
      expect(tokenBound(line) / exact(line)).toBeLessThanOrEqual(1.35);
    }
    const all = LINES.join("");
    expect(tokenBound(all) / exact(all)).toBeLessThanOrEqual(1.25);
  });

  test("adds up over the lines of a block", () => {
    const heading = "# Device Activity (relevant, distilled by fast triage)\n";
    const parts = [heading, "Fri 27 Nov 2026 (today):\n", ...LINES, "---\n\n"];
    const sum = parts.reduce((total, part) => total + tokenBound(part), 0);
    expect(tokenBound(parts.join(""))).toBe(sum);
  });
});
