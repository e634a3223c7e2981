/**
 * The stored conversations of `activityd chat`. Each turn keeps what the owner wrote beside what the model was
 * given. It promises that titles, previews, search, export and resend see the owner's words alone, also of rows
 * that hold only the composed string.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { OwnerText, RawTurn } from "../context/turn.ts";
import { stripLeadingSystemContext } from "./tui-formatters.ts";

/** One row of a conversation. */
export interface StoredTurn {
  readonly role: "user" | "assistant";
  /** What is shown. Null in rows that were stored with the composed string alone. */
  readonly ownerText: string | null;
  /** What the model was given, for user turns. */
  readonly modelText: string | null;
  readonly atUs: number;
}

export interface ConversationPreview {
  readonly id: string;
  /** The first words of the owner. */
  readonly title: string;
  readonly lastUs: number;
  readonly turns: number;
}

export interface Conversations {
  /** The last spoken in first. */
  readonly list: () => readonly ConversationPreview[];
  readonly read: (id: string) => readonly StoredTurn[];
  readonly append: (id: string, turn: StoredTurn) => void;
  /** Turns with all the words, newest conversation first, each with the line they stand in. */
  readonly search: (words: string) => readonly { readonly id: string; readonly line: string }[];
  /** A conversation as Markdown. */
  readonly exportText: (id: string) => string;
}

const TITLE_MAX_CHARS = 60;

/**
 * Opens the conversations in `folder`: a file of JSON lines each, readable by the owner alone, and beside it, in
 * `modelFolder`, what the model was given. The latter can be removed at any time: then a turn that is sent again
 * goes as its owner wrote it.
 */
export function openConversations(folder: string, modelFolder: string): Conversations {
  const nameOf = (id: string): string => `${id.replace(/[^\w-]/g, "_")}.jsonl`;
  const read = (id: string): readonly StoredTurn[] => {
    const modelTexts = new Map(readLines(join(modelFolder, nameOf(id))).flatMap(parseModelRow));
    return readLines(join(folder, nameOf(id)))
      .flatMap(parseRow)
      .map((turn, index) => ({
        ...turn,
        modelText: turn.modelText ?? modelTexts.get(index) ?? null,
      }));
  };
  const ids = (): readonly string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith(".jsonl"))
          .map((name) => name.slice(0, -".jsonl".length))
      : [];
  const list = (): readonly ConversationPreview[] =>
    ids()
      .flatMap((id) => {
        const turns = read(id);
        const last = turns.at(-1);
        return last === undefined
          ? []
          : [{ id, title: titleOf(turns), lastUs: last.atUs, turns: turns.length }];
      })
      .sort((a, b) => b.lastUs - a.lastUs);
  return {
    list,
    read,
    append: (id, { modelText, ...shown }) => {
      if (modelText !== null) {
        const row = JSON.stringify({ turn: read(id).length, modelText });
        mkdirSync(modelFolder, { recursive: true, mode: 0o700 });
        appendFileSync(join(modelFolder, nameOf(id)), `${row}\n`, { mode: 0o600 });
      }
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      appendFileSync(join(folder, nameOf(id)), `${JSON.stringify(shown)}\n`, { mode: 0o600 });
    },
    search: (words) => {
      const wanted = words
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word !== "");
      if (wanted.length === 0) return [];
      return list().flatMap(({ id }) =>
        read(id).flatMap((turn) => {
          const line = shownText(turn)
            .split("\n")
            .find((each) => wanted.every((word) => each.toLowerCase().includes(word)));
          return line === undefined ? [] : [{ id, line }];
        }),
      );
    },
    exportText: (id) =>
      read(id)
        .map((turn) => `**${turn.role === "user" ? "You" : "Assistant"}**\n\n${shownText(turn)}\n`)
        .join("\n"),
  };
}

/** What of a turn may be shown: the stored words of the owner, else the composed string stripped, once. */
export function shownText(turn: StoredTurn): OwnerText {
  if (turn.ownerText !== null) return turn.ownerText as OwnerText;
  const raw: RawTurn = turn.modelText ?? "";
  return turn.role === "user" ? stripLeadingSystemContext(raw) : (raw as string as OwnerText);
}

function titleOf(turns: readonly StoredTurn[]): string {
  const first = turns.find(({ role }) => role === "user");
  const text = first === undefined ? "" : shownText(first).trim().replace(/\s+/g, " ");
  return text.length <= TITLE_MAX_CHARS ? text : `${text.slice(0, TITLE_MAX_CHARS - 1).trimEnd()}…`;
}

function readLines(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
}

function parseModelRow(line: string): readonly (readonly [number, string])[] {
  try {
    const value: unknown = JSON.parse(line);
    if (
      typeof value !== "object" ||
      value === null ||
      !("turn" in value) ||
      !("modelText" in value)
    )
      return [];
    const { turn, modelText } = value;
    return typeof turn === "number" && typeof modelText === "string" ? [[turn, modelText]] : [];
  } catch {
    // Torn, as below: the turn then goes as its owner wrote it.
    return [];
  }
}

/** A torn last line, as a power cut leaves it, costs that line and not the conversation. */
function parseRow(line: string): readonly StoredTurn[] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return [];
  }
  if (typeof value !== "object" || value === null || !("role" in value)) return [];
  const { role } = value;
  if (role !== "user" && role !== "assistant") return [];
  const text = (key: "ownerText" | "modelText"): string | null => {
    const found: unknown = key in value ? Reflect.get(value, key) : null;
    return typeof found === "string" ? found : null;
  };
  const atUs = "atUs" in value && typeof value.atUs === "number" ? value.atUs : 0;
  return [{ role, ownerText: text("ownerText"), modelText: text("modelText"), atUs }];
}
