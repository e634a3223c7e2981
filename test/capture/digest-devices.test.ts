/** The digest over several devices: what is told of which, what counts once, and where the owner was. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { createDigester } from "../../src/capture/context-digest.ts";
import { readAskedDevices } from "../../src/capture/triage/asked-devices.ts";
import { unionUs } from "../../src/capture/triage/once.ts";
import { silentLog } from "../../src/log.ts";
import type { DeviceKind } from "../../src/store/devices.ts";
import { openEventStore } from "../../src/store/events.ts";
import { createHistory } from "../../src/store/history.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { law } from "../helpers/laws.ts";
import { createOtherDevice } from "../helpers/other-device.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const MINUTE = 60_000_000;
const at = (iso: string): number => Date.parse(`${iso}Z`) * 1000;
const NOW = at("2026-11-27T18:00:00");

function openRecord() {
  const clock = createFakeClock("2026-11-27T18:00:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  const span = (from: string, to: string) => ({
    startUs: at(from),
    endUs: at(to),
    utcOffsetMinutes: 0,
    timeZone: "UTC",
  });
  const window = (title: string, app = "Code", place: string | null = null) => ({
    kind: "window" as const,
    app: storable(app),
    title: storable(title),
    place: place === null ? null : storable(place),
  });
  const digester = createDigester({ history: createHistory(store.database) });
  return {
    store,
    own: (title: string, from: string, to: string, app?: string) =>
      store.put(window(title, app), span(from, to)),
    idle: (from: string, to: string) => store.put({ kind: "idle", state: "away" }, span(from, to)),
    other: (name: string, options?: { kind?: DeviceKind; offsetUs?: number }) => {
      const device = createOtherDevice(store, name, options);
      const offsetUs = options?.offsetUs ?? 0;
      return {
        ...device,
        /** By this device's clock. */
        saw: (title: string, from: string, to: string, app = "Code") => {
          const times = { startUs: at(from) + offsetUs, endUs: at(to) + offsetUs };
          device.tell([{ title, app, ...times }], at(to));
        },
      };
    },
    ask: (
      turn: string,
      more: { previousTurns?: readonly string[]; nowUs?: number } = {},
    ): readonly string[] => {
      store.settle();
      const answer = digester.render({ turn, nowUs: NOW, timeZone: "UTC", ...more });
      return (answer.block ?? "")
        .split("\n")
        .filter((line) => line !== "" && !/^[#-]+( D|$)/.test(line));
    },
    forgetLearned: () => digester.unlearn(),
  };
}

