import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import type { StatusAnswer } from "../../src/api.ts";
import type { ActivityEvent, EventFacts } from "../../src/capture/events.ts";
import { renderLive, startOfDay, type LiveState } from "../../src/tui/live-view.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { storable } from "../helpers/storable.ts";

const NOW_US = Date.parse("2026-11-27T12:00:00Z") * 1000;
const HOUR_US = 3_600_000_000;

const STATUS: StatusAnswer = {
  version: "1.2.3",
  pid: 7,
  startedUs: NOW_US - HOUR_US,
  nowUs: NOW_US,
  socket: "/run/a.sock",
  health: "ok",
  problems: [],
  notes: [],
  paused: null,
  sources: [
    {
      kind: "window",
      state: "live",
      backend: "x11",
      sinceUs: NOW_US,
      why: null,
      rejected: [{ backend: "sway", reason: "No sway is running.", remedy: "" }],
    },
  ],
  store: {
    path: "/data/activity.db",
    sizeBytes: 3_100_000,
    eventCount: 42,
    lastCommittedUs: NOW_US,
    writable: true,
  },
};

function event(facts: EventFacts, fromHour: number, toHour: number): ActivityEvent {
  const startUs = startOfDay(NOW_US, "UTC") + fromHour * HOUR_US;
  const endUs = startOfDay(NOW_US, "UTC") + toHour * HOUR_US;
  return { ...facts, id: startUs, startUs, endUs, utcOffsetMinutes: 0, timeZone: "UTC" };
}

const STATE: LiveState = {
  status: STATUS,
  problem: null,
  block:
    '# Device Activity (exact, real-time)\n- Focused: Code: "retry.ts", since 11:00 (1 h)\n---\n\n',
  today: [
    event({ kind: "sleep" }, 0, 8),
    event(
      { kind: "window", app: storable("Code"), title: storable("retry.ts"), place: null },
      8,
      10,
    ),
    event({ kind: "idle", state: "away" }, 10, 11),
    event(
      { kind: "window", app: storable("Firefox"), title: storable("Docs"), place: null },
      11,
      12,
    ),
  ],
  nowUs: NOW_US,
  timeZone: "UTC",
  showWhy: false,
  notice: null,
};

/** Written as escapes of the pattern language, so that no control character stands in the source. */
const SGR = new RegExp(String.raw`\x1b\[\d+m`, "g");
const CONTROL = new RegExp(String.raw`[\n\r\x1b]`);

const PLAIN = { columns: 72, rows: 30, colour: false };

describe("the live view", () => {
  it("shows the source, the exact block, the day as a strip, its totals and the health", () => {
    expect(renderLive(STATE, { ...PLAIN, columns: 48 })).toEqual([
      "● recording  Fri 27 Nov 2026 12:00",
      "window x11",
      "── what the assistant is told ──────────────────",
      "# Device Activity (exact, real-time)",
      '- Focused: Code: "retry.ts", since 11:00 (1 h)',
      "---",
      "── today ───────────────────────────────────────",
      "00  02  04  06  08  10  12  14  16  18  20  22",
      "----------------████░░██",
      "█ active · ░ away · - locked or asleep",
      "  x not recorded · now 12:00",
      "Code 2 h · Firefox 1 h",
      "health ok, 42 events, 3.1 MB",
      "p pause 15 min · r resume · w why · q quit",
    ]);
  });

  it("says why each backend was passed over when asked", () => {
    expect(renderLive({ ...STATE, showWhy: true }, PLAIN)).toContain(
      "  not sway: No sway is running.",
    );
  });

  it("says why in a page of its own, what is blind first", () => {
    const blind = {
      kind: "media",
      state: "blind",
      backend: null,
      sinceUs: NOW_US,
      why: { reason: "The session bus is not reachable.", remedy: "Start it inside the session." },
      rejected: [],
    } as const;
    const status = { ...STATUS, sources: [...STATUS.sources, blind] };
    expect(renderLive({ ...STATE, status, showWhy: true }, PLAIN)).toEqual([
      "● recording  Fri 27 Nov 2026 12:00",
      "window x11 · media blind",
      `── why ${"─".repeat(65)}`,
      "media: blind",
      "  The session bus is not reachable. Start it inside the session.",
      "window: live by x11",
      "  not sway: No sway is running.",
      "p pause 15 min · r resume · w back · q quit",
    ]);
  });

  it("tells how much of it does not fit", () => {
    expect(renderLive(STATE, { ...PLAIN, rows: 5 })).toEqual([
      "● recording  Fri 27 Nov 2026 12:00",
      "window x11",
      `── what the assistant is told ${"─".repeat(42)}`,
      "… 9 more lines: a higher terminal shows them",
      "p pause 15 min · r resume · w why · q quit",
    ]);
    expect(renderLive(STATE, { ...PLAIN, columns: 40, rows: 5 }).slice(2)).toEqual([
      "… 12 more lines",
      "p pause 15 min · r resume · w why",
      "  q quit",
    ]);
  });

  it("has as many cells in every hour, at every width", () => {
    for (const [columns, scale] of [
      [40, "00 03 06 09 12 15 18 21"],
      [80, "00    02    04    06    08    10    12    14    16    18    20    22"],
    ] as const)
      expect(renderLive(STATE, { ...PLAIN, columns })).toContain(scale);
  });

  it("says that it is not connected, and what to do", () => {
    const lines = renderLive(
      { ...STATE, status: null, problem: "No daemon answers. Start it with: activityd start" },
      PLAIN,
    );
    expect(lines.slice(0, 2)).toEqual([
      "● not connected",
      "No daemon answers. Start it with: activityd start",
    ]);
  });

  it("shows a pause as a pause", () => {
    const paused = { ...STATUS, paused: { sinceUs: NOW_US, untilUs: null } };
    expect(renderLive({ ...STATE, status: paused }, PLAIN)[0]).toContain("● paused");
  });

  it("with colour says the same as without", () => {
    const coloured = renderLive(STATE, { ...PLAIN, colour: true }).join("\n");
    expect(coloured.replace(SGR, "")).toBe(renderLive(STATE, PLAIN).join("\n"));
  });

  it("is never wider nor longer than the terminal, for any title and any size", () => {
    fc.assert(
      fc.property(
        nastyText(),
        nastyText(),
        fc.integer({ min: 8, max: 120 }),
        fc.integer({ min: 1, max: 40 }),
        (app, title, columns, rows) => {
          const today = [
            event(
              { kind: "window", app: storable(app), title: storable(title), place: null },
              9,
              10,
            ),
          ];
          const block = `# Device Activity (exact, real-time)\n- Focused: ${"漢字 👩‍💻 ".repeat(9)}\n---\n\n`;
          const why = { reason: app, remedy: title };
          const sources = STATUS.sources.map((source) => ({ ...source, why, backend: app }));
          const status = { ...STATUS, sources, problems: [{ ...why, code: "x" }] };
          const showWhy = rows % 2 === 0;
          const state = { ...STATE, status, today, block, showWhy, notice: title };
          const lines = renderLive(state, { columns, rows, colour: false });
          expect(lines.length).toBeLessThanOrEqual(rows);
          for (const line of lines) {
            expect(stringWidth(line)).toBeLessThanOrEqual(columns);
            expect(line).not.toMatch(CONTROL);
          }
        },
      ),
      { numRuns: propertyRuns(100, 2_000) },
    );
  });
});

