/**
 * Who is at the other end of a TCP connection within this machine: another user can reach a port that listens on the
 * loopback, which no mode of a file keeps closed. It hides the two ways in which Linux tells it, and promises to say so
 * where neither says anything.
 *
 * @see proc_net_tcp of the kernel's Documentation/networking
 */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { endianness } from "node:os";
import type { Endpoint, FindSocket } from "./sock-diag.ts";

/** The user of the other end; `ended`: it has closed its own, which whoever it was did; null: nothing is known. */
export type TcpPeer = { readonly uid: number } | "ended" | null;

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"] as const;
const ESTABLISHED = "01";

/**
 * Asks the kernel by `find`, and reads its table where that is null or names nobody: some milliseconds on a large
 * machine. Once for each connection.
 */
export function readTcpPeer(socket: Socket, find: FindSocket | null): TcpPeer {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  if (remoteAddress === undefined || remotePort === undefined) return "ended";
  if (localAddress === undefined || localPort === undefined) return "ended";
  const [from, to] = [
    readEndpoint(remoteAddress, remotePort),
    readEndpoint(localAddress, localPort),
  ];
  if (from === null || to === null) return null;
  const found = find?.(from, to) ?? null;
  if (found !== null) return judge(found.uid, found.isEstablished);
  // As the table writes them, in an order of bytes that was tried.
  if (endianness() !== "LE") return null;
  for (const path of TABLES) {
    try {
      const peer = findPeer(readFileSync(path, "latin1"), write(from), write(to));
      if (peer !== null) return peer;
    } catch {
      // Not Linux, or no IPv6: the other table, or nothing, tells.
    }
  }
  // Such as a program on the Windows that this Linux runs in.
  return null;
}

/** Of what has closed its end the kernel keeps the addresses and calls it root's. */
function judge(uid: number, isEstablished: boolean): TcpPeer {
  return uid === 0 && !isEstablished ? "ended" : { uid };
}

/** The row of a table that is the other end of a connection: `from` is its address, `to` that of ours. */
function findPeer(table: string, from: string, to: string): TcpPeer {
  // Thousands of rows are common where much goes over the network: only those that name the address are taken apart.
  for (let at = table.indexOf(from); at !== -1; at = table.indexOf(from, at + 1)) {
    const line = table.slice(table.lastIndexOf("\n", at) + 1, endOfLine(table, at));
    const [, local = "", remote = "", state, , , , uid] = line.trim().split(/\s+/);
    if (!local.endsWith(from) || !remote.endsWith(to)) continue;
    if (!/^\d+$/.test(uid ?? "")) return null;
    return judge(Number(uid), state === ESTABLISHED);
  }
  return null;
}

function endOfLine(table: string, at: number): number {
  const end = table.indexOf("\n", at);
  return end === -1 ? table.length : end;
}

/** Null for what is no IPv4 address, nor one in the form of IPv6. */
function readEndpoint(address: string, port: number): Endpoint | null {
  const bytes = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)?.slice(1).map(Number);
  return bytes === undefined ? null : { address: bytes, port };
}

/** As both tables end with it: bytes as the processor has them. */
function write({ address, port }: Endpoint): string {
  const bytes = address.toReversed().map((byte) => hex(byte, 2));
  return `${bytes.join("")}:${hex(port, 4)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}
