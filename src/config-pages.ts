/**
 * The settings as text for their owner: a commented file to begin with, and what is in force with where it comes
 * from. Both are made from the schema, so that neither can fall behind it.
 */
import { stringify } from "smol-toml";
import { privacySchema } from "./capture/privacy/rules.ts";
import { describeKeys } from "./config-schema.ts";
import { listChangedKeys, listVariables, type Config } from "./config.ts";

const PAGE_WIDTH = 100;

/** Names of keys whose values open something; they are never printed. */
const SECRET_KEY = /key|token|secret|password/;

const HEADER = `# Settings of activityd. Every key stands here with its default, behind a "#": take that away to change it.
# [privacy] counts at once, all else from the next start of the daemon. A key can also be given as a variable, such as
# ACTIVITYD_CAPTURE_MEDIA=false. What was changed here is told by: activityd config show
`;

/** A file that means the same as no file. */
export function renderConfigTemplate(): string {
  const tables = new Map<string, string[]>();
  for (const { table, key, description, values, default: value } of describeKeys()) {
    const lines = tables.get(table) ?? [`[${table}]`];
    tables.set(table, lines);
    lines.push("", ...wrap(description), `# Values: ${values}.`);
    if (table === "privacy" && key === "rules") lines.push(...ruleExample());
    else lines.push(`# ${stringify({ [key]: value }).trimEnd()}`);
  }
  return [HEADER, ...[...tables.values()].map((lines) => `${lines.join("\n")}\n`)].join("\n");
}

/** The keys of a rule, from its own schema, as they would stand in the file. */
function ruleExample(): readonly string[] {
  const keys = Object.keys(privacySchema.shape.rules.def.innerType.def.element.shape);
  return [
    `# Keys of a rule: ${keys.join(", ")}. See: activityd privacy add --help`,
    "# [[privacy.rules]]",
    '# name = "salaries"',
    '# action = "drop"',
    '# title = "payroll|salary"',
  ];
}

/** One setting in force. `value` of a secret that is set is "(set)". */
export interface ShownSetting {
  readonly path: string;
  readonly value: unknown;
  readonly origin: "default" | "file" | "variable";
}

/** Every setting in force. Throws `config_invalid`. */
export function readShownSettings(
  config: Config,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly ShownSetting[] {
  const changed = new Set(listChangedKeys(file, env));
  const variables = new Set(listVariables(env));
  return Object.entries(config).flatMap(([table, values]) =>
    Object.entries(values).map(([key, value]: [string, unknown]): ShownSetting => {
      const path = `${table}.${key}`;
      const isHidden = SECRET_KEY.test(key) && value !== "";
      return {
        path,
        value: isHidden ? "(set)" : value,
        origin: variables.has(path) ? "variable" : changed.has(path) ? "file" : "default",
      };
    }),
  );
}

/** The same as a file that could be one: what is not a default says where it comes from. */
export function renderSettings(settings: readonly ShownSetting[]): string {
  const tables = new Map<string, string[]>();
  for (const { path, value, origin } of settings) {
    const [table = "", key = ""] = path.split(".");
    const lines = tables.get(table) ?? [`[${table}]`];
    tables.set(table, lines);
    const isRules = Array.isArray(value) && value.some((each) => typeof each === "object");
    const text = isRules ? "" : stringify({ [key]: value }).trimEnd();
    const remark = origin === "default" ? "" : `  # from the ${origin}`;
    if (isRules)
      lines.push(...value.map((rule) => `\n[[${path}]]${remark}\n${stringify(rule).trimEnd()}`));
    else lines.push(`${text}${remark}`);
  }
  // Tables of a table come last in TOML, or what follows would belong to them.
  return `${[...tables.values()]
    .map(rulesLast)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function rulesLast(lines: readonly string[]): readonly string[] {
  const isRule = (line: string): boolean => line.startsWith("\n[[");
  return [...lines.filter((line) => !isRule(line)), ...lines.filter(isRule)];
}

function wrap(text: string): readonly string[] {
  const lines: string[] = [];
  let line = "#";
  for (const word of text.split(" ")) {
    if (line.length + word.length + 1 > PAGE_WIDTH) {
      lines.push(line);
      line = "#";
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
