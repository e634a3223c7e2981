/** `activityd import`: takes an export of activityd, or a history of ActivityWatch, into the store. */
import type { ImportSummary } from "../../activitywatch/import.ts";
import { ActivityError } from "../../errors.ts";
import { cleanField } from "../../context/plain-text.ts";
import { counted } from "../../counted.ts";
import type { OpenHistory } from "../../daemon/offline.ts";
import type { CliIo, ExitCode } from "../io.ts";
import { createProgress } from "../progress.ts";
import type { RegisterCommands } from "../program.ts";
import { joined, readTextLines } from "../text-lines.ts";

export const registerImportCommand: RegisterCommands = (program, io, finish) => {
  program
    .command("import")
    .description(
      "take in an export of activityd, or a history of ActivityWatch; repeating it adds nothing",
    )
    .argument(
      "[file]",
      "an export of either, or a database of aw-server or aw-server-rust; - reads stdin; " +
        "ActivityWatch's databases in their usual places unless given",
    )
    .option(
      "--time-zone <zone>",
      "zone in which an ActivityWatch history happened; the machine's unless given",
    )
    .action((file: string | undefined, options: { timeZone?: string }) =>
      finish(file === undefined ? importFound(io, options) : runImport(io, file, options)),
    );
};

interface ImportOptions {
  readonly timeZone?: string;
}

async function importFound(io: CliIo, { timeZone }: ImportOptions): Promise<ExitCode> {
  const offline = await import("../../daemon/offline.ts");
  const { found, looked } = offline.findHistories(io.env);
  if (found.length === 0) {
    throw new ActivityError(
      "not_found",
      `There is no database of ActivityWatch in its usual places: ${looked.join(", ")}.`,
      "Name one: activityd import PATH",
    );
  }
  for (const path of found) {
    io.talk(`activityd: ${path}`);
    await importAll(io, offline.openHistoryDatabase(io.paths(), io.env, path, timeZone));
  }
  return 0;
}

async function runImport(io: CliIo, file: string, { timeZone }: ImportOptions): Promise<ExitCode> {
  const offline = await import("../../daemon/offline.ts");
  if (offline.isDatabase(file))
    return importAll(io, offline.openHistoryDatabase(io.paths(), io.env, file, timeZone));
  const lines = readTextLines(file);
  const first = await lines.next();
  const header = first.done === true ? "" : first.value;
  if (!offline.isOwnExport(header)) {
    const source = parseWhole(await collect(header, lines, file), file);
    return importAll(io, offline.openHistoryExport(io.paths(), io.env, source, timeZone));
  }
  const progress = createProgress(io, null, "events");
  const summary = await offline
    .importLines(io.paths(), io.env, header, lines, progress.at)
    .finally(progress.end);
  io.out(
    `imported ${counted(summary.added, "event")} and lengthened ${summary.extended}; ` +
      `${summary.present} were there already, ${summary.withheld} withheld by privacy rules, ` +
      `${summary.unreadable} unreadable` +
      `${summary.ahead > 0 ? `, ${summary.ahead} left out that lie ahead of this clock` : ""}\n`,
  );
  return 0;
}

async function importAll(io: CliIo, history: OpenHistory): Promise<ExitCode> {
  const progress = createProgress(io, history.eventCount, "events");
  try {
    const summary = await history.importAll(progress.at);
    progress.end();
    for (const line of describe(summary)) io.out(`${line}\n`);
    return 0;
  } finally {
    progress.end();
    history.close();
  }
}

/** What was taken, and what was not and why. */
function* describe(summary: ImportSummary): Generator<string, void, undefined> {
  const { kind, buckets, added, repeated, withheld, unreadable, recorded, misdated, otherTypes } =
    summary;
  const skipped = Object.values(unreadable).reduce((sum, count) => sum + count, 0);
  yield (
    `imported ${kind}: ${counted(buckets, "bucket")}, ${counted(added, "event")}; ` +
    `${repeated} were there already, ${withheld} withheld by privacy rules, ${skipped} unreadable`
  );
  yield (
    `recorded ${counted(recorded.window, "window")}, ${counted(recorded.idle, "absence")}, ` +
    `${counted(recorded.tab, "tab")}, ${recorded.editor} of editors, ${recorded.media} of players`
  );
  if (misdated > 0)
    yield `kept in its bucket only: ${counted(misdated, "event")} ahead of this clock or before 1970`;
  for (const [reason, count] of Object.entries(unreadable))
    yield `unreadable: ${count} × ${reason}`;
  for (const [type, count] of Object.entries(otherTypes))
    yield `kept in its bucket only: ${counted(count, "event")} of type ${cleanField("app", type)}`;
}

async function collect(first: string, lines: AsyncIterable<string>, file: string): Promise<string> {
  const all = [first];
  for await (const line of lines) all.push(line);
  return joined(all, file, "\n");
}

function parseWhole(text: string, file: string): unknown {
  const name = file === "-" ? "What came in" : file;
  if (text.trim() === "") {
    throw new ActivityError("bad_request", `${name} is empty.`, HOW_TO_EXPORT);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ActivityError("bad_request", `${name} is no export.`, HOW_TO_EXPORT, { cause });
  }
}

const HOW_TO_EXPORT =
  "Make one with: activityd export. Of ActivityWatch: Raw Data, Export all buckets as JSON.";