describe("the day as a strip where the clock is changed", () => {
  /** The strip at an instant of Berlin with windows from and to others, half an hour a cell. */
  function strip(now: string, ...windows: readonly (readonly [string, string])[]): string {
    const today = windows.map(([from, to]) => ({
      ...event({ kind: "window", app: storable("Code"), title: null, place: null }, 0, 1),
      startUs: Date.parse(from) * 1000,
      endUs: Date.parse(to) * 1000,
    }));
    const state = { ...STATE, today, nowUs: Date.parse(now) * 1000, timeZone: "Europe/Berlin" };
    const lines = renderLive(state, { ...PLAIN, columns: 48 });
    return lines[lines.findIndex((line) => line.startsWith("00  02")) + 1] ?? "";
  }
  const at = (hour: number): string => `${" ".repeat(hour * 2)}██`;

  it("has what was from 13 to 14 by the clock at 13, on days of 23 and 25 hours", () => {
    expect(strip("2026-03-29T20:00:00Z", ["2026-03-29T11:00:00Z", "2026-03-29T12:00:00Z"])).toBe(
      at(13),
    );
    expect(strip("2026-10-25T20:00:00Z", ["2026-10-25T12:00:00Z", "2026-10-25T13:00:00Z"])).toBe(
      at(13),
    );
  });

  it("ends with the last hour of a long day, and leaves the hour empty that there was not", () => {
    expect(strip("2026-10-25T22:59:59Z", ["2026-10-25T22:00:00Z", "2026-10-25T23:00:00Z"])).toBe(
      at(23),
    );
    expect(strip("2026-03-29T21:59:59Z", ["2026-03-29T00:00:00Z", "2026-03-29T02:00:00Z"])).toBe(
      `${at(1)}  ██`,
    );
  });

  it("has both hours of the same name in one place", () => {
    expect(
      strip(
        "2026-10-25T01:10:00Z",
        ["2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z"],
        ["2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z"],
      ),
    ).toBe(at(2));
  });
});

describe("the start of a day", () => {
  it.each([
    ["2026-03-29T10:00:00Z", "Europe/Berlin", "2026-03-28T23:00:00Z"],
    ["2026-10-25T20:00:00Z", "Europe/Berlin", "2026-10-24T22:00:00Z"],
    ["2026-11-27T03:00:00Z", "America/New_York", "2026-11-26T05:00:00Z"],
  ])("of %s in %s is %s", (now, timeZone, midnight) => {
    expect(startOfDay(Date.parse(now) * 1000, timeZone)).toBe(Date.parse(midnight) * 1000);
  });
});
