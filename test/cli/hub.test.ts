/** `activityd hub …` without a daemon: what it writes, and what it says to what cannot be meant. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { HubAnswer } from "../../src/api.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { resolvePaths } from "../../src/paths.ts";
import { createDevices } from "../../src/store/devices.ts";
import { openEventStore } from "../../src/store/events.ts";
import { createOutbox } from "../../src/store/devices/outbox.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createFakeActivityApi } from "../helpers/fake-activity-api.ts";
import { runCli } from "../helpers/run-cli.ts";
import { createTempHome } from "../helpers/temp-home.ts";

function createFolder(): string {
  const folder = join(createTempHome(), "sync");
  mkdirSync(folder);
  return folder;
}

describe("activityd hub", () => {
  it("says that a running daemon does not know yet of the hub that was made", async () => {
    const home = createTempHome();
    const paths = resolvePaths({ ACTIVITYD_HOME: home });
    const none: HubAnswer = {
      place: null,
      link: null,
      devices: [],
      waiting: 0,
      lastSentUs: null,
      problems: [],
      notes: [],
    };
    const server = await serveActivityApi({
      api: { ...createFakeActivityApi(), hub: () => Promise.resolve(none) },
      at: { socketPath: paths.socketPath },
      log: silentLog,
      version: "1.2.3",
    });
    onTestFinished(server.close);
    expect((await runCli(["hub", "status"], { home })).talk).not.toContain("the settings name one");
    await runCli(["hub", "create", "--folder", createFolder(), "--name", "desk"], { home });
    const { out, talk } = await runCli(["hub", "status"], { home });
    expect(out).toContain("this device is in no hub\n");
    expect(talk).toContain("activityd: the settings name one, which the daemon takes part in from");
  });

  it("makes a hub and prints the code alone to stdout; another device joins with it", async () => {
    const folder = createFolder();
    const [desk, lap] = [createTempHome(), createTempHome()];
    const made = await runCli(["hub", "create", "--folder", folder, "--name", "desk"], {
      home: desk,
      config: "# mine\n[capture]\nmedia = false\n",
    });
    expect(made.exitCode).toBe(0);
    expect(made.out).toMatch(/^activityd-hub-1\.[\w-]+\n$/);
    const config = readFileSync(join(desk, "config.toml"), "utf8");
    expect(config).toContain("# mine\n[capture]\nmedia = false\n");
    expect(config).toContain(`[hub]\n`);
    expect(config).toContain(`folder = "${folder}"`);
    expect(statSync(join(desk, "data", "hub.json")).mode & 0o777).toBe(0o600);
    const joined = await runCli(["hub", "join", made.out.trim(), "--folder", folder], {
      home: lap,
    });
    expect(joined.exitCode).toBe(0);
    const again = await runCli(["hub", "invite"], { home: lap });
    expect(again.out).toBe(made.out);
    const known = await runCli(["hub", "join", made.out.trim()], { home: lap });
    expect(known.talk).toContain("in the hub already");
  });

  it("takes from a second joining where the hub lies and what the device is called", async () => {
    const [wrong, right] = [createFolder(), createFolder()];
    const [desk, lap] = [createTempHome(), createTempHome()];
    const made = await runCli(["hub", "create", "--folder", right], { home: desk });
    const code = made.out.trim();
    const joined = await runCli(["hub", "join", code, "--folder", wrong], { home: lap });
    expect(joined.talk).toContain(`nothing of the hub is in ${wrong} yet`);
    const moved = await runCli(["hub", "join", code, "--folder", right, "--name", "lap"], {
      home: lap,
    });
    expect(moved.exitCode).toBe(0);
    expect(moved.talk).toContain("in the hub already");
    const config = readFileSync(join(lap, "config.toml"), "utf8");
    expect(config).toContain(`folder = "${right}"`);
    expect(readFileSync(join(lap, "data", "hub.json"), "utf8")).toContain('"name":"lap"');
    // The settings may have been taken back by hand: then they have to be given again.
    writeFileSync(join(lap, "config.toml"), '[hub]\ndriver = "none"\n');
    expect((await runCli(["hub", "join", code], { home: lap })).talk).toContain("--folder PATH");
    await runCli(["hub", "join", code, "--folder", right], { home: lap });
    expect((await runCli(["hub", "invite"], { home: lap })).out).toBe(made.out);
  });

  it("says that another hub is in the folder, as when one was made on each device", async () => {
    const folder = createFolder();
    mkdirSync(join(folder, `activityd-${"0f".repeat(16)}`));
    const second = await runCli(["hub", "create", "--folder", folder]);
    expect(second.exitCode).toBe(0);
    expect(second.talk).toContain(`another hub is in ${folder}, and two hubs never meet`);
  });

  it.each([
    ["no place", ["create"], "Nothing says where the hub is."],
    ["two places", ["create", "--folder", "/", "--server", "nats://x"], "not both"],
    ["an address without its kind", ["create", "--server", "hub.example:4222"], "is no address of"],
    ["an address with a password", ["create", "--server", "nats://me:pw@x"], "holds a user"],
    [
      "a folder that is not there",
      ["create", "--folder", "/nowhere"],
      "There is no folder /nowhere.",
    ],
    [
      "a file that is not there",
      ["create", "--server", "nats://x", "--ca", "/no"],
      "Cannot read /no",
    ],
    ["no code", ["join", "nonsense"], "This is no whole code of a hub"],
  ])("refuses %s with a sentence", async (_what, args, sentence) => {
    const run = await runCli(["hub", ...args]);
    expect([run.exitCode, run.out]).toEqual([2, ""]);
    expect(run.talk).toContain(sentence);
  });

  it("refuses to make a second hub, and a code of a folder without the folder", async () => {
    const folder = createFolder();
    const home = createTempHome();
    const made = await runCli(["hub", "create", "--folder", folder], { home });
    const second = await runCli(["hub", "create", "--folder", folder], { home });
    expect(second.talk).toContain("in a hub already");
    const blind = await runCli(["hub", "join", made.out.trim()]);
    expect(blind.talk).toContain("--folder PATH");
    const other = await runCli(["hub", "create", "--folder", folder]);
    const moved = await runCli(["hub", "join", other.out.trim(), "--folder", folder], { home });
    expect(moved.talk).toContain("activityd hub leave");
  });

  it("takes the addresses of servers from the code", async () => {
    const home = createTempHome();
    const made = await runCli(["hub", "create", "--server", "tls://a:4222", "tls://b:4222"]);
    const joined = await runCli(["hub", "join", made.out.trim()], { home });
    expect(joined.exitCode).toBe(0);
    const config = readFileSync(join(home, "config.toml"), "utf8");
    expect(config).toContain('driver = "nats"');
    expect(config).toMatch(/servers = \[ "tls:\/\/a:4222", "tls:\/\/b:4222" \]/);
  });

  it("leaves without a daemon too, and can make another hub then", async () => {
    const folder = createFolder();
    const home = createTempHome();
    await runCli(["hub", "create", "--folder", folder], { home });
    const left = await runCli(["hub", "leave"], { home });
    expect(left.exitCode).toBe(0);
    expect(readFileSync(join(home, "config.toml"), "utf8")).toContain('driver = "none"');
    expect((await runCli(["hub", "invite"], { home })).exitCode).toBe(1);
    const twice = await runCli(["hub", "leave"], { home });
    expect([twice.exitCode, twice.talk]).toEqual([1, expect.stringContaining("is in no hub.")]);
    const again = await runCli(["hub", "create", "--folder", folder], { home });
    expect(again.exitCode).toBe(0);
  });

  it("says whom nobody told that it left, where no daemon runs and others are in it", async () => {
    const home = createTempHome();
    await runCli(["hub", "create", "--folder", createFolder()], { home });
    const directory = join(home, "data");
    const clock = createFakeClock("2026-11-27T12:00:00Z");
    const store = openEventStore({ directory, clock, log: silentLog });
    const outbox = createOutbox(store.database);
    outbox.begin(true);
    const device = "ab12".repeat(8);
    const log = { device, epoch: 1, seq: 0, hash: new Uint8Array(32), cursor: null, toldUs: 0 };
    outbox.writeLog(log);
    createDevices(store.database).ensure("0".repeat(32), "lap");
    store.close();
    const left = await runCli(["hub", "leave"], { home });
    expect(left.exitCode).toBe(0);
    expect(left.talk).toContain("were not told that this one left");
    expect(left.talk).toContain("activityd hub revoke ab12ab12\n");
  });

  it("leaves nothing where there is no hub, and says so", async () => {
    const home = createTempHome();
    const run = await runCli(["hub", "leave"], { home });
    expect([run.exitCode, run.talk]).toEqual([1, expect.stringContaining("is in no hub.")]);
    expect(readdirSync(home)).toEqual([]);
  });
});
