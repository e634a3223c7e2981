import { describe, expect, test } from "vitest";
import { createBuckets } from "../../src/activitywatch/buckets.ts";
import { startApp } from "../helpers/app-rig.ts";
import { allBytes } from "../helpers/files-below.ts";
import { until } from "../helpers/until.ts";

describe("what other recorders sent", () => {
  const start0 = Date.parse("2026-11-30T10:00:00Z") * 1000;

  async function withBuckets(config = "") {
    const rig = await startApp({ config });
    const { buckets } = rig.app.guests;
    const describeBucket = { client: "c", hostname: "h", createdUs: start0, data: "{}" };
    buckets.create({ ...describeBucket, id: "aw-watcher-window_h", type: "currentwindow" });
    buckets.create({ ...describeBucket, id: "aw-watcher-web-firefox_h", type: "web.tab.current" });
    const add = (bucket: string, minute: number, data: object) =>
      buckets.insert(bucket, [
        { startUs: start0 + minute * 60e6, durationUs: 600e6, data: JSON.stringify(data) },
      ]);
    add("aw-watcher-window_h", 0, { app: "Code", title: `plan ${canaryText}` });
    add("aw-watcher-window_h", 10, { app: "Slack", title: "lunch" });
    add("aw-watcher-web-firefox_h", 20, {
      url: `https://e.org/${canaryText}`,
      title: "t",
      tags: [canaryText],
    });
    add("aw-watcher-web-firefox_h", 30, { url: "https://e.org/", title: "Zeus", audible: false });
    const left = () =>
      ["aw-watcher-window_h", "aw-watcher-web-firefox_h"].flatMap((bucket) =>
        [...buckets.iterate(bucket)]
          .toReversed()
          .map((row) => [
            (row.startUs - start0) / 60e6,
            row.durationUs / 60e6,
            JSON.parse(row.data).title,
          ]),
      );
    return { ...rig, buckets, left };
  }
  const canaryText = "Canary-7731";

  test("goes by text, at any depth", async () => {
    const { app, left, home } = await withBuckets();
    expect(await app.forget({ match: canaryText, dryRun: true })).toMatchObject({ otherRows: 2 });
    await app.forget({ match: canaryText });
    expect(left()).toEqual([
      [10, 10, "lunch"],
      [30, 10, "Zeus"],
    ]);
    expect(allBytes(home)).not.toContain(canaryText);
  });

  test("goes with its bucket where that says the text of itself, and no event is left without one", async () => {
    const { app, buckets, left, home } = await withBuckets();
    const named = { client: "c", hostname: "h", createdUs: start0, type: "t" };
    buckets.create({ ...named, id: "notes", data: JSON.stringify({ of: canaryText }) });
    buckets.insert("notes", [
      { startUs: start0, durationUs: 1, data: '{"note":"bread"}' },
      { startUs: start0 + 1, durationUs: 1, data: JSON.stringify({ note: canaryText }) },
    ]);
    const before = left();
    expect(await app.forget({ match: "web-firefox", dryRun: true })).toMatchObject({
      otherRows: 3,
    });
    expect(left()).toEqual(before);
    const { proof, otherRows } = await app.forget({ match: canaryText });
    expect({ otherRows, foundIn: proof?.foundIn }).toEqual({ otherRows: 5, foundIn: [] });
    expect(allBytes(home)).not.toContain(canaryText);
    expect(allBytes(home)).not.toContain("bread");
    expect(left()).toHaveLength(2);
    expect(buckets.find("notes")).toBeNull();
  });

  test("goes by application, the browser of a tab being told by its bucket", async () => {
    const { app, left } = await withBuckets();
    await app.forget({ app: "firefox" });
    await app.forget({ app: "slack" });
    expect(left()).toEqual([[0, 10, `plan ${canaryText}`]]);
  });

  test("goes by time, and is cut at the edges", async () => {
    const { app, left } = await withBuckets();
    await app.forget({ fromUs: start0 + 5 * 60e6, toUs: start0 + 33 * 60e6 });
    expect(left()).toEqual([
      [0, 5, `plan ${canaryText}`],
      [33, 7, "Zeus"],
    ]);
    await app.forget({ fromUs: start0 + 35 * 60e6, toUs: start0 + 36 * 60e6 });
    expect(left().slice(1)).toEqual([
      [33, 2, "Zeus"],
      [36, 4, "Zeus"],
    ]);
  });

  test("is judged anew by rules that came later", async () => {
    const { app, launch } = await withBuckets();
    await app.close();
    const again = await launch(
      '[[privacy.rules]]\naction = "drop"\napp = "slack"\n[[privacy.rules]]\naction = "redact"\ntitle = "zeus"\nreplacement = "X"\n',
    );
    await until("the notice", async () => (await again.status()).problems.length > 0);
    expect((await again.status()).problems[0]?.reason).toMatch(/^2 stored events fall/);
    await again.forget({ byRules: true });
    const { buckets } = again.guests;
    const titles = ["aw-watcher-window_h", "aw-watcher-web-firefox_h"].flatMap((bucket) =>
      [...buckets.iterate(bucket)].toReversed().map((row) => JSON.parse(row.data).title),
    );
    expect(titles).toEqual([`plan ${canaryText}`, "t", "X"]);
  });

  test("is not brought back by the next heartbeat of its watcher", async () => {
    const { app, buckets, left } = await withBuckets();
    const served = createBuckets({
      keeper: { store: buckets, gate: (_bucket, data) => data, onEvent: () => {} },
      hostname: "h",
      version: "v0",
      testing: false,
      nowUs: () => start0,
    });
    const beat = (minute: number) =>
      served.heartbeat(
        "aw-watcher-window_h",
        {
          timestamp: new Date(start0 / 1000 + minute * 60_000).toISOString(),
          duration: 0,
          data: { app: "Code", title: "long" },
        },
        600e6,
      );
    for (const minute of [60, 65, 70, 75]) await beat(minute);
    await app.forget({ fromUs: start0 + 62 * 60e6, toUs: start0 + 75 * 60e6 });
    await beat(76);
    expect(left().filter(([, , title]) => title === "long")).toEqual([
      [60, 2, "long"],
      [76, 0, "long"],
    ]);
  });
});
