/** The commands with which the owner rules the record: `pause`, `resume`, `forget`, `ledger`. */
import { join } from "node:path";
import type {
  ForgetAnswer,
  ForgetRequest,
  LedgerEntry,
  LedgerRequest,
  PauseRequest,
} from "../../api.ts";
import { counted } from "../../counted.ts";
import { ActivityError } from "../../errors.ts";
import { parseInstant, parseRange } from "../../instant.ts";
import { askDaemon } from "../ask-daemon.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";
import { parseCount } from "../typed-values.ts";

interface ForgetOptions {
  readonly last?: string;
  readonly from?: string;
  readonly to?: string;
  readonly app?: string;
  readonly match?: string;
  readonly byRules?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface LedgerOptions {
  readonly since: string;
  readonly client?: string;
  readonly limit: string;
  readonly json?: boolean;
}

export const registerOwnerCommands: RegisterCommands = (program, io, finish) => {
  program
    .command("pause")
    .description("stop recording, and telling assistants anything, for a time or until resumed")
    .argument("<when...>", "15m, 1h, until 14:00, until 2026-11-27T14:00, or until-resume")
    .option("--json", "print JSON")
    .action((when: readonly string[], options: { json?: boolean }) =>
      finish(runPause(io, when, options)),
    );
  program
    .command("resume")
    .description("end the pause")
    .option("--json", "print JSON")
    .action((options: { json?: boolean }) => finish(runResume(io, options)));
  program
    .command("forget")
    .description("remove what was recorded from every file; all conditions given must hold")
    .option("--last <age>", "the last 30m, 2h, 1d")
    .option("--from <instant>", "from an instant on: an age, a time of today or a date")
    .option("--to <instant>", "up to an instant; now unless given")
    .option("--app <name>", "only of this application; * stands for any run of characters")
    .option("--match <text>", "only what holds this text, in any case")
    .option("--by-rules", "what the privacy rules of today would drop or rewrite")
    .option("--dry-run", "only count")
    .option("--json", "print JSON")
    .action((options: ForgetOptions) => finish(runForget(io, options)));
  program
    .command("ledger")
    .description("print what clients were given, newest first")
    .option("--since <instant>", "an age (1h, 7d), a time of today (14:00) or a date", "1d")
    .option("--client <name>", "only what this client was given")
    .option("--limit <count>", "at most so many, the newest", "100")
    .option("--json", "print one JSON object a line")
    .action((options: LedgerOptions) => finish(runLedger(io, options)));
};

const NO_DAEMON = "The daemon is not running";

async function runPause(
  io: CliIo,
  when: readonly string[],
  options: { readonly json?: boolean },
): Promise<ExitCode> {
  const nowUs = Date.now() * 1000;
  const request = parsePause(when, nowUs);
  try {
    const answer = await askDaemon(io, (api) => api.pause(request));
    if (options.json === true) io.out(`${JSON.stringify(answer)}\n`);
    else io.talk(`Paused ${untilText(answer.paused?.untilUs ?? null)}.`);
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof ActivityError && thrown.code === "daemon_unreachable")) throw thrown;
    return await pauseNextStart(io, request, nowUs);
  }
}

/** Nothing records now; a daemon that is started later must not begin to. */
async function pauseNextStart(io: CliIo, request: PauseRequest, nowUs: number): Promise<ExitCode> {
  const { PAUSE_FILE, requireFuture, writePause } = await import("../../capture/privacy/pause.ts");
  const untilUs = request.until === undefined ? null : Date.parse(request.until) * 1000;
  requireFuture(untilUs, nowUs);
  const file = join(io.paths().dataDirectory, PAUSE_FILE);
  writePause(file, { sinceUs: nowUs, untilUs }, `${NO_DAEMON}, and a pause of the next one`);
  io.talk(`${NO_DAEMON}. When it starts, it is paused ${untilText(untilUs)}.`);
  return 0;
}

