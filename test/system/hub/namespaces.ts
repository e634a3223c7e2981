/**
 * Network namespaces for servers that a test wants to part: each server sees the others through a switch of its own
 * and is reached from the test through a Unix socket, so that nothing leaves this machine. It needs the right to make
 * namespaces and takes away exactly what it made.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "../../helpers/until.ts";
import { createProcesses } from "../processes.ts";

const run = promisify(execFile);

export interface Namespaces {
  /** Server N runs in the namespace `prefix-N` and is 10.77.0.N there. */
  readonly prefix: string;
  /** Takes a server's cable out, or puts it back. Its clients still reach it. */
  readonly part: (server: number) => Promise<void>;
  readonly join: (server: number) => Promise<void>;
  /** The port on loopback that leads to `port` on the loopback of a server's namespace. */
  readonly forward: (server: number, port: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** Pipes every connection of a Unix socket to a port of the namespace it runs in. */
const FORWARDER = `
const { createServer, connect } = require("node:net");
const [path, port] = process.argv.slice(1);
createServer((here) => {
  const there = connect(Number(port), "127.0.0.1");
  for (const [a, b] of [[here, there], [there, here]]) {
    a.pipe(b);
    a.once("error", () => b.destroy());
    a.once("close", () => b.destroy());
  }
}).listen(path);
`;

export async function openNamespaces(folder: string, count: number): Promise<Namespaces> {
  const prefix = `hub${process.pid}-${Math.floor(Math.random() * 10_000)}`;
  const hub = `${prefix}-switch`;
  const all = Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
  const made: string[] = [];
  const processes = createProcesses();
  const servers: Server[] = [];
  const sockets = new Set<Socket>();

  const ip = async (...args: readonly string[]): Promise<void> => {
    try {
      await run("ip", [...args]);
    } catch (cause) {
      throw new Error(
        `ip ${args.join(" ")} failed: this test makes network namespaces and needs root (or CAP_SYS_ADMIN and CAP_NET_ADMIN) and iproute2`,
        { cause },
      );
    }
  };

  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
    await processes.close();
    for (const name of made) await ip("netns", "del", name);
  };

  try {
    for (const name of [hub, ...all]) {
      await ip("netns", "add", name);
      made.push(name);
      await ip("-n", name, "link", "set", "lo", "up");
    }
    await ip("-n", hub, "link", "add", "bridge", "type", "bridge");
    await ip("-n", hub, "link", "set", "bridge", "up");
    for (const [index, name] of all.entries()) {
      const number = index + 1;
      const cable = `port${number}`;
      await ip(
        "-n",
        hub,
        "link",
        "add",
        cable,
        "type",
        "veth",
        "peer",
        "name",
        "eth0",
        "netns",
        name,
      );
      await ip("-n", hub, "link", "set", cable, "master", "bridge", "up");
      await ip("-n", name, "addr", "add", `10.77.0.${number}/24`, "dev", "eth0");
      await ip("-n", name, "link", "set", "eth0", "up");
    }
  } catch (thrown) {
    await close();
    throw thrown;
  }

  return {
    prefix,
    part: async (server) => ip("-n", hub, "link", "set", `port${server}`, "down"),
    join: async (server) => ip("-n", hub, "link", "set", `port${server}`, "up"),
    forward: async (server, port) => {
      const path = join(folder, `${server}-${port}.sock`);
      const args = ["netns", "exec", `${prefix}-${server}`, process.execPath, "-e", FORWARDER];
      processes.start("ip", [...args, path, String(port)]);
      await until("the way into the namespace is open", () => existsSync(path));
      const entry = createServer((here) => {
        const there = connect(path);
        for (const [a, b] of [[here, there] as const, [there, here] as const]) {
          sockets.add(a);
          a.pipe(b);
          a.once("error", () => b.destroy());
          a.once("close", () => {
            sockets.delete(a);
            b.destroy();
          });
        }
      });
      servers.push(entry);
      await new Promise<void>((resolve) => {
        entry.listen(0, "127.0.0.1", resolve);
      });
      const address = entry.address();
      if (address === null || typeof address === "string") throw new Error("no port");
      return address.port;
    },
    close,
  };
}
