/** What was recorded: the folder, the database in it, the disk below it and the clock above it. */
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { counted } from "../../counted.ts";
import { shellWord, toErrorEnvelope, type ErrorCode } from "../../errors.ts";
import type { Paths } from "../../paths.ts";
import { DATABASE_FILE } from "../../store/events.ts";
import { isRecovering } from "../../store/recovery/under-way.ts";
import { examine, readNewest } from "../offline-reader.ts";
import { note, problem, sound, type Finding, type FindingId } from "./finding.ts";
import { findHindrance, nearestThere } from "./hindrance.ts";
import type { Machine } from "./machine.ts";

/** Room for a month of records, a backup of each and what SQLite needs while it tidies up. */
const LOW_BYTES = 300 * 1024 * 1024;
/** Clocks are corrected by seconds; nobody records minutes of the future. */
const CLOCK_SLACK_US = 120_000_000;

export function examineStorage(paths: Paths, machine: Machine): readonly Finding[] {
  const { dataDirectory } = paths;
  const disk = examineDisk(dataDirectory, machine);
  try {
    if (nearestThere(dataDirectory) !== dataDirectory)
      return [explainAbsent(dataDirectory, machine), disk];
    if (isReadOnly(dataDirectory)) return [explainReadOnly(dataDirectory, machine), disk];
    readdirSync(dataDirectory);
  } catch (thrown) {
    return [explainClosed(dataDirectory, machine, thrown), disk];
  }
  return [
    ...examineDatabase(paths, machine),
    ...examineSetAside(dataDirectory),
    examineRights(dataDirectory, machine),
    ...examineLog(paths, machine),
    disk,
  ];
}

/** Nothing can be seen there: no daemon has run yet, or none can. */
function explainAbsent(dataDirectory: string, machine: Machine): Finding {
  const nearest = nearestThere(dataDirectory);
  if (isReadOnly(nearest)) return explainReadOnly(nearest, machine);
  const hindrance = findHindrance(dataDirectory, "XDG_DATA_HOME", machine);
  return hindrance === null
    ? note("nothing-recorded", `nothing is recorded yet in ${dataDirectory}`)
    : problem(
        "data-unwritable",
        `The record's folder ${dataDirectory} cannot be made or reached, so no daemon can start: ${hindrance.why}.`,
        hindrance.remedy,
      );
}

/** Such as after an error of the disk. It comes before all that cannot be done on one. */
function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "EROFS";
  }
}

function explainReadOnly(dataDirectory: string, { platform }: Machine): Finding {
  return problem(
    "data-unwritable",
    `The file system that holds ${dataDirectory} is read-only, so nothing is recorded and no daemon can start.`,
    platform === "linux"
      ? `See why in: sudo dmesg; then: sudo mount -o remount,rw "$(findmnt -n -o TARGET --target ${shellWord(dataDirectory)})"`
      : "See how it is mounted with: mount",
  );
}

/** Something is there, and what is in it cannot be seen. */
function explainClosed(dataDirectory: string, machine: Machine, thrown: unknown): Finding {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "ENOENT") {
    return problem(
      "data-unwritable",
      `The record's folder ${dataDirectory} is a link to ${readlinkSync(dataDirectory)}, which is not there: no daemon can start.`,
      `Bring back what it leads to, such as a disk that is not mounted; or begin anew here: rm ${shellWord(dataDirectory)}`,
    );
  }
  return code === "ENOTDIR"
    ? somethingElse("the record's folder", dataDirectory)
    : problem(
        "data-unwritable",
        `You may not look into ${dataDirectory}, so nothing new is recorded.`,
        makeYours(dataDirectory, isOwner(dataDirectory, machine)),
      );
}

function somethingElse(what: string, path: string): Finding {
  return problem(
    "data-unwritable",
    `Where ${what} should be is something else: ${path}`,
    `Move it away: ${moveAway(path)}`,
  );
}

function moveAway(path: string): string {
  return `mv ${shellWord(path)} ${shellWord(`${path}.away`)}`;
}

function makeYours(dataDirectory: string, isOwner: boolean): string {
  const folder = shellWord(dataDirectory);
  const open = `chmod -R u+rwX ${folder}`;
  return isOwner
    ? `Let yourself: ${open}`
    : `Make it yours again: sudo chown -R "$(id -u):$(id -g)" ${folder} && ${open}`;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return !isThere(path);
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The database itself, read from its first to its last page. */
function examineDatabase(paths: Paths, machine: Machine): readonly Finding[] {
  // What may not be read is told with all else that is not this user's, and with what mends it.
  const file = join(paths.dataDirectory, DATABASE_FILE);
  if (!isReadable(file)) return [];
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return [somethingElse("the database", file)];
  try {
    const { path, damage, backups } = examine(paths);
    if (stat?.size === 0 && backups.length === 0) {
      return [note("nothing-recorded", `nothing is recorded yet: the first start was cut short`)];
    }
    if (stat?.size === 0) {
      return [
        problem(
          "database-damaged",
          `The database ${path} is empty, and there is a backup.`,
          "Start the daemon, as said below: it takes over what the backup has.",
        ),
      ];
    }
    // Told by the daemon that is at it: to stop it would begin all over.
    if (damage !== null && isRecovering(paths.dataDirectory, Date.now())) return [];
    if (damage !== null) {
      return [
        problem(
          "database-damaged",
          `The database ${path} is damaged: ${damage.replaceAll(/\s+/g, " ")}`,
          "Recover it with: activityd stop && activityd doctor --repair",
        ),
      ];
    }
    const newest = readNewest(paths);
    return [
      sound("database", `database: ${path} is sound; ${counted(backups.length, "backup")}`),
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
      makeYours(
        dataDirectory,
        paths.every((path) => isOwner(path, machine)),
      ),
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
    return isOwner(path, machine);
  } catch {
    return false;
  }
}

function isOwner(path: string, { uid }: Machine): boolean {
  try {
    return uid === null || (statSync(path, { throwIfNoEntry: false })?.uid ?? uid) === uid;
  } catch {
    // Behind a folder that is closed to this user.
    return false;
  }
}

/** A daemon goes on without its log. One that writes to the journal has no such folder. */
function examineLog({ logDirectory }: Paths, machine: Machine): readonly Finding[] {
  const hindrance = findHindrance(logDirectory, "XDG_STATE_HOME", machine);
  if (hindrance === null) return [];
  return [
    note(
      "log-unwritable",
      `A daemon that does not write to the journal cannot write its log in ${logDirectory}, as ${hindrance.why}: what goes wrong is told by activityd status alone.`,
      hindrance.remedy,
    ),
  ];
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
