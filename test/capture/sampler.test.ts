import { dirname } from "node:path";
import { onTestFinished, describe, expect, it, vi } from "vitest";
import type { ActivityEvent, WindowSample } from "../../src/capture/events.ts";
import type { PrivacyGate } from "../../src/capture/privacy.ts";
import { createPrivacyGate } from "../../src/capture/privacy.ts";
import { DEFAULT_PRIVACY } from "../../src/capture/privacy/rules.ts";
import { createSampler, type Sampler } from "../../src/capture/sampler.ts";
import type { SourceResult } from "../../src/capture/sources/source.ts";
import { ActivityError } from "../../src/errors.ts";
import { silentLog } from "../../src/log.ts";
import { openEventStore, type EventStore } from "../../src/store/events.ts";
import { createFakeClock, type FakeClock } from "../helpers/fake-clock.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const START = "2026-11-27T09:00:00Z";
const SECOND_US = 1_000_000;

describe("what is recorded", () => {
  it("is one event for a window that stays, however often it is seen", () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.pass(60);
    desk.focus("Code", "retry.ts");
    desk.pass(60);
    expect(desk.lines()).toEqual(["window 0–120 Code: retry.ts"]);
  });

  it("ends one window where the next begins", () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.pass(10);
    desk.focus("Firefox", "Docs");
    desk.pass(5);
    expect(desk.lines()).toEqual(["window 0–10 Code: retry.ts", "window 10–15 Firefox: Docs"]);
  });

  it("is at most 60 rows for an hour of a title that never stops changing, ending with its last", () => {
    const desk = openDesk();
    for (let second = 0; second < 3_600; second += 1) {
      desk.focus("Terminal", `${second} of 3600 built`);
      desk.pass(1);
    }
    desk.focus("Terminal", "build finished");
    desk.pass(10);
    const lines = desk.lines();
    expect(lines.length).toBeLessThanOrEqual(60);
    expect(lines.at(-1)).toMatch(/^window \d+–3610 Terminal: build finished$/);
  });

  it("is nothing while nothing has the focus", () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.pass(10);
    desk.take({ ok: true, value: null });
    desk.pass(10);
    expect(desk.lines()).toEqual(["window 0–10 Code: retry.ts"]);
  });
});

describe("what goes on", () => {
  it("is known from its first moment on, and known to be over at once", () => {
    const clock = createFakeClock(START);
    const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
    const desk = openDesk({ clock, store });
    const openTitles = (): readonly unknown[] =>
      store
        .between(0, Number.MAX_SAFE_INTEGER)
        .events.filter(({ id }) => store.openIds().has(id))
        .map((event) => (event.kind === "window" ? event.title : event.kind));
    desk.focus("Code", "retry.ts");
    expect(openTitles()).toEqual(["retry.ts"]);
    desk.pass(7);
    desk.focus("Code", "main.ts");
    expect(openTitles()).toEqual(["main.ts"]);
    desk.take({ ok: true, value: null });
    expect(openTitles()).toEqual([]);
    desk.close();
  });
});

describe("what was forgotten before a source said what there is, such as right after a start", () => {
  it("is not recorded when it is what is told first, until there is something else", () => {
    const desk = openDesk();
    const play = (title: string): void =>
      desk.sampler.take.media({
        ok: true,
        value: [{ player: "vlc", title, artist: null, playing: true }],
      });
    desk.sampler.cut((facts) => "title" in facts && facts.title?.includes("secret") === true, null);
    desk.pass(5);
    desk.focus("Code", "secret 1");
    play("secret song");
    desk.pass(10);
    expect(desk.sampler.present().open("media")).toBeNull();
    desk.focus("Code", "retry.ts");
    play("another");
    desk.pass(10);
    desk.focus("Code", "secret 2");
    play("secret song");
    desk.pass(10);
    const events = desk.events();
    const titlesOf = (kind: "window" | "media"): readonly (string | null)[] =>
      events.flatMap((event) => (event.kind === kind ? event.title : []));
    expect(titlesOf("window")).toEqual(["retry.ts", "secret 2"]);
    expect(titlesOf("media")).toEqual(["another", "secret song"]);
  });

  it("hides nothing that is told later", () => {
    const desk = openDesk();
    desk.sampler.cut((facts) => "title" in facts && facts.title?.includes("secret") === true, null);
    desk.take({ ok: true, value: null });
    desk.pass(10);
    desk.focus("Code", "secret 2");
    desk.pass(10);
    expect(desk.lines()).toEqual(["window 10–20 Code: secret 2"]);
  });
});

