/**
 * The owner's settings. It hides TOML, the environment and the defaults, and promises either a whole, valid
 * configuration or one error that names every problem with its line and key.
 */
import { readFileSync } from "node:fs";
import { parse, TomlError } from "smol-toml";
import { z } from "zod";
import { privacySchema } from "./capture/privacy-rules.ts";
import { ActivityError } from "./errors.ts";

const captureSchema = z.strictObject({
  window: z.boolean().default(true).describe("Whether the focused window is captured at all."),
  input: z.boolean().default(true).describe("Whether it is told that the owner is away or back."),
  session: z
    .boolean()
    .default(true)
    .describe("Whether locking, sleep and the change of user are captured."),
  system: z
    .boolean()
    .default(true)
    .describe("Whether power, battery, network, load and memory are captured."),
  media: z
    .boolean()
    .default(true)
    .describe("Whether player, title and artist of what plays are captured."),
  notification: z
    .boolean()
    .default(false)
    .describe("Application and summary of desktop notifications; bodies are never read."),
  idle_after_seconds: z
    .number()
    .int()
    .min(10)
    .max(3600)
    .default(180)
    .describe(
      "Stillness of the input devices after which the owner counts as away, from the last input on.",
    ),
  assistant_apps: z
    .array(z.string().min(1))
    .default(["claude", "claude desktop", "chatgpt", "activityd"])
    .describe(
      "Applications that are the assistant itself: they are never told as what the owner looks at.",
    ),
  record: z
    .string()
    .default("")
    .describe(
      "A new file to which everything captured is written as well, past the privacy gate; empty: none.",
    ),
  replay: z
    .string()
    .default("")
    .describe("A recorded file that is played back in place of the desktop; empty: none."),
  replay_speed: z
    .number()
    .min(0.01)
    .max(10_000)
    .default(1)
    .describe("How many times as fast as it was recorded a session is played back."),
});

const storeSchema = z.strictObject({
  keep_days: z
    .number()
    .int()
    .min(0)
    .max(36_500)
    .default(0)
    .describe(
      "Events older than so many days are erased; 0 keeps them for ever. Daily totals stay.",
    ),
  max_megabytes: z
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .default(0)
    .describe(
      "The oldest events are erased when the database grows beyond so many megabytes; 0 sets no bound.",
    ),
});

const ledgerSchema = z.strictObject({
  keep_turns: z
    .boolean()
    .default(true)
    .describe(
      "Whether the ledger keeps what the owner wrote beside what the assistant was given for it.",
    ),
});

const pageSchema = z.strictObject({
  port: z
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(5630)
    .describe(
      "Where the local page is served, on 127.0.0.1; 0 takes a free port at each start, so that open tabs do not find it again.",
    ),
});

const activitywatchSchema = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe(
      "Whether ActivityWatch's watchers can send what they see: browser tabs, editors, players.",
    ),
  port: z
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(5600)
    .describe("The watchers know no other port than 5600 (5666 with `testing`)."),
  testing: z
    .boolean()
    .default(false)
    .describe("Whether it is served as ActivityWatch's testing instance, on port 5666."),
  api_key: z
    .string()
    .max(200)
    .default("")
    .describe("Wanted as a Bearer token for everything but sending; empty: none."),
  allowed_origins: z
    .array(z.string().max(200))
    .default([])
    .describe("Origins of browser extensions that are not the published ones."),
});

const noticesSchema = z.strictObject({
  pause: z
    .boolean()
    .default(false)
    .describe(
      "Whether conversations that are going on hear that recording was paused, or goes on.",
    ),
  source: z
    .boolean()
    .default(false)
    .describe("Whether they hear that a source of capture was lost, or is back."),
  battery: z.boolean().default(false).describe("Whether they hear that the battery runs low."),
});

const digestSchema = z.strictObject({
  semantic: z
    .boolean()
    .default(false)
    .describe(
      "Finds topics that share no word with any title by word vectors (English); 3 MB of memory, some milliseconds.",
    ),
  model_url: z
    .union([z.literal(""), z.url({ protocol: /^https?$/ })])
    .default("")
    .describe(
      'Where a model that may choose lines speaks the OpenAI protocol, such as "http://127.0.0.1:11434/v1". It is sent the turn and at most 40 lines; empty: no model.',
    ),
  model_name: z.string().default("").describe("Name of the model at that server."),
  model_timeout_ms: z
    .number()
    .int()
    .min(50)
    .max(10_000)
    .default(400)
    .describe("When the model is given up, counted from the arrival of the turn."),
});

