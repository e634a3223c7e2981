/**
 * Who is at the other end of a connection to the local API, as the kernel tells it. It hides how a socket option
 * is read from Node (through koffi, which is optional) and promises that whoever is not the owner or root is
 * refused; where the kernel cannot be asked, the modes of the socket and its folder are what keeps others out.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "../log.ts";
import { loadKoffi } from "./koffi.ts";
import { loadFindSocket } from "./sock-diag.ts";
import { readTcpPeer } from "./tcp-peer.ts";

/** The process that connected. `pid` is null where the system does not say. */
export interface Peer {
  readonly uid: number;
  readonly pid: number | null;
}

/** The peer of a connected socket; null when it cannot be told, `ended` when it has gone before it was looked at. */
export type ReadPeer = (socket: Socket) => Peer | "ended" | null;

export interface PeerGuard {
  /** Whether the other end may ask. Looks once per connection, and logs root and whoever is refused. */
  readonly admits: (socket: Socket) => boolean;
}

/** Answers for every peer what the modes of the folder decided already. */
const OPEN_GUARD: PeerGuard = { admits: () => true };

/** Peers of these many processes are remembered, so that one that asks each second is logged once. */
const MAX_LOGGED = 64;

/** Looks at each connection of a server. Without koffi it admits everyone whom the modes let through. */
export function createPeerGuard(log: Log): PeerGuard {
  const read = loadReadPeer();
  return read === null ? OPEN_GUARD : createGuard("local api", read, log);
}

/** Looks at each connection to a port of the loopback, on Linux. `name` is the server's, for the log. */
export function createTcpPeerGuard(name: string, log: Log): PeerGuard {
  const find = loadFindSocket();
  const read: ReadPeer = (socket) => {
    const peer = readTcpPeer(socket, find);
    return peer === null || peer === "ended" ? peer : { uid: peer.uid, pid: null };
  };
  return process.platform === "linux" ? createGuard(name, read, log) : OPEN_GUARD;
}

function createGuard(name: string, read: ReadPeer, log: Log): PeerGuard {
  const own = process.getuid?.();
  if (own === undefined) return OPEN_GUARD;
  const admitted = new WeakMap<Socket, boolean>();
  const logged = new Set<string>();
  const logOnce = (message: string, peer: Peer): void => {
    const key = `${peer.uid} ${peer.pid} ${message}`;
    if (logged.has(key)) return;
    if (logged.size >= MAX_LOGGED) logged.clear();
    logged.add(key);
    log.warn(message, { uid: peer.uid, pid: peer.pid });
  };
  const look = (socket: Socket): boolean => {
    const peer = read(socket);
    if (peer === "ended") return false;
    // Nothing is known of it: the modes stand.
    if (peer === null || peer.uid === own) return true;
    if (peer.uid === 0) {
      logOnce(`${name}: root asked`, peer);
      return true;
    }
    logOnce(`${name}: another user was refused`, peer);
    return false;
  };
  return {
    admits: (socket) => {
      const known = admitted.get(socket);
      if (known !== undefined) return known;
      const answer = look(socket);
      admitted.set(socket, answer);
      return answer;
    },
  };
}

/** Why peers cannot be told, or that they can. */
export type PeerProbe = "told" | "koffi-absent" | "untold" | "untried";

/** Tries it on a connection with ourselves: the kernel must name this very process. */
export async function probePeers(): Promise<PeerProbe> {
  if (!hasKoffi()) return "koffi-absent";
  const read = loadReadPeer();
  if (read === null) return "untold";
  let folder: string;
  try {
    folder = mkdtempSync(join(tmpdir(), "activityd-peer-"));
  } catch {
    // A full disk, or no such folder: nothing is known of peers.
    return "untried";
  }
  try {
    return await new Promise((resolve) => {
      const path = join(folder, "s");
      const server = createServer((socket) => {
        const peer = read(socket);
        const isMe =
          peer !== null &&
          peer !== "ended" &&
          peer.uid === process.getuid?.() &&
          (peer.pid === null || peer.pid === process.pid);
        socket.destroy();
        server.close(() => resolve(isMe ? "told" : "untold"));
      });
      server.once("error", () => resolve("untold"));
      server.listen(path, () =>
        connect(path)
          .on("error", () => {})
          .resume(),
      );
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hasKoffi(): boolean {
  try {
    loadKoffi();
    return true;
  } catch {
    // An optional dependency that was left out, or has no binary for this machine.
    return false;
  }
}

/** Null where koffi is absent or the platform has no way we know. */
function loadReadPeer(): ReadPeer | null {
  try {
    if (process.platform === "linux") return loadLinux();
    if (process.platform === "darwin") return loadDarwin();
    return null;
  } catch {
    // koffi or the C library is not there: the modes decide, and `doctor` says so.
    return null;
  }
}

/**
 * The C library that Node itself uses, whichever it is.
 *
 * @see unix(7): `struct ucred {pid_t pid; uid_t uid; gid_t gid}`, as it was when the peer connected
 */
function loadLinux(): ReadPeer {
  const getsockopt: unknown = loadKoffi()
    .load(null)
    .func("int getsockopt(int fd, int level, int name, void *value, _Inout_ uint32_t *size)");
  if (typeof getsockopt !== "function") throw new TypeError("koffi gave no function");
  const SOL_SOCKET = 1;
  const SO_PEERCRED = 17;
  return (socket) => {
    const fd = descriptorOf(socket);
    if (fd === null) return null;
    const credentials = Buffer.alloc(12);
    const failed: unknown = Reflect.apply(getsockopt, null, [
      fd,
      SOL_SOCKET,
      SO_PEERCRED,
      credentials,
      [credentials.byteLength],
    ]);
    if (failed !== 0) return null;
    return { pid: credentials.readInt32LE(0), uid: credentials.readUInt32LE(4) };
  };
}

/** @see getpeereid(3). Written to Apple's documentation; not run on a Mac. */
function loadDarwin(): ReadPeer {
  const getpeereid: unknown = loadKoffi()
    .load(null)
    .func("int getpeereid(int fd, _Out_ uint32_t *uid, _Out_ uint32_t *gid)");
  if (typeof getpeereid !== "function") throw new TypeError("koffi gave no function");
  return (socket) => {
    const fd = descriptorOf(socket);
    if (fd === null) return null;
    const uid = [0];
    const failed: unknown = Reflect.apply(getpeereid, null, [fd, uid, [0]]);
    return failed === 0 ? { uid: uid[0] ?? 0, pid: null } : null;
  };
}

/** `_handle.fd` is not documented: it is looked for, and what has none is nobody we can ask about. */
function descriptorOf(socket: Socket): number | null {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (typeof handle !== "object" || handle === null || !("fd" in handle)) return null;
  return typeof handle.fd === "number" && handle.fd >= 0 ? handle.fd : null;
}