describe("away", () => {
  it("begins with the last input, not with its detection, and a return begins anew", async () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.idleMs = 0;
    await desk.passPolled(100);
    for (let second = 0; second < 300; second += 5) {
      desk.idleMs += 5_000;
      await desk.passPolled(5);
    }
    desk.idleMs = 1_000;
    await desk.passPolled(5);
    desk.idleMs = 0;
    await desk.passPolled(20);
    expect(desk.lines()).toEqual([
      "window 0–100 Code: retry.ts",
      "idle 100–404 away",
      "window 404–425 Code: retry.ts",
    ]);
  });

  it("is passive while something plays, and the window goes on being credited", async () => {
    const desk = openDesk();
    desk.focus("mpv", "film.mkv");
    desk.sampler.take.media({
      ok: true,
      value: [{ player: "mpv", title: "film", artist: null, playing: true }],
    });
    for (let second = 0; second < 300; second += 5) {
      desk.idleMs = second * 1000;
      await desk.passPolled(5);
    }
    expect(desk.lines().filter((line) => !line.startsWith("media"))).toEqual([
      "window 0–300 mpv: film.mkv",
      "idle 5–300 passive",
    ]);
  });

  it("is never assumed when the input source cannot tell", async () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.input = { ok: false, reason: "gone", remedy: "" };
    await desk.passPolled(600);
    expect(desk.lines()).toEqual(["window 0–600 Code: retry.ts"]);
    expect(desk.sampler.present().presence).toBe("unknown");
  });
});

describe("sleep", () => {
  it("is seen by the two clocks and credited to no window", () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.pass(10);
    desk.clock.jumpWallMs(8 * 3_600_000);
    desk.pass(10);
    // All of it is as long as it was; it lies where it lay to one tick, which is when it was noticed.
    expect(desk.lines()).toEqual([
      "window 0–15 Code: retry.ts",
      "sleep 15–28815",
      "window 28815–28820 Code: retry.ts",
    ]);
  });

  it("is not credited when a window event comes first after the resume", () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.pass(10);
    desk.clock.jumpWallMs(8 * 3_600_000);
    desk.focus("Firefox", "News");
    desk.pass(10);
    expect(desk.lines()).toEqual([
      "window 0–10 Code: retry.ts",
      "sleep 10–28810",
      "window 28810–28820 Firefox: News",
    ]);
  });

  it("that was announced ends the window at once and lasts until the resume", () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.pass(10);
    desk.session({ asleep: true });
    desk.clock.jumpWallMs(3_600_000);
    desk.session({ asleep: false });
    desk.pass(10);
    expect(desk.lines()).toEqual([
      "window 0–10 Code: retry.ts",
      "sleep 10–3610",
      "window 3610–3620 Code: retry.ts",
    ]);
  });
});

describe("a locked screen", () => {
  it("is an event of its own, and its window is not", () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.pass(10);
    desk.session({ locked: true });
    desk.focus("i3lock", "locked");
    desk.pass(10);
    desk.focus("Code", "retry.ts");
    desk.session({ locked: false });
    desk.pass(10);
    expect(desk.lines()).toEqual([
      "window 0–10 Code: retry.ts",
      "lock 10–20",
      "window 20–30 Code: retry.ts",
    ]);
  });
});

