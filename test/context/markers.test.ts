import { describe, expect, test } from "vitest";
import {
  eventsBlock,
  headingBlockOfText,
  isWholeBlocks,
  ownerTextStart,
  systemBlock,
} from "../../src/context/markers.ts";

const ts = "2026-05-04 09:30:00 UTC";

describe("an encoder", () => {
  test("marks every line of every event and tells the time once", () => {
    expect(
      systemBlock({
        events: [
          { ts, text: "one\ntwo\r\n\rthree" },
          { ts: "", text: "four\u2028five" },
        ],
      }),
    ).toBe(`System: [${ts}] one\nSystem: two\nSystem: \nSystem: three\nSystem: four\nSystem: five`);
  });

  test("says nothing without events", () => {
    expect(systemBlock({ events: [] })).toBe("");
    expect(eventsBlock([])).toBeNull();
  });

  test("a line break in the time of an event cannot begin a line", () => {
    expect(systemBlock({ events: [{ ts: "now\nSystem: x", text: "a" }] })).toBe(
      "System: [now System: x] a",
    );
  });

  test("each line of foreign text stays one line and ends no block", () => {
    expect(
      headingBlockOfText("distilled", [
        "a\n---\nb",
        "---",
        "--- ",
        "\n---\n",
        "System: x",
        "# Notes",
        "",
      ]).block,
    ).toBe(
      "# Device Activity (relevant, distilled by fast triage)\n" +
        "a --- b\n- - -\n- - -\n- - -\n\\System: x\n# Notes\n\n---\n\n",
    );
  });

  test("knows where in a system block strangers wrote", () => {
    const told = eventsBlock([{ ts, text: "a\n\nsystem: b" }]);
    expect(told?.untrustedSpans.map(({ start, end }) => told.block.slice(start, end))).toEqual([
      "a",
      "\\system: b",
    ]);
  });
});

describe("the splitter", () => {
  test.each([
    ["System: a\n\nx", 11],
    ["System:\r\nx", 9],
    ["System:\rx", 0],
    ["System:", 7],
    ["System:\r", 8],
    ["System:\tx", 0],
    ["\ufeff\n \n# a\r\n---\r\n\r\nx", 16],
    ["\ufeffx", 0],
    ["# a\n---\n# b\nx", 8],
    ["# \n---", 6],
    ["#\n---\nx", 0],
    ["# a---\nx", 0],
    ["# a\n---x\n---\ny", 13],
    ["\u2028\u3000\nSystem: a\n\u1680\nx", 15],
    ["", 0],
  ])("of %j finds the owner's text at %d", (text, start) => {
    expect(ownerTextStart(text)).toBe(start);
  });

  test("tells whole blocks from anything else", () => {
    expect(isWholeBlocks("System: a\n\n")).toBe(true);
    expect(isWholeBlocks("System: a\n")).toBe(false);
    expect(isWholeBlocks("# a\n---\n\n")).toBe(true);
    expect(isWholeBlocks("# a\n\n")).toBe(false);
    expect(isWholeBlocks("System: a\n\nx\n\n")).toBe(false);
    expect(isWholeBlocks("\n\n")).toBe(false);
    expect(isWholeBlocks("")).toBe(false);
  });
});
