import { describe, expect, it } from "vitest";
import {
  lastAbsence,
  lastNight,
  mealOn,
  readAbsences,
  startOfDay,
} from "../../../src/capture/triage/absences.ts";
import type { Absence } from "../../../src/store/history.ts";
import { createMemoryHistory, type RecordedWindow } from "../../helpers/memory-history.ts";

const ZONE = "Europe/Berlin";

function us(time: string, day = "2026-11-24"): number {
  return Date.parse(`${day}T${time}:00+01:00`) * 1000;
}

function window(from: string, to: string, day?: string): RecordedWindow {
  return { app: "gedit", title: from, startUs: us(from, day), endUs: us(to, day) };
}

function away(kind: Absence["kind"], from: string, to: string): Absence {
  return { kind, startUs: us(from), endUs: us(to) };
}

describe("absences", () => {
  it("join idle, locked and asleep into one, and count a hole between windows", () => {
    const history = createMemoryHistory(
      [window("09:00", "10:00"), window("10:30", "11:00"), window("11:02", "12:00")],
      [
        away("idle", "12:00", "12:03"),
        away("lock", "12:03", "12:20"),
        away("sleep", "12:15", "12:50"),
      ],
    );
    expect(readAbsences(history, us("08:00"), us("13:00"))).toEqual([
      { startUs: us("10:00"), endUs: us("10:30") },
      { startUs: us("12:00"), endUs: us("12:50") },
    ]);
    expect(lastAbsence(history, us("13:00"))).toEqual({ startUs: us("12:00"), endUs: us("12:50") });
    expect(lastAbsence(history, us("10:10"))).toBeNull();
  });

  it("lunch is the longest of them around noon, an evening off is no dinner", () => {
    const history = createMemoryHistory([
      window("09:00", "11:40"),
      window("11:50", "12:30"),
      window("13:05", "17:00"),
      window("23:30", "23:40"),
    ]);
    const lunch = { startUs: us("12:30"), endUs: us("13:05") };
    expect(mealOn(history, "lunch", us("18:00"), us("18:00"), ZONE)).toEqual(lunch);
    expect(mealOn(history, "lunch", us("11:45"), us("11:45"), ZONE)).toBeNull();
    expect(mealOn(history, "dinner", us("18:00"), us("23:45"), ZONE)).toBeNull();
  });

  it("the last night is the longest absence that ended within the last day", () => {
    const history = createMemoryHistory([
      window("22:00", "23:10", "2026-11-23"),
      window("07:20", "08:00"),
      window("12:00", "13:00"),
    ]);
    expect(lastNight(history, us("13:00"))).toEqual({
      startUs: us("23:10", "2026-11-23"),
      endUs: us("07:20"),
    });
    expect(lastNight(createMemoryHistory([window("09:00", "10:00")]), us("10:00"))).toBeNull();
  });
});

describe("the start of a day", () => {
  it("is local midnight, also on the days the clocks change", () => {
    expect(startOfDay(us("13:00"), ZONE)).toBe(us("00:00"));
    expect(startOfDay(Date.parse("2026-10-25T15:00:00Z") * 1000, ZONE)).toBe(
      Date.parse("2026-10-24T22:00:00Z") * 1000,
    );
    expect(startOfDay(Date.parse("2026-03-29T15:00:00Z") * 1000, ZONE)).toBe(
      Date.parse("2026-03-28T23:00:00Z") * 1000,
    );
  });
});