describe("a digest over several devices", () => {
  it("ranges over all of them and names each other one on its lines", () => {
    const { own, other, ask } = openRecord();
    own("letter.odt", "2026-11-26T09:00", "2026-11-26T09:40", "Writer");
    other("phone-desk").saw(
      "Corporate tax rates",
      "2026-11-26T10:13",
      "2026-11-26T10:28",
      "Firefox",
    );
    expect(ask("what did I do yesterday morning?")).toEqual([
      "Thu 26 Nov 2026 (yesterday):",
      '- 09:00–09:40 (40 min) Writer: "letter.odt"',
      '- 10:13–10:28 (15 min) Firefox: "Corporate tax rates", on phone-desk',
    ]);
    expect(ask("when did I last read about corporate tax rates?")).toEqual([
      "Thu 26 Nov 2026 (yesterday):",
      '- 10:13–10:28 (15 min) Firefox: "Corporate tax rates", on phone-desk',
    ]);
  });

  it("keeps to the device that is named, by its name or by what it is", () => {
    const { own, other, ask } = openRecord();
    own("letter.odt", "2026-11-26T09:00", "2026-11-26T09:40", "Writer");
    const laptop = other("ada-travel", { kind: "laptop" });
    laptop.saw("timetable", "2026-11-26T10:00", "2026-11-26T10:30", "Firefox");
    other("attic").saw("backup log", "2026-11-26T11:00", "2026-11-26T11:30", "Terminal");
    const told = [
      "Thu 26 Nov 2026 (yesterday):",
      '- 10:00–10:30 (30 min) Firefox: "timetable", on ada-travel',
    ];
    expect(ask("what did I do on the laptop yesterday?")).toEqual(told);
    expect(ask("what was I doing yesterday on my laptop")).toEqual(told);
    expect(ask("ada-travel yesterday: what did I do?")).toEqual(told);
    expect(ask("was habe ich gestern auf dem Laptop gemacht?")).toEqual(told);
    expect(ask("¿qué hice ayer en el portátil?")).toEqual(told);
    expect(ask("qu'est-ce que j'ai fait hier sur le portable ?")).toEqual(told);
    expect(ask("what did I do on the attic yesterday?").at(-1)).toContain("backup log");
    expect(ask("what did I do yesterday on this computer?").at(-1)).toContain("letter.odt");
    const others = ask("what did I do yesterday on my other computer?").join();
    expect(others).toContain("timetable");
    expect(others).toContain("backup log");
    expect(others).not.toContain("letter");
  });

  it("says that nothing was recorded on a device that is named, rather than tell of another", () => {
    const { own, other, ask } = openRecord();
    own("letter.odt", "2026-11-26T09:00", "2026-11-26T09:40", "Writer");
    other("ada-travel", { kind: "laptop" }).saw("plan", "2026-11-20T10:00", "2026-11-20T10:30");
    expect(ask("what did I do on the laptop yesterday?")).toEqual([
      "- nothing recorded Thu 26 Nov on ada-travel (history since 20 Nov 2026)",
    ]);
  });

  it("counts a minute once in which two devices were in use", () => {
    const { own, other, ask } = openRecord();
    own("retry.ts — payments", "2026-11-26T09:00", "2026-11-26T11:00");
    const laptop = other("laptop");
    // The same file for an hour on both, then an hour of it there alone.
    laptop.saw("retry.ts — payments", "2026-11-26T10:00", "2026-11-26T12:00");
    const [total] = ask("how long did I work on payments yesterday?");
    expect(total).toBe('- total on "payments": 3 h of 3 h active, Thu 26 Nov 2026');
    expect(ask("how much time did I spend on the laptop yesterday?")[0]).toBe(
      "- total: 2 h active, Thu 26 Nov 2026, on laptop",
    );
  });

  it("tells times by this device's clock", () => {
    const { other, ask } = openRecord();
    const laptop = other("laptop", { offsetUs: 60 * MINUTE });
    laptop.saw("plan", "2026-11-26T10:00", "2026-11-26T10:30");
    expect(ask("what did I do yesterday between 10 and 11?").at(-1)).toBe(
      '- 10:00–10:30 (30 min) Code: "plan", on laptop',
    );
    expect(ask("what did I do yesterday between 11 and 12?").join()).not.toContain("plan");
  });

  it("takes up where the owner was, on whichever device that was", () => {
    const { own, idle, other, ask } = openRecord();
    own("letter.odt", "2026-11-27T15:00", "2026-11-27T16:00", "Writer");
    idle("2026-11-27T16:00", "2026-11-27T17:58");
    own("inbox", "2026-11-27T17:58", "2026-11-27T18:00", "Mail");
    // Away altogether: what was here before.
    expect(ask("where was I?").join()).toContain("letter.odt");
    // At the laptop meanwhile, until a moment ago.
    other("laptop").saw("slides", "2026-11-27T16:30", "2026-11-27T17:55", "Impress");
    const lines = ask("where was I?");
    expect(lines).toContain('- 17:40–17:55 (15 min) Impress: "slides", on laptop');
    expect(lines).toContain('- 15:45–16:00 (15 min) Writer: "letter.odt"');
  });

  it("takes nobody for absent who is at another device", () => {
    const { own, idle, other, ask } = openRecord();
    own("letter.odt", "2026-11-27T09:00", "2026-11-27T12:00", "Writer");
    idle("2026-11-27T12:00", "2026-11-27T14:00");
    own("report.odt", "2026-11-27T14:00", "2026-11-27T15:00", "Writer");
    const laptop = other("laptop");
    laptop.saw("slides", "2026-11-27T12:01", "2026-11-27T13:15", "Impress");
    const lines = ask("what was I doing before lunch?").join();
    // Lunch is from 13:15 on, when nobody was at either.
    expect(lines).toContain('Impress: "slides", on laptop');
    expect(lines).not.toContain("letter");
  });

  it("takes what is in front from this device", () => {
    const { own, other, ask } = openRecord();
    own("letter.odt", "2026-11-27T17:00", "2026-11-27T17:59", "Writer");
    other("laptop").saw("slides", "2026-11-27T17:30", "2026-11-27T18:00", "Impress");
    expect(ask("summarise this page for me").join()).toContain("letter.odt");
  });

  it("lets a follow-up stay with the device that was named", () => {
    const { own, other, ask } = openRecord();
    own("letter.odt", "2026-11-26T15:00", "2026-11-26T15:40", "Writer");
    const laptop = other("ada-travel", { kind: "laptop" });
    laptop.saw("timetable", "2026-11-26T15:00", "2026-11-26T15:30", "Firefox");
    const previousTurns = ["what did I do on the laptop yesterday morning?"];
    const lines = ask("and yesterday afternoon?", { previousTurns }).join();
    expect(lines).toContain("timetable");
    expect(lines).not.toContain("letter");
  });

  it("knows nothing any more of what was forgotten or erased there", () => {
    const { store, other, ask, forgetLearned } = openRecord();
    const laptop = other("laptop");
    laptop.saw("plan", "2026-11-26T10:00", "2026-11-26T10:30");
    laptop.saw("secret", "2026-11-26T11:00", "2026-11-26T11:30");
    laptop.saw("diary", "2026-11-26T12:00", "2026-11-26T12:30");
    expect(ask("what did I do yesterday?")).toHaveLength(4);
    store.remote().forget([{ deviceKey: laptop.key, startUs: at("2026-11-26T11:00") }]);
    laptop.erase(at("2026-11-26T12:00"), at("2026-11-26T12:00"));
    expect(ask("what did I do yesterday?").join()).not.toMatch(/secret|diary/);
    forgetLearned();
    expect(ask("when did I last look at the secret?").join()).not.toContain("laptop");
    store.remote().drop([{ deviceKey: laptop.key, startUs: at("2026-11-26T10:00") }]);
    expect(ask("what did I do yesterday?")).toEqual([
      "- nothing recorded Thu 26 Nov (no history yet)",
    ]);
  });
});

