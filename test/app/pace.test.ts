import { describe, expect, it } from "vitest";
import { createPace } from "../../src/app/pace.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";

describe("the pace of work that can wait", () => {
  it("is that of the event loop while nobody asks", async () => {
    const pace = createPace(createFakeClock("2026-11-27T12:00:00Z"));
    for (let turn = 0; turn < 100; turn += 1) await expect(pace.turn()).resolves.toBeUndefined();
  });

  it("is behind an answer where somebody asks, and goes on when nobody does any more", async () => {
    const clock = createFakeClock("2026-11-27T12:00:00Z");
    const pace = createPace(clock);
    pace.answered();
    await pace.turn();
    clock.advanceMs(4);
    const order: string[] = [];
    const work = pace.turn().then(() => order.push("work"));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    order.push("answer");
    pace.answered();
    await work;
    expect(order).toEqual(["answer", "work"]);
    clock.advanceMs(4);
    // Nobody asks: the wait ends by itself.
    await pace.turn();
  });
});
