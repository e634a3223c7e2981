/**
 * Puts the extension of activityd into the owner's GNOME Shell. It hides the two forms that the versions of
 * the shell want, and promises to change nothing when all is in place already.
 *
 * https://gjs.guide/extensions/upgrading/gnome-shell-45.html
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { ActivityError } from "../errors.ts";
import { writeWhole } from "../whole-file.ts";

/** Name under which the shell knows the extension. */
export const GNOME_EXTENSION_ID = "focus@activityd";

/** Releases each form was written for; the installed one is added to its list. */
const SHELLS_BEFORE_45 = ["40", "41", "42", "43", "44"];
const SHELLS_FROM_45 = ["45", "46", "47", "48", "49", "50"];

const run = promisify(execFile);

export interface GnomeExtensionReport {
  readonly folder: string;
  /** Such as "43.9". */
  readonly shellVersion: string;
  /** False when the folder held exactly this before. */
  readonly written: boolean;
  /**
   * `already` and `now`: the shell will load it at the next login. `by-hand`: its list of extensions could
   * not be changed. `off`: the owner has switched all extensions off.
   */
  readonly enabled: "already" | "now" | "by-hand" | "off";
}

/**
 * Writes the form that the installed shell loads, and enables it. Throws `ActivityError`:
 * `platform_unsupported` when there is no GNOME Shell that could run it.
 */
export async function installGnomeExtension(
  env: Readonly<Record<string, string | undefined>>,
): Promise<GnomeExtensionReport> {
  const shellVersion = await readShellVersion(env);
  const files = await renderGnomeExtension(shellVersion);
  const folder = path.join(dataFolder(env), "gnome-shell", "extensions", GNOME_EXTENSION_ID);
  let written = false;
  for (const [name, content] of files) {
    if (await writeWhenDifferent(path.join(folder, name), content)) written = true;
  }
  return { folder, shellVersion, written, enabled: await enable(env) };
}

/** The files of the extension, by name, for a shell of this version. */
export async function renderGnomeExtension(
  shellVersion: string,
): Promise<ReadonlyMap<string, string>> {
  const major = Number.parseInt(shellVersion, 10);
  if (!(major >= 40)) {
    throw new ActivityError(
      "platform_unsupported",
      `GNOME Shell ${shellVersion} is older than 40, the oldest that the extension knows.`,
      "Use an X11 session, where no extension is needed.",
    );
  }
  const known = major >= 45 ? SHELLS_FROM_45 : SHELLS_BEFORE_45;
  const metadata = {
    uuid: GNOME_EXTENSION_ID,
    name: "Focus for activityd",
    description: "Tells activityd, on this machine alone, which window has the focus.",
    // A release newer than this list is tried all the same: what is used of the shell has not changed since 45.
    "shell-version": known.includes(String(major)) ? known : [...known, String(major)],
    // Without the second the shell takes the extension down at every lock of the screen.
    "session-modes": ["user", "unlock-dialog"],
  };
  const reporter = await readAsset("reporter.js");
  const shell = await readAsset(major >= 45 ? "shell-45.js" : "shell-44.js");
  return new Map([
    ["metadata.json", `${JSON.stringify(metadata, null, 2)}\n`],
    // A function, because a text would have its dollar signs replaced.
    ["extension.js", shell.replace("//{reporter}\n", () => reporter)],
  ]);
}

function readAsset(name: string): Promise<string> {
  return readFile(new URL(`../capture/sources/gnome-extension/${name}`, import.meta.url), "utf8");
}

/** The extension runs in the installed shell, so that is what is asked, whether it runs now or not. */
async function readShellVersion(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  try {
    const { stdout } = await run("gnome-shell", ["--version"], { env, timeout: 10_000 });
    const version = /(\d+(\.\d+)*)/.exec(stdout)?.[1];
    if (version !== undefined) return version;
  } catch (cause) {
    throw new ActivityError(
      "platform_unsupported",
      "GNOME Shell is not installed here: `gnome-shell --version` does not run.",
      "The extension is for GNOME alone; `activityd status` names what the other desktops need.",
      { cause },
    );
  }
  throw new ActivityError(
    "platform_unsupported",
    "`gnome-shell --version` does not print a version.",
  );
}

function dataFolder(env: Readonly<Record<string, string | undefined>>): string {
  const given = env["XDG_DATA_HOME"];
  if (given !== undefined && path.isAbsolute(given)) return given;
  const home = env["HOME"];
  if (home === undefined || home === "") {
    throw new ActivityError(
      "platform_unsupported",
      "The home folder is not known, so there is no place for the extension.",
      "Set HOME.",
    );
  }
  return path.join(home, ".local", "share");
}

/** Whole or not at all: the shell may read the folder at any time. */
async function writeWhenDifferent(file: string, content: string): Promise<boolean> {
  const present = await readFile(file, "utf8").catch(() => null);
  if (present === content) return false;
  writeWhole(file, content, { mode: 0o644 });
  return true;
}

/**
 * Adds the extension to the list the shell reads at login. `gnome-extensions enable` would not do: it knows
 * only extensions that the running shell has seen.
 */
async function enable(
  env: Readonly<Record<string, string | undefined>>,
): Promise<GnomeExtensionReport["enabled"]> {
  const gsettings = async (...args: string[]): Promise<string> => {
    const { stdout } = await run("gsettings", args, { env, timeout: 10_000 });
    return stdout.trim();
  };
  const schema = "org.gnome.shell";
  try {
    const list = await gsettings("get", schema, "enabled-extensions");
    const quoted = `'${GNOME_EXTENSION_ID}'`;
    const present = list.includes(quoted);
    if (!present) {
      // An empty list is written "@as []", any other "['one', 'two']".
      const others = list.replace(/^@as /, "").slice(1, -1);
      const next = others === "" ? `[${quoted}]` : `[${others}, ${quoted}]`;
      await gsettings("set", schema, "enabled-extensions", next);
    }
    if ((await gsettings("get", schema, "disable-user-extensions")) === "true") return "off";
    return present ? "already" : "now";
  } catch {
    // No gsettings, or no settings service in this session: the owner can do it after the next login.
    return "by-hand";
  }
}
