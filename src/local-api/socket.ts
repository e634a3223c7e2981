/**
 * Where the socket lives and who may reach it. It promises that the path is short enough for the kernel,
 * that only the owner can open it, and that a socket somebody still answers on is never taken away.
 */
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { connect, type Server } from "node:net";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ActivityError, shellWord } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `FileDescriptorName` of the unit that holds the port of ActivityWatch's watchers. */
export const ACTIVITYWATCH_SOCKET = "activitywatch";

/**
 * The socket that systemd opened for this process (sd_listen_fds_with_names(3)) under a name, or null. Without a
 * name it is the first of those that are none of our named ones: that of the local API.
 */
export function inheritedSocketFd(
  env: Environment,
  pid: number,
  name: typeof ACTIVITYWATCH_SOCKET | null = null,
): number | null {
  const count = Number(env["LISTEN_FDS"]);
  if (env["LISTEN_PID"] !== String(pid) || !(count >= 1)) return null;
  const names = (env["LISTEN_FDNAMES"] ?? "").split(":");
  for (let at = 0; at < count; at += 1) {
    const isNamed = names[at] === ACTIVITYWATCH_SOCKET;
    if (isNamed === (name !== null)) return FIRST_INHERITED_FD + at;
  }
  return null;
}

/** SD_LISTEN_FDS_START. */
const FIRST_INHERITED_FD = 3;

/**
 * Makes `server` listen on `path`, readable and writable by the owner alone. The directory is made when it is
 * absent; a socket that nobody answers on is replaced.
 *
 * @throws ActivityError `platform_unsupported`, `socket_path_too_long`, `socket_unsafe`, `socket_in_use`
 */
export async function listenPrivately(
  server: Server,
  path: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  if (platform === "win32") {
    throw new ActivityError(
      "platform_unsupported",
      "The local API needs a Unix socket, and on Windows there is none that is closed to other users.",
      "Run activityd inside WSL, or on Linux or macOS.",
    );
  }
  requireShortPath(path);
  requirePrivateDirectory(dirname(path));
  await removeDeadSocket(path);
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error): void => {
      const inUse = "code" in cause && cause.code === "EADDRINUSE";
      reject(inUse ? socketInUse(path, cause) : cannotMake(path, cause));
    };
    server.once("error", fail);
    server.listen(path, () => {
      server.off("error", fail);
      resolve();
    });
  });
  // The directory already keeps everybody else out, so there is no moment in which the socket is open to them.
  chmodSync(path, 0o600);
  const { mode } = lstatSync(path);
  if ((mode & 0o777) !== 0o600) {
    server.close();
    throw new ActivityError(
      "socket_unsafe",
      `Cannot make ${path} private: its mode stays ${octal(mode)}.`,
      "Choose a directory on a file system that keeps modes, with ACTIVITYD_SOCKET.",
    );
  }
}

/** sun_path of unix(7) holds 108 bytes with its final zero, 104 on macOS. Node cuts a longer path without a word. */
function requireShortPath(path: string): void {
  const maxBytes = process.platform === "darwin" ? 103 : 107;
  const bytes = Buffer.byteLength(path);
  if (bytes <= maxBytes) return;
  throw new ActivityError(
    "socket_path_too_long",
    `The socket path ${path} has ${bytes} bytes; the system allows ${maxBytes}.`,
    "Choose a shorter one: ACTIVITYD_SOCKET=/run/user/$UID/activityd/activityd.sock",
  );
}

function requirePrivateDirectory(directory: string): void {
  try {
    makeFolder(directory);
  } catch (cause) {
    // Something that is no directory stands there: told below, with more sense than EEXIST has.
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code !== "EEXIST") throw cannotMake(directory, cause);
  }
  const stat = lstatSync(directory);
  if (!stat.isDirectory()) {
    throw new ActivityError(
      "socket_unsafe",
      `The socket's directory ${directory} is not a directory but a link or a file.`,
      `Remove it, or choose another with ACTIVITYD_SOCKET.`,
    );
  }
  const uid = process.getuid?.() ?? stat.uid;
  if (stat.uid !== uid) {
    throw new ActivityError(
      "socket_unsafe",
      `The socket's directory ${directory} belongs to user ${stat.uid}, not to you (${uid}).`,
      `Choose a directory of your own with ACTIVITYD_SOCKET.`,
    );
  }
  if ((stat.mode & 0o077) !== 0) {
    throw new ActivityError(
      "socket_unsafe",
      `The socket's directory ${directory} is open to other users (mode ${octal(stat.mode)}).`,
      // One that everybody may write in, such as /tmp, is there for them.
      (stat.mode & 0o002) === 0
        ? `Close it with: chmod 700 ${shellWord(directory)}`
        : "Choose a directory of your own with ACTIVITYD_SOCKET.",
    );
  }
}

async function removeDeadSocket(path: string): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isSocket()) {
    throw new ActivityError(
      "socket_unsafe",
      `Cannot listen on ${path}: something that is not a socket is there.`,
      "Move it away, or choose another path with ACTIVITYD_SOCKET.",
    );
  }
  if (await isAnswered(path)) throw socketInUse(path);
  rmSync(path, { force: true });
}

/**
 * Whether somebody answers on a socket. A killed daemon's takes connections for as long as the system needs to put
 * the process away, and then drops them: a connection alone proves nothing, so something is asked. Only a refusal
 * (or its disappearance) proves that nobody listens; one that keeps silent is left alone.
 */
async function isAnswered(path: string): Promise<boolean> {
  const patience = AbortSignal.timeout(ANSWER_WITHIN_MS);
  for (;;) {
    const found = await probe(path, patience);
    if (found !== "dropped") return found === "answered";
    await setTimeout(TRY_AGAIN_MS);
    if (patience.aborted) return true;
  }
}

/** Resolves to `answered` also when nothing came in time. */
function probe(path: string, patience: AbortSignal): Promise<"answered" | "dropped" | "nobody"> {
  return new Promise((resolve) => {
    const connection = connect(path);
    const settle = (found: "answered" | "dropped" | "nobody"): void => {
      patience.removeEventListener("abort", giveUp);
      connection.destroy();
      resolve(found);
    };
    const giveUp = (): void => settle("answered");
    patience.addEventListener("abort", giveUp);
    connection.once("connect", () => connection.write(QUESTION));
    connection.once("data", () => settle("answered"));
    connection.once("close", () => settle("dropped"));
    connection.once("error", (error) => {
      const code = "code" in error ? error.code : undefined;
      if (code === "ECONNREFUSED" || code === "ENOENT") settle("nobody");
      else settle(code === "ECONNRESET" || code === "EPIPE" ? "dropped" : "answered");
    });
  });
}

/** RFC 9112: any server of HTTP says something to this. */
const QUESTION = "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
/** A system that is busy puts away a large process within these. */
const ANSWER_WITHIN_MS = 1_000;
const TRY_AGAIN_MS = 10;

function socketInUse(path: string, cause?: unknown): ActivityError {
  return new ActivityError(
    "socket_in_use",
    `Cannot listen on ${path}: another daemon answers there.`,
    "Stop it with: activityd stop",
    { cause },
  );
}

function cannotMake(path: string, cause: unknown): ActivityError {
  const reason = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
  return new ActivityError(
    "socket_unsafe",
    `Cannot make ${path}: ${reason}.`,
    "Choose another place with ACTIVITYD_SOCKET.",
    { cause },
  );
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}
