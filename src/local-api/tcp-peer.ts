/**
 * Who is at the other end of a TCP connection within this machine: another user can reach a port that listens on the
 * loopback, which no mode of a file keeps closed. It hides Linux' table of sockets and promises to say so where that
 * says nothing.
 *
 * @see proc_net_tcp of the kernel's Documentation/networking
 */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { endianness } from "node:os";

/** The user of the other end; `ended`: it has closed its own, which whoever it was did; null: nothing is known. */
export type TcpPeer = { readonly uid: number } | "ended" | null;

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"] as const;
const ESTABLISHED = "01";

/** Reads the table: some tenths of a millisecond, so once for each connection. */
export function readTcpPeer(socket: Socket): TcpPeer {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  if (remoteAddress === undefined || remotePort === undefined) return "ended";
  if (localAddress === undefined || localPort === undefined) return "ended";
  const [from, to] = [
    writeAddress(remoteAddress, remotePort),
    writeAddress(localAddress, localPort),
  ];
  if (from === null || to === null) return null;
  for (const path of TABLES) {
    try {
      const peer = findPeer(readFileSync(path, "latin1"), from, to);
      if (peer !== null) return peer;
    } catch {
      // Not Linux, or no IPv6: the other table, or nothing, tells.
    }
  }
  // Such as a program on the Windows that this Linux runs in.
  return null;
}

/**
 * The row of a table that is the other end of a connection: `from` is its address as the table writes it, `to` that of
 * ours. Of what has closed its end the table keeps the addresses and calls it root's.
 */
function findPeer(table: string, from: string, to: string): TcpPeer {
  // Thousands of rows are common where much goes over the network: only those that name the address are taken apart.
  for (let at = table.indexOf(from); at !== -1; at = table.indexOf(from, at + 1)) {
    const line = table.slice(table.lastIndexOf("\n", at) + 1, endOfLine(table, at));
    const [, local = "", remote = "", state, , , , uid] = line.trim().split(/\s+/);
    if (!local.endsWith(from) || !remote.endsWith(to)) continue;
    if (!/^\d+$/.test(uid ?? "")) return null;
    return uid === "0" && state !== ESTABLISHED ? "ended" : { uid: Number(uid) };
  }
  return null;
}

function endOfLine(table: string, at: number): number {
  const end = table.indexOf("\n", at);
  return end === -1 ? table.length : end;
}

/**
 * An IPv4 address with its port as both tables end with it: bytes as the processor has them. Null for what is none, or
 * where that order was not tried.
 */
function writeAddress(address: string, port: number): string | null {
  const bytes = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)?.slice(1).map(Number);
  if (bytes === undefined || endianness() !== "LE") return null;
  return `${bytes
    .toReversed()
    .map((byte) => hex(byte, 2))
    .join("")}${writePort(port)}`;
}

function writePort(port: number): string {
  return `:${hex(port, 4)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}
