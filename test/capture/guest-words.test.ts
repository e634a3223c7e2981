import { describe, expect, it } from "vitest";
import { createGuestWords } from "../../src/capture/guest-words.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";

const BLIND = { ok: false, reason: "no display", remedy: "" } as const;
const WINDOW = { app: "gedit", title: "a", url: null, pid: null, executable: null, private: null };

describe("what watchers of others say", () => {
  it("fills in for a source that cannot see, and for 30 s at most", () => {
    const clock = createFakeClock("2026-11-23T12:00:00Z");
    const words = createGuestWords(clock.nowUs);
    expect(words.fill("window", BLIND)).toEqual(BLIND);
    words.window(WINDOW);
    words.media({ player: "mpv", title: "Song", artist: null, playing: true });
    clock.advanceMs(30_000);
    expect(words.fill("window", BLIND)).toEqual({ ok: true, value: WINDOW });
    expect(words.fill("media", BLIND)).toMatchObject({ ok: true, value: [{ player: "mpv" }] });
    clock.advanceMs(1);
    expect(words.fill("window", BLIND)).toEqual(BLIND);
  });

  it("counts for nothing against a source that sees, also when it sees nothing", () => {
    const words = createGuestWords(createFakeClock("2026-11-23T12:00:00Z").nowUs);
    words.window(WINDOW);
    expect(words.fill("window", { ok: true, value: null })).toEqual({ ok: true, value: null });
  });

  it("of absence grows older, and of the future is none", () => {
    const clock = createFakeClock("2026-11-23T12:00:00Z");
    const words = createGuestWords(clock.nowUs);
    words.input(clock.nowUs() - 200_000_000);
    clock.advanceMs(5_000);
    expect(words.fill("input", BLIND)).toEqual({ ok: true, value: { idleMs: 205_000 } });
    words.input(clock.nowUs() + 1_000_000);
    expect(words.fill("input", BLIND)).toEqual({ ok: true, value: { idleMs: 0 } });
  });
});
