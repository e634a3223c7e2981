/**
 * The stored conversations of `activityd chat`. Each turn keeps what the owner wrote beside what the model was
 * given. It promises that titles, previews, search, export and resend see the owner's words alone, also of rows
 * that hold only the composed string.
 */
import { appendFileSync, existsSync, readdirSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { displayText, type OwnerText } from "../context/turn.ts";
import { makeFolder } from "../make-folder.ts";
import { stripLeadingSystemContext } from "./tui-formatters.ts";
import { writeWhole } from "../whole-file.ts";

/** One row of a conversation. */
export interface StoredTurn {
  readonly role: "user" | "assistant";
  /** What is shown. Null in rows that were stored with the composed string alone. */
  readonly ownerText: OwnerText | null;
  /** What the model was given, for user turns. */
  readonly modelText: string | null;
  readonly atUs: number;
}

export interface ConversationPreview {
  readonly id: string;
  /** The first words of the owner, on one line; empty when there are none. */
  readonly title: string;
  /** The last words of either, on one line. */
  readonly preview: string;
  readonly lastUs: number;
  readonly turns: number;
}

/** A line of a turn in which all words of a search stand. */
export interface SearchHit {
  readonly id: string;
  readonly title: string;
  readonly atUs: number;
  readonly line: string;
}

export interface Conversations {
  /** The last spoken in first. */
  readonly list: () => readonly ConversationPreview[];
  readonly read: (id: string) => readonly StoredTurn[];
  readonly append: (id: string, turn: StoredTurn) => void;
  /** Takes everything behind the first `turns` turns away. */
  readonly rewind: (id: string, turns: number) => void;
  /** Turns with all the words, newest conversation first, each with the line they stand in. */
  readonly search: (words: string) => readonly SearchHit[];
  /** What the owner said in all conversations, newest first, `limit` turns at most. */
  readonly saidBefore: (limit: number) => readonly OwnerText[];
  /** A conversation as Markdown. */
  readonly exportText: (id: string) => string;
  /** Calls `listener` whenever a conversation may have changed, by whomever, until it is called off. */
  readonly watch: (listener: () => void) => { readonly close: () => void };
}

const TITLE_MAX_CHARS = 60;
const PREVIEW_MAX_CHARS = 200;
const LOOK_AGAIN_MS = 2_000;

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
        const all = read(id);
        const lastUs = all.at(-1)?.atUs;
        if (lastUs === undefined) return [];
        const turns = shownTurns(all);
        const last = turns.at(-1);
        const preview = last === undefined ? "" : oneLine(shownText(last), PREVIEW_MAX_CHARS);
        return [{ id, title: titleOf(turns), preview, lastUs, turns: turns.length }];
      })
      .sort((a, b) => b.lastUs - a.lastUs);
  const modelRow = (turn: number, modelText: string | null): string =>
    modelText === null ? "" : `${JSON.stringify({ turn, modelText })}\n`;
  const shownRow = ({ modelText: _modelText, ...shown }: StoredTurn): string =>
    `${JSON.stringify(shown)}\n`;
  return {
    list,
    read,
    append: (id, turn) => {
      if (turn.modelText !== null) {
        makeFolder(modelFolder);
        const row = modelRow(read(id).length, turn.modelText);
        appendFileSync(join(modelFolder, nameOf(id)), row, { mode: 0o600 });
      }
      makeFolder(folder);
      appendFileSync(join(folder, nameOf(id)), shownRow(turn), { mode: 0o600 });
    },
    rewind: (id, turns) => {
      const kept = read(id).slice(0, turns);
      writeWhole(join(folder, nameOf(id)), kept.map(shownRow).join(""));
      if (existsSync(join(modelFolder, nameOf(id)))) {
        const rows = kept.map(({ modelText }, index) => modelRow(index, modelText));
        writeWhole(join(modelFolder, nameOf(id)), rows.join(""));
      }
    },
    search: (words) => {
      const wanted = words
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word !== "");
      if (wanted.length === 0) return [];
      return list().flatMap(({ id, title }) =>
        read(id).flatMap((turn) => {
          const line = shownText(turn)
            .split(/\r\n|[\n\r\u2028\u2029]/)
            .find((each) => wanted.every((word) => each.toLowerCase().includes(word)));
          return line === undefined ? [] : [{ id, title, atUs: turn.atUs, line }];
        }),
      );
    },
    saidBefore: (limit) => {
      const said: OwnerText[] = [];
      for (const { id } of list()) {
        if (said.length >= limit) break;
        const turns = shownTurns(read(id)).filter(({ role }) => role === "user");
        said.push(...turns.reverse().map(shownText));
      }
      return said.slice(0, limit);
    },
    exportText: (id) =>
      shownTurns(read(id))
        .map((turn) => `**${turn.role === "user" ? "You" : "Assistant"}**\n\n${shownText(turn)}\n`)
        .join("\n"),
    watch: (listener) => {
      makeFolder(folder);
      let watcher;
      try {
        watcher = watch(folder, () => listener());
      } catch {
        // The system gives no more watches: looking now and then does it too.
        const timer = setInterval(listener, LOOK_AGAIN_MS);
        return { close: () => clearInterval(timer) };
      }
      // A folder that was removed is told by what is not there any more.
      watcher.on("error", () => watcher.close());
      return { close: () => watcher.close() };
    },
  };
}

/** What of a turn may be shown: the stored words of the owner, else the composed string stripped, once. */
export function shownText({ role, ownerText, modelText }: StoredTurn): OwnerText {
  if (ownerText !== null) return ownerText;
  const text = modelText ?? "";
  return role === "user" ? stripLeadingSystemContext(text) : displayText({ role, text });
}

/** The turns that are shown: one that held nothing but context is nothing that its owner said. */
export function shownTurns(turns: readonly StoredTurn[]): readonly StoredTurn[] {
  return turns.filter((turn) => turn.role !== "user" || shownText(turn) !== "");
}

/** The title of a conversation, as lists and the terminal's window have it. */
export function titleOf(turns: readonly StoredTurn[]): string {
  const first = shownTurns(turns).find(({ role }) => role === "user");
  return first === undefined ? "" : oneLine(shownText(first), TITLE_MAX_CHARS);
}

/** Takes text that may be shown: stripping it behind this would take the owner's words for context. */
function oneLine(text: OwnerText, maxChars: number): string {
  const line = text.trim().replace(/\s+/g, " ");
  if (line.length <= maxChars) return line;
  let kept = "";
  for (const { segment } of graphemes.segment(line.slice(0, maxChars))) {
    if (kept.length + segment.length > maxChars - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

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
  // It was an `OwnerText` when it was stored in this field.
  const ownerText = text("ownerText") as OwnerText | null;
  return [{ role, ownerText, modelText: text("modelText"), atUs }];
}
