import { describe, expect, test } from "vitest";
import { appOfBucket, gateBucketData } from "../../../src/capture/privacy/buckets.ts";
import { privacySchema } from "../../../src/capture/privacy/rules.ts";
import { createPrivacyGate } from "../../../src/capture/privacy.ts";

const NOON_US = Date.parse("2026-11-30T12:00:00Z") * 1000;
const EDITOR = { id: "aw-watcher-vscode_box", type: "app.editor.activity" };
const PLAYER = { id: "aw-watcher-spotify", type: "currently-playing" };
const STOPWATCH = { id: "aw-stopwatch", type: "general.stopwatch" };
const AFK = { id: "aw-watcher-afk_box", type: "afkstatus" };

function gateWith(...rules: readonly Record<string, unknown>[]) {
  const gate = createPrivacyGate(privacySchema.parse({ rules }), {
    timeZone: () => "UTC",
  });
  return (bucket: { id: string; type: string }, data: Record<string, unknown>) =>
    gateBucketData(gate, bucket, data, NOON_US);
}

const file = { file: "/home/me/hr/payroll.csv", project: "/home/me/hr", language: "csv" };

describe("the owner's rules", () => {
  test("are asked about what editors, players and every other watcher say", () => {
    const gated = gateWith({ action: "drop", title: "payroll" });
    expect(gated(EDITOR, file)).toBeNull();
    expect(gated(PLAYER, { title: "The Payroll", artist: "X" })).toBeNull();
    expect(gated(STOPWATCH, { label: "work", notes: ["payroll"] })).toBeNull();
    expect(gated(EDITOR, { ...file, file: "/home/me/a.csv" })).toEqual({
      ...file,
      file: "/home/me/a.csv",
    });
  });

  test("redact and withhold at any depth, and leave what is no text", () => {
    const gated = gateWith(
      { action: "redact", title: "zeus", replacement: "X" },
      { action: "app-only", app: "spotify" },
    );
    expect(gated(STOPWATCH, { label: "Zeus", running: true, tags: ["on zeus", 3] })).toEqual({
      label: "X",
      running: true,
      tags: ["on X", 3],
    });
    expect(gated(PLAYER, { title: "A", artist: "B", popularity: 3 })).toEqual({
      title: "",
      artist: "",
      popularity: 3,
    });
  });

  test("know an editor and a player by the name of its watcher, where it gives none", () => {
    expect(gateWith({ action: "drop", app: "vscode" })(EDITOR, file)).toBeNull();
    expect(appOfBucket(EDITOR, file)).toBe("vscode");
    expect(appOfBucket(EDITOR, { ...file, editor: "nvim" })).toBe("nvim");
    expect(appOfBucket(STOPWATCH, { label: "x" })).toBeNull();
  });

  test("are not about whether somebody is there", () => {
    expect(gateWith({ action: "drop", every: true })(AFK, { status: "afk" })).toEqual({
      status: "afk",
    });
  });
});

test("secrets are replaced in what no rule is about", () => {
  expect(gateWith()(STOPWATCH, { label: "password=hunter2", n: 1 })).toEqual({
    label: "password=[secret]",
    n: 1,
  });
});
