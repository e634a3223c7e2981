import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WindowFacts } from "../../src/capture/events.ts";
import { createTitlePacer } from "../../src/capture/title-pacer.ts";
import { storable } from "../helpers/storable.ts";

const SECOND_US = 1_000_000;
const HOUR_S = 3_600;

function window(title: string, app = "Terminal"): WindowFacts {
  return { kind: "window", app: storable(app), title: storable(title), place: null };
}

/** Shows titles at their times, looks once a second as the sampler does, and gives the rows that result. */
function rowsOf(
  shown: readonly (readonly [second: number, facts: WindowFacts | null])[],
): string[] {
  const pacer = createTitlePacer();
  const rows: string[] = [];
  let last: WindowFacts | null = null;
  const take = (facts: WindowFacts | null): void => {
    if (facts !== null && facts !== last) rows.push(facts.title ?? "");
    last = facts;
  };
  let index = 0;
  const end = (shown.at(-1)?.[0] ?? 0) + 120;
  for (let second = 0; second <= end; second += 1) {
    for (; (shown[index]?.[0] ?? Infinity) <= second; index += 1) {
      const [at, facts] = shown[index] ?? [0, null];
      take(pacer.see(facts, at * SECOND_US));
    }
    take(pacer.settle(second * SECOND_US));
  }
  return rows;
}

describe("an hour of twenty changes a second", () => {
  const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
  it.each([
    ["a spinner", (n: number) => `${spinner[n % 10] ?? ""} building`],
    ["a counter", (n: number) => `${n} of 72000 done`],
    ["a bar", (n: number) => `[${"#".repeat(n % 20)}${" ".repeat(20 - (n % 20))}] ${n % 100}%`],
    ["a clock", (n: number) => `up ${Math.floor(n / 1200)}:${Math.floor(n / 20) % 60}`],
    [
      "a ticker of ever new words",
      (n: number) => `line ${n.toString(36)} ${"abcdefgh"[n % 8] ?? ""}`,
    ],
  ])("that is %s makes at most 60 rows", (_name, title) => {
    const shown = Array.from(
      { length: HOUR_S * 20 },
      (_, n) => [n / 20, window(title(n))] as const,
    );
    const rows = rowsOf(shown);
    expect(rows.length).toBeLessThanOrEqual(60);
    expect(rows.length).toBeGreaterThan(1);
  });
});

it("no hour of changes that follow each other within five seconds makes more than 60 rows", () => {
  const waits = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 20 });
  const words = fc.array(fc.string({ maxLength: 8 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(waits, words, (cycle, texts) => {
      const shown: [number, WindowFacts][] = [];
      for (let second = 0, n = 0; second < HOUR_S; n += 1) {
        shown.push([second, window(`${texts[n % texts.length] ?? ""} ${n.toString(36)}`)]);
        second += cycle[n % cycle.length] ?? 1;
      }
      expect(rowsOf(shown).length).toBeLessThanOrEqual(60);
    }),
    { numRuns: 20 },
  );
});

it("changes a person makes are all recorded, at once", () => {
  const titles = ["Inbox", "Stripe docs", "Pull request 12", "retry.ts", "Stripe docs", "Inbox"];
  const shown = titles.map((title, index) => [index * 20, window(title, "Firefox")] as const);
  expect(rowsOf(shown)).toEqual(titles);
});

it("a quick look through fifteen tabs is recorded whole", () => {
  const titles = Array.from({ length: 15 }, (_, index) => `${"abcdefghijklmno"[index] ?? ""} page`);
  expect(
    rowsOf(titles.map((title, second) => [second, window(title, "Firefox")] as const)),
  ).toEqual(titles);
});

it("pages that go through several titles while they load are recorded at once, all day long", () => {
  const pacer = createTitlePacer();
  for (let page = 0; page < 300; page += 1) {
    const atUs = page * 20 * SECOND_US;
    // Letters alone: what differs in its numbers only would be the same title going on.
    const name = page.toString(2).replaceAll("0", "o").replaceAll("1", "i");
    for (const [step, title] of ["Loading…", `${name}.example.com`, `Article ${name}`].entries()) {
      const facts = window(title, "Firefox");
      expect(pacer.see(facts, atUs + step * 500_000)).toBe(facts);
    }
  }
});

it("pages that differ in their number alone are told apart when they are read", () => {
  const titles = Array.from({ length: 30 }, (_, index) => `Chapter ${index + 1}`);
  expect(
    rowsOf(titles.map((title, index) => [index * 100, window(title, "Reader")] as const)),
  ).toEqual(titles);
});

it("the title on which a churn ends is recorded when it has stayed", () => {
  const churn = Array.from({ length: 2_000 }, (_, n) => [n / 20, window(`job ${n}`)] as const);
  const rows = rowsOf([...churn, [101, window("finished, all well")]]);
  expect(rows.at(-1)).toBe("finished, all well");
});

it("another application is never held back by one that churns", () => {
  const pacer = createTitlePacer();
  for (let n = 0; n < 2_000; n += 1) pacer.see(window(`job ${n}`), n * 50_000);
  const editor = window("retry.ts", "Code");
  expect(pacer.see(editor, 101 * SECOND_US)).toBe(editor);
  expect(pacer.see(null, 102 * SECOND_US)).toBeNull();
  expect(pacer.settle(200 * SECOND_US)).toBeNull();
});

it("leaving a churning window and coming back does not renew its allowance", () => {
  const shown = Array.from({ length: HOUR_S }, (_, n) => {
    const isElsewhere = n % 60 === 59;
    return [n, isElsewhere ? window("notes", "Notes") : window(`job ${n}`)] as const;
  });
  const rows = rowsOf(shown).filter((title) => title.startsWith("job"));
  // One row for each return, and the allowance.
  expect(rows.length).toBeLessThanOrEqual(60 + 60);
});

it("a clock that is set back loses nothing", () => {
  const pacer = createTitlePacer();
  for (let n = 0; n < 500; n += 1) pacer.see(window(`job ${n}`), 10_000 * SECOND_US + n * 50_000);
  const last = window("finished");
  pacer.see(last, 5_000 * SECOND_US);
  expect(pacer.settle(5_006 * SECOND_US)).toBe(last);
});

it("the focus going to and fro between two windows of one application is told every time", () => {
  const pacer = createTitlePacer();
  const [left, right] = [window("build"), window("tests")];
  for (let n = 0; n < 500; n += 1) {
    const facts = n % 2 === 0 ? left : right;
    expect(pacer.see(facts, n * 50_000, n % 2 === 0 ? "1" : "2")).toBe(facts);
  }
});

it("two windows that churn side by side share one allowance", () => {
  const pacer = createTitlePacer();
  const rows = new Set<string>();
  for (let n = 0; n < HOUR_S * 2; n += 1) {
    // Each has the focus for five minutes.
    const id = String(Math.floor(n / 600) % 2);
    rows.add(pacer.see(window(`job ${n}`), n * 500_000, id)?.title ?? "");
  }
  expect(rows.size).toBeLessThanOrEqual(60 + 12);
});
