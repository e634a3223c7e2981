import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  cleanField,
  FIELD_MAX_CHARS,
  formatDuration,
  LINE_BREAK,
  localTime,
  toPlace,
} from "../../src/context/plain-text.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { law } from "../helpers/laws.ts";

const KINDS = ["title", "app", "place", "device"] as const;
const us = (iso: string): number => Date.parse(iso) * 1000;

describe("a field of a stranger", () => {
  test.each([
    ["plain text stays as it is", "retry.ts — payments-api", "retry.ts — payments-api"],
    ["a line break becomes one space", "a\r\n\n b", "a b"],
    ["a line separator becomes a space", "a\u2028b\u2029c", "a b c"],
    ["an ESC is dropped", "a\u001b[31mb", "a[31mb"],
    ["a right-to-left override is dropped", "exe\u202efdp", "exefdp"],
    ["tag characters are dropped", "a\u{e0041}\u{e0042}b", "ab"],
    ["zero-width characters are dropped", "pass\u200bword\ufeff", "password"],
    ["variation selectors are dropped", "\u2764\ufe0f\u{e0100}", "\u2764"],
    ["a double quote becomes a single one", 'say "hi"', "say 'hi'"],
    ["a full-width quote cannot close the quotes", "say \uff02hi\uff02", "say 'hi'"],
    ["half a surrogate pair becomes a replacement character", "a\ud800b", "a\ufffdb"],
    ["compatibility forms are folded", "\uff33ystem\u2026!", "System...!"],
    ["white space at the ends goes", " \t x \u00a0", "x"],
    ["emoji stay", "deploy \u{1f680} done", "deploy \u{1f680} done"],
  ])("%s", (_, raw, expected) => {
    expect(cleanField("title", raw)).toBe(expected);
  });

  test("a title is cut at 90 characters with an ellipsis", () => {
    expect(cleanField("title", "x".repeat(90))).toBe("x".repeat(90));
    expect(cleanField("title", "x".repeat(91))).toBe(`${"x".repeat(89)}…`);
    expect(cleanField("app", "x".repeat(41))).toBe(`${"x".repeat(39)}…`);
    expect(cleanField("place", `h.example/${"x".repeat(80)}`)).toBe(`h.example/${"x".repeat(59)}…`);
  });

  test("a cut never parts a letter from its accents or a flag from its half", () => {
    expect(cleanField("title", `${"x".repeat(88)}q\u0308\u0308yz`)).toBe(`${"x".repeat(88)}…`);
    expect(cleanField("title", `${"x".repeat(87)}\u{1f1e9}\u{1f1ea}yz`)).toBe(`${"x".repeat(87)}…`);
  });

  test("a cut leaves no space before the ellipsis", () => {
    expect(cleanField("title", `${"x".repeat(88)} yyyy`)).toBe(`${"x".repeat(88)}…`);
  });

  test("one letter under a thousand accents is cut to an ellipsis", () => {
    expect(cleanField("title", `q${"\u0308".repeat(1000)}`)).toBe("…");
  });

  test("a title of a megabyte is told by its beginning", () => {
    expect(cleanField("title", "漢".repeat(1_000_000))).toBe(`${"漢".repeat(89)}…`);
    expect(cleanField("title", `ab${"\u200b".repeat(1_000_000)}`)).toBe("ab…");
  });

  law(
    "no text yields a line break, a control, an invisible character, a quote or too long a field",
    fc.property(fc.constantFrom(...KINDS), nastyText(), (kind, raw) => {
      const text = cleanField(kind, raw);
      return (
        !LINE_BREAK.test(text) &&
        !/[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}"]/u.test(text) &&
        text.length <= FIELD_MAX_CHARS[kind] &&
        text === text.trim() &&
        !text.includes("  ")
      );
    }),
  );

  law(
    "no place holds a space",
    fc.property(nastyText(), (raw) => !cleanField("place", raw).includes(" ")),
  );

  law(
    "cleaning a clean field changes nothing",
    fc.property(fc.constantFrom(...KINDS), nastyText(), (kind, raw) => {
      const once = cleanField(kind, raw);
      return cleanField(kind, once) === once;
    }),
  );
});

