/** What the real-time block tells of the owner's other devices. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderContextBlock } from "../../src/capture/context-block.ts";
import { createElsewhere } from "../../src/capture/elsewhere.ts";
import { pausedSnapshot, readSnapshot } from "../../src/capture/snapshot.ts";
import { LINE_BREAK } from "../../src/context/plain-text.ts";
import { silentLog } from "../../src/log.ts";
import { openEventStore } from "../../src/store/events.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { law } from "../helpers/laws.ts";
import { createOtherDevice } from "../helpers/other-device.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const S = 1_000_000;
const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const NOW = Date.parse("2026-11-27T15:12:20Z") * 1000;

function openRecord() {
  const clock = createFakeClock("2026-11-27T15:12:20Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  const elsewhere = createElsewhere(store, ["assistant"]);
  /** The lines of other devices as of an instant of the present or, with `isPast`, of the past. */
  const also = (nowUs = NOW, isPast = false): readonly string[] =>
    blockAt(nowUs, isPast)
      .split("\n")
      .filter((line) => line.startsWith("- Also: "));
  const blockAt = (nowUs: number, isPast = false, budget = 170): string => {
    const quiet = pausedSnapshot(nowUs, nowUs, "UTC");
    const snapshot = { ...quiet, gaps: [], elsewhere: elsewhere.read(nowUs, isPast) };
    return renderContextBlock(snapshot, budget).block ?? "";
  };
  return { store, also, blockAt, elsewhere };
}

