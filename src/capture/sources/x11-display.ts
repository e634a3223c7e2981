/**
 * The way to an X display: what `DISPLAY` names and the cookie that opens it. Nothing else is tried: a
 * display that was not named is not the owner's.
 */
import { readdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import type { SourceContext } from "./source.ts";

const SOCKET_FOLDER = "/tmp/.X11-unix";

/** Where the server of a display listens. */
export interface DisplayAddress {
  /** Path of the Unix socket, or null when the display is on a host. */
  readonly socketPath: string | null;
  readonly host: string;
  readonly number: string;
}

/** `[unix|host]:number[.screen]`, see X(7) "DISPLAY NAMES". Null when it is none. */
export function parseDisplay(display: string): DisplayAddress | null {
  const match = /^(?:unix\/?(?=:))?([^:/]*):(\d+)(?:\.\d+)?$/.exec(display);
  const [, host, number] = match ?? [];
  if (host === undefined || number === undefined) return null;
  const local = host === "";
  return { socketPath: local ? `${SOCKET_FOLDER}/X${number}` : null, host, number };
}

/**
 * The displays of this machine whose server listens, such as ":0"; one that crashed leaves its socket behind. They are
 * named to the owner, and nothing is asked of them.
 */
export async function listLocalDisplays(folder = SOCKET_FOLDER): Promise<readonly string[]> {
  // No such folder: no X server ever ran here.
  const names = await readdir(folder).catch(() => []);
  const numbers = names.flatMap((name) => /^X(\d+)$/.exec(name)?.[1] ?? []);
  const listening = await Promise.all(
    numbers.map((number) => isListening(path.join(folder, `X${number}`))),
  );
  return numbers
    .filter((_, at) => listening[at])
    .toSorted((a, b) => Number(a) - Number(b))
    .map((number) => `:${number}`);
}

/** Whether somebody takes connections there; the kernel says so at once, also for a server that hangs. */
function isListening(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socketPath);
    const settle = (answer: boolean): void => {
      probe.destroy();
      resolve(answer);
    };
    probe.once("connect", () => settle(true));
    probe.once("error", () => settle(false));
  });
}

/** What is shown to the server to be let in. */
export interface Cookie {
  readonly name: string;
  readonly data: string;
}

const FAMILY_LOCAL = 256;
const FAMILY_WILD = 65_535;

/**
 * The cookie for a display from the Xauthority file (Xau(3)); an empty one when there is none, since many
 * servers let local clients in without. Read here because the library prints to the console and looks at
 * the variables of the process only.
 */
export async function readCookie(
  address: DisplayAddress,
  env: SourceContext["env"],
): Promise<Cookie> {
  const file = env["XAUTHORITY"] ?? path.join(env["HOME"] ?? os.homedir(), ".Xauthority");
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch {
    // No file is the ordinary case of a server without access control.
    return { name: "", data: "" };
  }
  const host = os.hostname();
  for (const entry of parseXauthority(bytes)) {
    const isHost =
      entry.family === FAMILY_WILD || (entry.family === FAMILY_LOCAL && entry.address === host);
    const isDisplay = entry.display === "" || entry.display === address.number;
    if (isHost && isDisplay) return { name: entry.name, data: entry.data };
  }
  return { name: "", data: "" };
}

/** Entries of big-endian fields: family, then address, display, name and data, each after its length. */
function* parseXauthority(
  bytes: Buffer,
): Generator<
  Cookie & { readonly family: number; readonly address: string; readonly display: string }
> {
  let at = 0;
  const field = (): string | null => {
    if (at + 2 > bytes.length) return null;
    const length = bytes.readUInt16BE(at);
    const end = at + 2 + length;
    if (end > bytes.length) return null;
    const text = bytes.toString("latin1", at + 2, end);
    at = end;
    return text;
  };
  while (at + 2 <= bytes.length) {
    const family = bytes.readUInt16BE(at);
    at += 2;
    const [address, display, name, data] = [field(), field(), field(), field()];
    // A file cut short ends here; what was whole has been given.
    if (address === null || display === null || name === null || data === null) return;
    yield { family, address, display, name, data };
  }
}
