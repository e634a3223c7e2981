/** What the keys of the live view do, however slow the daemon is and whichever of its answers comes first. */
import { describe, expect, it } from "vitest";
import { recoveringError } from "../../src/store/failures.ts";
import { createLiveModel } from "../../src/tui/live-model.ts";
import { renderLive } from "../../src/tui/live-view.ts";
import { createFakeActivityApi } from "../helpers/fake-activity-api.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { until } from "../helpers/until.ts";

/** A model on a daemon that answers each question only when the test lets it. */
function openSlowModel() {
  const api = createFakeActivityApi();
  const asked: { readonly what: string; readonly answer: () => void }[] = [];
  /** The daemon answers as it stands when it hears the question; the answer is long on its way. */
  const delay = async <Answer>(what: string, answer: Promise<Answer>): Promise<Answer> => {
    await new Promise<void>((resolve) => asked.push({ what, answer: resolve }));
    return answer;
  };
  const seen: string[] = [];
  const model = createLiveModel(
    {
      ...api,
      status: async () => delay("status", api.status()),
      pause: async (request) => delay("pause", api.pause(request)),
      resume: async () => delay("resume", api.resume()),
    },
    createFakeClock("2026-11-27T15:12:00Z"),
    () => seen.push(sayState(model.state())),
  );
  const answer = async (what: string): Promise<void> => {
    const at = await until(`${what} is asked`, () => {
      const found = asked.findIndex((each) => each.what === what);
      return found < 0 ? null : { found };
    });
    asked.splice(at.found, 1)[0]?.answer();
  };
  return { model, answer, seen, asked };
}

function sayState({ status, notice }: ReturnType<ReturnType<typeof createLiveModel>["state"]>) {
  return `${status === null || status.paused === null ? "recording" : "paused"}: ${notice ?? ""}`;
}

describe("the live view's keys", () => {
  it("never say the one thing while the headline says the other", async () => {
    const { model, answer, seen } = openSlowModel();
    model.press("p");
    await answer("pause");
    await answer("status");
    await until("it is paused", () => seen.at(-1) === "paused: Paused for 15 minutes.");
    model.press("r");
    // A change of the block brings a look of its own, before the answer to the key has come.
    void model.update();
    await answer("status");
    await answer("resume");
    await answer("status");
    await until("it goes on", () => seen.at(-1) === "recording: Recording goes on.");
    expect(seen).not.toContain("recording: Paused for 15 minutes.");
    expect(seen).not.toContain("paused: Recording goes on.");
  });

  it("are obeyed in the order in which they were pressed", async () => {
    const { model, answer, seen, asked } = openSlowModel();
    model.press("p");
    model.press("r");
    await until("the first is asked for", () => asked.length > 0);
    expect(asked.map(({ what }) => what)).toEqual(["pause"]);
    await answer("pause");
    await answer("status");
    await answer("resume");
    await answer("status");
    await until("both were obeyed", () => seen.at(-1) === "recording: Recording goes on.");
  });

  it("show why at once, whatever is being asked", () => {
    const { model } = openSlowModel();
    void model.update();
    model.press("w");
    expect(model.state().showWhy).toBe(true);
  });
});

describe("the live view", () => {
  it("asks once more, and no oftener, when changes come while it asks", async () => {
    const { model, answer, asked } = openSlowModel();
    const updates = [model.update()];
    await until("it asks", () => asked.length === 1);
    updates.push(model.update(), model.update());
    await answer("status");
    await answer("status");
    await Promise.all(updates);
    expect(asked).toEqual([]);
  });
});

it("what is on the screen is shown while the record is being recovered, and of the day that it is not known", async () => {
  const events = async () => {
    throw recoveringError();
  };
  const clock = createFakeClock("2026-11-27T15:12:00Z");
  const model = createLiveModel({ ...createFakeActivityApi(), events }, clock, () => {});
  await model.update();
  expect(model.state()).toMatchObject({ problem: null, today: null });
  expect(model.state().status).not.toBeNull();
  const lines = renderLive(model.state(), { columns: 100, rows: 50, colour: false });
  expect(lines[0]).toContain("recording");
  expect(lines).toContain("What was recorded today is not known until the record is recovered.");
  expect(lines.join()).not.toContain("Nothing was recorded");
});
