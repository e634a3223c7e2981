/**
 * Blocks that the gateway and the chat keep outside of the record, for turns that are sent again. It promises that
 * one which was made before the oldest event left goes with what it told of; the owner's own words stay.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Paths } from "../paths.ts";

/**
 * Drops what was given before `beforeUs`. A gateway that runs reads its file anew; a turn whose block is gone is sent
 * again as its owner wrote it. Throws what the file system throws.
 */
export function expireGiven(
  paths: Pick<Paths, "gatewayTurnsFile" | "chatFolder" | "chatModelFolder">,
  beforeUs: number,
): void {
  const { gatewayTurnsFile, chatFolder, chatModelFolder } = paths;
  keepLines(gatewayTurnsFile, (row) => isSince(Array.isArray(row) ? row[1] : null, beforeUs));
  if (!existsSync(chatModelFolder)) return;
  for (const name of readdirSync(chatModelFolder)) {
    // When a turn was said stands beside the owner's words.
    const times = readLines(join(chatFolder, name)).map((line) => fieldOf(parse(line), "atUs"));
    keepLines(join(chatModelFolder, name), (row) =>
      isSince(times[Number(fieldOf(row, "turn"))], beforeUs),
    );
  }
}

/** Leaves the lines whose JSON `holds`, and no file where none is left; whoever reads sees the old file or the new. */
function keepLines(file: string, holds: (row: unknown) => boolean): void {
  const lines = readLines(file);
  const kept = lines.filter((line) => holds(parse(line)));
  if (kept.length === lines.length) return;
  if (kept.length === 0) {
    rmSync(file, { force: true });
    return;
  }
  const fresh = `${file}.kept`;
  writeFileSync(fresh, kept.map((line) => `${line}\n`).join(""), { mode: 0o600 });
  renameSync(fresh, file);
}

function readLines(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // A torn line holds nothing that could be sent again.
    return null;
  }
}

function fieldOf(row: unknown, name: "atUs" | "turn"): unknown {
  return typeof row === "object" && row !== null ? Reflect.get(row, name) : undefined;
}

function isSince(atUs: unknown, beforeUs: number): boolean {
  return typeof atUs === "number" && atUs >= beforeUs;
}
