/** The commands that look after the daemon: `start`, `stop`, `status`, `version`. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ActivityError } from "../../errors.ts";
import type { StatusAnswer } from "../../api.ts";
import { counted } from "../../counted.ts";
import { ALLOCATOR_VARIABLES } from "../../daemon/service/plan.ts";
import { VERSION } from "../../version.ts";
import { askDaemon } from "../ask-daemon.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

const READY_TIMEOUT_MS = 15_000;
const STOP_TIMEOUT_MS = 10_000;

export const registerDaemonCommands: RegisterCommands = (program, io, finish) => {
  program
    .command("start")
    .description("run the daemon in the foreground")
    .option("--detach", "run it in the background and return when it answers")
    .action((options: { detach?: boolean }) =>
      finish(options.detach === true ? startDetached(io) : startHere(io)),
    );
  program
    .command("stop")
    .description("stop the running daemon")
    .action(() => finish(stop(io)));
  program
    .command("status")
    .description("say what is captured, what cannot be seen and why")
    .option("--json", "print JSON")
    .action((options: { json?: boolean }) => finish(status(io, options)));
  program
    .command("version")
    .description("print the version")
    .action(() => {
      io.out(`activityd ${VERSION}\n`);
    });
};

async function startHere(io: CliIo): Promise<ExitCode> {
  const { runStart } = await import("./start.ts");
  return runStart(io);
}

async function startDetached(io: CliIo): Promise<ExitCode> {
  const running = await readStatus(io);
  if (running !== null) {
    io.talk(`activityd is running already (pid ${running.pid}).`);
    return 0;
  }
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("../main.js", import.meta.url)), "start"],
    {
      detached: true,
      env: { ...ALLOCATOR_VARIABLES, ...io.env },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let said = "";
  let exited = false;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-4000);
  });
  child.once("exit", () => {
    exited = true;
  });
  const started = await waitFor(
    async () => exited || (await readStatus(io)) !== null,
    READY_TIMEOUT_MS,
  );
  child.stderr.destroy();
  child.unref();
  if (exited) {
    throw new ActivityError(
      "internal",
      `The daemon ended while it started: ${said.trim() || "it said nothing"}`,
      "Run it in the foreground to see more: activityd start",
    );
  }
  if (!started) {
    throw new ActivityError(
      "timed_out",
      `The daemon (pid ${child.pid}) did not answer within ${READY_TIMEOUT_MS / 1000} s, and goes on starting.`,
      "See what it does with: activityd doctor",
    );
  }
  io.talk(`activityd runs in the background (pid ${child.pid}).`);
  return 0;
}

async function stop(io: CliIo): Promise<ExitCode> {
  const paths = io.paths();
  const { planService } = await import("../../daemon/service/machine-plan.ts");
  const { findDaemon, stopDaemon } = await import("../../daemon/service/service.ts");
  // One that hangs, or whose socket was taken away, answers nobody and still holds the record.
  const pid = (await readPid(io)) ?? findDaemon(paths);
  if (pid === null) {
    io.talk("activityd is not running.");
    return 0;
  }
  await stopDaemon(planService(paths, io.env), pid, (line) => io.talk(line));
  const stopped = await waitFor(async () => !isAlive(pid), STOP_TIMEOUT_MS);
  if (!stopped) {
    throw new ActivityError(
      "timed_out",
      `The daemon (pid ${pid}) did not stop within ${STOP_TIMEOUT_MS / 1000} s.`,
      `End it with: kill -9 ${pid}`,
    );
  }
  io.talk(`activityd (pid ${pid}) stopped.`);
  return 0;
}

/** The pid of the daemon that answers; null when none does, or not in time. */
async function readPid(io: CliIo): Promise<number | null> {
  try {
    return (await readStatus(io))?.pid ?? null;
  } catch (thrown) {
    if (thrown instanceof ActivityError && thrown.code === "timed_out") return null;
    throw thrown;
  }
}

async function status(io: CliIo, options: { readonly json?: boolean }): Promise<ExitCode> {
  const answer = await askDaemon(io, (api) => api.status());
  io.out(options.json === true ? `${JSON.stringify(answer)}\n` : formatStatus(answer));
  return 0;
}

function formatStore({ path, eventCount, sizeBytes, writable }: StatusAnswer["store"]): string {
  const size = `${(sizeBytes / 1e6).toFixed(1)} MB`;
  if (eventCount === null) return `${path}, being recovered, ${size}`;
  return `${path}, ${counted(eventCount, "event")}, ${size}${writable ? "" : ", NOT WRITABLE"}`;
}

function formatStatus(answer: StatusAnswer): string {
  const lines = [
    `activityd ${answer.version}, pid ${answer.pid}, up ${formatAge(answer.nowUs - answer.startedUs)}: ${answer.health}`,
    `socket   ${answer.socket}`,
    `store    ${formatStore(answer.store)}`,
  ];
  if (answer.paused !== null) {
    const { untilUs } = answer.paused;
    lines.push(
      `PAUSED   until ${untilUs === null ? "it is resumed" : new Date(untilUs / 1000).toLocaleString("sv-SE")}: nothing is recorded or told (activityd resume)`,
    );
  }
  for (const source of answer.sources) {
    const backend = source.backend === null ? "" : ` by ${source.backend}`;
    lines.push(
      `${source.kind.padEnd(12)} ${source.state}${backend}${source.why === null ? "" : `: ${source.why.reason}`}`,
    );
    if (source.why !== null && source.why.remedy !== "")
      lines.push(`             to do: ${source.why.remedy}`);
    for (const { backend: passedOver, reason } of source.rejected)
      lines.push(`             passed over ${passedOver}: ${reason}`);
  }
  for (const { reason, remedy } of answer.problems)
    lines.push(`problem: ${reason}${remedy === "" ? "" : ` To do: ${remedy}`}`);
  for (const { reason, remedy } of answer.notes)
    lines.push(`note: ${reason}${remedy === "" ? "" : ` ${remedy}`}`);
  return `${lines.join("\n")}\n`;
}

function formatAge(us: number): string {
  const minutes = Math.floor(us / 60_000_000);
  if (minutes < 1) return `${Math.floor(us / 1_000_000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

/** The status, or null when no daemon answers. */
async function readStatus(io: CliIo): Promise<StatusAnswer | null> {
  try {
    return await askDaemon(io, (api) => api.status());
  } catch (thrown) {
    if (thrown instanceof ActivityError && thrown.code === "daemon_unreachable") return null;
    throw thrown;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    // ESRCH: the process is gone, which is what is asked.
    return false;
  }
  return !isDefunct(pid);
}

/**
 * Whether it ended and nobody asked how: where the first process of a container takes no care of orphans, the entry
 * of one stays for good.
 *
 * @see proc_pid_stat(5)
 */
function isDefunct(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is a name in brackets, in which anything may stand.
    return stat.slice(stat.lastIndexOf(")")).startsWith(") Z");
  } catch {
    // No Linux, or gone by now: the next look tells.
    return false;
  }
}

async function waitFor(condition: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadlineMs = Date.now() + timeoutMs;
  while (Date.now() < deadlineMs) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return condition();
}
