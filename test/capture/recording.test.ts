/** A session that is recorded and played back says the same again, and nothing the privacy rules withhold. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createActivityApp, type ActivityApp } from "../../src/app.ts";
import { systemClock } from "../../src/clock.ts";
import { parseConfig } from "../../src/config.ts";
import { createReplay } from "../../src/capture/sources/replay.ts";
import type { SourceRegistry } from "../../src/capture/sources/registry.ts";
import { silentLog } from "../../src/log.ts";
import { resolvePaths } from "../../src/paths.ts";
import { createFakeDesktop } from "../helpers/fake-desktop.ts";
import { openRecorded, rejectionOf } from "../helpers/source-recorder.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { until } from "../helpers/until.ts";

async function startApp(config: string, registry?: SourceRegistry): Promise<ActivityApp> {
  const env = { ACTIVITYD_HOME: createTempHome() };
  const app = createActivityApp({
    config: parseConfig(config, "config.toml"),
    paths: resolvePaths(env),
    env,
    clock: systemClock,
    log: silentLog,
    ...(registry === undefined ? {} : { registry }),
  });
  onTestFinished(() => app.close());
  await app.start();
  return app;
}

async function eventsOf(app: ActivityApp): Promise<readonly string[]> {
  const { events } = await app.events({ fromUs: 0 });
  return events.flatMap((event) => {
    if (event.kind === "window")
      return [`window ${event.app}: ${event.title} ${event.place ?? ""}`.trim()];
    return event.kind === "media" ? [`media ${event.player}: ${event.title}`] : [];
  });
}

test("what was captured is captured again from its recording, faster, and private things are not in it", async () => {
  const file = join(createTempHome(), "session.jsonl");
  const desktop = createFakeDesktop();
  const first = await startApp(`[capture]\nrecord = "${file}"`, desktop.registry);
  desktop.focus({ app: "Code", title: 'a=b "q" \\ 漢字 👩‍💻', window: "1" });
  desktop.play({ player: "vlc", title: "Etude" });
  desktop.focus({
    app: "Firefox",
    title: "Docs",
    url: "https://docs.example.com/a?token=secret",
    window: "2",
  });
  desktop.focus({ app: "KeePassXC", title: "Master password - hunter2", window: "3" });
  desktop.focus({ app: "Code", title: "retry.ts", window: "1" });
  await until("all is recorded", async () => (await eventsOf(first)).length >= 4);
  const expected = await eventsOf(first);
  await first.close();

  const text = readFileSync(file, "utf8");
  expect(text).not.toMatch(/secret|hunter2|KeePass/);
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const second = await startApp(`[capture]\nreplay = "${file}"\nreplay_speed = 100`);
  await until("all is played", async () => (await eventsOf(second)).length >= expected.length);
  expect((await eventsOf(second)).toSorted()).toEqual(expected.toSorted());
  const { sources } = await second.status();
  expect(sources.find(({ kind }) => kind === "window")?.backend).toBe("replay");
});

test("nothing is written to the recording while recording is paused", async () => {
  const file = join(createTempHome(), "session.jsonl");
  const desktop = createFakeDesktop();
  const app = await startApp(`[capture]\nrecord = "${file}"`, desktop.registry);
  await app.pause({});
  desktop.focus({ title: "while paused" });
  await app.resume();
  desktop.focus({ title: "afterwards" });
  await until("the line", () => readFileSync(file, "utf8").includes("afterwards"));
  expect(readFileSync(file, "utf8")).not.toContain("while paused");
});

test("a file that exists already is not overwritten", async () => {
  const file = join(createTempHome(), "precious.txt");
  writeFileSync(file, "precious");
  await expect(startApp(`[capture]\nrecord = "${file}"`)).rejects.toMatchObject({
    code: "config_invalid",
    message: `Cannot record to ${file}: the file exists already.`,
  });
  expect(readFileSync(file, "utf8")).toBe("precious");
});

const HEAD = '{"format":"activityd-session","version":1,"recordedAt":"2026-11-30T12:00:00.000Z"}';
const line = (atMs: number, idleMs: number): string =>
  JSON.stringify({ atMs, kind: "input", result: { ok: true, value: { idleMs } } });

function session(...lines: readonly string[]): string {
  const file = join(createTempHome(), "session.jsonl");
  writeFileSync(file, `${[HEAD, ...lines].join("\n")}\n`);
  return file;
}

describe("a replay", () => {
  test("tells everything in its order, with its timing", async () => {
    const file = session(line(0, 1), line(200, 2), line(100, 3));
    const start = performance.now();
    const { told, source } = await openRecorded(
      createReplay({ file, speed: 1 }).providerOf("input"),
      {},
    );
    await until("the last line", () => told.length === 3);
    expect(performance.now() - start).toBeGreaterThan(190);
    expect(told.map((result) => result.ok && result.value?.idleMs)).toEqual([1, 3, 2]);
    expect(await source.snapshot()).toEqual({ ok: true, value: { idleMs: 2 } });
    source.close();
  });

  test("of an hour at a thousandfold speed takes seconds, and closed it tells nothing more", async () => {
    const file = session(line(0, 1), line(100_000, 2), line(3_600_000, 3));
    const { told, source } = await openRecorded(
      createReplay({ file, speed: 1_000 }).providerOf("input"),
      {},
    );
    await until("the second line", () => told.length === 2);
    source.close();
    expect(told).toHaveLength(2);
  });

  test("reads a file whose last line was cut", async () => {
    const file = join(createTempHome(), "session.jsonl");
    writeFileSync(file, `${HEAD}\n${line(0, 1)}\n${line(1, 2).slice(0, 20)}`);
    const { source } = await openRecorded(createReplay({ file, speed: 1 }).providerOf("input"), {});
    await until("the whole line", async () => (await source.snapshot()).ok);
    expect(await source.snapshot()).toEqual({ ok: true, value: { idleMs: 1 } });
    source.close();
  });

  test.each([
    ["no such file", null, "there is no such file"],
    ["another format", "{}\n", "line 1 is not the head of a recorded session"],
    ["a line that does not fit", `${HEAD}\n${line(0, 1)}\n{"atMs":-1}\n${line(2, 2)}\n`, "line 3"],
  ])("of %s is passed over with its reason", async (_name, content, reason) => {
    const file = join(createTempHome(), "session.jsonl");
    if (content !== null) writeFileSync(file, content);
    const rejection = await rejectionOf(createReplay({ file, speed: 1 }).providerOf("input"), {});
    expect(rejection.reason).toContain(reason);
  });

  test("without lines of a kind says so for that kind", async () => {
    const file = session(line(0, 1));
    const rejection = await rejectionOf(createReplay({ file, speed: 1 }).providerOf("window"), {});
    expect(rejection.reason).toContain("tells no window");
  });
});
