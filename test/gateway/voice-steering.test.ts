/** Examples; the laws stand in test/contract. */
import { describe, expect, test } from "vitest";
import {
  makeLeakStripper,
  stripLeakedDirectives,
  VOICE_TURN_DIRECTIVE,
} from "../../src/gateway/voice-steering.ts";

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

describe("the leak stripper", () => {
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
