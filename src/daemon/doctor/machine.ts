/**
 * What doctor asks of the machine beside files and the socket, behind one port, so that a full disk, a Mac or a
 * crash loop can be put before it. It promises never to wait long for an answer.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, statfsSync } from "node:fs";
import { probePeers, type PeerProbe } from "../../local-api/peer.ts";
import { readSqliteVersion } from "../../store/sqlite.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Environment;
  /** Null where users have no number. */
  readonly uid: number | null;
  /** The folder of a user's login, as pam_systemd(8) makes it; it need not be there. */
  readonly runtimeFolder: (uid: number) => string;
  /** Such as "20.19.4". */
  readonly nodeVersion: string;
  readonly nowUs: () => number;
  readonly sqliteVersion: () => string;
  /** The room on the disk that holds `path`, in bytes; null when it cannot be told. */
  readonly space: (
    path: string,
  ) => { readonly freeBytes: number; readonly totalBytes: number } | null;
  /** What a program printed, or null when it is not there, failed or took too long. */
  readonly run: (program: string, args: readonly string[]) => string | null;
  /** The environment that a process of this user was started with; null when it cannot be read. */
  readonly environmentOf: (pid: number) => Environment | null;
  /** Whether the other end of a socket can be known here. */
  readonly probePeers: () => Promise<PeerProbe>;
  /** How long a daemon may take to answer. */
  readonly patienceMs: number;
}

const RUN_TIMEOUT_MS = 5_000;
const PATIENCE_MS = 5_000;

/** This machine, as `env` has it. */
export function openMachine(env: Environment): Machine {
  return {
    platform: process.platform,
    env,
    uid: process.getuid?.() ?? null,
    runtimeFolder: (uid) => `/run/user/${uid}`,
    nodeVersion: process.versions.node,
    nowUs: () => Date.now() * 1000,
    sqliteVersion: readSqliteVersion,
    space: (path) => {
      try {
        const { bavail, blocks, bsize } = statfsSync(path);
        return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
      } catch {
        // Not there, or on something that counts no blocks.
        return null;
      }
    },
    run: (program, args) => {
      const { status, stdout } = spawnSync(program, args, {
        env,
        encoding: "utf8",
        timeout: RUN_TIMEOUT_MS,
        stdio: ["ignore", "pipe", "ignore"],
      });
      return status === 0 ? stdout : null;
    },
    environmentOf: (pid) => {
      try {
        const pairs = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
        return Object.fromEntries(
          pairs.filter((pair) => pair.includes("=")).map((pair) => splitOnce(pair)),
        );
      } catch {
        // Gone, of another user, or a platform without /proc.
        return null;
      }
    },
    probePeers,
    patienceMs: PATIENCE_MS,
  };
}

function splitOnce(pair: string): [string, string] {
  const at = pair.indexOf("=");
  return [pair.slice(0, at), pair.slice(at + 1)];
}
