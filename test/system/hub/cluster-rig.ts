/**
 * A hub of real nats-servers for a system test: the one that `scripts/hub-up` makes, in a folder of its own. It kills,
 * freezes and restarts exactly its own servers, by their process ids.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { systemClock } from "../../../src/clock.ts";
import type { HubDriver, HubSettings } from "../../../src/hub/driver.ts";
import { openNatsDriver } from "../../../src/hub/nats.ts";
import { silentLog } from "../../../src/log.ts";
import { filesBelow } from "../../helpers/files-below.ts";
import { until } from "../../helpers/until.ts";
import type { Namespaces } from "./namespaces.ts";

const HUB_UP = fileURLToPath(new URL("../../../scripts/hub-up", import.meta.url));
const run = promisify(execFile);

/** As on a machine whose way out is a proxy: it knows nothing of the servers, which are on this machine. */
const BEHIND_PROXY = {
  ...process.env,
  http_proxy: "http://127.0.0.1:9",
  no_proxy: "",
  NO_PROXY: "",
};

/** Servers are counted from 1. */
export interface ClusterRig {
  readonly folder: string;
  /** Runs `scripts/hub-up` on this hub and gives what it says on stdout: `--device NAME`, or nothing to start what fell. */
  readonly hubUp: (...args: readonly string[]) => Promise<string>;
  /** The `[hub]` table of a device that `hub-up --device NAME` made a key for. */
  readonly settings: (name: string, changes?: Partial<HubSettings>) => HubSettings;
  /** A driver of `device` with the key `name`. */
  readonly open: (
    name: string,
    device: string,
    options?: { readonly hub?: string; readonly settings?: Partial<HubSettings> },
  ) => Promise<HubDriver>;
  /** The server that leads the stream, once there is one. */
  readonly leader: () => Promise<number>;
  /** The server that leads the cluster itself, and with it the making of streams and consumers. */
  readonly metaLeader: () => Promise<number>;
  readonly kill: (server: number, signal: NodeJS.Signals) => Promise<void>;
  /** Everything that lies on the servers' disks, for a search. */
  readonly readFiles: () => readonly Buffer[];
  readonly close: () => Promise<void>;
}

export interface ClusterOptions {
  /** Options of `scripts/hub-up`, such as `--servers 1`. */
  readonly args?: readonly string[];
  /** Lays something in the folder before the servers start; what it gives is done after they stopped. */
  readonly prepare?: (folder: string) => Promise<() => Promise<void>>;
  /** Where the servers run, when a test wants to part them. */
  readonly openNamespaces?: (folder: string) => Promise<Namespaces>;
}

export async function openCluster(options: ClusterOptions = {}): Promise<ClusterRig> {
  const folder = mkdtempSync(join(tmpdir(), "activityd-hub-"));
  const opened: HubDriver[] = [];
  const namespaces = (await options.openNamespaces?.(folder)) ?? null;
  const args = [
    ...(options.args ?? []),
    ...(namespaces === null ? [] : ["--namespaces", namespaces.prefix]),
  ];
  const hubUp = async (...more: readonly string[]): Promise<string> => {
    const { stdout } = await run(HUB_UP, ["--folder", folder, ...args, ...more], {
      env: BEHIND_PROXY,
    });
    return stdout;
  };
  const undo = (await options.prepare?.(folder)) ?? (async () => {});

  const kill: ClusterRig["kill"] = async (server, signal) => {
    const pid = Number(readFileSync(join(folder, `node-${server}`, "nats.pid"), "utf8"));
    process.kill(pid, signal);
    if (signal === "SIGKILL") await until("the server is gone", () => !existsSync(`/proc/${pid}`));
  };
  const end = async (): Promise<void> => {
    // Nothing of theirs is kept: a server whose disk is full takes ten seconds to end in peace.
    for (const name of readdirSync(folder)) {
      if (name.startsWith("node-")) await kill(Number(name.slice(5)), "SIGKILL").catch(() => {});
    }
    await namespaces?.close();
    await undo();
    rmSync(folder, { recursive: true, force: true });
  };

  try {
    await hubUp();
  } catch (thrown) {
    // Some of them may run.
    await end();
    throw thrown;
  }
  const ports = await readPorts(folder, namespaces);

  /** The first server's answer that is one. */
  async function askAll(read: (status: string) => number | null): Promise<number | null> {
    for (const { monitor } of ports) {
      const number = await readStatus(monitor).then(read, () => null);
      if (number !== null) return number;
    }
    return null;
  }

  const settings: ClusterRig["settings"] = (name, changes = {}) => ({
    driver: "nats",
    folder: "",
    servers: ports.map(({ client }) => `tls://127.0.0.1:${client}`),
    credentials_file: join(folder, "devices", `${name}.nk`),
    ca_file: join(folder, "ca.pem"),
    keep_days: 30,
    ...changes,
  });

  return {
    folder,
    hubUp,
    settings,
    open: async (name, device, options = {}) => {
      if (!existsSync(join(folder, "devices", `${name}.nk`))) await hubUp("--device", name);
      const driver = await openNatsDriver({
        hub: options.hub ?? HUB_ID,
        device,
        settings: settings(name, options.settings),
        clock: systemClock,
        log: { ...silentLog, warn: print, error: print },
      });
      opened.push(driver);
      return driver;
    },
    leader: async () => until("the stream has a leader", async () => askAll(readLeader)),
    metaLeader: async () => until("the cluster has a leader", async () => askAll(readMetaLeader)),
    kill,
    readFiles: () => filesBelow(folder).map(({ bytes }) => bytes),
    close: async () => {
      await Promise.all(opened.map(async (driver) => driver.close()));
      await end();
    },
  };
}

/** What goes wrong with a cluster seldom comes again when it is looked for. That servers fall is what tests are about. */
function print(line: string, fields: object = {}): void {
  if (line === "hub: not connected") return;
  process.stdout.write(`${line} ${JSON.stringify(fields)}\n`);
}

const HUB_ID = "c0".repeat(16);

/** The ports through which the test reaches each server's clients' side and its monitor. */
async function readPorts(
  folder: string,
  namespaces: Namespaces | null,
): Promise<readonly { readonly client: number; readonly monitor: number }[]> {
  const lines = readFileSync(join(folder, "ports"), "utf8").trim().split("\n");
  return Promise.all(
    lines.map(async (line, index) => {
      const [client = 0, , monitor = 0] = line.split(" ").map(Number);
      if (namespaces === null) return { client, monitor };
      return {
        client: await namespaces.forward(index + 1, client),
        monitor: await namespaces.forward(index + 1, monitor),
      };
    }),
  );
}

/** What a server's monitor tells of JetStream. */
async function readStatus(monitor: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${monitor}/jsz?accounts=1&streams=1`, {
    signal: AbortSignal.timeout(1_000),
  });
  return answer.text();
}

/** The number of the server that leads the stream; null when this one knows of none. */
function readLeader(status: string): number | null {
  return toNumber(/"leader": "hub-(\d)"/.exec(status.split('"stream_detail"')[1] ?? ""));
}

function readMetaLeader(status: string): number | null {
  return toNumber(/"meta_cluster": \{[^}]*"leader": "hub-(\d)"/s.exec(status));
}

function toNumber(found: RegExpExecArray | null): number | null {
  return found === null ? null : Number(found[1]);
}