describe("the name of a device", () => {
  test.each([
    ["phone-desk", "phone-desk"],
    ["Ada's laptop", "Ada's laptop"],
    ["schreib tisch 2.0", "schreib tisch 2.0"],
    ["居間のノート", "居間のノート"],
    ['x (laptop): Code: "y", now', "x laptop Code 'y' now"],
    ["x), now\n- Focused: y", "x now - Focused y"],
    ["- [ ] <b>", "- b"],
    ["\u202e", "device"],
    ["", "device"],
    ["n".repeat(40), `${"n".repeat(31)}…`],
  ])("%j is told as %j", (raw, expected) => {
    expect(cleanField("device", raw)).toBe(expected);
  });

  law(
    "no name holds what parts a line",
    fc.property(nastyText(), (raw) => /^[^():;,"|<>#[\]]+$/u.test(cleanField("device", raw))),
  );
});

describe("a place", () => {
  test.each([
    [
      "https://docs.stripe.com/api/idempotent_requests?x=1#top",
      "docs.stripe.com/api/idempotent_requests",
    ],
    ["https://user:secret@bank.example/account", "bank.example/account"],
    ["https://user@evil@bank.example/a@b", "bank.example/a@b"],
    ["https://kpmg.com/", "kpmg.com"],
    ["http://localhost:3000/a", "localhost:3000/a"],
    ["localhost:3000/a?token=1", "localhost:3000/a"],
    ["kpmg.com/tax-rates", "kpmg.com/tax-rates"],
    ["file:///home/ada/x.pdf", "/home/ada/x.pdf"],
    ["data:text/html,<b>secret</b>", "data:"],
    ["javascript:alert(1)", "javascript:"],
    ["about:blank", "about:"],
    ["mailto:ada@example.org", "mailto:"],
    ["https://a.example?q=secret", "a.example"],
    ["  https://a.example/b  ", "a.example/b"],
    ["", ""],
  ])("%s is told as %s", (raw, expected) => {
    expect(toPlace(raw)).toBe(expected);
    expect(cleanField("place", raw)).toBe(expected);
  });

  test("a space in it is written as %20, so that it stays one word", () => {
    expect(cleanField("place", "https://a.example/x y\nz")).toBe("a.example/x%20y%20z");
    expect(cleanField("place", "a.example/x, since 08:00 (9 h)")).toBe(
      "a.example/x,%20since%2008:00%20(9%20h)",
    );
  });
});

describe("a duration", () => {
  test.each([
    [-5, "0 s"],
    [0, "0 s"],
    [59.9, "59 s"],
    [60, "1 min"],
    [12 * 60 + 59, "12 min"],
    [3600, "1 h"],
    [5 * 3600 + 40 * 60, "5 h 40 min"],
    [43 * 3600 + 38 * 60, "43 h 38 min"],
  ])("of %d seconds is told as %s", (seconds, expected) => {
    expect(formatDuration(seconds * 1_000_000)).toBe(expected);
  });
});

describe("local time", () => {
  test("tells clock, day and zone of Berlin", () => {
    const berlin = localTime("Europe/Berlin");
    const at = us("2026-11-27T15:12:34Z");
    expect(berlin.clock(at)).toBe("16:12");
    expect(berlin.day(at)).toBe("Fri 27 Nov 2026");
    expect(berlin.shortDay(at)).toBe("Fri 27 Nov");
    expect(berlin.date(at)).toBe("27 Nov 2026");
    expect(berlin.isoDay(at)).toBe("2026-11-27");
    expect(berlin.zone(at)).toBe("CET (UTC+01:00)");
    expect(berlin.zone(us("2026-07-01T00:00:00Z"))).toBe("CEST (UTC+02:00)");
    expect(berlin.offsetMinutes(at)).toBe(60);
    expect(berlin.timeZone).toBe("Europe/Berlin");
  });

  test.each([
    ["America/New_York", "2026-11-27T15:12:00Z", "10:12", "EST (UTC-05:00)"],
    ["Asia/Kolkata", "2026-11-27T15:12:00Z", "20:42", "IST (UTC+05:30)"],
    ["Asia/Tokyo", "2026-11-27T15:12:00Z", "00:12", "(UTC+09:00)"],
    ["UTC", "2026-11-27T15:12:00Z", "15:12", "UTC (UTC+00:00)"],
    ["America/St_Johns", "2026-11-27T15:12:00Z", "11:42", "(UTC-03:30)"],
  ])("of %s", (zone, iso, clock, name) => {
    expect(localTime(zone).clock(us(iso))).toBe(clock);
    expect(localTime(zone).zone(us(iso))).toBe(name);
  });

  test("the hour that comes twice in autumn is told by its offset", () => {
    const berlin = localTime("Europe/Berlin");
    expect(
      [us("2026-10-25T00:30:00Z"), us("2026-10-25T01:30:00Z")].map((at) => [
        berlin.clock(at),
        berlin.zone(at),
      ]),
    ).toEqual([
      ["02:30", "CEST (UTC+02:00)"],
      ["02:30", "CET (UTC+01:00)"],
    ]);
  });

  test("a zone that changed at one minute past midnight is right to the minute", () => {
    const newfoundland = localTime("America/St_Johns");
    expect(newfoundland.offsetMinutes(us("2010-03-14T03:30:59Z"))).toBe(-210);
    expect(newfoundland.offsetMinutes(us("2010-03-14T03:31:00Z"))).toBe(-150);
  });

  test("agrees with Intl at every instant of many zones", () => {
    const zones = [
      "Europe/Berlin",
      "America/St_Johns",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
      "Africa/Casablanca",
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: us("1971-01-01T00:00:00Z"), max: us("2037-12-31T00:00:00Z") }),
        (zone, at) => {
          const expected = new Intl.DateTimeFormat("en-GB", {
            timeZone: zone,
            hourCycle: "h23",
            hour: "2-digit",
            minute: "2-digit",
          }).format(Math.floor(at / 1000));
          expect(localTime(zone).clock(at)).toBe(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("a zone that does not exist is refused in one sentence", () => {
    expect(() => localTime("Mars/Olympus")).toThrow('The time zone "Mars/Olympus" is not known.');
  });

  test("many days are told one after another, and the first again", () => {
    const berlin = localTime("Europe/Berlin");
    const quarterUs = 900_000_000;
    for (let number = 0; number < 4200; number += 1) berlin.offsetMinutes(number * quarterUs);
    expect(berlin.clock(0)).toBe("01:00");
  });

  test("many zones are told one after another", () => {
    const zones = Intl.supportedValuesOf("timeZone").slice(0, 20);
    for (const zone of zones) expect(localTime(zone).timeZone).toBe(zone);
  });
});
