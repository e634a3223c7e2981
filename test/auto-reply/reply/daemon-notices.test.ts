import { describe, expect, test } from "vitest";
import { createDaemonNotices } from "../../../src/auto-reply/reply/daemon-notices.ts";

function open(wishes: Partial<Record<"pause" | "source" | "battery", boolean>> = {}) {
  const said: string[] = [];
  const notices = createDaemonNotices(
    { pause: true, source: true, battery: true, ...wishes },
    (text) => said.push(text),
  );
  return { notices, said };
}

describe("the daemon's own notices", () => {
  test("a pause and its end are told once each", () => {
    const { notices, said } = open();
    for (const isPaused of [false, true, true, false, false]) notices.paused(isPaused);
    expect(said).toEqual(["Recording is paused", "Recording goes on"]);
  });

  test("a source that is lost and comes back is told, one that was never there is not", () => {
    const { notices, said } = open();
    notices.source("media", "blind");
    for (const state of ["live", "lost", "lost", "live", "live"] as const)
      notices.source("window", state);
    expect(said).toEqual([
      "The window source is lost: it is sought again, and nothing of it is recorded",
      "The window source is back",
    ]);
  });

  test("a low battery is told once until it was charged", () => {
    const { notices, said } = open();
    for (const percent of [50, 20, 19.4, 22, 18, 25, 20]) notices.battery(percent, "battery");
    notices.battery(10, "ac");
    notices.battery(9.6, "battery");
    notices.battery(null, "battery");
    notices.battery(9, null);
    expect(said).toEqual([
      "The battery is at 20 %",
      "The battery is at 20 %",
      "The battery is at 10 %",
    ]);
  });

  test("what the owner did not ask for is not told", () => {
    const { notices, said } = open({ pause: false, source: false, battery: false });
    notices.paused(true);
    notices.source("window", "lost");
    notices.source("window", "live");
    notices.battery(5, "battery");
    expect(said).toEqual([]);
  });
});
