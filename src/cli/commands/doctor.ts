/** `activityd doctor`: looks at everything that can be wrong on this machine, and says what to do about each. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { ActivityError, toErrorEnvelope } from "../../errors.ts";
import { VERSION } from "../../version.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

/** One thing that was looked at. `remedy` is empty when nothing is to be done. */
interface Finding {
  readonly state: "ok" | "note" | "problem";
  readonly what: string;
  readonly remedy: string;
}

export const registerDoctorCommand: RegisterCommands = (program, io, finish) => {
  program
    .command("doctor")
    .description("look for what is wrong here, and say what to do about it")
    .option("--repair", "recover a damaged database first; the damaged file is set aside")
    .option("--json", "print one JSON object a line")
    .action((options: DoctorOptions) => finish(runDoctor(io, options)));
};

interface DoctorOptions {
  readonly repair?: boolean;
  readonly json?: boolean;
}

async function runDoctor(io: CliIo, options: DoctorOptions): Promise<ExitCode> {
  const findings = [
    ...(options.repair === true ? await repairStore(io) : []),
    ...(await examineRules(io)),
    ...(await examineStore(io)),
    ...examineFolder(io),
    ...(await examineDaemon(io)),
  ];
  for (const finding of findings) {
    const { state, what, remedy } = finding;
    if (options.json === true) io.out(`${JSON.stringify(finding)}\n`);
    else io.out(`${state.padEnd(8)}${what}${remedy === "" ? "" : `\n        ${remedy}`}\n`);
  }
  return findings.some(({ state }) => state === "problem") ? 1 : 0;
}

async function repairStore(io: CliIo): Promise<readonly Finding[]> {
  const { repair } = await import("../../daemon/offline.ts");
  const report = repair(io.paths());
  if (report === null) return [ok("repair: there was nothing to recover")];
  const { salvaged, fromBackup, unreadable, setAsidePath } = report;
  return [
    ok(
      `repair: recovered ${salvaged} events from the database and ${fromBackup} more from a backup; ${unreadable} could not be read`,
    ),
    { state: "note", what: `The damaged file lies at ${setAsidePath}.`, remedy: "" },
  ];
}

/** The database itself, read from its first to its last page. */
async function examineStore(io: CliIo): Promise<readonly Finding[]> {
  const { examine } = await import("../../daemon/offline-reader.ts");
  const { path, damage, backups } = examine(io.paths());
  if (damage === null) return [ok(`database: ${path} is sound; ${backups.length} backups`)];
  return [
    {
      state: "problem",
      what: `The database ${path} is damaged: ${damage}`,
      remedy: "Recover it with: activityd stop, then activityd doctor --repair",
    },
  ];
}

/** The settings, and the gate that they make. */
async function examineRules(io: CliIo): Promise<readonly Finding[]> {
  const { configFile } = io.paths();
  try {
    const { readConfig } = await import("../../config.ts");
    const { createPrivacyGate } = await import("../../capture/privacy.ts");
    const { checkPrivacyGate } = await import("../../capture/privacy-check.ts");
    const { privacy, digest } = readConfig(configFile, io.env);
    checkPrivacyGate(createPrivacyGate(privacy), privacy, Date.now() * 1000);
    const count = privacy.rules.length;
    return [
      ok(`settings: ${configFile} is valid`),
      ok(
        `privacy: ${count === 0 ? "no rules of yours" : `${count} rules of yours`}; no planted secret came through`,
      ),
      ...examineDigest(digest),
    ];
  } catch (thrown) {
    return [problem(thrown)];
  }
}

/** What the optional parts of the digest cost, and what they send where. */
function examineDigest(digest: Config["digest"]): readonly Finding[] {
  const { semantic, model_url: url, model_timeout_ms: timeoutMs } = digest;
  const findings: Finding[] = [];
  if (semantic) {
    findings.push(
      ok(
        "digest: topics are also found by meaning, in English; 4 MB of memory and some milliseconds",
      ),
    );
  }
  if (url !== "") {
    const what =
      `digest: every turn that is no small talk, with up to 40 lines of the record, is sent to ${url}, ` +
      `which has ${timeoutMs} ms to choose among them`;
    findings.push({ state: "note", what, remedy: "" });
  }
  return findings;
}

/** What others on this machine could read. */
function examineFolder(io: CliIo): readonly Finding[] {
  const { dataDirectory } = io.paths();
  let names: readonly string[];
  try {
    names = [".", ...readdirSync(dataDirectory)];
  } catch {
    // No daemon has run yet.
    return [{ state: "note", what: `nothing is recorded yet in ${dataDirectory}`, remedy: "" }];
  }
  const open = names
    .map((name) => join(dataDirectory, name))
    .filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
  if (open.length === 0) return [ok(`data: ${dataDirectory} is yours alone`)];
  return [
    {
      state: "problem",
      what: `Others on this machine can read ${open.join(", ")}.`,
      remedy: `Take that right away with: chmod -R go= ${dataDirectory}`,
    },
  ];
}

async function examineDaemon(io: CliIo): Promise<readonly Finding[]> {
  const { connectActivity } = await import("../../local-api/client.ts");
  const api = connectActivity({ socketPath: io.paths().socketPath });
  try {
    const { version, pid, paused, problems, notes, sources, store } = await api.status();
    const findings: Finding[] = [
      ok(`daemon: activityd ${version}, pid ${pid}, ${store.eventCount} events`),
      ...problems.map(({ reason, remedy }) => ({
        state: "problem" as const,
        what: reason,
        remedy,
      })),
      ...notes.map(({ reason, remedy }) => ({ state: "note" as const, what: reason, remedy })),
      // A blind window source stands among the problems already.
      ...sources
        .filter(({ state, kind }) => state === "blind" && kind !== "window")
        .map(({ kind, why }) => ({
          state: "note" as const,
          what: `${kind} is not seen here: ${why?.reason ?? "unknown"}`,
          remedy: why?.remedy ?? "",
        })),
    ];
    if (version !== VERSION) {
      findings.push({
        state: "problem",
        what: `The daemon is activityd ${version}, this command ${VERSION}.`,
        remedy: "Restart the daemon with: activityd stop && activityd start --detach",
      });
    }
    if (paused !== null) {
      const until =
        paused.untilUs === null
          ? "it is resumed"
          : new Date(paused.untilUs / 1000).toLocaleString("sv-SE");
      findings.push({
        state: "note",
        what: `Recording is paused until ${until}.`,
        remedy: "End the pause with: activityd resume",
      });
    }
    return findings;
  } catch (thrown) {
    // A daemon that was stopped, such as for a repair, is nothing wrong.
    return [{ ...problem(thrown), state: isStopped(thrown) ? "note" : "problem" }];
  } finally {
    await api.close();
  }
}

function isStopped(thrown: unknown): boolean {
  return thrown instanceof ActivityError && thrown.code === "daemon_unreachable";
}

function ok(what: string): Finding {
  return { state: "ok", what, remedy: "" };
}

function problem(thrown: unknown): Finding {
  const { message, hint } = toErrorEnvelope(thrown).error;
  return { state: "problem", what: message, remedy: hint };
}
