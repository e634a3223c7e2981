import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTurn } from "../../../../src/capture/triage/read-turn.ts";
import { tokenizeTurn } from "../../../../src/capture/triage/turn/tokens.ts";
import type { TurnLanguage } from "../../../../src/capture/triage/turn/reading.ts";
import { mendTypos } from "../../../../src/capture/triage/turn/typos.ts";

function mended(
  turn: string,
  language: TurnLanguage = "en",
  known: readonly string[] = [],
): string {
  const tokens = mendTypos(tokenizeTurn(turn), language, (word) => known.includes(word));
  return tokens.map(({ folded }) => folded).join(" ");
}

describe("typing errors in the words of asking", () => {
  it.each([
    ["what was i doing befroe lnuch", "en", "what was i doing before lunch"],
    ["waht did i wrok on aftre the meetign", "en", "what did i work on after the meeting"],
    ["was habe ich nach dem Mitagessen gemahct", "de", "was habe ich nach dem mittagessen gemacht"],
    ["what did i do on friay mornign", "en", "what did i do on friday morning"],
    ["que hice despeus de comer", "es", "que hice despues de comer"],
    ["je faisais quoi avnat le dejeuner", "fr", "je faisais quoi avant le dejeuner"],
    ["quoi douvert avant lappel dhier", "fr", "quoi ouvert avant appel hier"],
  ] as const)("%j is mended", (turn, language, expected) => {
    expect(mended(turn, language)).toBe(expected);
  });

  it("are not seen in words that English or the record knows, nor in names with numbers", () => {
    expect(mended("the launch of the bread brake")).toBe("the launch of the bread brake");
    expect(mended("where is lnuch", "en", ["lnuch"])).toBe("where is lnuch");
    expect(mended("befor1 lunch2")).toBe("befor1 lunch2");
  });

  it.each([
    ["remettre la main sur le courrier", "fr"],
    ["le livre de la femme du commerce", "fr"],
    ["le vol pour la chine cet hiver", "fr"],
    ["la carriere du centre a sa taille", "fr"],
    ["el precio del vuelo y la casa", "es"],
    ["la cuenta del parque y la calle", "es"],
    ["tarta de manzana", "es"],
  ] as const)("are not seen in the everyday words of other languages: %s", (turn, language) => {
    expect(mended(turn, language)).toBe(turn);
  });

  it("are left alone in a language without word lists", () => {
    expect(mended("befroe", "other")).toBe("befroe");
  });

  it("find the side and the event that were meant", () => {
    const { sides, anchors } = readTurn("what was I doing befroe lnuch?", 1e15, "UTC");
    expect(sides.map(({ side }) => side)).toEqual(["before"]);
    expect(anchors.map(({ kind, startIndex }) => [kind, startIndex])).toEqual([["lunch", 24]]);
  });

  it("change neither the number nor the places of the words, whatever is typed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), (turn) => {
        const tokens = tokenizeTurn(turn);
        const places = mendTypos(tokens, "en", () => false).map(
          ({ folded: _folded, ...rest }) => rest,
        );
        expect(places).toEqual(tokens.map(({ folded: _folded, ...rest }) => rest));
      }),
    );
  });
});
