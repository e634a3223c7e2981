/**
 * Carries out a service plan on this machine. It promises that installing twice changes nothing the second time,
 * that a dry run touches nothing, and that uninstalling leaves the owner's data unless told otherwise.
 */
import { spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { configTarget } from "../../config.ts";
import { ActivityError } from "../../errors.ts";
import { writeWhole } from "../../whole-file.ts";
import { draftOf, type Paths } from "../../paths.ts";
import { findInstanceHolder } from "../../store/lock.ts";
import { INSTALL } from "../../version.ts";
import type { ServiceCommand, ServiceFile, ServicePlan } from "./plan.ts";

/** How long a daemon may take to end after it was told to. */
const END_TIMEOUT_MS = 10_000;
const ASK_TIMEOUT_MS = 5_000;

const BYTE_ORDER_MARK = "\uFEFF";
const TRY_AGAIN_MS = 500;

/** What a step did, for telling. */
export type Tell = (line: string) => void;

export async function installService(
  plan: ServicePlan,
  paths: Paths,
  options: { readonly dryRun: boolean },
  tell: Tell,
): Promise<void> {
  const outdated = plan.outdated.filter((path) => existsSync(path));
  let isChanged = outdated.length > 0;
  for (const file of plan.files) {
    const { path, text, holds } = file;
    const present = readInstalled(file);
    const isSame = present === text;
    tell(`${isSame ? "as it is" : "write"}  ${path}`);
    if (options.dryRun) tell(text.replace(/^/gm, "    ").trimEnd());
    if (isSame) continue;
    isChanged = true;
    if (holds !== undefined && present !== null && !present.split("\n").includes(holds.line))
      await runAll([holds.release], options.dryRun, tell);
    if (!options.dryRun) writeInstalled(file);
  }
  removeAll(outdated, options.dryRun, tell);
  // Starting again what runs as it should would only cut a request off.
  if (!isChanged && !options.dryRun && isInForce(plan)) tell("nothing changed, and it is running");
  else {
    await endDaemonBeside(plan, paths, options.dryRun, tell);
    await runAll(plan.install, options.dryRun, tell);
  }
  for (const note of plan.notes) tell(`note: ${note}`);
  if (plan.files.some(({ text }) => text.includes("/_npx/"))) {
    tell(
      `note: It runs from the cache of npx, which npm empties one day. Install it for good: ${INSTALL} && activityd service install`,
    );
  }
}

/** `purge` removes the owner's data too: the database, the logs and the settings. */
export async function uninstallService(
  plan: ServicePlan,
  paths: Paths,
  options: { readonly dryRun: boolean; readonly purge: boolean },
  tell: Tell,
): Promise<void> {
  const { dryRun, purge } = options;
  await runAll(plan.uninstall, dryRun, tell);
  removeAll([...plan.files.map(({ path }) => path), ...plan.outdated], dryRun, tell);
  if (!purge) {
    tell(`note: what was recorded stays in ${paths.dataDirectory}; --purge removes it too.`);
    return;
  }
  // One that was started by hand would go on recording into what is no more.
  await endDaemonBeside(plan, paths, dryRun, tell);
  const { dataDirectory, cacheDirectory, logDirectory, configFile } = paths;
  const configFolder = dirname(configFile);
  const folders = [dataDirectory, cacheDirectory, logDirectory];
  // Where a folder was moved and left a link, what is to be gone is what the link leads to.
  const targets = folders.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  const settings = [configFile, draftOf(configFile)];
  removeAll([...new Set([...targets, ...folders, ...settings])], dryRun, tell);
  // Where the settings were alone in a folder of their own, it goes too.
  const isEmpty = existsSync(configFolder) && readdirSync(configFolder).length === 0;
  if (isEmpty && basename(configFolder) === "activityd") removeAll([configFolder], dryRun, tell);
}

/** Throws `not_found` where no service is installed. */
export function requireInstalled({ files }: ServicePlan): void {
  if (files.some(({ path }) => existsSync(path))) return;
  throw new ActivityError(
    "not_found",
    "No desktop service of activityd is installed.",
    "Install it with: activityd service install; or start the daemon without: activityd start --detach",
  );
}

/** Throws `not_found` where the service keeps its log in a file, and has not written one. */
export function requireLog({ logFile }: ServicePlan): void {
  if (logFile === null || existsSync(logFile)) return;
  throw new ActivityError(
    "not_found",
    `There is no log at ${logFile}: no daemon has run in the background yet.`,
    "See how it stands with: activityd doctor",
  );
}

/** Starts the service again; a daemon that was started by hand, and is in its way, ends. */
export async function restartService(plan: ServicePlan, paths: Paths, tell: Tell): Promise<void> {
  requireInstalled(plan);
  await endDaemonBeside(plan, paths, false, tell);
  await runAll(plan.restart, false, tell);
}

/** The pid of the daemon that holds the record, whether or not it answers; null when none does. */
export function findDaemon({ dataDirectory }: Paths): number | null {
  return findInstanceHolder(dataDirectory)?.pid ?? null;
}

/**
 * Tells a daemon to end; it may take its time. The one that the manager runs is ended with its sockets, or the next
 * request would start it again.
 */
export async function stopDaemon(plan: ServicePlan, pid: number, tell: Tell): Promise<void> {
  if (isServiceDaemon(plan, pid)) await runAll(plan.stop, false, tell);
  else signalEnd(pid);
}

/** Whether `pid` is the daemon that the service manager runs. */
function isServiceDaemon({ mainPid }: ServicePlan, pid: number): boolean {
  if (mainPid === null) return false;
  const [program, ...args] = mainPid.argv;
  const { stdout } = spawnSync(program, args, {
    encoding: "utf8",
    timeout: ASK_TIMEOUT_MS,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return Number(stdout) === pid;
}

/** Two daemons cannot share a record: the one that the manager does not run gives way, with everything written. */
async function endDaemonBeside(
  plan: ServicePlan,
  paths: Paths,
  dryRun: boolean,
  tell: Tell,
): Promise<void> {
  const pid = findDaemon(paths);
  // A desktop's autostart runs its daemon as a hand does: its own commands end that one.
  if (pid === null || plan.mechanism === "autostart" || isServiceDaemon(plan, pid)) return;
  tell(`end  the daemon that was started by hand (pid ${pid})`);
  if (dryRun) return;
  signalEnd(pid);
  const deadlineMs = Date.now() + END_TIMEOUT_MS;
  while (findDaemon(paths) === pid) {
    if (Date.now() > deadlineMs) {
      throw new ActivityError(
        "timed_out",
        `The daemon that was started by hand (pid ${pid}) did not end within ${END_TIMEOUT_MS / 1000} s.`,
        `End it with: kill -9 ${pid}`,
      );
    }
    await setTimeout(50);
  }
}

function signalEnd(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    // It ended by itself.
    if (code === "ESRCH") return;
    throw new ActivityError(
      "socket_in_use",
      `A daemon of another user (pid ${pid}) holds the record.`,
      `End it with: sudo kill ${pid}`,
      { cause },
    );
  }
}

/** What a file of the service says; null where there is none. A unit that was masked leads to nothing. */
export function readInstalled({ path, encoding }: ServiceFile): string | null {
  if (!existsSync(path) || isMasked(path)) return null;
  try {
    return readFileSync(path, encoding ?? "utf8").replace(BYTE_ORDER_MARK, "");
  } catch {
    // A folder, or root's: there is something, and it is not what belongs there.
    return "";
  }
}

function writeInstalled({ path, text, encoding }: ServiceFile): void {
  // Written through the link, it would be gone; who installs wants it back.
  if (isMasked(path) || !isWritable(path)) rmSync(path, { force: true });
  const content = encoding === undefined ? text : Buffer.from(BYTE_ORDER_MARK + text, encoding);
  writeWhole(configTarget(path), content, { mode: 0o644 });
}

/** What an installation with `sudo` left is root's, in a folder that is the owner's: it is replaced. */
function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return !existsSync(path);
  }
}

