/**
 * Which settings there are. It hides how a key, its default, its bounds and the sentence about it are written down, and
 * promises that whatever reads, lists or explains the settings goes by the same table.
 */
import { privacySchema } from "./capture/privacy/rules.ts";
import { integer, setting, text, z } from "./shapes.ts";

const captureSchema = z.strictObject({
  window: setting(z.boolean(), true, "Whether the focused window is captured at all."),
  input: setting(z.boolean(), true, "Whether it is told that the owner is away or back."),
  session: setting(
    z.boolean(),
    true,
    "Whether locking, sleep and the change of user are captured.",
  ),
  system: setting(
    z.boolean(),
    true,
    "Whether power, battery, network, load and memory are captured.",
  ),
  media: setting(z.boolean(), true, "Whether player, title and artist of what plays are captured."),
  notification: setting(
    z.boolean(),
    false,
    "Application and summary of desktop notifications; bodies are never read.",
  ),
  idle_after_seconds: setting(
    integer(10, 3600),
    180,
    "Stillness of the input devices after which the owner counts as away, from the last input on.",
  ),
  assistant_apps: setting(
    z.array(z.string().check(z.minLength(1))),
    ["claude", "claude desktop", "chatgpt", "activityd"],
    "Applications that are the assistant itself: they are never told as what the owner looks at.",
  ),
  record: setting(
    z.string(),
    "",
    "A new file to which everything captured is written as well, past the privacy gate; empty: none.",
  ),
  replay: setting(
    z.string(),
    "",
    "A recorded file that is played back in place of the desktop; empty: none.",
  ),
  replay_speed: setting(
    z.number().check(z.minimum(0.01), z.maximum(10_000)),
    1,
    "How many times as fast as it was recorded a session is played back.",
  ),
});

const storeSchema = z.strictObject({
  keep_days: setting(
    integer(0, 36_500),
    0,
    "Events older than so many days are erased; 0 keeps them for ever. Daily totals stay.",
  ),
  max_megabytes: setting(
    integer(0, 1_000_000),
    0,
    "The oldest events are erased when the database grows beyond so many megabytes; 0 sets no bound.",
  ),
});

const ledgerSchema = z.strictObject({
  keep_turns: setting(
    z.boolean(),
    true,
    "Whether the ledger keeps what the owner wrote beside what the assistant was given for it.",
  ),
});

const pageSchema = z.strictObject({
  port: setting(
    integer(0, 65_535),
    5630,
    "Where the local page is served, on 127.0.0.1; 0 takes a free port at each start, so that open tabs do not find it again.",
  ),
});

const activitywatchSchema = z.strictObject({
  enabled: setting(
    z.boolean(),
    false,
    "Whether ActivityWatch's watchers can send what they see: browser tabs, editors, players.",
  ),
  port: setting(
    integer(0, 65_535),
    5600,
    "The watchers know no other port than 5600 (5666 with `testing`).",
  ),
  testing: setting(
    z.boolean(),
    false,
    "Whether it is served as ActivityWatch's testing instance, on port 5666.",
  ),
  api_key: setting(
    text(0, 200),
    "",
    "Wanted as a Bearer token for everything but sending; empty: none.",
  ),
  allowed_origins: setting(
    z.array(text(0, 200)),
    [],
    "Origins of browser extensions that are not the published ones.",
  ),
});

const noticesSchema = z.strictObject({
  pause: setting(
    z.boolean(),
    false,
    "Whether conversations that are going on hear that recording was paused, or goes on.",
  ),
  source: setting(
    z.boolean(),
    false,
    "Whether they hear that a source of capture was lost, or is back.",
  ),
  battery: setting(z.boolean(), false, "Whether they hear that the battery runs low."),
});

const digestSchema = z.strictObject({
  semantic: setting(
    z.boolean(),
    false,
    "Finds topics that share no word with any title by word vectors (English); 3 MB of memory, some milliseconds.",
  ),
  model_url: setting(
    z.union([z.literal(""), z.url({ protocol: /^https?$/ })]),
    "",
    'Where a model that may choose lines speaks the OpenAI protocol, such as "http://127.0.0.1:11434/v1". It is sent the turn and at most 40 lines; empty: no model.',
  ),
  model_name: setting(z.string(), "", "Name of the model at that server."),
  model_timeout_ms: setting(
    integer(50, 10_000),
    400,
    "When the model is given up, counted from the arrival of the turn.",
  ),
});

const hubSchema = z.strictObject({
  driver: setting(
    z.enum(["none", "folder", "nats"]),
    "none",
    "What carries the record between your devices; `activityd hub create` sets it.",
  ),
  folder: setting(
    z.string(),
    "",
    "The folder that Syncthing or a cloud drive carries between the devices.",
  ),
  servers: setting(
    z.array(text(1, 300)),
    [],
    'Addresses of NATS servers of one cluster, such as "tls://hub.example:4222".',
  ),
  credentials_file: setting(
    z.string(),
    "",
    "A file with the NKey seed or the credentials of this device; empty: none.",
  ),
  ca_file: setting(
    z.string(),
    "",
    "A file with the authority that signed the server's certificate; empty: the system's.",
  ),
  keep_days: setting(
    integer(1, 3650),
    30,
    "How long the hub keeps what a device that is away has not fetched yet.",
  ),
});

/** The whole file. Unknown tables and keys are refused; what is absent has its default. */
export const configSchema = z.strictObject({
  capture: z.prefault(captureSchema, {}),
  digest: z.prefault(digestSchema, {}),
  privacy: z.prefault(privacySchema, {}),
  store: z.prefault(storeSchema, {}),
  activitywatch: z.prefault(activitywatchSchema, {}),
  ledger: z.prefault(ledgerSchema, {}),
  page: z.prefault(pageSchema, {}),
  notices: z.prefault(noticesSchema, {}),
  hub: z.prefault(hubSchema, {}),
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
    Object.keys(schema.def.innerType.shape).map((key) => `${table}.${key}`),
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
