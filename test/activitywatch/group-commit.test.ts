import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createBuckets, type Buckets } from "../../src/activitywatch/buckets.ts";
import { createBucketStore } from "../../src/store/buckets.ts";
import { openDatabase } from "../../src/store/database.ts";
import { createTempHome } from "../helpers/temp-home.ts";

describe("heartbeats of one turn of the event loop", () => {
  it("are one transaction, in the order they came, and told of after it", async () => {
    const { buckets, log } = openBuckets();
    const answers = await Promise.all([
      beat(buckets, "a", 0, "x"),
      beat(buckets, "b", 0, "y"),
      beat(buckets, "a", 5, "x"),
      beat(buckets, "a", 8, "z"),
      beat(buckets, "gone", 0, "x"),
    ]);
    expect(answers.map((answer) => answer?.["duration"] ?? null)).toEqual([0, 0, 5, 0, null]);
    expect(log).toEqual(["commit", "a 0", "b 0", "a 5", "a 0"]);
    await beat(buckets, "a", 9, "z");
    expect(log.filter((line) => line === "commit")).toHaveLength(2);
    expect(
      [...(buckets.events("a", { fromUs: null, toUs: null }, null) ?? [])].flat(),
    ).toMatchObject([
      { duration: 1, data: { title: "z" } },
      { duration: 5, data: { title: "x" } },
    ]);
  });

  it("cost the others nothing when one of them is malformed", async () => {
    const { buckets } = openBuckets();
    const [good, bad] = await Promise.allSettled([
      beat(buckets, "a", 0, "x"),
      buckets.heartbeat("a", { timestamp: "never", duration: 0, data: {} }, 0),
    ]);
    expect([good.status, bad.status]).toEqual(["fulfilled", "rejected"]);
    expect(buckets.count("a", { fromUs: null, toUs: null })).toBe(1);
  });

  it("are none of them acknowledged when the commit fails, and the next are taken", async () => {
    const { buckets, failNext } = openBuckets();
    await beat(buckets, "a", 0, "x");
    failNext();
    const failed = await Promise.allSettled([
      beat(buckets, "a", 5, "x"),
      beat(buckets, "b", 0, "y"),
    ]);
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(buckets.count("b", { fromUs: null, toUs: null })).toBe(0);
    expect(await beat(buckets, "a", 6, "x")).toMatchObject({ duration: 6 });
  });
});

function openBuckets(): {
  readonly buckets: Buckets;
  /** Commits and what was told of, in order. */
  readonly log: readonly string[];
  readonly failNext: () => void;
} {
  const database = openDatabase({ path: join(createTempHome(), "activity.db") });
  onTestFinished(database.close);
  const rows = createBucketStore(database);
  const log: string[] = [];
  let isFailing = false;
  const buckets = createBuckets({
    keeper: {
      store: {
        ...rows,
        transaction: (work) =>
          rows.transaction(() => {
            const result = work();
            if (isFailing) {
              isFailing = false;
              throw new Error("the disk is full");
            }
            log.push("commit");
            return result;
          }),
      },
      gate: (_bucket, data) => data,
      onEvent: ({ id }, { durationUs }) => log.push(`${id} ${durationUs / 1e6}`),
    },
    hostname: "box",
    version: "v0",
    testing: true,
    nowUs: () => 0,
  });
  for (const id of ["a", "b"]) buckets.create(id, { client: "c", type: "test", hostname: "h" });
  const failNext = (): void => {
    isFailing = true;
  };
  return { buckets, log, failNext };
}

function beat(
  buckets: Buckets,
  bucket: string,
  second: number,
  title: string,
): ReturnType<Buckets["heartbeat"]> {
  const timestamp = new Date(Date.parse("2026-11-27T09:00:00Z") + second * 1000).toISOString();
  return buckets.heartbeat(bucket, { timestamp, duration: 0, data: { title } }, 60e6);
}
