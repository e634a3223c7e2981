import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readTurn } from "../../../src/capture/triage/read-turn.ts";

const PAGE = readFileSync(new URL("../../../docs/reading-turns.md", import.meta.url), "utf8");
const ROWS = [
  ...PAGE.matchAll(/^\| (.+?) \| (\w{3} \d\d \d\d:\d\d) \| (\w{3} \d\d \d\d:\d\d) \|$/gm),
];
const NOW_US = Date.parse("2026-11-27T16:12:00Z") * 1000;

function show(us: number): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: "UTC",
    weekday: "short",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  return format.format(us / 1000).replaceAll(",", "");
}

describe("docs/reading-turns.md", () => {
  it("has its table", () => {
    expect(ROWS.length).toBeGreaterThan(20);
  });

  it.each(ROWS.map(([, turn = "", from = "", until = ""]) => [turn, from, until]))(
    "%s is %s to %s, as the page says",
    (turn, from, until) => {
      const [time] = readTurn(turn, NOW_US, "UTC").times;
      expect([show(time?.fromUs ?? 0), show(time?.toUs ?? 0)]).toEqual([from, until]);
    },
  );
});
