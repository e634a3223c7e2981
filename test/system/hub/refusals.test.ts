/** Hubs that do not take a device: each says why and what to do, and is gone back to when it was put right. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { connect, nkeyAuthenticator } from "@nats-io/transport-node";
import { jetstream } from "@nats-io/jetstream";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { HubDriver, HubSettings } from "../../../src/hub/driver.ts";
import { openNatsDriver } from "../../../src/hub/nats.ts";
import { silentLog } from "../../../src/log.ts";
import { until } from "../../helpers/until.ts";
import { createProcesses } from "../processes.ts";
import { openCluster, type ClusterRig } from "./cluster-rig.ts";

const ADA = "a0".repeat(16);
const BOB = "b0".repeat(16);

describe("a hub", () => {
  let cluster: ClusterRig;

  beforeAll(async () => {
    cluster = await openCluster({ args: ["--servers", "1"] });
  });

  afterAll(async () => cluster.close());

  it("does not take a key it does not know, and takes it once it does", async () => {
    await cluster.hubUp("--device", "stranger");
    const kept = join(cluster.folder, "kept.nk");
    copyFileSync(join(cluster.folder, "devices", "stranger.nk"), kept);
    const publicKey = readFileSync(join(cluster.folder, "devices", "stranger.pub"), "utf8").trim();
    await cluster.hubUp("--without", "stranger");
    const driver = await cluster.open("laptop", ADA, { settings: { credentials_file: kept } });
    const state = await whenRefused(driver);
    expect(state.reason).toContain(`does not know this device's key ${publicKey}`);
    await expect(driver.append([record(ADA, 1)], 1_000)).rejects.toMatchObject({
      code: "hub_refused",
    });
    writeFileSync(kept, readFileSync(join(cluster.folder, "devices", "laptop.nk")));
    await until("the right key is found", () => driver.state().state === "connected");
    await driver.close();
  });

  it.each([
    ["no key", { credentials_file: "" }, "lets nobody in without a key"],
    [
      "a key file that is not there",
      { credentials_file: "/no/such/file" },
      "cannot be read (ENOENT)",
    ],
    [
      "a key file with something else",
      { credentials_file: "/etc/hostname" },
      "neither an NKey seed",
    ],
    ["a certificate that nobody known signed", { ca_file: "" }, "cannot be trusted"],
  ])("says what is wrong with %s", async (_what, settings, reason) => {
    const driver = await cluster.open("laptop", ADA, { settings });
    expect((await whenRefused(driver)).reason).toContain(reason);
    await driver.close();
  });

  it("lets a device publish nothing but its own log", async () => {
    const settings = cluster.settings("laptop");
    const mine = readFileSync(join(cluster.folder, "devices", "laptop.pub"), "utf8").trim();
    const others = readFileSync(join(cluster.folder, "devices", "desktop.pub"), "utf8").trim();
    const connection = await connect({
      servers: [...settings.servers],
      tls: { caFile: settings.ca_file },
      authenticator: nkeyAuthenticator(readFileSync(settings.credentials_file).subarray(0, 58)),
      inboxPrefix: `_INBOX_${mine}`,
    });
    try {
      const js = jetstream(connection);
      const publish = async (writer: string) =>
        js.publish(`activityd.ev.hub.${writer}.${ADA}`, "x");
      await expect(publish(others)).rejects.toThrow("Permissions Violation");
      await expect(publish(mine)).resolves.toMatchObject({ stream: "activityd" });
      // Nor may it hear what others are answered.
      const heard = connection.subscribe(`_INBOX_${others}.>`, { callback: () => {} });
      expect(await heard.closed).toMatchObject({ name: "PermissionViolationError" });
    } finally {
      await connection.close();
    }
  });

  it("whose server has published holes is noted", async () => {
    const driver = await cluster.open("laptop", ADA);
    await until("it is connected", () => driver.state().state === "connected");
    const { stdout } = await promisify(execFile)("nats-server", ["--version"]);
    const version = /v(\d+)\.(\d+)\.(\d+)/.exec(stdout) ?? [];
    const isOld = Number(version[1]) === 2 && Number(version[2]) < 12;
    expect(driver.notes().map(({ reason }) => reason)).toEqual(
      isOld ? [`The hub's nats-server ${version[0]?.slice(1)} has published holes.`] : [],
    );
    await driver.close();
  });

  it("tells devices that share a key to take one each", async () => {
    const hub = randomBytes(16).toString("hex");
    const third = "d0".repeat(16);
    const from = await cluster.open("desktop", third, { hub });
    const drivers = [
      await cluster.open("laptop", ADA, { hub }),
      await cluster.open("laptop", BOB, { hub }),
    ];
    const heard = drivers.map((driver) => {
      const seqs: number[] = [];
      driver.subscribe({
        cursor: null,
        deliver: async (records) => void seqs.push(...records.map(({ seq }) => seq)),
      });
      return seqs;
    });
    let seq = 0;
    const noted = await until(
      "it is noted",
      async () => {
        await from.append([record(third, (seq += 1))], 10_000);
        return drivers.flatMap((each) => each.notes()).find(({ reason }) => reason.includes("key"));
      },
      60_000,
    );
    expect(noted.remedy).toContain("a key of its own");
    // They get in each other's way, and neither misses anything.
    const all = Array.from({ length: seq }, (_, index) => index + 1);
    await until("both hear all", () => heard.every((seqs) => seqs.includes(seq)), 60_000);
    for (const seqs of heard) expect([...new Set(seqs)]).toEqual(all);
    await from.close();
    for (const driver of drivers) await driver.close();
  }, 130_000);

  it("passes over what no activityd wrote", async () => {
    const to = await cluster.open("desktop", BOB, { hub: "hub" });
    const seqs: number[] = [];
    const subscription = to.subscribe({
      cursor: null,
      deliver: async (records) => void seqs.push(...records.map(({ seq }) => seq)),
    });
    const from = await cluster.open("laptop", "a1".repeat(16), { hub: "hub" });
    await from.append([record("a1".repeat(16), 1)], 10_000);
    await until("the record comes", () => seqs.includes(1));
    await subscription.close();
    expect(seqs).toEqual([1]);
  });

  it("is shortened where it keeps longer than the owner wants", async () => {
    const driver = await cluster.open("laptop", ADA, { settings: { keep_days: 7 } });
    await until("it is connected", () => driver.state().state === "connected");
    await driver.close();
    expect(await maxAgeDays(cluster)).toBe(7);
    const longer = await cluster.open("laptop", ADA, { settings: { keep_days: 30 } });
    await until("it is connected", () => longer.state().state === "connected");
    await longer.close();
    expect(await maxAgeDays(cluster)).toBe(7);
  });

  it("is refused where it keeps longer and cannot be shortened", async () => {
    await changePermissions(cluster, "STREAM.UPDATE", "STREAM.NOTHING");
    const driver = await cluster.open("laptop", ADA, { settings: { keep_days: 3 } });
    const { reason, remedy } = await whenRefused(driver);
    expect(reason).toBe("it keeps records 7 days, longer than the 3 days of [hub] keep_days");
    expect(remedy).toContain("nats stream edit activityd --max-age 3d");
    await driver.close();
    await changePermissions(cluster, "STREAM.NOTHING", "STREAM.UPDATE");
  });

  it("that fell is connected to again by itself, whether or not anybody asks for it", async () => {
    const driver = await cluster.open("laptop", ADA);
    await until("it is connected", () => driver.state().state === "connected");
    await cluster.kill(1, "SIGKILL");
    await expect(driver.append([record(ADA, 1)], 1_000)).rejects.toMatchObject({
      code: "hub_away",
    });
    expect(driver.state()).toMatchObject({ state: "away" });
    await cluster.hubUp();
    await until("it is connected again", () => driver.state().state === "connected", 20_000);
    await driver.close();
  });

  it("tells a reader who was away too long nothing of what is gone, and goes on with what is there", async () => {
    const hub = randomBytes(16).toString("hex");
    const short = { keep_days: 4 / 86_400 };
    const from = await cluster.open("laptop", ADA, { hub, settings: short });
    const to = await cluster.open("desktop", BOB, { hub, settings: short });
    let cursor: string | null = null;
    const read: string[] = [];
    const listen = () =>
      to.subscribe({
        cursor,
        deliver: async (records, next) => {
          cursor = next;
          read.push(...records.map(({ epoch, seq }) => `${epoch}:${seq}`));
        },
      });
    const first = listen();
    await from.append([record(ADA, 1)], 10_000);
    await until("the first comes", () => read.length > 0);
    await first.close();
    await from.append([record(ADA, 2)], 10_000);
    await until("what was not read is gone", async () => (await from.tail(10_000)) === null);
    // What is gone is missed in the log, as what was lost would be: the device begins it anew.
    await expect(from.append([record(ADA, 3)], 500)).rejects.toMatchObject({ code: "hub_away" });
    await from.append([{ ...record(ADA, 1), epoch: 2 }], 10_000);
    const second = listen();
    await until("the next comes", () => read.length > 1);
    await second.close();
    expect(read).toEqual(["1:1", "2:1"]);
  });
});

describe("servers that are no hub", () => {
  it("without JetStream are told as such", async () => {
    const processes = createProcesses();
    const child = processes.start("nats-server", ["-a", "127.0.0.1", "-p", "-1"], {});
    onTestFinished(processes.close);
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    const port = await until("nats-server listens", () => /127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
    const driver = await openPlain(Number(port));
    expect((await whenRefused(driver)).reason).toContain("JetStream is not switched on");
    await driver.close();
  });

  it("that are too old are told as such", async () => {
    const server = createServer((socket) => {
      socket.write(`INFO {"server_id":"x","version":"2.8.4","proto":1,"max_payload":1048576}\r\n`);
      socket.on("error", () => {});
      socket.on("data", (chunk: Buffer) => {
        if (chunk.includes("PING")) socket.write("PONG\r\n");
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const driver = await openPlain(port);
    expect((await whenRefused(driver)).reason).toContain("nats-server 2.8.4, which is too old");
    await driver.close();
    server.close();
  });

  it("that are not there yet are waited for", async () => {
    const driver = await openPlain(1);
    await expect(driver.append([record(ADA, 1)], 500)).rejects.toMatchObject({ code: "hub_away" });
    expect(driver.state()).toMatchObject({ state: "away" });
    await driver.close();
  });

  it.each([
    [[], "[hub] servers is empty."],
    [["hub.example"], '[hub] servers: "hub.example" is no address of a NATS server.'],
    [
      ["https://hub.example"],
      '[hub] servers: "https://hub.example" is no address of a NATS server.',
    ],
    [["nats://ada:secret@hub.example"], "[hub] servers: the address of hub.example holds a user."],
  ])("at addresses that cannot be meant are refused at once: %j", async (servers, message) => {
    await expect(openPlain(0, servers)).rejects.toMatchObject({ code: "config_invalid", message });
  });
});

async function openPlain(
  port: number,
  servers: readonly string[] = [`nats://127.0.0.1:${port}`],
): Promise<HubDriver> {
  const settings: HubSettings = {
    driver: "nats",
    folder: "",
    servers,
    credentials_file: "",
    ca_file: "",
    keep_days: 30,
  };
  const hub = "c0".repeat(16);
  return openNatsDriver({ hub, device: ADA, settings, clock: systemClock, log: silentLog });
}

async function whenRefused(driver: HubDriver) {
  return until("the hub refuses", () => {
    const state = driver.state();
    return state.state === "refused" ? state : null;
  });
}

/** Changes what all devices may do, as the person who runs the server would. */
async function changePermissions(cluster: ClusterRig, from: string, to: string): Promise<void> {
  const path = join(cluster.folder, "devices.conf");
  const reloads = (): number =>
    readFileSync(join(cluster.folder, "node-1", "nats.log"), "utf8").split("Reloaded").length;
  const before = reloads();
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(from, to));
  await cluster.kill(1, "SIGHUP");
  await until("the server has read it", () => reloads() > before);
}

async function maxAgeDays(cluster: ClusterRig): Promise<number> {
  const [, , monitor] = readFileSync(join(cluster.folder, "ports"), "utf8").trim().split(" ");
  const answer = await fetch(`http://127.0.0.1:${monitor}/jsz?accounts=1&streams=1&config=1`);
  const age = /"max_age": (\d+)/.exec(await answer.text())?.[1];
  return Number(age) / 86_400_000_000_000;
}

function record(device: string, seq: number) {
  return { device, epoch: 1, seq, bytes: randomBytes(50) };
}
