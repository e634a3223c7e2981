import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  createActiveWin,
  type ActiveWindow,
  type ActiveWinFunction,
} from "../../../src/capture/sources/active-win.ts";
import { openRecorded, rejectionOf } from "../../helpers/source-recorder.ts";

const ENV = { DISPLAY: ":7" };
let answer: () => Promise<ActiveWindow | null | undefined>;

const provider = (platform: NodeJS.Platform = "linux") =>
  createActiveWin(platform, async () => () => answer());

function window(title: string | null, id = 7): ActiveWindow {
  return { id, title, owner: { name: "Safari", processId: 42, path: "/Applications/Safari.app" } };
}

beforeEach(() => {
  vi.useFakeTimers();
  answer = async () => window("Inbox");
});

afterEach(() => {
  vi.useRealTimers();
});

test("the window is told, and again when it changes", async () => {
  const { source, told } = await openRecorded(provider("darwin"), {});
  await vi.advanceTimersByTimeAsync(10_000);
  answer = async () => ({ ...window("Docs"), url: "https://docs.example.com/a" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told.map((result) => result.ok && result.value)).toEqual([
    {
      app: "Safari",
      title: "Inbox",
      url: null,
      pid: 42,
      executable: "/Applications/Safari.app",
      private: null,
      window: "7",
    },
    expect.objectContaining({ title: "Docs", url: "https://docs.example.com/a" }),
  ]);
  source.close();
});

describe("what the package cannot tell is unknown, never nothing", () => {
  test.each([
    ["no answer", async () => undefined],
    ["null", async () => null],
    ["an error that quotes a title", async () => JSON.parse('"a" = secret title') as ActiveWindow],
  ])("%s", async (_name, failing) => {
    const { source, told } = await openRecorded(provider(), ENV);
    await vi.advanceTimersByTimeAsync(100);
    answer = failing;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told.map((result) => result.ok)).toEqual([true, false]);
    expect(JSON.stringify(told.at(-1))).not.toContain("secret");
    source.close();
  });

  test("an empty title is one that could not be read", async () => {
    answer = async () => window("");
    const { source } = await openRecorded(provider("darwin"), {});
    expect(await source.snapshot()).toMatchObject({ ok: true, value: { title: null } });
    source.close();
  });
});

describe("opening", () => {
  test("an absent package is named, with what to do, where nothing else would do", async () => {
    const absent = createActiveWin("darwin", () => Promise.reject(new Error("not found")));
    const rejection = await rejectionOf(absent, {});
    expect(rejection).toMatchObject({ applies: true });
    expect(rejection.remedy).toContain("npm install");
  });

  test("on Linux it is for X sessions alone, and loads nothing elsewhere", async () => {
    let loads = 0;
    const counted = createActiveWin("linux", async (): Promise<ActiveWinFunction> => {
      loads += 1;
      return () => answer();
    });
    for (const env of [
      {},
      { ...ENV, WAYLAND_DISPLAY: "wayland-0" },
      { ...ENV, XDG_SESSION_TYPE: "wayland" },
    ]) {
      await rejectionOf(counted, env);
    }
    expect(loads).toBe(0);
  });

  test("a Mac that lacks the permission says which to give", async () => {
    answer = () => Promise.reject(new Error("Command failed"));
    const rejection = await rejectionOf(provider("darwin"), {});
    expect(rejection.remedy).toContain("Screen Recording");
  });

  test("a platform it does not know is passed over", async () => {
    expect((await rejectionOf(provider("freebsd"), ENV)).reason).toContain("freebsd");
  });
});
