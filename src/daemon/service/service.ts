/**
 * Carries out a service plan on this machine. It promises that installing twice changes nothing the second time,
 * that a dry run touches nothing, and that uninstalling leaves the owner's data unless told otherwise.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readConfig, watcherPort } from "../../config.ts";
import { ActivityError } from "../../errors.ts";
import type { Paths } from "../../paths.ts";
import { VERSION } from "../../version.ts";
import { planAutostart } from "./autostart.ts";
import { planLaunchd } from "./launchd.ts";
import type { ServiceCommand, ServiceFacts, ServicePlan } from "./plan.ts";
import { planSystemd } from "./systemd.ts";
import { planTaskScheduler } from "./task-scheduler.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that decide where the daemon keeps its things: the service must agree with the command line. */
const KEPT_VARIABLES = [
  "ACTIVITYD_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
] as const;

/** What a step did, for telling. */
export type Tell = (line: string) => void;

/** The plan for this machine: the first mechanism that is there. */
export function planService(
  paths: Paths,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): ServicePlan {
  const facts = readFacts(paths, env);
  if (platform === "darwin") return planLaunchd(facts);
  if (platform === "win32") return planTaskScheduler(facts);
  return hasUserManager(env) ? planSystemd(facts) : planAutostart(facts);
}

export function installService(
  plan: ServicePlan,
  options: { readonly dryRun: boolean },
  tell: Tell,
): void {
  let isChanged = false;
  for (const { path, text } of plan.files) {
    const isSame = existsSync(path) && readFileSync(path, "utf8") === text;
    tell(`${isSame ? "as it is" : "write"}  ${path}`);
    if (options.dryRun) tell(text.replace(/^/gm, "    ").trimEnd());
    if (isSame || options.dryRun) continue;
    isChanged = true;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o644 });
  }
  // Starting again what runs as it should would only cut a request off.
  if (!isChanged && !options.dryRun && isRunning(plan)) tell("nothing changed, and it is running");
  else runAll(plan.install, options.dryRun, tell);
  for (const note of plan.notes) tell(`note: ${note}`);
}

/** `purge` removes the owner's data too: the database, the logs and the settings. */
export function uninstallService(
  plan: ServicePlan,
  paths: Paths,
  options: { readonly dryRun: boolean; readonly purge: boolean },
  tell: Tell,
): void {
  runAll(plan.uninstall, options.dryRun, tell);
  const doomed = plan.files.map(({ path }) => path).filter((path) => existsSync(path));
  if (options.purge)
    doomed.push(paths.dataDirectory, paths.cacheDirectory, paths.logDirectory, paths.configFile);
  for (const path of doomed) {
    tell(`remove  ${path}`);
    if (!options.dryRun) rmSync(path, { recursive: true, force: true });
  }
  if (!options.purge)
    tell(`note: what was recorded stays in ${paths.dataDirectory}; --purge removes it too.`);
}

/** Runs the commands of one verb with this terminal as theirs, and gives the last one's exit code. */
export function runAll(commands: readonly ServiceCommand[], dryRun: boolean, tell: Tell): number {
  let code = 0;
  for (const { argv, mayFail } of commands) {
    const [program, ...args] = argv;
    if (dryRun) {
      tell(`run  ${argv.join(" ")}`);
      continue;
    }
    const result = spawnSync(program, args, { stdio: mayFail === true ? "ignore" : "inherit" });
    if (result.error !== undefined && mayFail !== true) {
      throw cannotRun(program, result.error);
    }
    code = result.status ?? 1;
    if (code !== 0 && mayFail !== true) {
      throw new ActivityError(
        "internal",
        `«${argv.join(" ")}» ended with ${code}.`,
        "Its own words stand above.",
      );
    }
  }
  return code;
}

/**
 * Runs the commands that only tell something, with this terminal as theirs. What a service manager tells of a service
 * that is stopped ends with its own code, and so does one whose reader had enough: neither is a failure of ours.
 */
export function tellAll(commands: readonly ServiceCommand[]): boolean {
  return commands.every(({ argv: [program, ...args] }) => {
    const { status, error } = spawnSync(program, args, { stdio: "inherit" });
    if (error !== undefined) throw cannotRun(program, error);
    return status === 0;
  });
}

function cannotRun(program: string, cause: Error): ActivityError {
  return new ActivityError(
    "platform_unsupported",
    `Cannot run ${program}: ${cause.message}.`,
    `Install ${program}, or run the daemon by hand: activityd start --detach`,
    { cause },
  );
}

function isRunning(plan: ServicePlan): boolean {
  return plan.status.every(
    ({ argv: [program, ...args] }) => spawnSync(program, args, { stdio: "ignore" }).status === 0,
  );
}

/** A user manager leaves a folder of its own in the login's runtime folder. */
export function hasUserManager({ XDG_RUNTIME_DIR: runtime }: Environment): boolean {
  return runtime !== undefined && existsSync(join(runtime, "systemd", "private"));
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

function readFacts(paths: Paths, env: Environment): ServiceFacts {
  const variables: Record<string, string> = {};
  for (const name of KEPT_VARIABLES) {
    const value = env[name];
    if (value !== undefined && value !== "") variables[name] = value;
  }
  const { uid, username } = userInfo();
  return {
    nodePath: process.execPath,
    mainPath: fileURLToPath(new URL("../../cli/main.js", import.meta.url)),
    homeDirectory: homedir(),
    configDirectory: env["XDG_CONFIG_HOME"] || join(homedir(), ".config"),
    logDirectory: paths.logDirectory,
    variables,
    watcherPort: readWatcherPort(paths, env),
    userId: uid,
    userName: username,
    version: VERSION,
  };
}