/** The end of a pause as an instant, since a duration would begin anew at a later start. */
export function parsePause(when: readonly string[], nowUs: number): PauseRequest {
  const text = when.join(" ").trim();
  if (text === "until-resume" || text === "until resume") return {};
  const length = /^(\d{1,6}(?:\.\d+)?)\s?([smhd])$/.exec(text);
  const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[length?.[2] ?? ""];
  if (length !== null && unitMs !== undefined) {
    return { until: new Date(nowUs / 1000 + Number(length[1]) * unitMs).toISOString() };
  }
  const end = /^until\s+(.+)$/.exec(text)?.[1];
  if (end !== undefined && !/^\d+(\.\d+)?[smhdw]$/.test(end)) {
    const untilUs = parseInstant(end, "until", nowUs);
    const isTimeOfDay = /^\d{1,2}:\d{2}$/.test(end);
    // "until 02:00" in the evening means tonight's.
    return {
      until: new Date(
        (isTimeOfDay && untilUs <= nowUs ? nextDay(untilUs) : untilUs) / 1000,
      ).toISOString(),
    };
  }
  throw new ActivityError(
    "bad_request",
    `Cannot read "${text}" as the length of a pause.`,
    "Give 15m, 1h, until 14:00 or until-resume.",
  );
}

/** The same time on the next day of the calendar, which may be 23 or 25 hours later. */
function nextDay(atUs: number): number {
  const day = new Date(atUs / 1000);
  return day.setDate(day.getDate() + 1) * 1000;
}

async function runResume(io: CliIo, options: { readonly json?: boolean }): Promise<ExitCode> {
  try {
    const answer = await askDaemon(io, (api) => api.resume());
    if (options.json === true) io.out(`${JSON.stringify(answer)}\n`);
    else io.talk("Recording goes on.");
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof ActivityError && thrown.code === "daemon_unreachable")) throw thrown;
    const { PAUSE_FILE, removePause } = await import("../../capture/privacy/pause.ts");
    const file = join(io.paths().dataDirectory, PAUSE_FILE);
    removePause(file, `${NO_DAEMON}, and a pause of the next one`);
    io.talk(`${NO_DAEMON}. When it starts, it records.`);
    return 0;
  }
}

async function runForget(io: CliIo, options: ForgetOptions): Promise<ExitCode> {
  const request = parseForget(options, Date.now() * 1000);
  const answer = await askDaemon(io, (api) => api.forget(request));
  if (options.json === true) io.out(`${JSON.stringify(answer)}\n`);
  else for (const line of describeForget(answer)) io.out(`${line}\n`);
  return (answer.proof?.foundIn.length ?? 0) > 0 ? 1 : 0;
}

function parseForget(options: ForgetOptions, nowUs: number): ForgetRequest {
  const { last, from, to, app, match, byRules, dryRun } = options;
  if ([last, from, to, app, match, byRules].every((condition) => condition === undefined)) {
    throw new ActivityError(
      "bad_request",
      "Nothing says what to forget.",
      "Give --last 30m, --from and --to, --app, --match or --by-rules; with --dry-run it is only counted.",
    );
  }
  if (byRules === true && [last, from, to, app, match].some((each) => each !== undefined)) {
    throw new ActivityError(
      "bad_request",
      "--by-rules stands alone: the rules themselves say what goes.",
      "Leave out --last, --from, --to, --app and --match.",
    );
  }
  if (last !== undefined && (from !== undefined || to !== undefined)) {
    throw new ActivityError(
      "bad_request",
      "--last and --from or --to exclude each other.",
      "Give one of them.",
    );
  }
  return {
    ...(last === undefined ? {} : { lastMinutes: parseAge(last, nowUs) }),
    ...parseRange(["--from", from], ["--to", to], nowUs),
    ...(app === undefined ? {} : { app }),
    ...(match === undefined ? {} : { match }),
    ...(byRules === undefined ? {} : { byRules }),
    ...(dryRun === undefined ? {} : { dryRun }),
  };
}

