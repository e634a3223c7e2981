import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createActivityApp } from "../../src/app.ts";
import type { SourceRegistry } from "../../src/capture/sources/registry.ts";
import type { Source, SourceProvider } from "../../src/capture/sources/source.ts";
import { parseConfig } from "../../src/config.ts";
import { openFileLog } from "../../src/daemon/logging.ts";
import { connectActivity } from "../../src/local-api/client.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { reasonForLog } from "../../src/log.ts";
import { resolvePaths } from "../../src/paths.ts";
import { VERSION } from "../../src/version.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createFakeDesktop } from "../helpers/fake-desktop.ts";
import { sendRaw } from "../helpers/raw-http.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { until } from "../helpers/until.ts";

const MB = 1024 * 1024;

function filesOf(directory: string): readonly string[] {
  return readdirSync(directory).map((name) => join(directory, name));
}

function textOf(directory: string): string {
  return filesOf(directory)
    .map((path) => readFileSync(path, "utf8"))
    .join("");
}

function linesOf(directory: string): readonly { msg: string; leftOut?: number }[] {
  return textOf(directory)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

describe("an error in a loop", () => {
  test("1,000 times a second for ten minutes makes a few lines, and says how many it left out", async () => {
    const directory = createTempHome();
    const clock = createFakeClock("2026-11-27T09:00:00Z");
    const { log, close } = openFileLog(directory, clock);
    for (let ms = 0; ms < 600_000; ms += 1) {
      log.warn("a source failed to answer", { kind: "window" });
      clock.advanceMs(1);
    }
    log.info("stopping");
    await close();
    const lines = linesOf(directory);
    expect(lines.length).toBeLessThanOrEqual(10 * 6 + 1);
    expect(lines.at(-1)?.msg).toBe("stopping");
    const written = lines.filter(({ msg }) => msg === "a source failed to answer").length;
    const leftOut = lines.reduce((sum, line) => sum + (line.leftOut ?? 0), 0);
    expect(written + leftOut).toBe(600_000);
  });

  test("whose words differ each time makes no more than a line a second, and leaves room for nothing else only a minute", async () => {
    const directory = createTempHome();
    const clock = createFakeClock("2026-11-27T09:00:00Z");
    const { log, close } = openFileLog(directory, clock);
    for (let ms = 0; ms < 60_000; ms += 1) {
      log.warn(`failure ${ms}`);
      clock.advanceMs(1);
    }
    log.info("window source: x11");
    await close();
    const lines = linesOf(directory);
    expect(lines).toHaveLength(62);
    expect(lines.at(-1)?.msg).toBe("window source: x11");
  });

  test("that goes on for years is kept in files of 6 MB in all, for their owner alone", async () => {
    const directory = createTempHome();
    const clock = createFakeClock("2026-11-27T09:00:00Z");
    const { log, close } = openFileLog(directory, clock);
    const reason = "x".repeat(2_000);
    // Each line is cut to about 600 bytes: some 8 MB are written.
    for (let line = 0; line < 13_000; line += 1) {
      log.error(`failure ${line}`, { reason });
      clock.advanceMs(1_000);
      if (line % 50 === 0) await new Promise(setImmediate);
    }
    await close();
    const sizes = filesOf(directory).map((path) => statSync(path).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(6.5 * MB);
    expect(filesOf(directory).map((path) => path.slice(directory.length + 1))).toEqual([
      "activityd.1.log",
      "activityd.2.log",
      "activityd.3.log",
      "activityd.4.log",
      "activityd.5.log",
      "activityd.log",
    ]);
    for (const path of filesOf(directory)) expect(statSync(path).mode & 0o777).toBe(0o600);
    // The newest of what was moved away goes on in the current one.
    expect(readFileSync(join(directory, "activityd.1.log"), "utf8")).not.toContain("failure 12999");
    expect(textOf(directory)).toContain('"msg":"failure 12999"');
  });

  test("of a source that fails as fast as it can leaves the log of the daemon small", async () => {
    const { directory, app, close } = await openDaemon(failingRegistry());
    expect((await app.status()).sources.find(({ kind }) => kind === "window")?.state).not.toBe(
      "off",
    );
    await close();
    expect(linesOf(directory).length).toBeLessThan(40);
    expect(textOf(directory)).not.toContain("canary");
  });
});

describe("a log whose folder is taken away while the daemon runs", () => {
  test("goes on in a new one, for its owner alone", async () => {
    const directory = join(createTempHome(), "log");
    const { log, close } = openFileLog(directory);
    log.info("first");
    await until("it is written", () => existsSync(join(directory, "activityd.log")));
    rmSync(directory, { recursive: true });
    log.info("second");
    await close();
    expect(linesOf(directory).map(({ msg }) => msg)).toEqual(["second"]);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  test("loses the lines for which there was no room, and no later one", async () => {
    const directory = join(createTempHome(), "log");
    const { log, close } = openFileLog(directory);
    log.info("first");
    await until("it is written", () => existsSync(join(directory, "activityd.log")));
    // A folder in the place of the file can be written by nobody, as a disk that is full.
    renameSync(join(directory, "activityd.log"), join(directory, "kept"));
    mkdirSync(join(directory, "activityd.log"));
    log.info("lost");
    rmSync(join(directory, "activityd.log"), { recursive: true });
    renameSync(join(directory, "kept"), join(directory, "activityd.log"));
    log.info("third");
    await close();
    expect(linesOf(directory).map(({ msg }) => msg)).toEqual(["first", "third"]);
  });
});

test("a line is of the moment in which it was said, whenever it is written", async () => {
  const directory = createTempHome();
  const clock = createFakeClock("2026-11-27T09:00:00Z");
  const { log, close } = openFileLog(directory, clock);
  log.info("first", { pid: 7 });
  clock.advanceMs(1_000);
  log.warn("second");
  await close();
  expect(textOf(directory)).toBe(
    '{"level":30,"time":"2026-11-27T09:00:00.000Z","pid":7,"msg":"first"}\n' +
      '{"level":40,"time":"2026-11-27T09:00:01.000Z","msg":"second"}\n',
  );
});

/** Reports a thousand failures as soon as it is begun, fails when it is asked, and is lost at once. */
function failingRegistry(): SourceRegistry {
  const source: Source<"window"> = {
    start: (onSample, onLost) => {
      for (let n = 0; n < 1_000; n += 1)
        onSample({ ok: false, reason: `It failed ${n} times.`, remedy: "" });
      onLost({ reason: "It broke.", remedy: "" });
    },
    snapshot: () => Promise.reject(new SyntaxError('Unexpected token in "canary title"')),
    close: () => {},
  };
  const window: SourceProvider<"window"> = {
    id: "broken",
    kind: "window",
    open: async () => ({ source }),
    watchForReturn: (_context, onWake) => {
      const timer = setInterval(onWake, 1);
      return () => clearInterval(timer);
    },
  };
  const input: SourceProvider<"input"> = {
    id: "broken",
    kind: "input",
    open: () => Promise.reject(new SyntaxError('Unexpected token in "canary title"')),
  };
  // A registry gives providers by their kind; both are what is asked for here.
  const byKind = new Map<string, unknown>([
    ["window", window],
    ["input", input],
  ]);
  return {
    providersFor: (kind) => (byKind.has(kind) ? [byKind.get(kind) as never] : []),
  };
}

async function openDaemon(registry: SourceRegistry) {
  const home = createTempHome();
  const env = { ACTIVITYD_HOME: home };
  const paths = resolvePaths(env);
  const sink = openFileLog(paths.logDirectory);
  const clock = createFakeClock("2026-11-27T09:00:00Z");
  const config = parseConfig("[capture]\nnotification = true", "config.toml");
  const app = createActivityApp({ config, paths, env, clock, log: sink.log, registry });
  const server = await serveActivityApi({
    api: app,
    at: { socketPath: paths.socketPath },
    log: sink.log,
    version: VERSION,
  });
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> =>
    (closed ??= (async () => {
      await server.close();
      await app.close();
      await sink.close();
    })());
  onTestFinished(close);
  await app.start();
  return { paths, directory: paths.logDirectory, app, clock, close };
}

test("no title, address, song, turn, event, search or name of a client ever reaches the log", async () => {
  const desktop = createFakeDesktop();
  const { paths, directory, app, clock, close } = await openDaemon(desktop.registry);
  const canary = "canary7731";
  desktop.focus({
    app: canary,
    title: `${canary} — x`,
    url: `https://${canary}.example/${canary}`,
  });
  desktop.play({ title: canary, artist: canary });
  app.guests.take.page({
    title: canary,
    url: `https://${canary}.example`,
    private: false,
    atUs: clock.nowUs(),
  });
  clock.advanceMs(120_000);
  desktop.focus({ title: `another ${canary}` });
  const api = connectActivity({ socketPath: paths.socketPath });
  onTestFinished(api.close);
  const given = { session: canary, client: canary };
  await api.enqueueEvent({ session: canary, text: canary, key: canary });
  await api.composeTurn({ ...given, ownerText: `what is ${canary}?` });
  await api.context({ form: "digest", turn: canary, ...given });
  await api.search({ q: canary });
  await api.forget({ match: canary, dryRun: true });
  await expect(api.context({ form: "exact", timeZone: canary })).rejects.toThrow(canary);
  await expect(api.composeTurn({ ...given, ownerText: "x", now: canary })).rejects.toThrow(canary);
  const headers = { "user-agent": canary };
  const post = (body: string): Promise<unknown> =>
    sendRaw(paths.socketPath, { method: "POST", path: "/v1/turns", headers, body });
  await sendRaw(paths.socketPath, { path: `/v1/${canary}?${canary}=1`, headers });
  await post(`{"${canary}`);
  await post(`{"${canary}": 1}`);
  await api.forget({ match: canary });
  await api.pause({ minutes: 1 });
  await api.resume();
  await close();
  const text = textOf(directory);
  // The log is alive, and what it tells is what was done.
  expect(text).toContain("forgot on the owner's word");
  expect(text).toContain("recording is paused");
  expect(text).not.toContain(canary);
});

describe("what a thrown value may say in a log line", () => {
  test("a system error says its message, every other its name alone", () => {
    const missing = ((): unknown => {
      try {
        return readFileSync("/nowhere/x");
      } catch (error) {
        return error;
      }
    })();
    expect(reasonForLog(missing)).toContain("ENOENT");
    const quoting = ((): unknown => {
      try {
        return JSON.parse('{"title": canary}');
      } catch (error) {
        return error;
      }
    })();
    expect(String(quoting)).toContain("canary");
    expect(reasonForLog(quoting)).toBe("SyntaxError");
    expect(reasonForLog("canary")).toBe("string");
  });
});
