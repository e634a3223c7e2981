/** `activityd import`: takes an export of ActivityWatch into the store. */
import { readFileSync } from "node:fs";
import { ActivityError } from "../../errors.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

export const registerImportCommand: RegisterCommands = (program, io, finish) => {
  program
    .command("import")
    .description(
      "take windows and absences from an ActivityWatch export (JSON); repeating it adds nothing",
    )
    .argument("<file>", "the exported file")
    .option("--time-zone <zone>", "zone in which it happened; the machine's unless given")
    .action((file: string, options: { timeZone?: string }) => finish(runImport(io, file, options)));
};

async function runImport(
  io: CliIo,
  file: string,
  options: { readonly timeZone?: string },
): Promise<ExitCode> {
  const source = readJson(file);
  const { importExport } = await import("../../daemon/offline.ts");
  const summary = importExport(io.paths(), io.env, source, options.timeZone);
  io.out(
    `imported ${summary.windows} windows and ${summary.absences} absences; ` +
      `${summary.repeated} were there already, ${summary.withheld} withheld by privacy rules, ` +
      `${summary.skipped} unreadable\n`,
  );
  if (summary.otherBuckets.length > 0) {
    io.talk(`activityd: buckets of other types were left out: ${summary.otherBuckets.join(", ")}.`);
  }
  return 0;
}

function readJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
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
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ActivityError(
      "bad_request",
      `${file} is no JSON.`,
      "Export with ActivityWatch: Raw Data, Export all buckets as JSON.",
      { cause },
    );
  }
}