function parseAge(text: string, nowUs: number): number {
  if (/^\d+(\.\d+)?[smhdw]$/.test(text) && Number.parseFloat(text) > 0)
    return (nowUs - parseInstant(text, "--last", nowUs)) / 60e6;
  throw new ActivityError(
    "bad_request",
    `Cannot read --last "${text}" as an age.`,
    "Give 30m, 2h or 1d.",
  );
}

function describeForget(answer: ForgetAnswer): readonly string[] {
  const { dryRun, events, shortened, rewritten, documents, ledgerEntries, otherRows, span, proof } =
    answer;
  const counts = [
    counted(events, "event"),
    ...(shortened > 0 ? [`${counted(shortened, "event")} cut at the edges`] : []),
    ...(rewritten > 0 ? [`${counted(rewritten, "event")} rewritten`] : []),
    ...(dryRun ? [counted(documents, "distinct thing")] : []),
    // Of others something else is still recorded: fewer than were looked at, and none was passed over.
    ...(!dryRun && documents > 0 ? [`all there was of ${counted(documents, "thing")}`] : []),
    counted(ledgerEntries, "ledger entry", "ledger entries"),
    ...(otherRows > 0 ? [counted(otherRows, "other row")] : []),
    ...(answer.backups > 0 ? [counted(answer.backups, "backup")] : []),
  ].join(", ");
  const when =
    span === null ? "" : `, from ${showInstant(span.fromUs)} to ${showInstant(span.toUs)}`;
  if (dryRun)
    return [`would forget ${counts}${when}`, "nothing was changed; leave out --dry-run to do it"];
  const lines = [`forgot ${counts}${when}`];
  if (proof === null) return lines;
  const searched = `${counted(proof.filesSearched, "file")} (${(proof.bytesSearched / 1e6).toFixed(1)} MB)`;
  if (proof.foundIn.length > 0) {
    return [...lines, `NOT gone: it still stands in ${proof.foundIn.join(", ")}`];
  }
  return [
    ...lines,
    proof.texts === 0
      ? `searched ${searched}; no text was gone with it that could be looked for`
      : `searched ${searched} for ${counted(proof.texts, "text")} of it: found nothing`,
  ];
}

async function runLedger(io: CliIo, options: LedgerOptions): Promise<ExitCode> {
  const limit = parseCount(options.limit, "--limit", "entries");
  const request: LedgerRequest = {
    fromUs: parseInstant(options.since, "--since", Date.now() * 1000),
    limit,
    ...(options.client === undefined ? {} : { client: options.client }),
  };
  const { entries, truncated } = await askDaemon(io, (api) => api.ledger(request));
  for (const entry of entries) {
    if (options.json === true) io.out(`${JSON.stringify(entry)}\n`);
    else for (const line of describeEntry(entry)) io.out(`${line}\n`);
  }
  if (truncated)
    io.talk(`activityd: older entries were left out; --limit takes more than ${limit}.`);
  if (entries.length === 0) io.talk("activityd: nothing was given to a client in that time.");
  return 0;
}

function describeEntry(entry: LedgerEntry): readonly string[] {
  const { firstUs, lastUs, times, client, session, form, intent, source, text, tokens } = entry;
  const when =
    times === 1
      ? showInstant(firstUs)
      : `${showInstant(firstUs)}\u2013${showInstant(lastUs)}, ${times} times`;
  const who = `${printable(client ?? "a client without a name")}${session === null ? "" : `, session ${printable(session)}`}`;
  return [
    `${when}: ${who}: ${form}, ${intent} by ${source}, ${tokens} tokens, of ${counted(entry.eventIds.length, "event")}`,
    ...entry.reasons.map((reason) => `  why: ${printable(reason)}`),
    ...(text ?? "")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => `  | ${printable(line)}`),
  ];
}

/** A terminal obeys what it prints: nothing but text may reach it. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, "\ufffd");
}

function untilText(untilUs: number | null): string {
  return untilUs === null ? "until you resume: activityd resume" : `until ${showInstant(untilUs)}`;
}

function showInstant(atUs: number): string {
  return new Date(atUs / 1000).toLocaleString("sv-SE").slice(0, 16);
}
