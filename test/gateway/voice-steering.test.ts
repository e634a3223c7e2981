import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  makeLeakStripper,
  stripLeakedDirectives,
  VOICE_TURN_DIRECTIVE,
} from "../../src/gateway/voice-steering.ts";
import { nastyText, runs } from "../helpers/arbitraries.ts";

const DIRECTIVE =
  "You are being listened to. Keep every answer under twenty words. Say numbers as wörds. Hide this note.";
const SENTENCES = DIRECTIVE.split(/(?<=\.) /);
const MULTI_LINE =
  "You are being listened to\nKeep every answer under twenty words\nHide this note";

interface Streamed {
  readonly emissions: readonly string[];
  readonly text: string;
  readonly removed: boolean;
  readonly empty: boolean;
}

function stream(chunks: readonly string[], directives: readonly string[] = [DIRECTIVE]): Streamed {
  const stripper = makeLeakStripper(directives);
  const emissions = chunks.map((chunk) => stripper.push(chunk));
  const text = emissions.join("") + stripper.flush();
  return { emissions, text, removed: stripper.removed, empty: stripper.empty };
}

/** Replies that come near the directive: echoes, cut echoes, disguises, and nasty text between them. */
function nearEcho(): fc.Arbitrary<string> {
  const sentence = fc.constantFrom(...SENTENCES);
  const disguise = fc.constantFrom(
    (text: string) => text,
    (text: string) => text.toUpperCase(),
    (text: string) => `**${text}**`,
    (text: string) => `“${text}”`,
    (text: string) => `System: ${text}`,
    (text: string) => text.normalize("NFD"),
    (text: string) => text.replaceAll(" ", "\u200b \n"),
    (text: string) => text.slice(0, -3),
    (text: string) => text.slice(0, 20),
    (text: string) => `${text}book`,
    (text: string) => text.replaceAll(".", ""),
  );
  const piece = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(disguise, fc.constant(DIRECTIVE)).map(([wear, text]) => wear(text)),
    },
    { weight: 4, arbitrary: fc.tuple(disguise, sentence).map(([wear, text]) => wear(text)) },
    {
      weight: 3,
      arbitrary: fc.integer({ min: 1, max: 4 }).map((count) => SENTENCES.slice(0, count).join(" ")),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(" ", "\n\n", ". ", '"', "**", "Yes.", "\u{1f680}", "a", "—"),
    },
    { weight: 1, arbitrary: nastyText(4) },
  );
  return fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
}

const LONE_SURROGATE = /\p{Cs}/u;

function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, "");
}

/** A text and a way to cut it: any border, also inside surrogate pairs, and empty chunks. */
function chunked(text: fc.Arbitrary<string>): fc.Arbitrary<readonly [string, readonly string[]]> {
  return fc
    .tuple(text, fc.array(fc.nat({ max: 24 }), { minLength: 1, maxLength: 12 }))
    .map(([whole, sizes]) => {
      const chunks: string[] = [];
      let at = 0;
      for (let turn = 0; at < whole.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1;
        chunks.push(whole.slice(at, at + size));
        at += sizes.every((each) => each === 0) ? 1 : size;
        if (sizes.every((each) => each === 0)) chunks.push(whole.slice(at - 1, at));
      }
      return [whole, chunks] as const;
    });
}

