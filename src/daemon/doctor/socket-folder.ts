/**
 * The folder of the socket: whether it can be there at all, and is its owner's alone. What is said of it comes before
 * all that is said of the socket in it.
 */
import { lstatSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { shellWord } from "../../errors.ts";
import { problem, type Finding } from "./finding.ts";
import { mayMakeIn, nearestThere } from "./hindrance.ts";
import type { Machine } from "./machine.ts";

/** sun_path of unix(7) with its final zero; macOS has room for four bytes less. */
const MAX_PATH_BYTES = { darwin: 103, other: 107 } as const;

/** What stands in the way of a socket in a folder that is the owner's alone; nothing where it can be made. */
export function examineSocketFolder(socketPath: string, machine: Machine): readonly Finding[] {
  if (machine.platform === "win32") return [];
  const maxBytes = MAX_PATH_BYTES[machine.platform === "darwin" ? "darwin" : "other"];
  const bytes = Buffer.byteLength(socketPath);
  if (bytes > maxBytes) {
    return [
      problem(
        "socket-path-too-long",
        `The path of the socket has ${bytes} bytes and the system allows ${maxBytes}: ${socketPath}`,
        `Choose a shorter one: ${chooseSocket(machine)}`,
      ),
    ];
  }
  const directory = dirname(socketPath);
  const nearest = nearestThere(directory);
  if (nearest !== directory) return examineParent(directory, nearest, machine);
  const stat = lstatSync(directory);
  const folder = shellWord(directory);
  // A folder that the owner chose, such as /tmp, may be there for others too: it is not made theirs alone.
  const isChosen = (machine.env["ACTIVITYD_SOCKET"] ?? "") !== "";
  if (!stat.isDirectory()) {
    return [
      problem(
        "socket-folder-no-folder",
        `Where the socket's folder should be is a link or a file: ${directory}`,
        `Move it away: mv ${folder} ${shellWord(`${directory}.away`)}`,
      ),
    ];
  }
  if (machine.uid !== null && stat.uid !== machine.uid) {
    return [
      problem(
        "socket-folder-foreign",
        `The socket's folder ${directory} belongs to user ${stat.uid}, not to you (${machine.uid}).`,
        isChosen
          ? chooseAnother(machine)
          : `Make it yours: sudo chown -R ${machine.uid} ${folder}; or run this as user ${stat.uid}.`,
      ),
    ];
  }
  if ((stat.mode & 0o700) !== 0o700) {
    return [
      problem(
        "socket-folder-closed",
        `The socket's folder ${directory} is closed to you too (mode ${octal(stat.mode)}).`,
        `Open it to yourself: chmod 700 ${folder}`,
      ),
    ];
  }
  if ((stat.mode & 0o077) === 0) return [];
  return [
    problem(
      "socket-folder-open",
      `The socket's folder ${directory} is open to other users (mode ${octal(stat.mode)}); a daemon that starts refuses it.`,
      isChosen ? chooseAnother(machine) : `Close it with: chmod 700 ${folder}`,
    ),
  ];
}

/** The folder that is to hold the socket's: where it is not there yet, it must let the daemon make it. */
function examineParent(directory: string, parent: string, machine: Machine): readonly Finding[] {
  const stat = statSync(parent);
  let why: string;
  if (!stat.isDirectory()) why = "is no folder";
  else if (mayMakeIn(parent)) return [];
  else if (stat.uid === machine.uid) why = `is closed to you (mode ${octal(stat.mode)})`;
  else why = `belongs to user ${stat.uid} and is closed to you (${machine.uid})`;
  return [
    problem(
      "socket-folder-unmade",
      `The socket's folder ${directory} cannot be made or reached: ${parent} ${why}.`,
      leaveParent(directory, machine),
    ),
  ];
}

/** `su` hands the folder of another login on, and what is set by hand may be that of a login that has ended. */
function leaveParent(directory: string, machine: Machine): string {
  const { env, uid } = machine;
  const login = env["XDG_RUNTIME_DIR"] ?? "";
  if (login === "" || join(login, "activityd") !== directory)
    return `Choose one in a folder of your own: export ACTIVITYD_SOCKET="/tmp/activityd-$(id -u)/activityd.sock"`;
  const own = uid === null ? login : machine.runtimeFolder(uid);
  return own !== login && mayMakeIn(own)
    ? `XDG_RUNTIME_DIR is that of another login; set yours: export XDG_RUNTIME_DIR=${shellWord(own)}`
    : "XDG_RUNTIME_DIR is that of another login; do without: unset XDG_RUNTIME_DIR";
}

function chooseAnother(machine: Machine): string {
  return `Choose one in a folder of your own: ${chooseSocket(machine)}`;
}

function chooseSocket({ env }: Machine): string {
  const folder =
    (env["XDG_RUNTIME_DIR"] ?? "") === ""
      ? "/tmp/activityd-$(id -u)"
      : "$XDG_RUNTIME_DIR/activityd";
  return `export ACTIVITYD_SOCKET="${folder}/activityd.sock"`;
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}