describe("a gap", () => {
  it("is named while the window source is lost", () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.pass(10);
    desk.take({ ok: false, reason: "the X server went away", remedy: "" });
    desk.pass(10);
    desk.focus("Code", "retry.ts");
    desk.pass(10);
    expect(desk.lines()).toEqual([
      "window 0–10 Code: retry.ts",
      "gap 10–20 source-lost",
      "window 20–30 Code: retry.ts",
    ]);
  });

  it("is named while paused, and nothing else is written", () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.pass(10);
    desk.sampler.setPaused(true);
    desk.focus("Firefox", "secret");
    desk.session({ locked: true });
    desk.pass(30);
    desk.session({ locked: false });
    desk.sampler.setPaused(false);
    desk.pass(10);
    expect(desk.lines()).toEqual([
      "window 0–10 Code: retry.ts",
      "gap 10–40 paused",
      "window 40–50 Firefox: secret",
    ]);
  });

  it("is all that is kept of a window that a rule drops", () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.pass(10);
    desk.focus("1Password", "Vault");
    desk.pass(10);
    expect(desk.lines()).toEqual(["window 0–10 Code: retry.ts", "gap 10–20 filtered"]);
  });

  it("stands between two runs of the daemon", () => {
    const home = createTempHome();
    const clock = createFakeClock(START);
    const first = openDesk({ home, clock });
    first.focus("Code", "retry.ts");
    first.pass(10);
    first.close();
    clock.advanceMs(600_000);
    const second = openDesk({ home, clock });
    second.pass(5);
    expect(second.lines()).toEqual(["window 0–10 Code: retry.ts", "gap 10–610 not-running"]);
  });
});

describe("an editor that says what is worked on", () => {
  it("is recorded from its first sign to its last, and its silence is the end", () => {
    const desk = openDesk();
    const file = { app: "vscode", file: "cart.ts", project: "shop", branch: null, language: null };
    desk.sampler.take.editor(file);
    desk.pass(20);
    desk.sampler.take.editor(file);
    desk.pass(100);
    expect(desk.lines()).toEqual(["editor 0–20"]);
  });
});

describe("a tab that a browser tells of", () => {
  it("gives its window the page, and a private one hides every window of a browser until another is told", () => {
    const desk = openDesk();
    desk.focus("firefox", "Bread — Mozilla Firefox");
    desk.pass(10);
    const tell = (title: string, url: string | null, isPrivate: boolean): void =>
      desk.sampler.take.page({ title, url, private: isPrivate, atUs: desk.clock.nowUs() });
    tell("Bread", "https://bread.example/rye", false);
    desk.pass(10);
    tell("", null, true);
    desk.focus("firefox", "Anything — Mozilla Firefox");
    desk.pass(10);
    tell("News", "https://news.example/", false);
    desk.pass(10);
    expect(
      desk.events().map((event) => (event.kind === "window" ? event.place : event.kind)),
    ).toEqual([null, "bread.example/rye", "gap", null]);
  });
});

describe("a wall clock that is set back", () => {
  it("makes no event that ends before it begins, and loses no time", () => {
    const desk = openDesk();
    desk.focus("Code", "retry.ts");
    desk.pass(100);
    desk.clock.jumpWallMs(-50_000);
    desk.pass(100);
    const spans = desk.events().map(({ startUs, endUs }) => endUs - startUs);
    expect(spans.every((us) => us >= 0)).toBe(true);
    expect(spans.reduce((sum, us) => sum + us, 0) / SECOND_US).toBeGreaterThanOrEqual(199);
  });
});

