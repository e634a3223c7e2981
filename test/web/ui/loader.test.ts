/** What a view of the page shows while the daemon is slow and things change. */
import { describe, expect, it } from "vitest";
import { RequestError } from "../../../src/web/ui/api-client.ts";
import { createLoader, type Loaded } from "../../../src/web/ui/loader.ts";

function openLoader({ keepAcrossKeys = false } = {}) {
  const asked: {
    readonly signal: AbortSignal;
    readonly answer: (text: string) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const shown: Loaded<string>[] = [];
  const errors: unknown[] = [];
  const loader = createLoader<string>({
    load: (signal) =>
      new Promise((resolve, reject) => {
        asked.push({ signal, answer: resolve, fail: reject });
      }),
    onLoaded: (loaded) => shown.push(loaded),
    onError: (error) => errors.push(error),
    keepAcrossKeys,
  });
  return { loader, asked, shown, errors, last: () => shown.at(-1) };
}

const settle = () => new Promise(setImmediate);

describe("what a view asks for", () => {
  it("is shown though something changes all the time, and asked for once more then", async () => {
    const { loader, asked, last } = openLoader();
    loader.want("day");
    for (let change = 0; change < 5; change += 1) loader.want("day");
    expect(asked).toHaveLength(1);
    asked[0]?.answer("first");
    await settle();
    expect(last()).toMatchObject({ answer: "first" });
    expect(asked).toHaveLength(2);
    asked[1]?.answer("second");
    await settle();
    expect(last()).toEqual({ answer: "second", refused: null, loading: false });
    expect(asked).toHaveLength(2);
  });

  it("is interrupted by a question for something else, whose answer alone counts", async () => {
    const { loader, asked, last } = openLoader();
    loader.want("day");
    loader.want("year");
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[1]?.answer("of the year");
    asked[0]?.answer("of the day");
    await settle();
    expect(last()).toMatchObject({ answer: "of the year", loading: false });
  });

  it.each([
    [true, "of the day"],
    [false, null],
  ])("stays until the next has come: across keys, %s", async (keepAcrossKeys, kept) => {
    const { loader, asked, last } = openLoader({ keepAcrossKeys });
    loader.want("day");
    asked[0]?.answer("of the day");
    await settle();
    loader.want("day");
    expect(last()).toMatchObject({ answer: "of the day", loading: true });
    asked[1]?.answer("of the day");
    await settle();
    loader.want("year");
    expect(last()).toMatchObject({ answer: kept, loading: true });
  });

  it("tells a refusal, and leaves a daemon that is gone to the page", async () => {
    const { loader, asked, last, errors } = openLoader();
    const refusal = new RequestError("refused", "Too long.", "bad_request");
    loader.want("day");
    asked[0]?.fail(refusal);
    await settle();
    expect(last()).toMatchObject({ refused: refusal, loading: false });
    loader.want("day");
    asked[1]?.fail(new RequestError("unreachable", "The daemon does not answer."));
    await settle();
    expect(last()).toMatchObject({ refused: null, loading: false });
    expect(errors).toHaveLength(2);
  });

  it("is asked for no more once the view is gone", async () => {
    const { loader, asked, shown } = openLoader();
    loader.want("day");
    loader.want("day");
    loader.close();
    const before = shown.length;
    asked[0]?.answer("late");
    await settle();
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(asked).toHaveLength(1);
    expect(shown).toHaveLength(before);
  });
});