/** @see systemctl(1), `mask` */
export function isMasked(path: string): boolean {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink && readlinkSync(path) === "/dev/null";
}

function removeAll(paths: readonly string[], dryRun: boolean, tell: Tell): void {
  for (const path of paths) {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) continue;
    tell(`remove  ${path}`);
    if (!dryRun) rmSync(path, { recursive: true, force: true });
  }
}

/** Runs the commands of one verb with this terminal as theirs. */
async function runAll(
  commands: readonly ServiceCommand[],
  dryRun: boolean,
  tell: Tell,
): Promise<void> {
  for (const command of commands) {
    if (dryRun) tell(`run  ${command.argv.join(" ")}`);
    else await run(command);
  }
}

async function run({ argv, mayFail, patienceMs = 0 }: ServiceCommand): Promise<void> {
  const [program, ...args] = argv;
  const deadlineMs = Date.now() + patienceMs;
  for (;;) {
    const isLast = Date.now() >= deadlineMs;
    // What is tried again has nothing to say before the last time.
    const stdio = mayFail === true || !isLast ? "ignore" : "inherit";
    const { status, error } = spawnSync(program, args, { stdio });
    if (status === 0 || mayFail === true) return;
    if (error !== undefined) throw cannotRun(program, error);
    if (isLast) {
      throw new ActivityError(
        "internal",
        `«${argv.join(" ")}» ended with ${status ?? "a signal"}.`,
        "Its own words stand above; look for what is wrong with: activityd doctor",
      );
    }
    await setTimeout(TRY_AGAIN_MS);
  }
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

/** Whether it runs, and will with the next login. */
function isInForce(plan: ServicePlan): boolean {
  return [...plan.status, ...plan.enabled].every(
    ({ argv: [program, ...args] }) => spawnSync(program, args, { stdio: "ignore" }).status === 0,
  );
}
