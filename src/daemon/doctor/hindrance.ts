/**
 * What keeps a folder from being made or written, and what to do about it. It promises to ask for no right on a folder
 * that is not the owner's own, such as the root of the machine: then another place is the remedy.
 */
import { accessSync, constants, lstatSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { shellWord } from "../../errors.ts";
import type { Machine } from "./machine.ts";

export interface Hindrance {
  /** What is wrong with which folder, in words that go on a sentence: `/x belongs to user 0 …`. */
  readonly why: string;
  readonly remedy: string;
}

/**
 * What stands in the way of `folder`, or of making it; null: nothing does. `variable` is what moves it elsewhere, beside
 * `ACTIVITYD_HOME`, which moves everything.
 */
export function findHindrance(
  folder: string,
  variable: string,
  machine: Machine,
): Hindrance | null {
  const nearest = nearestThere(folder);
  const path = shellWord(nearest);
  const stat = statSync(nearest, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true && mayMakeIn(nearest)) return null;
  const isOwner = machine.uid === null || lstatSync(nearest).uid === machine.uid;
  const isOwn = isOwner || isInHome(nearest, machine);
  const goElsewhere = leave(variable, machine);
  if (stat?.isDirectory() !== true) {
    return {
      why: `${nearest} is ${stat === undefined ? "a link that leads nowhere" : "no folder"}`,
      remedy: isOwn ? `Move it away: mv ${path} ${shellWord(`${nearest}.away`)}` : goElsewhere,
    };
  }
  const open = `chmod u+rwx ${path}`;
  if (isOwner) return { why: `${nearest} is closed to you`, remedy: `Let yourself: ${open}` };
  return {
    why: `${nearest} belongs to user ${stat.uid} and is closed to you (${machine.uid})`,
    remedy: isOwn
      ? `Make it yours: sudo chown "$(id -u):$(id -g)" ${path} && ${open}`
      : goElsewhere,
  };
}

/** The path, or the nearest above it that can be seen. */
export function nearestThere(path: string): string {
  const parent = dirname(path);
  try {
    lstatSync(path);
    return path;
  } catch {
    return parent === path ? path : nearestThere(parent);
  }
}

export function mayMakeIn(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether it lies in the owner's home, of which all is theirs; some programs' users have the root of the machine for one. */
function isInHome(path: string, { env }: Machine): boolean {
  const home = env["HOME"] ?? "";
  if (home === "" || dirname(home) === home) return false;
  return path === home || path.startsWith(join(home, "/"));
}

function leave(variable: string, { env }: Machine): string {
  if ((env["ACTIVITYD_HOME"] ?? "") !== "")
    return "Do without ACTIVITYD_HOME and --home, or give them a folder of your own.";
  return (env[variable] ?? "") === ""
    ? `Keep everything in a folder of your own: export ACTIVITYD_HOME="/var/tmp/activityd-$(id -u)"`
    : `Do without ${variable}, or give it a folder of your own: unset ${variable}`;
}