const hubSchema = z.strictObject({
  driver: z
    .enum(["none", "folder", "nats"])
    .default("none")
    .describe("What carries the record between your devices; `activityd hub create` sets it."),
  folder: z
    .string()
    .default("")
    .describe("The folder that Syncthing or a cloud drive carries between the devices."),
  servers: z
    .array(z.string().min(1).max(300))
    .default([])
    .describe('Addresses of NATS servers of one cluster, such as "tls://hub.example:4222".'),
  credentials_file: z
    .string()
    .default("")
    .describe("A file with the NKey seed or the credentials of this device; empty: none."),
  ca_file: z
    .string()
    .default("")
    .describe(
      "A file with the authority that signed the server's certificate; empty: the system's.",
    ),
  keep_days: z
    .number()
    .int()
    .min(1)
    .max(3650)
    .default(30)
    .describe("How long the hub keeps what a device that is away has not fetched yet."),
});

const configSchema = z.strictObject({
  capture: captureSchema.prefault({}),
  digest: digestSchema.prefault({}),
  privacy: privacySchema.prefault({}),
  store: storeSchema.prefault({}),
  activitywatch: activitywatchSchema.prefault({}),
  ledger: ledgerSchema.prefault({}),
  page: pageSchema.prefault({}),
  notices: noticesSchema.prefault({}),
  hub: hubSchema.prefault({}),
});

/** All settings, with defaults filled in. Keys are those of the file. */
export type Config = z.infer<typeof configSchema>;

/**
 * Reads the settings from `file` (absent: all defaults), with `ACTIVITYD_<TABLE>_<KEY>` variables over it.
 * Throws `config_invalid` naming every problem.
 */
export function readConfig(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  return parseConfig(readTextIfThere(file), file, env);
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
  const problems = parsed.error.issues.flatMap((issue) => {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : [null];
    return keys.map((key) => {
      const path = [...issue.path.map(String), ...(key === null ? [] : [key])];
      const what = key === null ? lowerFirst(issue.message) : "there is no such key";
      return `${whereIs(path, text, file, variables)}: ${path.join(".")}: ${what}`;
    });
  });
  throw new ActivityError(
    "config_invalid",
    `The configuration has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}: ${problems.join("; ")}.`,
    `Mend ${file} and start again. Keys: ${listKeys().join(", ")}.`,
  );
}

/** One key of the file, as a page about it wants it. */
export interface ConfigKey {
  readonly table: string;
  readonly key: string;
  readonly description: string;
  /** Which values it takes, in words: "true or false", "10 to 3600". */
  readonly values: string;
  readonly default: unknown;
}

/** Every key with what the schema knows of it. */
export function describeKeys(): readonly ConfigKey[] {
  const tables = z.toJSONSchema(configSchema, { io: "input" }).properties ?? {};
  return Object.entries(tables).flatMap(([table, schema]) =>
    Object.entries(propertiesOf(schema)).map(([key, value]) => ({
      table,
      key,
      description: value.description ?? "",
      values: valuesOf(value),
      default: value.default,
    })),
  );
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

function propertiesOf(schema: JsonSchema | boolean): Readonly<Record<string, JsonSchema>> {
  const entries = typeof schema === "boolean" ? [] : Object.entries(schema.properties ?? {});
  return Object.fromEntries(
    entries.flatMap(([key, value]) => (typeof value === "boolean" ? [] : [[key, value]])),
  );
}

function valuesOf({ type, enum: choices, minimum, maximum, anyOf }: JsonSchema): string {
  if (choices !== undefined) return choices.map((each) => JSON.stringify(each)).join(" or ");
  if (type === "boolean") return "true or false";
  if (type === "integer" || type === "number")
    return `${type === "integer" ? "a whole number, " : ""}${minimum} to ${maximum}`;
  if (type === "array") return "a list";
  return anyOf === undefined ? "text" : 'text, or "" for none';
}

/** Every key there is, as `table.key`. */
export function listKeys(): readonly string[] {
  return Object.entries(configSchema.shape).flatMap(([table, schema]) =>
    Object.keys(schema.unwrap().shape).map((key) => `${table}.${key}`),
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

function readTextIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return "";
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ActivityError(
      "config_invalid",
      `Cannot read the configuration ${file}: ${reason}.`,
      `Make it readable, or move it away to use the defaults.`,
      { cause },
    );
  }
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

function whereIs(
  path: readonly string[],
  text: string,
  file: string,
  variables: ReadonlyMap<string, string>,
): string {
  const variable = variables.get(path.slice(0, 2).join("."));
  if (variable !== undefined) return variable;
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

/** Clients in testing mode look for another port, unless the owner chose one. */
export function watcherPort({ testing, port }: Config["activitywatch"]): number {
  return testing && port === 5600 ? 5666 : port;
}
