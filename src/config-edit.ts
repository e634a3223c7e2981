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
  const config = parseConfig(after, file, env);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, after, { mode: 0o600 });
    chmodSync(`${file}.new`, 0o600);
    // Whole or not at all: half a rule would keep the daemon from starting.
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
