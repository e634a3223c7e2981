/**
 * The owner's settings, read. It hides TOML, the environment and on which line a key stands, and promises either a whole,
 * valid configuration or one error that names every problem with its line and key.
 */
import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { parse, TomlError } from "smol-toml";
import { configSchema, listKeys, type Config } from "./config-schema.ts";
import { ActivityError, whyRefused } from "./errors.ts";

export type { Config };

/**
 * Reads the settings from `file` (absent: all defaults), with `ACTIVITYD_<TABLE>_<KEY>` variables over it.
 * Throws `config_invalid` naming every problem.
 */
export function readConfig(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  return parseConfig(readConfigText(file), file, env);
}

/** The text of the settings, empty when there is no file. Throws `config_invalid` for what cannot be read as text. */
export function readConfigText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readAtOnce(file);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return "";
    const reason = whyRefused(cause);
    throw new ActivityError(
      "config_invalid",
      `Cannot read the configuration ${file}: ${reason}.`,
      `Make it readable, or move it away to use the defaults.`,
      { cause },
    );
  }
  if (isUtf8(bytes)) return bytes.toString();
  // What stands for the bytes in a text would be another value, and would be written back as one.
  const line = bytes.toString("latin1").split("\n").findIndex(isBroken) + 1;
  throw new ActivityError(
    "config_invalid",
    `${file}:${line}: this is not UTF-8, as TOML has to be.`,
    "Save it as UTF-8, or convert it, with iconv for one.",
  );
}

/** What is in a file. A pipe is none: whoever reads it waits for a writer, the daemon with all that it does. */
function readAtOnce(file: string): Buffer {
  // Absent on Windows, where no pipe lies in a folder.
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (fstatSync(descriptor).isFIFO()) throw new Error("it is a pipe");
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Where the text of the settings lies: behind a link, also one to a file that is not there yet. */
export function configTarget(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // It is not there, or leads nowhere.
  }
  try {
    return resolve(dirname(file), readlinkSync(file));
  } catch {
    return file;
  }
}

/** `line` has a character for each byte. No character of UTF-8 goes on over the end of a line. */
function isBroken(line: string): boolean {
  return !isUtf8(Buffer.from(line, "latin1"));
}

/** The settings in a text of TOML; `file` is what messages call it. */
export function parseConfig(
  text: string,
  file: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Config {
  const tables = parseToml(text, file);
  const variables = applyVariables(tables, env);
  const parsed = configSchema.safeParse(tables);
  if (parsed.success) return parsed.data;
  const meant = new Set<string>();
  const problems = parsed.error.issues.flatMap((issue) => {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : [null];
    return keys.map((key) => {
      const path = [...issue.path.map(String), ...(key === null ? [] : [key])];
      const what = key === null ? lowerFirst(issue.message) : "there is no such key";
      const variable = variables.get(path.slice(0, 2).join("."));
      meant.add(variable ?? file);
      return `${variable ?? whereIs(path, text, file)}: ${path.join(".")}: ${what}`;
    });
  });
  const isKeyUnknown = parsed.error.issues.some(({ code }) => code === "unrecognized_keys");
  throw new ActivityError(
    "config_invalid",
    `The configuration has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}: ${problems.join("; ")}.`,
    `Mend ${[...meant].join(" and ")} and start again.${isKeyUnknown ? ` Keys: ${listKeys().join(", ")}.` : ""}`,
  );
}

/** The keys whose values are not the defaults. Throws `config_invalid`. */
export function listChangedKeys(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const defaults = flatten(parseConfig("", file));
  return [...flatten(readConfig(file, env))]
    .filter(([path, value]) => JSON.stringify(value) !== JSON.stringify(defaults.get(path)))
    .map(([path]) => path);
}

/** The keys that variables set. */
export function listVariables(
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return listKeys().filter((path) => env[variableOf(path)] !== undefined);
}

/** Variables of the program that are no settings. */
const OTHER_VARIABLES = ["HOME", "SOCKET", "VERBOSE", "GATEWAY_TOKEN", "UPSTREAM_KEY"];

/** The variables that look like settings and set nothing, such as one with a slip in its name. */
export function listUnknownVariables(
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const known = new Set([
    ...listKeys().map(variableOf),
    ...OTHER_VARIABLES.map((name) => `ACTIVITYD_${name}`),
  ]);
  return Object.keys(env).filter((name) => name.startsWith("ACTIVITYD_") && !known.has(name));
}

/** Clients in testing mode look for another port, unless the owner chose one. */
export function watcherPort({ testing, port }: Config["activitywatch"]): number {
  return testing && port === 5600 ? 5666 : port;
}

function variableOf(path: string): string {
  return `ACTIVITYD_${path.replace(".", "_")}`.toUpperCase();
}

function flatten(config: Config): ReadonlyMap<string, unknown> {
  return new Map(
    Object.entries(config).flatMap(([table, values]) =>
      Object.entries(values).map(([key, value]): [string, unknown] => [`${table}.${key}`, value]),
    ),
  );
}

function parseToml(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [reason = ""] = cause.message.split("\n");
    throw new ActivityError(
      "config_invalid",
      `${file}:${cause.line}:${cause.column}: ${reason.replace(/^Invalid TOML document: /, "")}.`,
      "Mend that line and start again.",
      { cause },
    );
  }
}

