/** What was recorded: the folder, the database in it, the disk below it and the clock above it. */
import { accessSync, constants, existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { shellWord, toErrorEnvelope, type ErrorCode } from "../../errors.ts";
import type { Paths } from "../../paths.ts";
import { examine, readNewest } from "../offline-reader.ts";
import { note, problem, sound, type Finding, type FindingId } from "./finding.ts";
import type { Machine } from "./machine.ts";

/** Room for a month of records, a backup of each and what SQLite needs while it tidies up. */
const LOW_BYTES = 300 * 1024 * 1024;
/** Clocks are corrected by seconds; nobody records minutes of the future. */
const CLOCK_SLACK_US = 120_000_000;

export function examineStorage(paths: Paths, machine: Machine): readonly Finding[] {
  const { dataDirectory } = paths;
  const disk = examineDisk(dataDirectory, machine);
  try {
    if (!isThere(dataDirectory)) {
      // No daemon has run yet.
      return [note("nothing-recorded", `nothing is recorded yet in ${dataDirectory}`), disk];
    }
    readdirSync(dataDirectory);
  } catch (thrown) {
    return [explainClosed(dataDirectory, thrown), disk];
  }
  return [
    ...examineDatabase(paths, machine),
    ...examineSetAside(dataDirectory),
    examineRights(dataDirectory, machine),
    disk,
  ];
}

/** Something is there, and what is in it cannot be seen. */
function explainClosed(dataDirectory: string, thrown: unknown): Finding {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  const folder = shellWord(dataDirectory);
  return code === "ENOTDIR"
    ? problem(
        "data-unwritable",
        `Where the record's folder should be is something else: ${dataDirectory}`,
        `Move it away: mv ${folder} ${shellWord(`${dataDirectory}.away`)}`,
      )
    : problem(
        "data-unwritable",
        `You may not look into ${dataDirectory}, so nothing new is recorded.`,
        makeYours(dataDirectory),
      );
}

function makeYours(dataDirectory: string): string {
  const folder = shellWord(dataDirectory);
  return `Make it yours again: sudo chown -R "$(id -u):$(id -g)" ${folder} && chmod -R u+rwX ${folder}`;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The database itself, read from its first to its last page. */
function examineDatabase(paths: Paths, machine: Machine): readonly Finding[] {
  try {
    const { path, damage, backups } = examine(paths);
    if (damage !== null) {
      return [
        problem(
          "database-damaged",
          `The database ${path} is damaged: ${damage}`,
          "Recover it with: activityd stop && activityd doctor --repair",
        ),
      ];
    }
    const newest = readNewest(paths);
    return [
      sound("database", `database: ${path} is sound; ${backups.length} backups`),
      ...(newest === null ? [] : examineClock(newest.startUs, machine)),
    ];
  } catch (thrown) {
    const { code, message, hint } = toErrorEnvelope(thrown).error;
    return [problem(unreadableBecause(code), message, hint)];
  }
}

function unreadableBecause(code: ErrorCode): FindingId {
  switch (code) {
    case "database_key":
      return "encryption-key-missing";
    case "platform_unsupported":
      return "encryption-package-missing";
    case "database_newer":
      return "database-newer";
    default:
      return "database-unreadable";
  }
}

function examineClock(newestUs: number, machine: Machine): readonly Finding[] {
  const aheadUs = newestUs - machine.nowUs();
  if (aheadUs <= CLOCK_SLACK_US) return [];
  const minutes = Math.round(aheadUs / 60_000_000);
  return [
    problem(
      "clock-behind",
      `The newest event was recorded ${minutes} minutes from now: the clock of this machine was set back, or was ahead then.`,
      machine.platform === "linux"
        ? "Let it be set from the network: timedatectl set-ntp true; then forget what lies ahead: activityd forget --from 0s --to 2100-01-01"
        : "Let it be set from the network; then forget what lies ahead: activityd forget --from 0s --to 2100-01-01",
    ),
  ];
}

/** Damaged databases that recoveries put aside, which are nobody's but the owner's to remove. */
function examineSetAside(dataDirectory: string): readonly Finding[] {
  const folder = join(dataDirectory, "damaged");
  if (!existsSync(folder)) return [];
  const count = readdirSync(folder).length;
  return [
    note(
      "database-set-aside",
      `${count} damaged ${count === 1 ? "database was" : "databases were"} set aside in ${folder}; what could be read of ${count === 1 ? "it" : "them"} is in the record.`,
      `When you need ${count === 1 ? "it" : "them"} no more: rm -r ${shellWord(folder)}`,
    ),
  ];
}

/** What others on this machine could read, and what this user could not write. */
function examineRights(dataDirectory: string, machine: Machine): Finding {
  const paths = [".", ...readdirSync(dataDirectory)].map((name) => join(dataDirectory, name));
  const open = paths.filter(
    (path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
  );
  if (machine.platform !== "win32" && open.length > 0) {
    return problem(
      "data-open",
      `Others on this machine can read ${open.join(", ")}.`,
      `Take that right away with: chmod -R go= ${shellWord(dataDirectory)}`,
    );
  }
  const foreign = paths.find((path) => !isMine(path, machine));
  if (foreign !== undefined) {
    return problem(
      "data-unwritable",
      `You may not write ${foreign}, so nothing new is recorded.`,
      makeYours(dataDirectory),
    );
  }
  return sound("data", `data: ${dataDirectory} is yours alone`);
}

/** Root may write everything: for it, what belongs to another user is what the owner could not write. */
function isMine(path: string, machine: Machine): boolean {
  // What a daemon that is ending took away meanwhile.
  if (!isThere(path)) return true;
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return machine.uid === null || statSync(path).uid === machine.uid;
  } catch {
    return false;
  }
}

function examineDisk(dataDirectory: string, machine: Machine): Finding {
  const existing = nearestThere(dataDirectory);
  const space = machine.space(existing);
  if (space === null) return sound("disk", `disk: the room under ${existing} cannot be told`);
  const free = `${Math.floor(space.freeBytes / 1e6)} MB`;
  if (space.freeBytes >= LOW_BYTES) return sound("disk", `disk: ${free} free`);
  return problem(
    "disk-nearly-full",
    `The disk that holds ${dataDirectory} is nearly full: ${free} free of ${Math.floor(space.totalBytes / 1e6)} MB. When it is full, new events are held in memory only.`,
    `Make room; see what takes it with: du -xh --max-depth=2 ~ | sort -h | tail; or bound the record with store.max_megabytes`,
  );
}

function nearestThere(path: string): string {
  const parent = dirname(path);
  return existsSync(path) || parent === path ? path : nearestThere(parent);
}
