/** `activityd digest`: what the record says to a turn, in the bytes that an assistant would be given. */
import { parseInstant } from "../../instant.ts";
import { askDaemon } from "../ask-daemon.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";
import { parseCount } from "../typed-values.ts";

interface DigestOptions {
  readonly budget?: string;
  readonly at?: string;
  readonly timeZone?: string;
  readonly why?: boolean;
  readonly json?: boolean;
}

export const registerDigestCommand: RegisterCommands = (program, io, finish) => {
  program
    .command("digest")
    .description("print what was recorded that bears on a turn; nothing for small talk")
    .argument("<turn>", "what the owner says to the assistant")
    .option("--budget <tokens>", "at most so many tokens; 400 unless given")
    .option("--at <instant>", "answer as of then: an age (2h), a time of today (14:00) or a date")
    .option(
      "--time-zone <zone>",
      "zone in which times are read and told; the machine's unless given",
    )
    .option("--why", "say why each line is there, instead of the exact bytes")
    .option("--json", "print the whole answer as JSON")
    .action((turn: string, options: DigestOptions) => finish(runDigest(io, turn, options)));
};

async function runDigest(io: CliIo, turn: string, options: DigestOptions): Promise<ExitCode> {
  const { at, timeZone } = options;
  const request = {
    form: "digest" as const,
    turn,
    ...(options.budget === undefined
      ? {}
      : { budgetTokens: parseCount(options.budget, "--budget", "tokens") }),
    ...(at === undefined
      ? {}
      : { now: new Date(parseInstant(at, "--at", Date.now() * 1000) / 1000).toISOString() }),
    ...(timeZone === undefined ? {} : { timeZone }),
  };
  const answer = await askDaemon(io, (api) => api.context(request));
  if (options.json === true) io.out(`${JSON.stringify(answer)}\n`);
  else if (answer.block !== null) {
    io.out(options.why === true ? explain(answer.block, answer.reasons) : answer.block);
  } else {
    // No output at all is right for an assistant; a person wonders.
    for (const reason of answer.reasons) io.talk(`activityd: ${reason}.`);
  }
  if (options.why === true) {
    const { intent, source, tokens, ms } = answer;
    io.talk(`intent ${intent}, by ${source}, ${tokens} tokens, ${ms.toFixed(1)} ms`);
  }
  return 0;
}

/** The block with the reason behind each of its lines. */
function explain(block: string, reasons: readonly string[]): string {
  let told = 0;
  const lines = block
    .trimEnd()
    .split("\n")
    .map((line) => {
      if (!line.startsWith("- ")) return line;
      const reason = reasons[told] ?? "";
      told += 1;
      return `${line}   <- ${reason}`;
    });
  return `${lines.join("\n")}\n`;
}
