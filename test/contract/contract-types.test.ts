/**
 * What must not compile. `tsc` checks this file with the others: each `@ts-expect-error` below fails the build
 * when the line under it compiles after all.
 */
import { expect, expectTypeOf, test } from "vitest";
import { bodyLine, dayHeading, type Fragment, quoted } from "../../src/context/block-lines.ts";
import { headingBlock, type InjectedBlock } from "../../src/context/markers.ts";
import { formatDuration, type TrustedText } from "../../src/context/plain-text.ts";
import {
  composeTurn,
  displayText,
  type ModelTurnText,
  type OwnerText,
  type RawTurn,
} from "../../src/context/turn.ts";
import { stripLeadingSystemContext } from "../../src/tui/tui-formatters.ts";

/** A face: what it shows is the owner's. */
function show(text: OwnerText): string {
  return text;
}

test("unmarked context, a second strip and a raw turn on screen do not compile", () => {
  const { composed, visible } = composeTurn({ events: [], activity: [], ownerText: "hi" });
  const stripped = stripLeadingSystemContext(composed);
  expect(show(visible)).toBe(show(stripped));

  // @ts-expect-error A raw turn is not for the screen.
  show(composed);
  // @ts-expect-error Neither is a string of unknown origin.
  show("System: hi");
  // @ts-expect-error A second strip would take away words of the owner's.
  stripLeadingSystemContext(stripped);
  // @ts-expect-error What the owner sees needs no strip at all.
  displayText({ role: "user", text: visible });
  // @ts-expect-error Text is no block: an encoder has to mark it.
  const block: InjectedBlock = "# Device Activity\n- x\n---\n\n";
  const unmarked = { block: "just text", untrustedSpans: [] };
  expect(() =>
    // @ts-expect-error A renderer cannot hand unmarked context to the composer.
    composeTurn({ events: [], activity: [unmarked], ownerText: "" }),
  ).toThrow("without a marker");
  expect(block).not.toBe("");
});

test("a stranger's raw text in a line of a block does not compile", () => {
  const title: string = "from a stranger";
  const wrong = [
    // @ts-expect-error A raw string has to become a field first.
    () => bodyLine`Focused: ${title}`,
    // @ts-expect-error A day heading holds trusted text alone, no field at all.
    () => dayHeading`Day ${quoted("title", title)}`,
    // @ts-expect-error A line is made by its template alone.
    () => headingBlock("realtime", [{ text: title, untrusted: [] }]),
  ];
  expect(wrong).toHaveLength(3);
  expect(bodyLine`${quoted("title", title)} ${formatDuration(0)}`.text).toBe(
    '- "from a stranger" 0 s',
  );
});

test("the brands are strings to read and nothing else", () => {
  expectTypeOf<OwnerText>().toExtend<string>();
  expectTypeOf<ModelTurnText>().toExtend<RawTurn>();
  expectTypeOf<string>().toExtend<RawTurn>();
  expectTypeOf<OwnerText>().not.toExtend<RawTurn>();
  expectTypeOf<string>().not.toExtend<InjectedBlock>();
  expectTypeOf<string>().not.toExtend<TrustedText>();
  expectTypeOf<ModelTurnText>().not.toExtend<OwnerText>();
  expectTypeOf<{ text: string; untrusted: [] }>().not.toExtend<Fragment>();
});
