import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  bodyLine,
  dayHeading,
  field,
  fragment,
  joinFragments,
  quoted,
} from "../../src/context/block-lines.ts";
import { headingBlock } from "../../src/context/markers.ts";
import {
  formatDuration,
  LINE_BREAK,
  localTime,
  type UntrustedSpan,
} from "../../src/context/plain-text.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { law } from "../helpers/laws.ts";

const AT_US = Date.parse("2026-11-27T15:00:00Z") * 1000;
const berlin = localTime("Europe/Berlin");

describe("a line of a block", () => {
  test("is written as a template and knows where strangers wrote", () => {
    const line = bodyLine`Focused: ${field("app", "Code")}: ${quoted("title", 'a "b"')}, since ${berlin.clock(AT_US)} (${formatDuration(12 * 60_000_000)})`;
    expect(line.text).toBe(`- Focused: Code: "a 'b'", since 16:00 (12 min)`);
    expect(line.untrusted.map(({ start, end }) => line.text.slice(start, end))).toEqual([
      "Code",
      "a 'b'",
    ]);
  });

  test("takes pieces made before, and numbers", () => {
    const playing = fragment`${field("app", "Spotify")}: ${quoted("title", "Song")}`;
    const line = bodyLine`${joinFragments([playing, fragment`CPU ${12} %`], "; ")}`;
    expect(line.text).toBe('- Spotify: "Song"; CPU 12 %');
    expect(line.untrusted.map(({ start, end }) => line.text.slice(start, end))).toEqual([
      "Spotify",
      "Song",
    ]);
  });

  test("an empty field has no span", () => {
    expect(bodyLine`${quoted("title", "")}${field("app", "")}`.untrusted).toEqual([]);
  });

  test("a day heading is trusted text that begins with a capital", () => {
    expect(dayHeading`${berlin.day(AT_US)} (yesterday):`.text).toBe("Fri 27 Nov 2026 (yesterday):");
    expect(() => dayHeading`# Device`).toThrow("malformed");
    expect(() => dayHeading`---`).toThrow("malformed");
  });

  test("a line break in a literal is a fault of the program and is told", () => {
    expect(
      () => bodyLine`a
b`,
    ).toThrow("A line of a block is malformed (5 characters).");
  });

  law(
    "whatever a stranger writes changes only what stands in its spans",
    fc.property(nastyText(), nastyText(), nastyText(), (app, title, place) => {
      const line = bodyLine`${field("app", app)}: ${quoted("title", title)} ${field("place", place)}`;
      let rest = line.text;
      for (const { start, end } of line.untrusted.toReversed()) {
        rest = rest.slice(0, start) + rest.slice(end);
      }
      const { block, untrustedSpans } = headingBlock("realtime", [line]);
      const marked = (text: string, spans: readonly UntrustedSpan[]): readonly string[] =>
        spans.map(({ start, end }) => text.slice(start, end));
      return (
        rest === '- : "" ' &&
        !LINE_BREAK.test(line.text) &&
        block === `# Device Activity (exact, real-time)\n${line.text}\n---\n\n` &&
        isDeepStrictEqual(marked(block, untrustedSpans), marked(line.text, line.untrusted))
      );
    }),
  );
});
