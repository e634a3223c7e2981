/**
 * Changes to the config file that a command makes for the owner. It promises to leave what stands there as it is,
 * comments included, and to write nothing that the daemon would refuse.
 */
import { parse, stringify } from "smol-toml";
import type { PrivacyRule } from "./capture/privacy/rules.ts";
import { configTarget, parseConfig, readConfigText, type Config } from "./config.ts";
import { ActivityError, howToMend, whyRefused } from "./errors.ts";
import { writeWhole } from "./whole-file.ts";

/**
 * Adds a privacy rule behind those there are and returns the settings as they are then. Throws `config_invalid`
 * when the file would not be accepted, also for what was wrong in it before, and leaves it as it was.
 */
export function appendRule(
  file: string,
  rule: PrivacyRule,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  const before = readConfigText(file);
  const eol = lineEndOf(before);
  const isWhole = before === "" || before.endsWith("\n");
  const joint = `${isWhole ? "" : eol}${before === "" || /\n\r?\n$/.test(before) ? "" : eol}`;
  const added = `[[privacy.rules]]\n${stringify(rule)}`.replaceAll("\n", eol);
  return writeConfig(file, before, `${before}${joint}${added}`, env);
}

/**
 * Sets keys of a table, each on its own line: where it stands already its value is replaced, else it is put below the
 * table's head, which is made when there is none. The same promises as `appendRule`.
 */
export function setKeys(
  file: string,
  table: string,
  values: Readonly<Record<string, string | number | boolean | readonly string[]>>,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  const before = readConfigText(file);
  const isHead = new RegExp(`^\\s*\\[\\s*"?${table}"?\\s*\\]\\s*(#.*)?$`);
  const carriage = lineEndOf(before).slice(0, -1);
  let lines = before.split("\n");
  if (lines.at(-1) === "") lines = lines.slice(0, -1);
  for (const [key, value] of Object.entries(values)) {
    const line = stringify({ [key]: value }).trimEnd();
    const head = lines.findIndex((each) => isHead.test(each));
    if (head === -1) {
      const gap = lines.length === 0 ? [] : [carriage];
      lines = [...lines, ...gap, `[${table}]${carriage}`, `${line}${carriage}`];
      continue;
    }
    const after = lines.findIndex((each, index) => index > head && /^\s*\[/.test(each));
    const end = after === -1 ? lines.length : after;
    const at = lines.findIndex(
      (each, index) =>
        index > head && index < end && /^\s*"?([\w-]+)"?\s*=/.exec(each)?.[1] === key,
    );
    lines =
      at === -1
        ? lines.toSpliced(head + 1, 0, `${line}${carriage}`)
        : lines.toSpliced(
            at,
            countValueLines(lines.slice(at, end)),
            `${line}${remarkOf(lines[at] ?? "")}${carriage}`,
          );
  }
  return writeConfig(file, before, `${lines.join("\n")}\n`, env);
}

/**
 * Puts `text` in the place of a file, whole or not at all: half of it would keep the daemon from starting. A link to a
 * file elsewhere, such as into a folder of dotfiles, stays one. Throws `config_invalid` when it cannot be written.
 */
export function replaceConfigFile(file: string, text: string): void {
  const target = configTarget(file);
  try {
    writeWhole(target, text);
  } catch (cause) {
    const reason = whyRefused(cause);
    throw new ActivityError(
      "config_invalid",
      `Cannot write ${file}: ${reason}.`,
      howToMend(cause, "Make it writable."),
      { cause },
    );
  }
}

/** Writes what the daemon would accept, and nothing else. */
function writeConfig(
  file: string,
  before: string,
  after: string,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  const config = parseChanged(file, before, after, env);
  replaceConfigFile(file, after);
  return config;
}

function parseChanged(
  file: string,
  before: string,
  after: string,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  // What was wrong before is told as it stands in the file.
  parseConfig(before, file, env);
  try {
    parse(after);
  } catch (cause) {
    throw new ActivityError(
      "config_invalid",
      `The settings in ${file} are written in a way that no command can add to, such as a table on one line. Nothing was changed.`,
      `Write them as they stand in: activityd config show`,
      { cause },
    );
  }
  return parseConfig(after, file, env);
}

function lineEndOf(text: string): "\n" | "\r\n" {
  return /^[^\n]*\r\n/.test(text) ? "\r\n" : "\n";
}

/** Over how many lines the value goes that begins in the first, as a list does that is written item by item. */
function countValueLines(lines: readonly string[]): number {
  const whole = lines.findIndex((_, last) => isToml(lines.slice(0, last + 1).join("\n")));
  return whole === -1 ? 1 : whole + 1;
}

/** What the owner wrote behind a value, with the space before it. */
function remarkOf(line: string): string {
  for (const { index } of line.matchAll(/#/g)) {
    const value = line.slice(0, index);
    if (isToml(value)) return `${/\s*$/.exec(value)?.[0] ?? ""}${line.slice(index).trimEnd()}`;
  }
  return "";
}

function isToml(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    // Half of a value: the question is whether it is one.
    return false;
  }
}
