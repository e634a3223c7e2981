import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSentenceSplitter, openSpeaker, toSpokenText } from "../../src/gateway/speech.ts";
import { failureOf } from "../contract/activity-api.ts";

describe("sentences", () => {
  test("are given as soon as the next one begins", () => {
    const splitter = createSentenceSplitter();
    expect(splitter.push("Good mor")).toEqual([]);
    expect(splitter.push("ning. It is")).toEqual(["Good morning. "]);
    expect(splitter.push(" raining! So")).toEqual(["It is raining! "]);
    expect(splitter.flush()).toEqual(["So"]);
    expect(splitter.flush()).toEqual([]);
  });

  test("lose not a letter of the text, whatever its pieces", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), (pieces) => {
        const splitter = createSentenceSplitter();
        const said = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.flush()];
        expect(said.join("")).toBe(pieces.join(""));
      }),
    );
  });
});

describe("what is read out", () => {
  test.each([
    ["  Hello\n\tthere  ", "Hello there"],
    ["a\u0007b\u001b[31mc", "a b [31mc"],
    ["[[rate 999]] hi", "[ [rate 999] ] hi"],
    ["[[[rate 999]]] hi", "[ [ [rate 999] ] ] hi"],
    ["\u200b\n", ""],
  ])("of %j is %j", (text, spoken) => {
    expect(toSpokenText(text)).toBe(spoken);
  });
});

test("without a program that speaks, it is told what to install", async () => {
  const options = { platform: "linux", env: { PATH: "" }, outFile: null, voice: null } as const;
  for (const outFile of [null, "/tmp/a.wav"]) {
    const error = await failureOf((async () => openSpeaker({ ...options, outFile }))());
    expect(error.code).toBe("platform_unsupported");
    expect(error.hint).toContain("apt install espeak-ng");
  }
});