/** Writes variables over the tables and returns which paths they set. */
function applyVariables(
  tables: Record<string, unknown>,
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, string> {
  const set = new Map<string, string>();
  for (const path of listKeys()) {
    const [table = "", key = ""] = path.split(".");
    const name = variableOf(path);
    const value = env[name];
    if (value === undefined) continue;
    const values = tables[table];
    const old = typeof values === "object" && values !== null ? values : {};
    tables[table] = { ...old, [key]: readVariable(value) };
    set.set(path, name);
  }
  return set;
}

/** A variable is written as the value would be in the file; what is no TOML value is taken as text. */
function readVariable(value: string): unknown {
  try {
    return parse(`value = ${value}`)["value"];
  } catch {
    // Not a TOML value: `ACTIVITYD_X=firefox` is meant as the text it is.
    return value;
  }
}

function whereIs(path: readonly string[], text: string, file: string): string {
  const line = findLine(path, text);
  return line === null ? file : `${file}:${line}`;
}

/** The line on which a key stands, counted from 1; the TOML parser does not keep it. Null when it stands nowhere. */
function findLine(path: readonly string[], text: string): number | null {
  let inTable = "";
  let best: { readonly depth: number; readonly line: number } | null = null;
  const seen = new Map<string, number>();
  for (const [index, line] of text.split("\n").entries()) {
    const header = /^\s*(\[\[?)\s*([^\]]+?)\s*\]/.exec(line);
    const key = /^\s*"?([A-Za-z0-9_.-]+)"?\s*=/.exec(line)?.[1];
    let here: string | null = null;
    if (header !== null) {
      const name = header[2] ?? "";
      // The elements of an array of tables are told apart by their number, as in the path of a problem.
      const count = seen.get(name) ?? 0;
      seen.set(name, count + 1);
      inTable = header[1] === "[[" ? `${name}.${count}` : name;
      here = inTable;
    } else if (key !== undefined) {
      here = inTable === "" ? key : `${inTable}.${key}`;
    }
    if (here === null) continue;
    const depth = commonDepth(path, here.split("."));
    if (depth > 0 && depth === here.split(".").length && depth > (best?.depth ?? 0))
      best = { depth, line: index + 1 };
  }
  return best?.line ?? null;
}

/** How many leading names two paths share. */
function commonDepth(a: readonly string[], b: readonly string[]): number {
  const differsAt = b.findIndex((name, index) => a[index] !== name);
  return differsAt === -1 ? b.length : differsAt;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
