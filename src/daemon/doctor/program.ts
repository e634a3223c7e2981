/** The program itself: Node, SQLite and the optional native package. */
import { isSupportedSqlite, OLDEST_SQLITE } from "../../store/sqlite.ts";
import { INSTALL, VERSION } from "../../version.ts";
import { note, problem, sound, type Finding } from "./finding.ts";
import type { Machine } from "./machine.ts";

/** As `engines` of package.json has it. */
const OLDEST_NODE = [20, 19] as const;

export async function examineProgram(machine: Machine): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const sqlite = machine.sqliteVersion();
  const [major = 0, minor = 0] = machine.nodeVersion.split(".").map(Number);
  const isOldNode = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  if (isOldNode) {
    findings.push(
      problem(
        "node-old",
        `Node.js ${machine.nodeVersion} is too old: activityd needs ${OLDEST_NODE.join(".")} or newer.`,
        `Install a newer one, then: ${INSTALL} && activityd service install`,
      ),
    );
  }
  const isOldSqlite = !isSupportedSqlite(sqlite);
  if (isOldSqlite) {
    findings.push(
      problem(
        "sqlite-old",
        `SQLite ${sqlite} is too old: before ${OLDEST_SQLITE} it could lose what was committed.`,
        `Install activityd with its own SQLite again: ${INSTALL} --force`,
      ),
    );
  }
  if (!isOldNode && !isOldSqlite)
    findings.push(
      sound("program", `activityd ${VERSION}, Node.js ${machine.nodeVersion}, SQLite ${sqlite}`),
    );
  findings.push(await examinePeers(machine));
  return findings;
}

async function examinePeers(machine: Machine): Promise<Finding> {
  if (machine.platform === "win32") return sound("peers", "there is no socket on Windows");
  switch (await machine.probePeers()) {
    case "told":
      return sound("peers", "the kernel names who asks; other users are refused");
    case "koffi-absent":
      return note(
        "koffi-absent",
        "The optional package koffi is not installed: only the modes of the socket keep other users out, and each sign of life to systemd costs a process.",
        `Add it with: ${INSTALL}`,
      );
    case "untried":
      return note(
        "peers-unchecked",
        "Whether the kernel names who asks could not be tried: nothing can be made in the folder for temporary files.",
        "Make room there, or set TMPDIR to a folder of yours",
      );
    default:
      return note(
        "peers-unchecked",
        "This Node.js or system does not tell who asks: only the modes of the socket keep other users out.",
      );
  }
}