describe("a wall clock that was far ahead for a while", () => {
  const YEAR_MS = 365 * 86_400_000;

  // Clocks drift: what it is put back by is never what it leapt by.
  it.each([-700, 0, 700])("is believed when it is put right, %d ms off", (offMs) => {
    const desk = openDesk();
    desk.focus("Code", "before");
    desk.pass(100);
    desk.clock.jumpWallMs(YEAR_MS);
    desk.pass(60);
    desk.focus("Code", "ahead");
    desk.pass(60);
    desk.clock.jumpWallMs(-YEAR_MS + offMs);
    desk.focus("Code", "after");
    desk.pass(60);
    expect(windowsOf(desk)).toEqual(["before", "before", "ahead", "after"]);
    expect(endOf(desk)).toBeLessThanOrEqual(281);
  });

  it("is put right in what was recorded when the next start finds it right", () => {
    const home = createTempHome();
    const first = openDesk({ home });
    first.focus("Code", "before");
    first.pass(100);
    first.clock.jumpWallMs(YEAR_MS);
    first.focus("Code", "ahead");
    first.pass(60);
    first.close();
    first.clock.jumpWallMs(-YEAR_MS);
    const next = openDesk({ home, clock: first.clock });
    next.focus("Code", "after");
    next.pass(60);
    expect(windowsOf(next)).toEqual(["before", "ahead", "after"]);
    expect(endOf(next)).toBeLessThanOrEqual(221);
  });

  it("is put right while a process runs that was started under it", () => {
    const home = createTempHome();
    const first = openDesk({ home });
    first.focus("Code", "before");
    first.pass(100);
    first.close();
    first.clock.jumpWallMs(YEAR_MS);
    const next = openDesk({ home, clock: first.clock });
    next.focus("Code", "ahead");
    next.pass(60);
    next.clock.jumpWallMs(-YEAR_MS);
    next.focus("Code", "after");
    next.pass(60);
    expect(windowsOf(next)).toEqual(["before", "ahead", "after"]);
    expect(endOf(next)).toBeLessThanOrEqual(221);
  });

  it("is not what a clock is that fell to 1970 after a holiday", () => {
    const desk = openDesk();
    desk.focus("Code", "before");
    desk.pass(100);
    desk.clock.jumpWallMs(5 * 86_400_000);
    desk.focus("Code", "after");
    desk.pass(60);
    const lostMs = desk.clock.nowUs() / 1000;
    desk.clock.jumpWallMs(-lostMs);
    desk.pass(60);
    desk.clock.jumpWallMs(lostMs);
    desk.pass(60);
    expect(endOf(desk)).toBe(5 * 86_400 + 280);
  });
});

/** The titles of all windows, oldest first. */
function windowsOf(desk: Desk): readonly string[] {
  return desk.events().flatMap((event) => (event.kind === "window" ? [event.title ?? ""] : []));
}

/** When the record ends, in seconds after its start. */
function endOf(desk: Desk): number {
  const endUs = Math.max(...desk.events().map((event) => event.endUs));
  return Math.round((endUs - Date.parse(START) * 1000) / SECOND_US);
}

describe("a store that cannot be written", () => {
  it("loses nothing: events wait in memory and are written when it can be written again", () => {
    const home = createTempHome();
    const clock = createFakeClock(START);
    const real = openEventStore({ directory: home, clock, log: silentLog });
    let full = false;
    const refuse =
      <A extends unknown[], R>(work: (...args: A) => R) =>
      (...args: A): R => {
        if (full) throw new ActivityError("database_unwritable", "No space left on the disk.");
        return work(...args);
      };
    const desk = openDesk({
      home,
      clock,
      store: { ...real, begin: refuse(real.begin), setEnd: refuse(real.setEnd) },
    });
    desk.focus("Code", "one");
    desk.pass(10);
    full = true;
    desk.focus("Code", "two");
    desk.pass(10);
    desk.focus("Code", "three");
    desk.pass(10);
    expect(desk.sampler.trouble()?.waiting).toBeGreaterThan(0);
    full = false;
    desk.pass(10);
    expect(desk.sampler.trouble()).toBeNull();
    expect(desk.lines()).toEqual([
      "window 0–10 Code: one",
      "window 10–20 Code: two",
      "window 20–40 Code: three",
    ]);
  });
});

