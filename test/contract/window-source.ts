/**
 * The contract of every window backend, run over each rig that opens here: what a backend tells is what
 * the desktop shows, byte for byte, and its loss and return are noticed.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSourceKeeper, type SourceKeeper } from "../../src/capture/sources/keeper.ts";
import type { WindowSample } from "../../src/capture/events.ts";
import type {
  SourceProvider,
  SourceResult,
  SourceStatus,
} from "../../src/capture/sources/source.ts";
import { openRecorded, sourceContext } from "../helpers/source-recorder.ts";
import { until } from "../helpers/until.ts";

/** A desktop with real windows. */
export interface WindowRig {
  readonly provider: SourceProvider<"window">;
  readonly env: Readonly<Record<string, string>>;
  /** Opens a window, waits until it is on screen, and says how to handle it. */
  readonly open: (title: string) => Promise<RigWindow>;
  /** Ends the desktop at once, as a crash does, with all its windows. */
  readonly kill: () => Promise<void>;
  /** Starts it again, where its sources will look for it. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface RigWindow {
  /** What `app` is expected to be. */
  readonly app: string;
  readonly pid: number | null;
  readonly focus: () => Promise<void>;
  readonly rename: (title: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const NASTY_TITLE = 'a=b "q" \\ 漢字 👩‍💻';

export function describeWindowSource(name: string, openRig: () => Promise<WindowRig>): void {
  describe(`window source: ${name}`, () => {
    let rig: WindowRig;
    let keeper: SourceKeeper<"window">;
    let told: SourceResult<WindowSample>[];
    let states: SourceStatus["state"][];

    beforeEach(async () => {
      rig = await openRig();
      told = [];
      states = [];
      keeper = createSourceKeeper({
        kind: "window",
        providers: [rig.provider],
        context: sourceContext(rig.env),
        onSample: (result) => told.push(result),
        onState: (status) => states.push(status.state),
      });
    });

    afterEach(async () => {
      keeper.close();
      await rig.close();
    });

    const last = (): WindowSample | null | "unknown" => {
      const result = told.at(-1);
      return result?.ok === true ? result.value : "unknown";
    };
    const untilFocused = (title: string | null): Promise<true> =>
      until(`${title ?? "nothing"} has the focus, not ${JSON.stringify(told.at(-1))}`, () => {
        const sample = last();
        return sample !== "unknown" && (sample?.title ?? null) === title;
      });

    test("three windows focused in turn, one renamed and closed, are told exactly so", async () => {
      await keeper.start();
      const windows = [await rig.open("one"), await rig.open("two"), await rig.open("three")];
      for (const [index, title] of ["one", "two", "three"].entries()) {
        await windows[index]?.focus();
        await untilFocused(title);
        const result = await keeper.snapshot();
        expect(result).toMatchObject({
          ok: true,
          value: { title, app: windows[index]?.app, pid: windows[index]?.pid },
        });
      }
      const [, , third] = windows;
      await third?.rename(NASTY_TITLE);
      await untilFocused(NASTY_TITLE);
      await third?.close();
      await until("the closed window is gone", () => {
        const sample = last();
        return sample === null || (sample !== "unknown" && sample.title !== NASTY_TITLE);
      });
      expect([null, "one", "two"]).toContain((last() as WindowSample | null)?.title ?? null);
      // Windows that open may take the focus for a moment, but nothing else may ever have been told.
      const titles = told.map((result) => (result.ok ? (result.value?.title ?? null) : "unknown"));
      expect(
        titles.filter((title) => ![null, "", "one", "two", "three", NASTY_TITLE].includes(title)),
      ).toEqual([]);
      expect(states).toEqual(["live"]);
    });

    test("with its last window closed, nothing is focused, and that is known", async () => {
      const window = await rig.open("only");
      await keeper.start();
      await window.focus();
      await untilFocused("only");
      await window.close();
      await untilFocused(null);
      expect(await keeper.snapshot()).toEqual({ ok: true, value: null });
    });

    test("a title that churns is told once a second at most, and its last state in the end", async () => {
      const window = await rig.open("0");
      await keeper.start();
      await window.focus();
      await untilFocused("0");
      const before = told.length;
      const start = performance.now();
      for (let index = 1; index <= 40; index += 1) await window.rename(`step ${index}`);
      await untilFocused("step 40");
      const seconds = (performance.now() - start) / 1000;
      expect(told.length - before).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
    });

    test("a desktop that is killed is unknown, and is captured again when it returns", async () => {
      const window = await rig.open("before");
      await keeper.start();
      await window.focus();
      await untilFocused("before");
      await rig.kill();
      await until("the loss", () => keeper.status().state === "lost");
      expect(last()).toBe("unknown");
      expect((await keeper.snapshot()).ok).toBe(false);
      expect(keeper.status().why?.reason).not.toBe("");
      await rig.restart();
      const returned = performance.now();
      await until("live again", () => keeper.status().state === "live");
      expect(performance.now() - returned).toBeLessThan(2_000);
      const after = await rig.open("after");
      await after.focus();
      await untilFocused("after");
      expect(states).toEqual(["live", "lost", "live"]);
    });

    test("a closed source tells nothing more and lets go of its connection", async () => {
      const window = await rig.open("watched");
      await window.focus();
      const recorder = await openRecorded(rig.provider, rig.env);
      await recorder.untilTold("the window", (value) => value?.title === "watched");
      recorder.source.close();
      recorder.source.close();
      const count = recorder.told.length;
      const other = await openRecorded(rig.provider, rig.env);
      await window.rename("renamed");
      await other.untilTold("the new title, elsewhere", (value) => value?.title === "renamed");
      other.source.close();
      expect(recorder.told).toHaveLength(count);
      expect(recorder.lost()).toBeNull();
    });
  });
}
