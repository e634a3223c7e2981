/**
 * Which settings there are. It hides how a key, its default, its bounds and the sentence about it are written down, and
 * promises that whatever reads, lists or explains the settings goes by the same table.
 */
import { z } from "zod";
import { privacySchema } from "./capture/privacy-rules.ts";

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

/** The whole file. Unknown tables and keys are refused; what is absent has its default. */
export const configSchema = z.strictObject({
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

/** Every key there is, as `table.key`. */
export function listKeys(): readonly string[] {
  return Object.entries(configSchema.shape).flatMap(([table, schema]) =>
    Object.keys(schema.unwrap().shape).map((key) => `${table}.${key}`),
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
