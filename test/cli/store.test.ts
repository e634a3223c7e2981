import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { EventFacts } from "../../src/capture/events.ts";
import { tellFailure, type AnyExitCode, type CliIo } from "../../src/cli/io.ts";
import { runProgram, withOwnEnvironment } from "../../src/cli/program.ts";
import { silentLog } from "../../src/log.ts";
import { resolvePaths } from "../../src/paths.ts";
import { openEventStore } from "../../src/store/events.ts";
import { acquireInstanceLock } from "../../src/store/lock.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const S = 1_000_000;
const T0 = Date.parse("2026-11-27T09:00:00Z") * 1000;

describe("activityd export and import", () => {
  test("give another home the same record, and again nothing", async () => {
    const [home, other] = [filledHome(), createTempHome()];
    const exported = await run(home, "export");
    expect(exported.out.split("\n")).toHaveLength(14);
    const file = join(createTempHome(), "export.ndjson");
    writeFileSync(file, exported.out);
    expect(await run(other, "import", file)).toMatchObject({
      out: "imported 12 events and lengthened 0; 0 were there already, 0 withheld by privacy rules, 0 unreadable\n",
      exitCode: 0,
    });
    expect((await run(other, "export")).out).toBe(exported.out);
    expect((await run(other, "import", file)).out).toContain(
      "imported 0 events and lengthened 0; 12 were",
    );
  });

  test("pass over what is no event, keep out what the rules keep out, and say how many", async () => {
    const file = join(createTempHome(), "export.ndjson");
    const event = { startUs: T0, endUs: T0 + S, utcOffsetMinutes: 0, timeZone: "UTC" };
    const window = { kind: "window", app: "Code", title: "x", place: null, ...event };
    const lines = [
      { activityd: "export", format: 1 },
      window,
      { ...window, app: "1Password", startUs: T0 + 1 },
      { ...window, startUs: -1 },
      { ...window, endUs: T0 - 1 },
      { ...window, kind: "weather" },
      { ...window, app: 7 },
    ].map((line) => JSON.stringify(line));
    writeFileSync(file, [...lines, '{"half', "", "null"].join("\n"));
    const { out } = await run(createTempHome(), "import", file);
    expect(out).toBe(
      "imported 1 event and lengthened 0; 0 were there already, 1 withheld by privacy rules, 6 unreadable\n",
    );
  });

  test("refuse a file that is no export, one of a later format, and a folder that a daemon holds", async () => {
    const home = createTempHome();
    const file = join(createTempHome(), "x");
    writeFileSync(file, "hello\nworld");
    expect(await run(home, "import", file)).toMatchObject({ exitCode: 2 });
    expect((await run(home, "import", `${file}.absent`)).talk).toContain("Cannot read");
    writeFileSync(file, "\n");
    expect((await run(home, "import", file)).talk).toContain(`${file} is empty.`);
    writeFileSync(file, '\uFEFF{"buckets":{}}');
    expect((await run(home, "import", file)).out).toContain("imported an export: 0 buckets");
    writeFileSync(file, '{"activityd":"export","format":99}\n');
    expect((await run(home, "import", file)).talk).toContain("no header of an export");
    const release = acquireInstanceLock(pathsOf(home).dataDirectory, 412);
    writeFileSync(file, '{"activityd":"export","format":1}\n');
    expect((await run(home, "import", file)).talk).toContain("pid 412");
    release();
  });
});

describe("activityd backup, restore and doctor", () => {
  test("bring back what was there when the backup was made", async () => {
    const home = filledHome();
    const before = (await run(home, "export")).out;
    const { out } = await run(home, "backup");
    expect((await run(home, "backup", "--list")).out).toBe(out);
    fill(home, 12, 20);
    expect((await run(home, "export")).out).not.toBe(before);
    const restored = await run(home, "restore");
    expect(restored.out).toMatch(
      /^restored .*\nthe database that was there lies at .*replaced.*\n$/,
    );
    expect((await run(home, "export")).out).toBe(before);
  });

  test("say what is wrong, recover it, and then find nothing", async () => {
    const home = filledHome();
    expect(await run(home, "doctor")).toMatchObject({
      out: expect.stringMatching(/^ok {6}database: .*activity\.db is sound; 0 backups$/m),
      exitCode: 0,
    });
    const path = join(pathsOf(home).dataDirectory, "activity.db");
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 0, 4096);
    writeFileSync(path, bytes);
    expect(await run(home, "doctor")).toMatchObject({
      out: expect.stringMatching(/^problem The database .* is damaged: .*\n .*doctor --repair$/m),
      exitCode: 1,
    });
    const repaired = await run(home, "doctor", "--repair");
    expect(repaired.out).toContain(
      "recovered 12 events from the database and 0 more from a backup",
    );
    expect(repaired.exitCode).toBe(0);
    expect((await run(home, "export")).out.split("\n")).toHaveLength(14);
  });

  test("do not call what cannot be looked at empty", async () => {
    const home = createTempHome();
    writeFileSync(join(home, "data"), "");
    for (const argv of [["restore"], ["backup", "--list"], ["export"]]) {
      const { talk, exitCode } = await run(home, ...argv);
      expect([argv, exitCode]).toEqual([argv, 1]);
      expect(talk).toContain(join(home, "data"));
      expect(talk).not.toMatch(/no backup yet|Nothing is recorded|Internal/u);
    }
  });

  test("say so where nothing was recorded or backed up", async () => {
    const home = createTempHome();
    expect((await run(home, "export")).talk).toContain("Nothing is recorded");
    expect((await run(home, "restore")).talk).toContain("There is no backup yet.");
    expect((await run(home, "restore", "/nowhere.db")).talk).toContain(
      "There is no backup /nowhere.db.",
    );
    expect((await run(home, "restore", "/")).talk).toContain("There is no backup /.");
  });
});

