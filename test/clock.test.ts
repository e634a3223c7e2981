/** The zone of the machine: asked once, and again when the machine was given another. */
import { mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createZoneReader } from "../src/clock.ts";

// Whoever runs these may have named a zone.
beforeEach(() => void vi.stubEnv("TZ", undefined));
afterEach(() => void vi.unstubAllEnvs());

function openMachine() {
  const folder = mkdtempSync(join(tmpdir(), "activityd-clock-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "localtime");
  const ask = vi.fn<() => string>();
  return {
    ask,
    timeZone: createZoneReader({ file, ask }),
    /** As timedated does it: a new link is put in the place of the old one. */
    moveTo: (zone: string) => {
      symlinkSync(`../usr/share/zoneinfo/${zone}`, `${file}.new`);
      renameSync(`${file}.new`, file);
      ask.mockReturnValue(zone);
    },
  };
}

test("the zone is asked once while the machine keeps it", () => {
  const { timeZone, moveTo, ask } = openMachine();
  moveTo("Europe/Berlin");
  expect([timeZone(), timeZone(), timeZone()]).toEqual(Array(3).fill("Europe/Berlin"));
  expect(ask).toHaveBeenCalledOnce();
});

test("a machine that was given another zone is in that one at once", () => {
  const { timeZone, moveTo } = openMachine();
  moveTo("Europe/Berlin");
  expect(timeZone()).toBe("Europe/Berlin");
  moveTo("America/Toronto");
  expect(timeZone()).toBe("America/Toronto");
});

test("where the file is absent the zone is asked all the same", () => {
  const { timeZone, ask } = openMachine();
  ask.mockReturnValue("UTC");
  expect([timeZone(), timeZone()]).toEqual(["UTC", "UTC"]);
});

test("a zone that the environment names holds whatever the machine says", () => {
  vi.stubEnv("TZ", "Asia/Tokyo");
  const { timeZone, moveTo, ask } = openMachine();
  moveTo("Europe/Berlin");
  ask.mockReturnValue("Asia/Tokyo");
  timeZone();
  moveTo("America/Toronto");
  timeZone();
  expect(ask).toHaveBeenCalledOnce();
});
