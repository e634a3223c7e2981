/** `activityd import`: takes an export of activityd or of ActivityWatch into the store. */
import { createReadStream } from "node:fs";
import { ActivityError } from "../../errors.ts";
import type { CliIo, ExitCode } from "../io.ts";
import { createProgress } from "../progress.ts";
import type { RegisterCommands } from "../program.ts";

export const registerImportCommand: RegisterCommands = (program, io, finish) => {
  program
    .command("import")
    .description(
      "take an export of activityd, or windows and absences of ActivityWatch; repeating it adds nothing",
    )
    .argument("<file>", "the exported file; - for what comes in")
    .option(
      "--time-zone <zone>",
      "zone in which an ActivityWatch export happened; the machine's unless given",
    )
    .action((file: string, options: { timeZone?: string }) => finish(runImport(io, file, options)));
};

async function runImport(
  io: CliIo,
  file: string,
  options: { readonly timeZone?: string },
): Promise<ExitCode> {
  const lines = readLines(file);
  const first = await lines.next();
  const header = first.done === true ? "" : first.value;
  const offline = await import("../../daemon/offline.ts");
  if (!offline.isOwnExport(header)) {
    const source = parseWhole(await collect(header, lines), file);
    const summary = await offline.importExport(io.paths(), io.env, source, options.timeZone);
    io.out(
      `imported ${summary.windows} windows and ${summary.absences} absences; ` +
        `${summary.repeated} were there already, ${summary.withheld} withheld by privacy rules, ` +
        `${summary.skipped} unreadable\n`,
    );
    if (summary.otherBuckets.length > 0) {
      io.talk(
        `activityd: buckets of other types were left out: ${summary.otherBuckets.join(", ")}.`,
      );
    }
    return 0;
  }
  const progress = createProgress(io, null, "events");
  const summary = await offline
    .importLines(io.paths(), io.env, header, lines, progress.at)
    .finally(progress.end);
  io.out(
    `imported ${summary.added} events and lengthened ${summary.extended}; ` +
      `${summary.present} were there already, ${summary.withheld} withheld by privacy rules, ` +
      `${summary.unreadable} unreadable\n`,
  );
  return 0;
}

/** The lines of a file or of stdin, one by one. */
async function* readLines(file: string): AsyncGenerator<string, void, undefined> {
  const input = file === "-" ? process.stdin : createReadStream(file);
  input.setEncoding("utf8");
  let rest = "";
  try {
    for await (const chunk of input) {
      const parts = (rest + String(chunk)).split("\n");
      rest = parts.pop() ?? "";
      yield* parts;
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ActivityError(
      "bad_request",
      `Cannot read ${file}: ${reason}.`,
      "Name an exported file.",
      {
        cause,
      },
    );
  }
  if (rest !== "") yield rest;
}

async function collect(first: string, lines: AsyncIterable<string>): Promise<string> {
  const all = [first];
  for await (const line of lines) all.push(line);
  return all.join("\n");
}

function parseWhole(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ActivityError(
      "bad_request",
      `${file} is no export.`,
      "Make one with: activityd export. Of ActivityWatch: Raw Data, Export all buckets as JSON.",
      { cause },
    );
  }
}
