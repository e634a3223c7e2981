/**
 * Changes to the config file that a command makes for the owner. It promises to leave what stands there as it is,
 * comments included, and to write nothing that the daemon would refuse.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { stringify } from "smol-toml";
import type { PrivacyRule } from "./capture/privacy-rules.ts";
import { parseConfig, type Config } from "./config.ts";
import { ActivityError } from "./errors.ts";

/**
 * Adds a privacy rule behind those there are and returns the settings as they are then. Throws `config_invalid`
 * when the file would not be accepted, also for what was wrong in it before, and leaves it as it was.
 */
export function appendRule(
  file: string,
  rule: PrivacyRule,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  const before = readTextIfThere(file);
  const joint =
    before === "" || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
  const after = `${before}${joint}[[privacy.rules]]\n${stringify(rule)}`;
  return writeConfig(file, after, env);
}

/**
 * Sets keys of a table, each on its own line: where it stands already its line is replaced, else it is put below the
 * table's head, which is made when there is none. The same promises as `appendRule`.
 */
export function setKeys(
  file: string,
  table: string,
  values: Readonly<Record<string, string | number | boolean | readonly string[]>>,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  let lines = readTextIfThere(file).split("\n");
  if (lines.at(-1) === "") lines = lines.slice(0, -1);
  for (const [key, value] of Object.entries(values)) {
    const line = stringify({ [key]: value }).trimEnd();
    const head = lines.findIndex((each) => each.trim() === `[${table}]`);
    if (head === -1) {
      lines = [...lines, ...(lines.length === 0 ? [] : [""]), `[${table}]`, line];
      continue;
    }
    const after = lines.findIndex((each, index) => index > head && /^\s*\[/.test(each));
    const end = after === -1 ? lines.length : after;
    const at = lines.findIndex(
      (each, index) => index > head && index < end && /^\s*([\w-]+)\s*=/.exec(each)?.[1] === key,
    );
    lines = at === -1 ? lines.toSpliced(head + 1, 0, line) : lines.toSpliced(at, 1, line);
  }
  return writeConfig(file, `${lines.join("\n")}\n`, env);
}

/** Writes what the daemon would accept, and nothing else. */
function writeConfig(
  file: string,
  after: string,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  const config = parseConfig(after, file, env);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, after, { mode: 0o600 });
    chmodSync(`${file}.new`, 0o600);
    // Whole or not at all: half of it would keep the daemon from starting.
    renameSync(`${file}.new`, file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ActivityError(
      "config_invalid",
      `Cannot write ${file}: ${reason}.`,
      "Make it writable.",
      { cause },
    );
  }
  return config;
}

function readTextIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
