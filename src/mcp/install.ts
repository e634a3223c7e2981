/**
 * Writes this server into the settings of MCP hosts. It promises that whatever else stands there stays as it is,
 * that a second run changes nothing, and that what it replaces is kept beside it.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { configTarget } from "../config.ts";
import { ActivityError } from "../errors.ts";
import { writeWhole } from "../whole-file.ts";

export const MCP_HOSTS = ["claude-desktop", "claude-code", "cursor", "vscode"] as const;

export type McpHost = (typeof MCP_HOSTS)[number];

/** How a host starts the server. */
export interface McpCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What the settings of a host are to become. */
export interface McpChange {
  readonly file: string;
  /** Null when the file is not there yet. */
  readonly before: string | null;
  readonly after: string;
}

export interface HostPlaces {
  readonly home: string;
  /** `$XDG_CONFIG_HOME`, or its default. */
  readonly configDirectory: string;
  readonly platform: NodeJS.Platform;
}

/** Works out the change for one host; `before === after` when it stands there already. Throws `bad_request`. */
export function planMcpInstall(host: McpHost, command: McpCommand, places: HostPlaces): McpChange {
  const { file, table, entry } = describeHost(host, command, places);
  const before = existsSync(file) ? readFileSync(file, "utf8") : null;
  const settings =
    before === null || before.trim() === "" ? {} : parseSettings(before, file, table, entry);
  const old = settings[table];
  const servers = isRecord(old) ? old : {};
  if (JSON.stringify(servers["activityd"]) === JSON.stringify(entry) && before !== null) {
    return { file, before, after: before };
  }
  const next = { ...settings, [table]: { ...servers, activityd: entry } };
  const after = `${JSON.stringify(next, null, indentOf(before ?? ""))}\n`;
  return { file, before, after };
}

/** Carries a change out, whole or not at all. Returns where the old file is kept, or null when there was none. */
export function applyMcpInstall({ file, before, after }: McpChange): string | null {
  if (before === after) return null;
  const backup = before === null ? null : `${file}.before-activityd`;
  // The first backup is the owner's own text; later runs must not overwrite it with ours.
  if (backup !== null && !existsSync(backup)) {
    // Whole: half of it, from a disk that was full, would be taken for the owner's text ever after.
    writeWhole(backup, readFileSync(file), { mode: statSync(file).mode & 0o777 });
  }
  // A link into a folder of dotfiles stays one.
  const target = configTarget(file);
  const mode = before === null ? 0o600 : statSync(target).mode & 0o777;
  writeWhole(target, after, { mode });
  return backup;
}

function describeHost(
  host: McpHost,
  { command, args, env }: McpCommand,
  { home, configDirectory, platform }: HostPlaces,
): { readonly file: string; readonly table: "mcpServers" | "servers"; readonly entry: object } {
  const applications =
    platform === "darwin" ? join(home, "Library", "Application Support") : configDirectory;
  const plain = { command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
  switch (host) {
    case "claude-desktop":
      return {
        file: join(applications, "Claude", "claude_desktop_config.json"),
        table: "mcpServers",
        entry: plain,
      };
    case "claude-code":
      return {
        file: join(home, ".claude.json"),
        table: "mcpServers",
        entry: { type: "stdio", ...plain },
      };
    case "cursor":
      return { file: join(home, ".cursor", "mcp.json"), table: "mcpServers", entry: plain };
    case "vscode":
      return {
        file: join(applications, "Code", "User", "mcp.json"),
        table: "servers",
        entry: { type: "stdio", ...plain },
      };
  }
}

/** Settings with comments are valid to some hosts; writing them back would lose the comments. */
function parseSettings(
  text: string,
  file: string,
  table: string,
  entry: object,
): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    const byHand = `"activityd": ${JSON.stringify(entry)}`;
    throw new ActivityError(
      "bad_request",
      `${file} is not plain JSON, and is left as it is.`,
      `Add under "${table}" by hand: ${byHand}`,
      { cause },
    );
  }
  if (!isRecord(parsed) || (parsed[table] !== undefined && !isRecord(parsed[table]))) {
    throw new ActivityError(
      "bad_request",
      `${file} does not look like settings, and is left as it is.`,
      `"${table}" must be an object in it.`,
    );
  }
  return parsed;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function indentOf(text: string): string {
  return /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
}
