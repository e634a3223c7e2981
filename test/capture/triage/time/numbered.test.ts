import { describe, expect, it } from "vitest";
import { readTurn } from "../../../../src/capture/triage/read-turn.ts";

const ZONE = "Europe/Berlin";

/** Days of the times of a turn, "16 Nov – 22 Nov", asked on Friday 27 November 2026 (in week 48) unless another day is given. */
function days(turn: string, now = "2026-11-27T16:12:00+01:00"): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: ZONE,
    month: "short",
    day: "numeric",
  });
  return readTurn(turn, Date.parse(now) * 1000, ZONE)
    .times.map(({ fromUs, toUs }) =>
      [fromUs, toUs - 1].map((us) => format.format(us / 1000)).join(" – "),
    )
    .join("; ");
}

describe("weeks and quarters by their number", () => {
  it.each([
    ["was hab ich in KW 46 gemacht", "9 Nov – 15 Nov"],
    ["stunden in der 46. KW", "9 Nov – 15 Nov"],
    ["was war kw46 los", "9 Nov – 15 Nov"],
    ["in Kalenderwoche 46", "9 Nov – 15 Nov"],
    ["in der letzten Kalenderwoche", "16 Nov – 22 Nov"],
    ["Dienstag in KW 46", "10 Nov – 10 Nov"],
    ["seit KW 46", "9 Nov – 27 Nov"],
    ["what did I do in week 46", "9 Nov – 15 Nov"],
    ["hours in calendar week 46", "9 Nov – 15 Nov"],
    ["what did I do this quarter", "1 Oct – 27 Nov"],
    ["what did I do last quarter", "1 Jul – 30 Sept"],
    ["how long did I spend on the thesis in Q3", "1 Jul – 30 Sept"],
    ["what did I do in the third quarter", "1 Jul – 30 Sept"],
    ["what was I on in Q4 2025", "1 Oct – 31 Dec"],
    ["letztes Quartal", "1 Jul – 30 Sept"],
    ["wie viel Zeit ging im dritten Quartal drauf", "1 Jul – 30 Sept"],
    ["was war im 3. Quartal", "1 Jul – 30 Sept"],
    ["two quarters ago", "1 Apr – 30 Jun"],
    ["Anfang des Quartals", "1 Oct – 6 Nov"],
    ["what did I do in the first week of november", "1 Nov – 7 Nov"],
    ["in the last week of october", "25 Oct – 31 Oct"],
    ["second week of last month", "8 Oct – 14 Oct"],
    ["was war in der zweiten Novemberwoche", "8 Nov – 14 Nov"],
    ["letzte Woche im Oktober", "25 Oct – 31 Oct"],
    ["in der ersten Woche des Monats", "1 Nov – 7 Nov"],
  ])("%s: %s", (turn, want) => {
    expect(days(turn)).toBe(want);
  });

  it("are those of the year before where this year's are to come", () => {
    expect(days("in KW 46", "2026-02-10T09:00:00+01:00")).toBe("10 Nov – 16 Nov");
    expect(days("in Q3", "2026-02-10T09:00:00+01:00")).toBe("1 Jul – 30 Sept");
    expect(days("last quarter", "2026-02-10T09:00:00+01:00")).toBe("1 Oct – 31 Dec");
  });

  it("have their days also where the clock changes", () => {
    expect(days("in KW 43", "2026-11-02T09:00:00+01:00")).toBe("19 Oct – 25 Oct");
    expect(days("this quarter", "2026-10-30T09:00:00+01:00")).toBe("1 Oct – 30 Oct");
  });
});

describe("no week and no quarter are", () => {
  it.each([
    "where is the Q4 budget",
    "the forecast for Q3",
    "where did I get to with week 5 of the course",
    "eine Wallbox mit 11 kW 32 A",
    "it is a quarter to nothing",
    "the string quartet page",
    "die erste Seite vom Antrag",
    "quarter of the pizza",
  ])("%s", (turn) => {
    expect(days(turn)).toBe("");
  });
});