describe("the lines of other devices", () => {
  it("name the device, its kind and its last window with its age, the newest first", () => {
    const { store, also } = openRecord();
    const window = { startUs: NOW - 20 * MINUTE, endUs: NOW - 5 * MINUTE };
    createOtherDevice(store, "phone-desk", { kind: "laptop" }).tell(
      [{ title: "retry.ts — payments-api", ...window }],
      NOW - 5 * MINUTE,
    );
    createOtherDevice(store, "attic").tell(
      [{ app: "Firefox", title: "News", place: "news.example/a", ...window, isOpen: true }],
      NOW - 20_000_000,
    );
    expect(also()).toEqual([
      '- Also: attic: Firefox: "News" news.example/a, now',
      '- Also: phone-desk (laptop): Code: "retry.ts — payments-api", 5 min ago',
    ]);
  });

  it("are not there for a device that was quiet for more than half an hour, or taken out", () => {
    const { store, also } = openRecord();
    const laptop = createOtherDevice(store, "laptop");
    laptop.tell([{ title: "a", startUs: NOW - 2 * HOUR, endUs: NOW - 30 * MINUTE }], NOW);
    expect(also()).toEqual(['- Also: laptop: Code: "a", 30 min ago']);
    expect(also(NOW + MINUTE)).toEqual([]);
    laptop.set({ state: "revoked" });
    expect(also()).toEqual([]);
  });

  it("say nothing as current that came in while this device's clock was ahead", () => {
    const { store, also } = openRecord();
    const soon = NOW + 50 * MINUTE;
    const window = { title: "a", startUs: NOW, endUs: soon, isOpen: true };
    // Both clocks were ahead, and ours alone was put right.
    createOtherDevice(store, "laptop").tell([window], soon, NOW + HOUR);
    expect(also().filter((line) => !line.endsWith("(age unknown)"))).toEqual([]);
  });

  it("say now of a window that goes on for as long as its device is heard of", () => {
    const { store, also } = openRecord();
    const laptop = createOtherDevice(store, "laptop");
    const open = { title: "a", startUs: NOW - HOUR, isOpen: true };
    laptop.tell([{ ...open, endUs: NOW - MINUTE }], NOW);
    expect(also(NOW)).toEqual(['- Also: laptop: Code: "a", now']);
    expect(also(NOW + MINUTE)).toEqual(['- Also: laptop: Code: "a", now']);
    // Its lid was shut: nothing said so.
    expect(also(NOW + 2 * MINUTE)).toEqual(['- Also: laptop: Code: "a", 2 min ago']);
    expect(also(NOW + 31 * MINUTE)).toEqual([]);
    laptop.tell([{ ...open, endUs: NOW + 3 * MINUTE }], NOW + 3 * MINUTE);
    expect(also(NOW + 3 * MINUTE)).toEqual(['- Also: laptop: Code: "a", now']);
    laptop.tell([{ ...open, endUs: NOW + 3 * MINUTE, isOpen: false }], NOW + 4 * MINUTE);
    expect(also(NOW + 4 * MINUTE)).toEqual(['- Also: laptop: Code: "a", 1 min ago']);
  });

  it("tell ages by this device's clock, however far the other's is off", () => {
    for (const offsetUs of [HOUR, 30 * HOUR, 17 * MINUTE + 4_000_000, -100_000_000]) {
      const { store, also } = openRecord();
      createOtherDevice(store, "laptop", { offsetUs }).tell(
        [{ title: "a", startUs: NOW - HOUR + offsetUs, endUs: NOW - 5 * MINUTE + offsetUs }],
        NOW + offsetUs,
        NOW,
      );
      expect(also()).toEqual(['- Also: laptop: Code: "a", 5 min ago']);
      expect(also(NOW - 10 * MINUTE, true)).toEqual(['- Also: laptop: Code: "a", now']);
    }
  });

  it("never tell as current what was long on its way", () => {
    const { store, also } = openRecord();
    const laptop = createOtherDevice(store, "laptop");
    const sentUs = NOW - 10 * MINUTE;
    laptop.tell([{ title: "a", startUs: sentUs - HOUR, endUs: sentUs, isOpen: true }], sentUs, NOW);
    expect(also()).toEqual(['- Also: laptop: Code: "a", 10 min ago']);
  });

  it("say that an age is unknown while the clocks cannot be compared", () => {
    const { store, also } = openRecord();
    // One that seems hours behind may be right, and its records hours on their way.
    const laptop = createOtherDevice(store, "laptop", { offsetUs: -4 * HOUR });
    const window = { title: "a", startUs: NOW - 5 * HOUR, endUs: NOW - 4 * HOUR, isOpen: true };
    laptop.tell([window], NOW - 4 * HOUR, NOW);
    const told = ['- Also: laptop: Code: "a", 11:12 by its clock (age unknown)'];
    expect(also()).toEqual(told);
    laptop.set({ offsetUs: null });
    expect(also()).toEqual(told);
    // It came in 31 minutes ago: it is older than that, whatever the time was there.
    expect(also(NOW + 31 * MINUTE)).toEqual([]);
  });

  it("pass over the assistant's own windows", () => {
    const { store, also } = openRecord();
    createOtherDevice(store, "laptop").tell(
      [
        { title: "letter", startUs: NOW - 9 * MINUTE, endUs: NOW - 4 * MINUTE },
        { app: "Assistant", title: "chat", startUs: NOW - 4 * MINUTE, endUs: NOW, isOpen: true },
      ],
      NOW,
    );
    expect(also()).toEqual(['- Also: laptop: Code: "letter", 4 min ago']);
  });

  it("are three at most, and go before what this device shows when the budget is short", () => {
    const { store, also, elsewhere } = openRecord();
    for (const [index, name] of ["a", "b", "c", "d"].entries())
      createOtherDevice(store, name).tell(
        [{ title: name, startUs: NOW - HOUR, endUs: NOW - (index + 2) * MINUTE }],
        NOW,
      );
    expect(also().map((line) => line.slice(8, 9))).toEqual(["a", "b", "c"]);
    const span = { utcOffsetMinutes: 0, timeZone: "UTC" };
    const own = (title: string, startUs: number) =>
      store.begin(
        { kind: "window", app: storable("Viewer"), title: storable(title), place: null },
        { ...span, startUs, endUs: startUs + 5 * MINUTE },
      );
    own("before", NOW - 10 * MINUTE);
    own("in front", NOW - 5 * MINUTE);
    const snapshot = readSnapshot({
      store,
      present: null,
      nowUs: NOW,
      timeZone: "UTC",
      assistantApps: [],
      elsewhere,
    });
    const left: string[] = [];
    for (let budget = 200; budget > 25; budget -= 1) {
      const block = renderContextBlock(snapshot, budget).block ?? "";
      const lines = ["Focused", "Before", "Also: a", "Also: b", "Also: c"];
      const gone = lines.filter((line) => !block.includes(`\n- ${line}`) && !left.includes(line));
      left.push(...gone);
    }
    expect(left).toEqual(["Also: c", "Also: b", "Also: a", "Before", "Focused"]);
  });

  it("are the same all through a minute, and gone at once with what is forgotten", () => {
    const { store, also, blockAt } = openRecord();
    const laptop = createOtherDevice(store, "laptop");
    const startUs = NOW - HOUR;
    laptop.tell([{ title: "a", startUs, endUs: NOW - 30_000_000, isOpen: true }], NOW - 30_000_000);
    const minuteUs = Math.floor(NOW / MINUTE) * MINUTE;
    const told = new Set([0, 1, 19, 31, 59.9].map((s) => blockAt(minuteUs + s * 1_000_000)));
    expect(told.size).toBe(1);
    store.remote().forget([{ deviceKey: laptop.key, startUs: startUs }]);
    expect(also()).toEqual([]);
  });

  it("cost nothing and say nothing where there is no other device", () => {
    const { also, blockAt } = openRecord();
    expect(also()).toEqual([]);
    expect(blockAt(NOW)).toBe(
      "# Device Activity (exact, real-time)\n- Now: Fri 27 Nov 2026 15:12 UTC (UTC+00:00)\n- Focused: nothing\n---\n\n",
    );
  });

  law(
    "a hostile name, application, title or place changes no other line and marks every character of its own",
    fc.property(
      nastyText(),
      nastyText(),
      nastyText(),
      fc.constantFrom(0, null),
      (device, app, text, lastUs) => {
        const event = {
          kind: "window" as const,
          app: storable(app),
          title: storable(text),
          place: storable(text),
          id: NOW,
          startUs: NOW,
          endUs: NOW,
          utcOffsetMinutes: 0,
          timeZone: "UTC",
        };
        const quiet = { ...pausedSnapshot(NOW, NOW, "UTC"), gaps: [] };
        const activity = {
          device,
          kind: "laptop" as const,
          event,
          lastUs: lastUs === null ? null : NOW - 2 * MINUTE,
          isNow: false,
        };
        const { block, untrustedSpans } = renderContextBlock(
          { ...quiet, elsewhere: [activity] },
          1000,
        );
        const lines = (block ?? "").split("\n");
        // What is left without the strangers' characters is ours, word for word.
        let ours = block ?? "";
        for (const { start, end } of untrustedSpans.toReversed())
          ours = ours.slice(0, start) + ours.slice(end);
        const line = ours.split("\n")[3] ?? "";
        return (
          lines.length === 7 &&
          lines[4] === "---" &&
          !LINE_BREAK.test(lines[3] ?? "") &&
          /^- Also: {1,2}\(laptop\): (: "" ?|, )/.test(line)
        );
      },
    ),
  );

  it("never tell a window as younger by more than clocks may be off unnoticed, however long its record took", () => {
    const { store, elsewhere } = openRecord();
    const seconds = (most: number) => fc.integer({ min: 0, max: most });
    const law = fc.property(
      fc.record({
        sinceCame: seconds(3600),
        delay: fc.oneof(seconds(5), seconds(10_000)),
        sinceSeen: seconds(3600),
        ahead: fc.integer({ min: -100, max: 100 }),
        isOpen: fc.boolean(),
      }),
      ({ sinceCame, delay, sinceSeen, ahead, isOpen }) => {
        const cameInUs = NOW - sinceCame * S;
        const sentUs = cameInUs - delay * S;
        const seenUs = isOpen ? sentUs : sentUs - sinceSeen * S;
        const byItsClock = (us: number): number => us + ahead * S;
        const device = createOtherDevice(store, "lap", { offsetUs: byItsClock(sentUs) - cameInUs });
        const endUs = byItsClock(seenUs);
        const window = { title: "a", startUs: endUs - 60 * S, endUs, isOpen };
        device.tell([window], byItsClock(sentUs), cameInUs);
        const [told] = elsewhere.read(NOW, false);
        store.remote().dropDevice(device.key);
        // Two minutes of delay pass for a clock that is behind, and so does a clock that is behind.
        const slackUs = (120 + 100 + 15) * S;
        if (told === undefined) return NOW - seenUs > 30 * MINUTE - slackUs;
        if (told.lastUs === null) return !told.isNow && delay > 0;
        return (
          told.lastUs <= Math.min(NOW, seenUs + slackUs) &&
          (!told.isNow || NOW - seenUs <= 2 * MINUTE + slackUs)
        );
      },
    );
    expect(() => fc.assert(law, { numRuns: propertyRuns(300, 5_000) })).not.toThrow();
  });
});
