/** Work on a folder that does not answer. */
import { describe, expect, it } from "vitest";
import { createFolderLane, isNoAnswer } from "../../../src/hub/folder/lane.ts";

function neverDone(): { readonly work: () => Promise<number>; readonly answer: () => void } {
  let answer = (): void => {};
  const done = new Promise<number>((resolve) => {
    answer = () => resolve(1);
  });
  return { work: () => done, answer: () => answer() };
}

describe("work on a folder", () => {
  it("gives what it gives, and fails as it fails", async () => {
    const lane = createFolderLane("/sync", 1_000);
    expect(await lane.run(async () => 7)).toBe(7);
    const failure = new Error("no room");
    const thrown: unknown = await lane.run(() => Promise.reject(failure)).catch((error) => error);
    expect([thrown, isNoAnswer(thrown)]).toEqual([failure, false]);
  });

  it("is given up after a while, and none is begun until the folder answers again", async () => {
    const lane = createFolderLane("/sync", 20);
    const { work, answer } = neverDone();
    const thrown: unknown = await lane.run(work).catch((error) => error);
    expect(thrown).toMatchObject({
      code: "hub_away",
      message: "the folder /sync does not answer",
    });
    expect(isNoAnswer(thrown)).toBe(true);
    let isBegun = false;
    const second = lane.run(async () => {
      isBegun = true;
    });
    await expect(second).rejects.toMatchObject({ code: "hub_away" });
    expect(isBegun).toBe(false);
    answer();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(await lane.run(async () => 8)).toBe(8);
  });

  it("is waited for no more at the end", async () => {
    const lane = createFolderLane("/sync", 60_000);
    const going = lane.run(neverDone().work);
    lane.close();
    await expect(going).rejects.toMatchObject({ code: "hub_away" });
    await expect(lane.run(async () => 1)).rejects.toMatchObject({ code: "hub_away" });
  });
});
