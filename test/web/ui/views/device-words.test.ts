import { describe, expect, it } from "vitest";
import { deviceMark, deviceRemarks } from "../../../../src/web/ui/views/device-words.ts";

const MINUTE = 60_000_000;
const NOW = 1_000 * MINUTE;
const device = {
  state: "member" as const,
  lastHeardUs: NOW,
  lagUs: 1_000_000,
  clockOffsetUs: 0,
  missing: 0,
};
const remarks = (change: Partial<typeof device>) =>
  deviceRemarks({ ...device, ...change }, (us) => `${us / MINUTE} min`);

describe("how another device stands", () => {
  it("is told by when it was heard, and by whether it still belongs to the hub", () => {
    const mark = (change: object) => deviceMark({ ...device, ...change }, NOW).word;
    expect(mark({ lastHeardUs: null })).toBe("Not heard yet");
    expect(mark({ lastHeardUs: NOW - 3 * MINUTE })).toBe("In touch");
    expect(mark({ lastHeardUs: NOW - 4 * MINUTE })).toBe("Quiet");
    expect(mark({ state: "revoked" })).toBe("Taken out");
    expect(mark({ state: "left" })).toBe("Left");
    expect(deviceMark({ ...device, state: "forked" }, NOW).chip).toBe("chip-bad");
  });

  it("says nothing more while all is well", () => {
    expect(remarks({})).toEqual([]);
  });

  it("says what is missing, slow or off, and of a clock behind that it may be slowness", () => {
    expect(remarks({ missing: 2, lagUs: 5 * MINUTE })).toEqual([
      "2 of its records have not arrived",
      "its last record took 5 min",
    ]);
    expect(remarks({ clockOffsetUs: 60 * MINUTE })).toEqual(["its clock is 60 min ahead"]);
    expect(remarks({ clockOffsetUs: -60 * MINUTE, lagUs: 60 * MINUTE })).toEqual([
      "its clock is 60 min behind, or its records take that long",
    ]);
  });
});