describe("the devices that a turn asks about", () => {
  const others = [
    { key: 1, name: "ada-travel", kind: "laptop" as const },
    { key: 2, name: "work", kind: null },
    { key: 3, name: "old desktop", kind: null },
  ];
  test.each([
    ["what did I do on the laptop yesterday?", [1], "what did I do               yesterday?"],
    ["what did I read on work this morning?", [2], "what did I read         this morning?"],
    ["and on ada travel", [1], "and              "],
    ["from my old desktop", [3], "                   "],
  ])("%s", (turn, keys, rest) => {
    const found = readAskedDevices(turn, others, null);
    expect([...(found?.asked.keys ?? [])]).toEqual(keys);
    expect(found?.turn).toBe(rest);
  });

  test.each([
    "how did work go yesterday?",
    "the laptop review I read",
    "which phone should I buy?",
    "what did I write on the tablet?",
    "what did I read on the subway?",
    "",
  ])("are not meant in: %s", (turn) => {
    expect(readAskedDevices(turn, others, null)).toBeNull();
  });

  it("may be this one, by its name or by what it is", () => {
    const self = { name: "desk", kind: "desktop" as const };
    const keysOf = (turn: string) => [...(readAskedDevices(turn, others, self)?.asked.keys ?? [])];
    expect(keysOf("what did I do on desk yesterday?")).toEqual([0]);
    expect(keysOf("what did I do on the tower yesterday?")).toEqual([0]);
    expect(keysOf("what did I do on the other computer?")).toEqual([1, 2, 3]);
    expect(keysOf("which desk should I buy?")).toEqual([]);
  });

  it("are none where there is one device alone", () => {
    expect(readAskedDevices("what did I do on the laptop?", [], null)).toBeNull();
  });
});

law(
  "what spans cover together is what their seconds are, each counted once",
  fc.property(
    fc
      .array(fc.tuple(fc.nat(60), fc.nat(20)), { maxLength: 12 })
      .map((spans) => spans.map(([startUs, length]) => ({ startUs, endUs: startUs + length }))),
    (spans) => {
      const seconds = new Set(
        spans.flatMap(({ startUs, endUs }) =>
          Array.from({ length: endUs - startUs }, (_, index) => startUs + index),
        ),
      );
      return unionUs(spans) === seconds.size;
    },
  ),
);
