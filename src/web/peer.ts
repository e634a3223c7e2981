/**
 * Which user is at the other end of a connection to this machine's own address, as the kernel tells it. It promises to
 * name a user only where the kernel does, and costs one look at two files a connection.
 */
import { readFileSync } from "node:fs";

/** Both ends of a connection, seen from ours. */
export interface ConnectionEnds {
  readonly localPort: number;
  readonly remotePort: number;
}

/**
 * The user id of the other end; null where it cannot be told: on other systems than Linux, or when the connection is over.
 *
 * @see proc_pid_net(5): /proc/net/tcp, with the user that made each socket
 */
export function readTcpPeer(ends: ConnectionEnds): number | null {
  for (const file of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const uid = findPeer(readTextIfThere(file), ends);
    if (uid !== null) return uid;
  }
  return null;
}

/** The row whose local end is the other's: it speaks to our port from its own. */
export function findPeer(table: string, { localPort, remotePort }: ConnectionEnds): number | null {
  for (const line of table.split("\n")) {
    const [, local = "", remote = "", , , , , uid = ""] = line.trim().split(/\s+/);
    if (!isLoopback(local) || !isLoopback(remote)) continue;
    if (portOf(local) !== remotePort || portOf(remote) !== localPort) continue;
    return /^\d+$/.test(uid) ? Number(uid) : null;
  }
  return null;
}

/** 127.0.0.1 as the kernel writes it on machines of either byte order, and mapped into IPv6. */
function isLoopback(end: string): boolean {
  return /^(?:0{16}(?:FFFF0000|0000FFFF))?(?:0100007F|7F000001):/.test(end);
}

function portOf(end: string): number {
  return Number.parseInt(end.split(":")[1] ?? "", 16);
}

function readTextIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // Another system, or a kernel without IPv6.
    return "";
  }
}
