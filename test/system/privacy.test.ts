/** Privacy end to end: a real window, a real player, a real notification, a real daemon, and every file it wrote. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { filesWith } from "../helpers/files-below.ts";
import { until } from "../helpers/until.ts";
import type { XTestClient } from "../helpers/x-client.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { openBusService } from "./fakes/bus-service.ts";
import { openFakePlayer, playback, song } from "./fakes/mpris-player.ts";
import { openPrivateBus, type PrivateBus } from "./fakes/private-bus.ts";
import { createProcesses } from "./processes.ts";
import { openXRig, type XRig } from "./x-rig.ts";

const CANARY = "Canary-7731-Zeppelin";
const CANARY_IN_ANY_CASE = new RegExp(CANARY, "i");
const NOTIFICATIONS = "org.freedesktop.Notifications";

let bus: PrivateBus;
let x: XRig;
let daemon: DaemonRig;
let client: XTestClient;

beforeEach(async () => {
  bus = await openPrivateBus();
  x = await openXRig();
  await x.startWindowManager("openbox");
  client = await x.openClient();
  const env = { ...x.env, ...bus.env };
  daemon = openDaemonRig(createProcesses(), env, "[capture]\nnotification = true\n");
});

afterEach(async () => {
  await daemon.close();
  client.close();
  await x.close();
  await bus.close();
});

async function show(title: string, app = "Editor"): Promise<number> {
  const window = await client.open({ title, app });
  await client.activate(window);
  return window;
}

async function recorded(text: string): Promise<boolean> {
  const { events } = await daemon.api.events({ fromUs: 0 });
  return JSON.stringify(events).includes(text);
}

describe("what was forgotten", () => {
  it("stands in no file: not in the database, its log, the backups, the ledger or what a crash left", async () => {
    const server = await openBusService(bus.address, NOTIFICATIONS);
    server.answer(`${NOTIFICATIONS}.Notify`, "u", () => [7]);
    const player = await openFakePlayer(bus.address, "vlc", "VLC");
    const first = await daemon.start();
    let said = "";
    first.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });

    await show(`plan ${CANARY}`);
    await until("the window is recorded", () => recorded(`plan ${CANARY}`));
    player.setMetadata(song(`song ${CANARY}`, CANARY));
    player.set({ PlaybackStatus: playback("Playing") });
    await until("the song is recorded", () => recorded(`song ${CANARY}`));
    const summary = `mail from ${CANARY}`;
    const args = ["Mail", 0, "", summary, "", [], {}, -1];
    const path = "/org/freedesktop/Notifications";
    await server.call(NOTIFICATIONS, path, NOTIFICATIONS, "Notify", "susssasa{sv}i", args);
    await until("the notification is recorded", () => recorded(summary));

    // What comes in over the socket: names, waiting events, turns, and requests that fail.
    await daemon.api.context({ form: "exact", client: `bot ${CANARY}`, session: CANARY });
    await daemon.api.enqueueEvent({ session: CANARY, text: `build of ${CANARY} failed` });
    await daemon.api.composeTurn({ session: "other", ownerText: `about ${CANARY}`, form: "auto" });
    await daemon.curl(["-d", `{"form":"${CANARY}"}`, "http://localhost/v1/context"]);
    await daemon.curl([`http://localhost/v1/${CANARY}`]);
    await daemon.curl(["-d", `{"${CANARY}`, "http://localhost/v1/turns"]);
    expect((await daemon.run(["backup"])).code).toBe(0);
    first.kill("SIGKILL");
    await until("the daemon is dead", () => first.signalCode !== null);
    expect(said).not.toContain(CANARY);
    expect(filesWith(daemon.home, CANARY_IN_ANY_CASE).length).toBeGreaterThan(1);

    const second = await daemon.start();
    const dryRun = await daemon.run(["forget", "--match", CANARY, "--dry-run"]);
    expect(dryRun.out).toMatch(/^would forget \d+ events, .* other row/);
    expect(filesWith(daemon.home, CANARY_IN_ANY_CASE).length).toBeGreaterThan(1);
    const done = await daemon.run(["forget", "--match", CANARY]);
    expect(done.out).toMatch(/found nothing\n$/);
    expect(done.code).toBe(0);
    expect(filesWith(daemon.home, CANARY_IN_ANY_CASE)).toEqual([]);
    expect(filesWith(daemon.home, /zeppelin/i)).toEqual([]);

    // It is still on the screen and still plays, and yet it does not come back.
    await show("something else");
    await until("the next window is recorded", () => recorded("something else"));
    second.kill("SIGTERM");
    await until("the daemon ends", () => second.exitCode !== null);
    expect(filesWith(daemon.home, /zeppelin/i)).toEqual([]);
    server.close();
    player.close();
  });
});

describe("a pause", () => {
  it("writes no row, is named by the block, and outlives a crash", async () => {
    const first = await daemon.start();
    await show("before");
    await until("the window is recorded", () => recorded("before"));
    expect((await daemon.run(["pause", "1h"])).code).toBe(0);
    const rows = (await daemon.api.status()).store.eventCount ?? 0;
    await show("secret one");
    const { out } = await daemon.run(["now"]);
    expect(out).toMatch(
      /^# Device Activity .*\n- Now: .*\n- Gaps: paused since \d\d:\d\d\n---\n\n$/,
    );
    first.kill("SIGKILL");
    await until("the daemon is dead", () => first.signalCode !== null);
    await daemon.start();
    const status = await daemon.api.status();
    expect(status.paused).not.toBeNull();
    // Of the restart the gap alone may have been begun anew.
    expect(status.store.eventCount).toBeLessThanOrEqual(rows + 2);
    await show("secret two");
    expect(await recorded("secret")).toBe(false);
    await daemon.run(["resume"]);
    await until("recording goes on", () => recorded("secret two"));
    expect(await recorded("secret one")).toBe(false);
    expect(filesWith(daemon.home, /secret one/i)).toEqual([]);
  });
});

describe("private windows and password managers", () => {
  it("leave nothing on the disk but a gap", async () => {
    await daemon.start();
    const filtered = async () =>
      (await daemon.api.events({ fromUs: 0, kinds: ["gap"] })).events.length;
    await show(`${CANARY} — Mozilla Firefox Private Browsing`, "firefox");
    await until("the gap of the private window", async () => (await filtered()) === 1);
    await show("between");
    await until("the next window is recorded", () => recorded("between"));
    await show(`${CANARY} — 1Password`, "1Password");
    await until("the gap of the password manager", async () => (await filtered()) === 2);
    await show("after");
    await until("the last window is recorded", () => recorded("after"));
    expect(filesWith(daemon.home, CANARY_IN_ANY_CASE)).toEqual([]);
  });
});

describe("a rule that is written while the daemon runs", () => {
  it("hides what is on the screen from the moment it is saved, and a broken one changes nothing", async () => {
    await daemon.start();
    await show(`${CANARY} salaries`);
    await until("the window", () => recorded(CANARY));
    const added = await daemon.run(["privacy", "add", "--action", "drop", "--title", CANARY]);
    expect(added.code).toBe(0);
    await until("the window to be hidden", async () => {
      const { block } = await daemon.api.context({ form: "exact" });
      return block?.includes("withheld by a privacy rule");
    });
    await daemon.run(["forget", "--by-rules"]);
    expect(await recorded(CANARY)).toBe(false);
    appendFileSync(join(daemon.home, "config.toml"), "\n[[privacy.rules]]\naction = 7\n");
    await until("the problem", async () =>
      (await daemon.api.status()).problems.some(({ reason }) => reason.includes("stay in force")),
    );
    await show(`${CANARY} again`);
    await show("an ordinary page");
    await until("the other window", () => recorded("an ordinary page"));
    expect(await recorded(CANARY)).toBe(false);
  });
});
