/**
 * The service plan of this machine. It hides how a login, its service manager and the places of the owner are found,
 * and promises one plan for whoever installs, removes or examines.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readConfig, watcherPort } from "../../config.ts";
import { ActivityError } from "../../errors.ts";
import type { Paths } from "../../paths.ts";
import { VERSION } from "../../version.ts";
import { planAutostart } from "./autostart.ts";
import { planLaunchd } from "./launchd.ts";
import type { ServiceFacts, ServicePlan } from "./plan.ts";
import { planSystemd } from "./systemd.ts";
import { planTaskScheduler } from "./task-scheduler.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that decide where the daemon keeps its things: the service must agree with the command line. */
const KEPT_VARIABLES = [
  "ACTIVITYD_HOME",
  "ACTIVITYD_SOCKET",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
] as const;

const ASK_TIMEOUT_MS = 5_000;

/** The plan for this machine: the first mechanism that is there. */
export function planService(
  paths: Paths,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): ServicePlan {
  const facts = readFacts(paths, env, platform);
  if (platform === "darwin") return planLaunchd(facts);
  if (platform === "win32") return planTaskScheduler(facts);
  return hasUserManager(env) || unreachedManager(env) !== null
    ? planSystemd(facts)
    : planAutostart(facts);
}

/**
 * Whether this shell can look after a service of its user at all.
 *
 * @throws ActivityError `bad_request` for root in another user's stead, and where the user's manager is out of reach
 */
export function requireOwnLogin(
  env: Environment,
  uid: number | undefined = process.getuid?.(),
): void {
  const byWhom = env["SUDO_USER"] ?? "";
  if (uid === 0 && byWhom !== "" && byWhom !== "root") {
    throw new ActivityError(
      "bad_request",
      `With sudo this would be a service of root, who has no desktop, and not of ${byWhom}.`,
      "Call it without sudo.",
    );
  }
  const runtime = unreachedManager(env);
  if (runtime === null) return;
  throw new ActivityError(
    "bad_request",
    "XDG_RUNTIME_DIR is not set in this shell, so that your systemd is not found.",
    `Set it: export XDG_RUNTIME_DIR=${runtime}`,
  );
}

/** A user manager leaves a folder of its own in the login's runtime folder. */
function hasUserManager({ XDG_RUNTIME_DIR: runtime }: Environment): boolean {
  return runtime !== undefined && runtime !== "" && existsSync(join(runtime, "systemd", "private"));
}

/**
 * The runtime folder of a user manager that runs and that this shell was not told of (`su`, `sudo -u`, cron), or null.
 *
 * @see pam_systemd(8)
 */
function unreachedManager(
  env: Environment,
  uid: number | undefined = process.getuid?.(),
): string | null {
  if ((env["XDG_RUNTIME_DIR"] ?? "") !== "" || uid === undefined) return null;
  const runtime = `/run/user/${uid}`;
  return hasUserManager({ XDG_RUNTIME_DIR: runtime }) ? runtime : null;
}

function readWatcherPort(paths: Paths, env: Environment): number | null {
  try {
    const { activitywatch } = readConfig(paths.configFile, env);
    return activitywatch.enabled ? watcherPort(activitywatch) : null;
  } catch {
    // The daemon tells what is wrong with its settings; the service can be installed and removed all the same.
    return null;
  }
}

function readFacts(paths: Paths, env: Environment, platform: NodeJS.Platform): ServiceFacts {
  const variables: Record<string, string> = {};
  for (const name of KEPT_VARIABLES) {
    const value = env[name];
    // Relative to this shell's folder, which is none of the manager's.
    if (value !== undefined && value !== "") variables[name] = resolve(value);
  }
  const configDirectory = variables["XDG_CONFIG_HOME"] ?? join(homedir(), ".config");
  const isOwnPlace = ["ACTIVITYD_HOME", "ACTIVITYD_SOCKET"].some((name) => name in variables);
  return {
    nodePath: process.execPath,
    mainPath: fileURLToPath(new URL("../../cli/main.js", import.meta.url)),
    homeDirectory: homedir(),
    configDirectory,
    unitDirectory:
      (platform === "linux" ? askUnitDirectory(env) : null) ??
      join(configDirectory, "systemd", "user"),
    socketPath: isOwnPlace ? paths.socketPath : null,
    logDirectory: paths.logDirectory,
    variables,
    watcherPort: readWatcherPort(paths, env),
    userId: process.getuid?.() ?? 0,
    userName: readUserName(env),
    version: VERSION,
  };
}

/**
 * Where the manager itself looks: it was started with the variables of the login, which the shell's profile may have
 * changed since. Null where none answers.
 */
function askUnitDirectory(env: Environment): string | null {
  if (!hasUserManager(env)) return null;
  const { status, stdout } = spawnSync(
    "systemctl",
    ["--user", "show", "--property=UnitPath", "--value"],
    { env, encoding: "utf8", timeout: ASK_TIMEOUT_MS, stdio: ["ignore", "pipe", "ignore"] },
  );
  if (status !== 0) return null;
  // First what lives as long as the login, and what `systemctl set-property` writes; then the owner's own.
  const runtime = env["XDG_RUNTIME_DIR"] ?? "";
  const own = stdout
    .trim()
    .split(" ")
    .find((path) => path.endsWith("/systemd/user") && !path.startsWith(`${runtime}/`));
  // The end of one with spaces in it, which cannot be told from the spaces between.
  return own?.startsWith("/") === true ? own : null;
}

/** A user without an entry, such as in a container, has no name but a number. */
function readUserName(env: Environment): string {
  try {
    return userInfo().username;
  } catch {
    return env["USER"] ?? String(process.getuid?.() ?? "");
  }
}