test("activityd search answers from the database when no daemon runs", async () => {
  const { out } = await run(filledHome(), "search", "retry", "--json");
  expect(JSON.parse(out)).toMatchObject({
    app: "Code",
    title: "retry.ts — payments-api",
    visits: 2,
  });
});

test("activityd search tells of too many words in the words that were typed", async () => {
  const { talk, exitCode } = await run(filledHome(), "search", "x".repeat(300), "y".repeat(200));
  expect(talk).toContain("The words to search for have 501 characters; 400 are taken.");
  expect(talk).not.toContain("query parameter");
  expect(exitCode).toBe(2);
});

test("a database of another program is not restored, and stays as it was", async () => {
  const home = filledHome();
  const file = join(createTempHome(), "places.sqlite");
  const database = new Database(file);
  database.exec("CREATE TABLE bookmark(title TEXT); INSERT INTO bookmark VALUES ('mine')");
  database.close();
  const before = readFileSync(file);
  const { talk, exitCode } = await run(home, "restore", file);
  expect(talk).toContain(`${file} is a database of another program.`);
  expect(exitCode).toBe(2);
  expect(readFileSync(file).equals(before)).toBe(true);
  expect((await run(home, "export")).out.split("\n")).toHaveLength(14);
});

test("a record that a newer activityd wrote is not read as if it were ours", async () => {
  const home = filledHome();
  const database = new Database(join(home, "data", "activity.db"));
  database.pragma("user_version = 999");
  database.close();
  for (const argv of [["search", "retry"], ["export"], ["backup"]]) {
    const { talk, out } = await run(home, ...argv);
    expect({ argv, out, talk }).toEqual({
      argv,
      out: "",
      talk: expect.stringContaining("a newer activityd wrote it (schema 999"),
    });
  }
});

test("a record that cannot be looked at is not taken for one in which nothing is", async () => {
  const home = createTempHome();
  // Not even root sees into it.
  writeFileSync(join(home, "data"), "a file where the folder should be");
  for (const argv of [["search", "retry"], ["export"], ["backup"]]) {
    const { talk, exitCode } = await run(home, ...argv);
    expect({ argv, talk, exitCode }).toMatchObject({ argv, exitCode: 1 });
    expect(talk).toContain(
      `Cannot read the record ${join(home, "data", "activity.db")}: what should be a folder in it is a file.`,
    );
  }
});

test("a record of no bytes, which a start on a full disk leaves, is one in which nothing is", async () => {
  const home = createTempHome();
  mkdirSync(join(home, "data"));
  writeFileSync(join(home, "data", "activity.db"), "");
  for (const argv of [["search", "retry"], ["export"], ["backup"]]) {
    const { talk } = await run(home, ...argv);
    expect(talk).toContain(`Nothing is recorded in ${join(home, "data")} yet.`);
  }
});

async function run(home: string, ...argv: readonly string[]) {
  const env = { ACTIVITYD_HOME: home };
  const printed = { out: "", talk: "" };
  const io: CliIo = {
    env,
    out: (text) => {
      printed.out += text;
    },
    talk: (line) => {
      printed.talk += `${line}\n`;
    },
    isTerminal: false,
    paths: () => resolvePaths(env),
  };
  let exitCode: AnyExitCode;
  try {
    exitCode = await runProgram(argv, withOwnEnvironment(io));
  } catch (thrown) {
    exitCode = tellFailure(io, thrown);
  }
  return { ...printed, exitCode };
}

function pathsOf(home: string): ReturnType<typeof resolvePaths> {
  return resolvePaths({ ACTIVITYD_HOME: home });
}

/** A home with twelve events, one of each kind among them. */
function filledHome(): string {
  const home = createTempHome();
  fill(home, 0, 12);
  return home;
}

function fill(home: string, from: number, to: number): void {
  const directory = pathsOf(home).dataDirectory;
  const clock = createFakeClock("2026-11-27T09:00:00Z");
  const store = openEventStore({ directory, clock, log: silentLog });
  for (let n = from; n < to; n += 1) {
    const startUs = T0 + n * 10 * S;
    const span = {
      startUs,
      endUs: startUs + 5 * S,
      utcOffsetMinutes: 60,
      timeZone: "Europe/Berlin",
    };
    store.begin(FACTS[n % FACTS.length] ?? { kind: "lock" }, span);
  }
  store.close();
}

const FACTS: readonly EventFacts[] = [
  {
    kind: "window",
    app: storable("Code"),
    title: storable("retry.ts — payments-api"),
    place: null,
  },
  {
    kind: "window",
    app: storable("Firefox"),
    title: storable("(3) Größe “x”"),
    place: storable("e.org/a"),
  },
  { kind: "window", app: storable("Mail"), title: null, place: null },
  { kind: "idle", state: "passive" },
  { kind: "lock" },
  { kind: "sleep" },
  { kind: "gap", reason: "stalled" },
  {
    kind: "media",
    player: storable("Spotify"),
    title: storable("Tango"),
    artist: null,
    playing: true,
  },
  { kind: "notification", app: storable("Signal"), summary: storable("Priya") },
  {
    kind: "system",
    power: "ac",
    batteryPercent: null,
    online: true,
    cpuLoad: 0.1,
    memoryUsed: 0.4,
    displayCount: 1,
  },
];
