/** The commands about the privacy rules: `privacy add`, `privacy test` and `privacy explain`. */
import type { PrivacyRule, RuleAction } from "../../capture/privacy/rules.ts";
import { ActivityError } from "../../errors.ts";
import { optionOf } from "../command-tree.ts";
import { askDaemon } from "../ask-daemon.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";
import { parseInstant } from "../../instant.ts";

interface TestOptions {
  readonly private?: boolean;
  readonly executable?: string;
  readonly at?: string;
  readonly json?: boolean;
}

const ACTIONS: readonly RuleAction[] = ["drop", "app-only", "redact", "keep"];

export const registerPrivacyCommands: RegisterCommands = (program, io, finish) => {
  const privacy = program
    .command("privacy")
    .description("show what the privacy rules keep, replace and drop");
  privacy
    .command("test")
    .description("say what would be stored of a window, and which rule acted")
    .argument("<app>", "the name of the application")
    .argument("[title]", "the title of the window")
    .argument("[url]", "the address of the page in it")
    .option("--private", "as if a browser source had called the window private")
    .option("--executable <path>", "the program behind the window")
    .option("--at <instant>", "as if it were then: a time of today (23:00) or a date")
    .option("--json", "print JSON")
    .action(
      (app: string, title: string | undefined, url: string | undefined, options: TestOptions) =>
        finish(testRules(io, { app, title: title ?? null, url: url ?? null }, options)),
    );
  privacy
    .command("add")
    .description("add a rule to the config, and say which stored events it concerns")
    .addOption(
      optionOf("--action <action>", "what is done with the window", ACTIONS).makeOptionMandatory(),
    )
    .option("--app <name>", "the application; * stands for any run of characters")
    .option("--title <pattern>", "an RE2 pattern found anywhere in the title")
    .option("--place <host/path>", "the host, and optionally the beginning of the path")
    .option("--private", "only windows known to be private")
    .option("--between <times>", "the local time of day, such as 22:00-07:30")
    .option("--every", "everything; for a rule without a condition")
    .option("--replacement <text>", "what redact puts in place")
    .option("--name <name>", "what the rule is called")
    .action((rule: PrivacyRule) => finish(addRule(io, rule)));
  privacy
    .command("explain")
    .description("print every rule in the order in which they are tried")
    .action(() => finish(explainRules(io)));
};

/** Writes the rule behind those there are, unless the whole of them would then be refused. */
async function addRule(io: CliIo, rule: PrivacyRule): Promise<ExitCode> {
  const { appendRule } = await import("../../config-edit.ts");
  const paths = io.paths();
  await refuseUnfit(rule);
  const { privacy } = appendRule(paths.configFile, rule, io.env);
  io.out(`rule ${privacy.rules.length} is added to ${paths.configFile}\n`);
  const { countAgainstRules } = await import("../../daemon/offline-reader.ts");
  const count = await countAgainstRules(paths, privacy);
  const isRunning = await askDaemon(io, (api) => api.status()).then(
    () => true,
    () => false,
  );
  if (isRunning) io.out("the daemon goes by it from now on\n");
  io.out(
    count === 0
      ? "no stored event falls under the rules\n"
      : `${count} stored ${count === 1 ? "event falls" : "events fall"} under the rules; to apply them backwards: activityd forget --by-rules\n`,
  );
  return 0;
}

/** What is wrong with the rule itself is told by the options that say it, not as a place in the file. */
async function refuseUnfit(rule: PrivacyRule): Promise<void> {
  const { privacySchema } = await import("../../capture/privacy/rules.ts");
  const parsed = privacySchema.shape.rules.def.innerType.def.element.safeParse(rule);
  if (parsed.success) return;
  const problems = parsed.error.issues.map(
    ({ path, message }) =>
      `--${path.join(".")}: ${message.charAt(0).toLowerCase()}${message.slice(1).replace(/\.$/, "")}`,
  );
  throw new ActivityError(
    "rule_invalid",
    `The rule does not fit: ${problems.join("; ")}. Nothing was changed.`,
    "See what a rule can say with: activityd privacy add --help",
  );
}

async function testRules(
  io: CliIo,
  window: { readonly app: string; readonly title: string | null; readonly url: string | null },
  options: TestOptions,
): Promise<ExitCode> {
  const { readConfig } = await import("../../config.ts");
  const { createPrivacyGate } = await import("../../capture/privacy.ts");
  const { describeResult } = await import("../../capture/privacy/explain.ts");
  // The same file, the same gate: what is told here is what the daemon does.
  const gate = createPrivacyGate(readConfig(io.paths().configFile, io.env).privacy);
  const nowUs = Date.now() * 1000;
  const atUs = options.at === undefined ? nowUs : parseInstant(options.at, "--at", nowUs);
  const sample = {
    ...window,
    pid: null,
    executable: options.executable ?? null,
    private: options.private === true ? true : null,
  };
  const result = gate.window(sample, atUs);
  if (options.json === true) io.out(`${JSON.stringify(result)}\n`);
  else for (const line of describeResult(window.app, result)) io.out(`${line}\n`);
  return 0;
}

async function explainRules(io: CliIo): Promise<ExitCode> {
  const { readConfig } = await import("../../config.ts");
  const { explainPrivacy } = await import("../../capture/privacy/explain.ts");
  const config = readConfig(io.paths().configFile, io.env);
  for (const line of explainPrivacy(config.privacy)) io.out(`${line}\n`);
  return 0;
}
