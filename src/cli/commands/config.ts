/** `activityd config …`: the settings, from a commented file to begin with to a check of what stands in it. */
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { ActivityError, toErrorEnvelope } from "../../errors.ts";
import { writeWhole } from "../../whole-file.ts";
import { draftOf } from "../../paths.ts";
import { RESTART, type CliIo, type ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

export const registerConfigCommands: RegisterCommands = (program, io, finish) => {
  const config = program.command("config").description("look at the settings and change them");
  config
    .command("init")
    .description("write a settings file with every key, its meaning and its default")
    .option("--print", "print it instead of writing it")
    .action((options: { print?: true }) => finish(init(io, options)));
  config
    .command("show")
    .description("print the settings in force, and where each that is not the default comes from")
    .option("--json", "print JSON")
    .action((options: { json?: true }) => finish(show(io, options)));
  config
    .command("edit")
    .description(
      "open the settings file in $VISUAL or $EDITOR; settings that are not valid are not saved",
    )
    .action(() => finish(edit(io)));
  config
    .command("check")
    .description("say whether the settings are valid, and what is wrong where they are not")
    .action(() => finish(check(io)));
};

async function init(io: CliIo, options: { readonly print?: boolean }): Promise<ExitCode> {
  const { renderConfigTemplate } = await import("../../config-pages.ts");
  const text = renderConfigTemplate();
  if (options.print === true) {
    io.out(text);
    return 0;
  }
  const { configFile } = io.paths();
  if (existsSync(configFile)) {
    throw new ActivityError(
      "config_invalid",
      `There is a file already: ${configFile}. Nothing was changed.`,
      "See what a new one would be with: activityd config init --print",
    );
  }
  const { replaceConfigFile } = await import("../../config-edit.ts");
  replaceConfigFile(configFile, text);
  io.talk(`Wrote ${configFile}. Change it with: activityd config edit`);
  return 0;
}

async function show(io: CliIo, options: { readonly json?: boolean }): Promise<ExitCode> {
  const { readConfig } = await import("../../config.ts");
  const { readShownSettings, renderSettings } = await import("../../config-pages.ts");
  const { configFile } = io.paths();
  const settings = readShownSettings(readConfig(configFile, io.env), configFile, io.env);
  io.out(options.json === true ? `${JSON.stringify(settings)}\n` : renderSettings(settings));
  return 0;
}

/** The editor works on a copy, and the copy stays where it cannot be taken over: nothing typed is lost. */
async function edit(io: CliIo): Promise<ExitCode> {
  const { renderConfigTemplate } = await import("../../config-pages.ts");
  const { readConfigText } = await import("../../config.ts");
  const { replaceConfigFile } = await import("../../config-edit.ts");
  const editor = chooseEditor(io);
  const { configFile } = io.paths();
  const draft = draftOf(configFile);
  const isThere = existsSync(configFile);
  const before = isThere ? readConfigText(configFile) : renderConfigTemplate();
  const goesOn = existsSync(draft);
  if (goesOn) io.talk(`Going on with what was not taken over: ${draft}`);
  else writeWhole(draft, before);
  const failure = runEditor(io, editor, draft);
  // What is not there would be read as settings that are all left to the defaults.
  if (!existsSync(draft)) {
    throw new ActivityError(
      "config_invalid",
      `The editor «${editor}» left no file; nothing was changed.`,
      "Begin again with: activityd config edit",
    );
  }
  const isUntouched = !goesOn && readConfigText(draft) === before;
  if (isUntouched && (failure !== null || isThere)) rmSync(draft);
  if (failure !== null) {
    throw new ActivityError(
      "config_invalid",
      `The editor «${editor}» ended with ${failure}; nothing was changed.`,
      "Choose another: EDITOR=nano activityd config edit",
    );
  }
  if (isUntouched && isThere) {
    io.talk("Nothing was changed.");
    return 0;
  }
  try {
    const after = readConfigText(draft);
    await validate(after, draft, io);
    replaceConfigFile(configFile, after);
  } catch (thrown) {
    const { message } = toErrorEnvelope(thrown).error;
    throw new ActivityError(
      "config_invalid",
      `${message} Your changes are not taken over; they are kept in ${draft}.`,
      `Go on with: activityd config edit; or drop them with: rm ${draft}`,
      { cause: thrown },
    );
  }
  rmSync(draft);
  io.talk(`${configFile} was changed. Privacy rules count at once, all else ${RESTART}`);
  return 0;
}

/** Whatever the owner named, which need not want a terminal; else one that does. */
function chooseEditor(io: CliIo): string {
  const named = io.env["VISUAL"] || io.env["EDITOR"];
  if (named !== undefined && named !== "") return named;
  if (io.isTerminal) return "vi";
  throw new ActivityError(
    "config_invalid",
    "There is no terminal for an editor here, and neither VISUAL nor EDITOR names one; nothing was changed.",
    `Change ${io.paths().configFile} by other means, then: activityd config check`,
  );
}

/** What the editor failed with, or null when it ended well. */
function runEditor(io: CliIo, editor: string, file: string): string | null {
  // Editors are often given with arguments, "code --wait", which is why a shell reads them.
  const { status, signal, error } = spawnSync("sh", ["-c", `${editor} "$1"`, "sh", file], {
    stdio: "inherit",
    env: io.env,
  });
  if (status === 0) return null;
  return error?.message ?? signal ?? String(status);
}

async function check(io: CliIo): Promise<ExitCode> {
  const { listChangedKeys, listUnknownVariables, readConfigText } = await import("../../config.ts");
  const { configFile } = io.paths();
  const isThere = existsSync(configFile);
  await validate(readConfigText(configFile), configFile, io);
  const changed = listChangedKeys(configFile, io.env);
  io.out(
    `${isThere ? `${configFile} is valid` : `There is no ${configFile}: the defaults hold`}; ${
      changed.length === 0
        ? "nothing differs from the defaults"
        : `other than by default: ${changed.join(", ")}`
    }\n`,
  );
  for (const name of listUnknownVariables(io.env))
    io.talk(`activityd: no setting belongs to the variable ${name}; it changes nothing.`);
  return 0;
}

/** What the daemon does with it at its start: read it, and try the privacy gate that it makes. */
async function validate(text: string, file: string, io: CliIo): Promise<void> {
  const { parseConfig } = await import("../../config.ts");
  const { createPrivacyGate } = await import("../../capture/privacy.ts");
  const { checkPrivacyGate } = await import("../../capture/privacy/check.ts");
  const { privacy } = parseConfig(text, file, io.env);
  checkPrivacyGate(createPrivacyGate(privacy), privacy, Date.now() * 1000);
}