// ---------------------------------------------------------------- a desk with a daemon and no screen

interface Desk {
  readonly sampler: Sampler;
  readonly clock: FakeClock;
  idleMs: number;
  input: SourceResult<{ readonly idleMs: number }> | null;
  readonly focus: (app: string, title: string) => void;
  readonly take: (result: SourceResult<WindowSample>) => void;
  readonly session: (change: { readonly locked?: boolean; readonly asleep?: boolean }) => void;
  /** Lets seconds pass, one tick each. */
  readonly pass: (seconds: number) => void;
  /** The same with answers of the polled sources in between. */
  readonly passPolled: (seconds: number) => Promise<void>;
  readonly events: () => readonly ActivityEvent[];
  /** Events as `kind from–to what`, seconds since the start. */
  readonly lines: () => readonly string[];
  readonly close: () => void;
}

function openDesk(
  given: { readonly home?: string; readonly clock?: FakeClock; readonly store?: EventStore } = {},
): Desk {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const clock = given.clock ?? createFakeClock(START);
  const store =
    given.store ??
    openEventStore({ directory: given.home ?? createTempHome(), clock, log: silentLog });
  const sampler = createSampler({
    store,
    gate: dropsVaults(createPrivacyGate(DEFAULT_PRIVACY)),
    clock,
    log: silentLog,
    idleAfterMs: 180_000,
    onChange: () => {},
  });
  let locked = false;
  let asleep = false;
  let isClosed = false;
  const desk: Desk = {
    sampler,
    clock,
    idleMs: 0,
    input: null,
    focus: (app, title) =>
      sampler.take.window({
        ok: true,
        value: { app, title, url: null, pid: null, executable: null, private: null },
      }),
    take: sampler.take.window,
    session: (change) => {
      locked = change.locked ?? locked;
      asleep = change.asleep ?? asleep;
      sampler.take.session({ ok: true, value: { locked, asleep, idleInhibited: false } });
    },
    pass: (seconds) => {
      for (let second = 0; second < seconds; second += 1) {
        clock.advanceMs(1000);
        vi.advanceTimersByTime(1000);
      }
    },
    passPolled: async (seconds) => {
      for (let second = 0; second < seconds; second += 1) {
        clock.advanceMs(1000);
        await vi.advanceTimersByTimeAsync(1000);
      }
    },
    events: () => {
      const directory = dirname(store.summary().path);
      desk.close();
      const again = openEventStore({
        directory,
        clock,
        log: silentLog,
      });
      const { events } = again.between(0, Number.MAX_SAFE_INTEGER);
      again.close();
      return events;
    },
    lines: () => {
      const startUs = Date.parse(START) * 1000;
      const second = (us: number): number => Math.round((us - startUs) / SECOND_US);
      return desk
        .events()
        .map(
          (event) => `${event.kind} ${second(event.startUs)}–${second(event.endUs)}${what(event)}`,
        );
    },
    close: () => {
      if (isClosed) return;
      isClosed = true;
      sampler.close();
      store.close();
    },
  };
  onTestFinished(desk.close);
  sampler.start({
    input: async () => desk.input ?? { ok: true, value: { idleMs: desk.idleMs } },
    system: null,
    window: null,
  });
  return desk;
}

function what(event: ActivityEvent): string {
  if (event.kind === "window") return ` ${event.app}: ${event.title}`;
  if (event.kind === "gap") return ` ${event.reason}`;
  return event.kind === "idle" ? ` ${event.state}` : "";
}

/** The gate's own rules are tested elsewhere; here one drop is enough. */
function dropsVaults(gate: PrivacyGate): PrivacyGate {
  return {
    ...gate,
    window: (sample, nowUs) =>
      sample.app === "1Password" ? { verdict: "drop", rule: "vaults" } : gate.window(sample, nowUs),
  };
}
