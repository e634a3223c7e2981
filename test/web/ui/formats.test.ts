import { describe, expect, it } from "vitest";
import { createFormats } from "../../../src/web/ui/formats.ts";

const AT = Date.UTC(2026, 10, 27, 13, 5, 9) * 1000;
/** Intl puts spaces of its own kinds between a number and what it counts. */
const plain = (text: string): string => text.replaceAll(/[\u00a0\u202f\u2009]/g, " ");

describe("what the page tells", () => {
  it("has the clock of the language: 24 hours or 12", () => {
    expect(createFormats("de-DE", "Europe/Berlin").clock(AT)).toBe("14:05");
    expect(plain(createFormats("en-US", "Europe/Berlin").clock(AT))).toBe("2:05 PM");
    expect(plain(createFormats("en-US", "Asia/Kathmandu").clock(AT))).toBe("6:50 PM");
  });

  it("has dates and numbers of the language", () => {
    const german = createFormats("de-DE", "Europe/Berlin");
    expect(german.day(AT)).toBe("Freitag, 27. November 2026");
    expect(german.monthName(3)).toBe("März");
    expect(german.count(250_000)).toBe("250.000");
    expect(plain(german.bytes(12_345_678))).toBe("12,3 MB");
    expect(plain(german.hours(9_360_000_000))).toBe("2,6 h");
    expect(plain(createFormats("fr-FR", "UTC").percent(0.314))).toBe("31 %");
  });

  it("has the months of the calendar that it shows, whichever one the language counts by", () => {
    const atUs = Date.UTC(2026, 10, 15) * 1000;
    for (const locale of ["fa-IR", "ar-SA-u-ca-islamic-umalqura", "he-IL-u-ca-hebrew"]) {
      const { month, dayOfMonth, monthName, year } = createFormats(locale, "UTC");
      const inDigits = new Intl.NumberFormat(locale, { useGrouping: false });
      expect(dayOfMonth(atUs)).toBe(inDigits.format(15));
      expect(month(atUs)).toContain(monthName(11));
      expect(year(atUs)).toContain(inDigits.format(2026));
    }
    // The same months, and the years of the language.
    expect(createFormats("th-TH", "UTC").year(atUs)).toContain("2569");
  });

  it("tells a stretch only as finely as is needed", () => {
    const formats = createFormats("en-GB", "UTC");
    const hourUs = 3_600_000_000;
    expect(plain(formats.range(AT, AT + hourUs, false))).toBe("27 Nov 2026, 13:05–14:05");
    expect(plain(formats.range(AT, AT + 48 * hourUs, true))).toBe("27 – 29 Nov 2026");
  });

  it("has whole units of durations, rounded down", () => {
    const { duration, ago } = createFormats("en-GB", "UTC");
    expect(duration(59_999_999)).toBe("59 s");
    expect(duration(3_599_000_000)).toBe("59 min");
    expect(duration(3_600_000_000)).toBe("1 h");
    expect(duration(157_080_000_000)).toBe("43 h 38 min");
    expect(duration(-5)).toBe("0 s");
    expect(ago(AT - 3 * 3_600_000_000, AT)).toBe("3 hours ago");
  });
});