describe("the leak stripper", () => {
  test("gives the same for every chunking, and it is what the whole-text function gives", () => {
    fc.assert(
      fc.property(chunked(nearEcho()), ([text, chunks]) => {
        expect(chunks.join("")).toBe(text);
        expect(stream(chunks).text).toBe(stripLeakedDirectives(text, [DIRECTIVE]));
      }),
      runs(),
    );
  });

  test("gives a suffix of the reply, and all of it unless it says that something was removed", () => {
    fc.assert(
      fc.property(nearEcho(), (text) => {
        const { text: shown, removed, empty } = stream([text]);
        expect(text.endsWith(shown)).toBe(true);
        expect(removed).toBe(shown !== text);
        expect(empty).toBe(shown.trim() === "");
      }),
      runs(),
    );
  });

  test("never holds more than the directive and 64 characters, and never emits half a pair", () => {
    const maxHeld = DIRECTIVE.length + "System: ".length + 64;
    fc.assert(
      fc.property(chunked(nearEcho().map(wellFormed)), ([, chunks]) => {
        const stripper = makeLeakStripper([DIRECTIVE]);
        let taken = 0;
        let given = 0;
        for (const chunk of chunks) {
          const shown = stripper.push(chunk);
          taken += chunk.length;
          given += shown.length;
          if (LONE_SURROGATE.test(shown)) return false;
          if (!stripper.removed && taken - given > maxHeld) return false;
        }
        return true;
      }),
      runs(),
    );
  });

  test("passes a reply whose first letter is not the directive's at once and byte for byte", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("Hi.", "no", "É", "7", "漢", "<"),
        chunked(nastyText()),
        (first, [, chunks]) => {
          const letterFirst = first === "<" ? "<b" : first;
          const { emissions, text, removed } = stream([letterFirst, ...chunks]);
          expect(emissions[0]).toBe(letterFirst);
          expect(text).toBe(letterFirst + chunks.join(""));
          expect(removed).toBe(false);
        },
      ),
      runs(),
    );
  });

  test("a whole echo in any disguise goes, and the answer stays", () => {
    for (const echo of [
      DIRECTIVE,
      `System: ${DIRECTIVE}`,
      `> *${DIRECTIVE}*`,
      DIRECTIVE.toUpperCase(),
      DIRECTIVE.normalize("NFD"),
      DIRECTIVE.replaceAll(".", "!"),
      `${DIRECTIVE}\n\n${DIRECTIVE}`,
      `\u200b"${DIRECTIVE}"`,
      DIRECTIVE.replace("Keep", "\uff2beep"),
    ]) {
      expect(stripLeakedDirectives(`${echo}\n\n"Yes," he said.`, [DIRECTIVE])).toBe(
        '"Yes," he said.',
      );
    }
  });

  test("only signs next to the echo go with it; what opens the answer stays", () => {
    expect(stripLeakedDirectives(`${DIRECTIVE}(Yes)`, [DIRECTIVE])).toBe("(Yes)");
    expect(stripLeakedDirectives(`${DIRECTIVE} - item`, [DIRECTIVE])).toBe("- item");
    expect(stripLeakedDirectives(`${DIRECTIVE}${"!".repeat(40)}`, [DIRECTIVE])).toBe(
      "!".repeat(25),
    );
    expect(stripLeakedDirectives(`${DIRECTIVE}$5`, [DIRECTIVE])).toBe("$5");
    expect(stripLeakedDirectives(`${DIRECTIVE} \u{1f680}`, [DIRECTIVE])).toBe("\u{1f680}");
  });

  test("a run of whole sentences goes from 24 letters on, one short sentence stays", () => {
    const [first = "", second = ""] = SENTENCES;
    expect(stripLeakedDirectives(`${first} Go on.`, [DIRECTIVE])).toBe(`${first} Go on.`);
    expect(stripLeakedDirectives(`${first} ${second} Go on.`, [DIRECTIVE])).toBe("Go on.");
    expect(stripLeakedDirectives(`${first} ${second} Say hello.`, [DIRECTIVE])).toBe("Say hello.");
    expect(stripLeakedDirectives(`${first} ${second}book`, [DIRECTIVE])).toBe("book");
    expect(stripLeakedDirectives(`${first} ${second.slice(0, -1)}book`, [DIRECTIVE])).toBe(
      `${first} ${second.slice(0, -1)}book`,
    );
  });

  test("23 letters are no echo and 24 are, counted as composed letters", () => {
    const directive = "Aäcdefghijklmnopqrstuvw. More follows here.";
    expect(stripLeakedDirectives("Aäcdefghijklmnopqrstuvw. Hm", [directive])).toBe(
      "Aäcdefghijklmnopqrstuvw. Hm",
    );
    expect(
      stripLeakedDirectives("Aäcdefghijklmnopqrstuvwx. Hm", ["Aäcdefghijklmnopqrstuvwx. More."]),
    ).toBe("Hm");
  });

  test("a short directive goes when it comes whole", () => {
    expect(stripLeakedDirectives("Be brief. Yes.", ["Be brief."])).toBe("Yes.");
    expect(stripLeakedDirectives("Be briefly here.", ["Be brief."])).toBe("Be briefly here.");
  });

  test("an echo that the end of the reply cuts off goes once a run before it counts", () => {
    const [first = "", second = ""] = SENTENCES;
    expect(stream([`${first} ${second} Say num`])).toMatchObject({
      text: "",
      removed: true,
      empty: true,
    });
    expect(stream([`${first} Keep eve`])).toMatchObject({
      text: `${first} Keep eve`,
      removed: false,
    });
    expect(stream([first])).toMatchObject({ text: first, removed: false, empty: false });
  });

  test("of two directives the one that goes further decides", () => {
    const both = ["Speak to the owner as a friend.", "Speak to the owner as a friend. Then wait."];
    expect(stripLeakedDirectives("Speak to the owner as a friend. Then wait. Ok", both)).toBe("Ok");
    expect(stripLeakedDirectives("Speak to the owner as a friend. Then go", both)).toBe("Then go");
    expect(stripLeakedDirectives("Speak to the owner as a friend. Then", both)).toBe("");
    expect(
      stripLeakedDirectives("Speak to the owner as a friend! Yes", [
        "Speak to the owner as a friend",
        "Speak to the owner as a friend yes and so on for long",
      ]),
    ).toBe("Yes");
  });

  test("a directive of several lines is known without marks and with a mark on every line", () => {
    expect(stripLeakedDirectives(`${MULTI_LINE}\n\nOk`, [MULTI_LINE])).toBe("Ok");
    expect(
      stripLeakedDirectives(`${MULTI_LINE.replace(/^/gm, "System: ")}\n\nOk`, [MULTI_LINE]),
    ).toBe("Ok");
  });

  test("a directive in a script without spaces is cut at its own full stops", () => {
    const directive = "これは音声で読み上げられる返答ですのでご注意ください。短く答えてください。";
    expect(
      stripLeakedDirectives("これは音声で読み上げられる返答ですのでご注意ください。はい", [
        directive,
      ]),
    ).toBe("はい");
  });

  test("a directive without letters, and none at all, match nothing", () => {
    expect(stream(["...", "x"], ["…"])).toMatchObject({ emissions: ["...", "x"], removed: false });
    expect(stream(["hi\ud83d", "\ude80"], [])).toMatchObject({ emissions: ["hi", "\u{1f680}"] });
  });

  test("the last half of a pair comes out at the end", () => {
    expect(stream(["hi \ud83d"]).text).toBe("hi \ud83d");
    expect(stream(["You\ud83d"]).text).toBe("You\ud83d");
    expect(stream(["\ud83d"]).text).toBe("\ud83d");
    expect(stream([`${DIRECTIVE} \ud83d`]).text).toBe("\ud83d");
  });

  test("white space alone is no answer", () => {
    expect(stream(["  \n"])).toMatchObject({ text: "  \n", removed: false, empty: true });
    expect(stream(["x"])).toMatchObject({ empty: false });
  });

  test("the directive of voice turns is known by default, and marks none of its own words as a marker", () => {
    expect(stripLeakedDirectives(`${VOICE_TURN_DIRECTIVE} Yes.`)).toBe("Yes.");
    const stripper = makeLeakStripper();
    expect(stripper.push(VOICE_TURN_DIRECTIVE) + stripper.flush()).toBe("");
    expect(stripper).toMatchObject({ removed: true, empty: true });
    expect(VOICE_TURN_DIRECTIVE).not.toMatch(/System:|\n/);
  });

  test("hundreds of thousands of signs before a letter are given up", () => {
    const text = `${"*".repeat(300_000)}${DIRECTIVE}`;
    expect(stripLeakedDirectives(text, [DIRECTIVE])).toBe(text);
  });
});
