/**
 * The owner's turns in a request body of OpenAI's chat-completions or responses API. It hides where the two
 * keep them, and promises that a change touches the text it is about and no other byte of the body.
 */
import { createHash } from "node:crypto";
import { ActivityError } from "../errors.ts";
import {
  applyEdits,
  findItems,
  findValue,
  insertFirst,
  type Edit,
  type Span,
} from "./json-edit.ts";

/** Which of the two request and answer shapes a route speaks. */
export type Dialect = "chat" | "responses";

/** A turn of the owner in a request. */
export interface OwnerTurn {
  /** All of its text, for deciding what is relevant. */
  readonly text: string;
  /** The text that begins it: what a block is put in front of. */
  readonly firstText: string;
  /**
   * Equal exactly when the conversation up to and with this turn is. System prompts and tool traffic are not
   * part of it: clients put clocks into the one and reword the other.
   */
  readonly key: string;
  /**
   * Of a turn that opens a conversation: the same with the reply it got, so that conversations which begin with
   * the same words are told apart as soon as they can be. Null for other turns, whose keys do that already.
   */
  readonly answeredKey: string | null;
  /** Whether the model is to answer this turn (and not, say, the result of a tool it called after it). */
  readonly isAsked: boolean;
  /** The edit that makes `modelText` the text that begins this turn. */
  readonly replaceFirstText: (modelText: string) => Edit;
}

/** A request, read. */
export interface Conversation {
  /** Oldest first. */
  readonly turns: readonly OwnerTurn[];
  /** A name of the conversation made from its start; the same in every request of it. */
  readonly startKey: string;
  readonly model: string | null;
  /** The edit that names another model. */
  readonly replaceModel: (model: string) => Edit;
  /** The edit that puts `text` last into what the system tells the model. */
  readonly appendToSystemPrompt: (text: string) => Edit;
  /** How many replies are asked for. */
  readonly replyCount: number;
  readonly edited: (edits: readonly Edit[]) => string;
}

/**
 * Reads a request body.
 *
 * @throws ActivityError `bad_request` for what is not such a body: no JSON, an unknown role, no turn to answer.
 */
export function readConversation(json: string, dialect: Dialect): Conversation {
  const body = parseBody(json);
  const { messages, listPath } = dialect === "chat" ? chatMessages(body) : responseItems(body);
  const turns: Omit<OwnerTurn, "answeredKey">[] = [];
  /** How many turns stand before the first reply. */
  let openingCount = 0;
  let answeredKey: string | null = null;
  const chain = createHash("sha256");
  let startKey: string | null = null;
  // What was said before may lie with the upstream, known by a name alone: the same words are another turn then.
  if (dialect === "responses") {
    const { previous_response_id: previous, conversation } = body;
    if (previous !== undefined || conversation !== undefined)
      chain.update(JSON.stringify([previous ?? null, conversation ?? null]));
    if (conversation !== undefined) startKey = chain.copy().digest("base64url");
  }
  let spans: readonly Span[] | null = null;
  /** Sought once, and only when something is to be changed. */
  const messageSpans = (): readonly Span[] =>
    (spans ??= findItems(json, spanOf(json, listPath ?? [])));
  for (const [index, message] of messages.entries()) {
    const isTurn = message.role === "user";
    if (isTurn && typeof message.content !== "string" && !Array.isArray(message.content)) {
      throw badRequest(
        `The content of user message ${index} is neither text nor parts.`,
        "Give a string or a list of parts.",
      );
    }
    if (!isTurn && message.role !== "assistant") continue;
    // The owner's parts count as they are, images too; of a reply the text alone, which clients keep.
    const said = isTurn ? JSON.stringify(message.content) : textParts(message.content).join("");
    chain.update(`${message.role}\u0000${said}\u0000`);
    if (!isTurn) {
      answeredKey ??= chain.copy().digest("base64url");
      continue;
    }
    const key = chain.copy().digest("base64url");
    startKey ??= key;
    if (answeredKey === null) openingCount += 1;
    const whereContent = (): Span =>
      listPath === null
        ? spanOf(json, ["input"])
        : spanOf(json, ["content"], messageSpans()[index]?.start);
    turns.push({
      text: textParts(message.content).join("\n\n"),
      firstText: textParts(message.content)[0] ?? "",
      key,
      isAsked: index === messages.length - 1,
      replaceFirstText: (modelText) =>
        editFirstText(json, whereContent(), message.content, modelText, dialect),
    });
  }
  if (turns.length === 0 && dialect === "chat") {
    throw badRequest(
      "The request has no user turn to answer.",
      'Add a message with the role "user".',
    );
  }
  const { model, n } = body;
  return {
    turns: turns.map((turn, index) => ({
      ...turn,
      answeredKey:
        index < openingCount && answeredKey !== null ? `${turn.key}${answeredKey}` : null,
    })),
    startKey: startKey ?? "",
    model: typeof model === "string" ? model : null,
    replaceModel: (next) => ({ span: spanOf(json, ["model"]), text: JSON.stringify(next) }),
    appendToSystemPrompt: (text) =>
      appendToLeading(json, messages, dialect, text) ??
      (dialect === "chat"
        ? insertSystemMessage(json, text)
        : appendToInstructions(json, body["instructions"], text)),
    replyCount: typeof n === "number" && Number.isInteger(n) && n > 0 ? n : 1,
    edited: (edits) => applyEdits(json, edits),
  };
}

interface Message {
  readonly role: string;
  readonly content: unknown;
}

type Body = Readonly<Record<string, unknown>>;

/** The one place where a body becomes an object of unknown fields. */
function parseBody(json: string): Body {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // V8's reason quotes the body, and a turn does not belong into an error.
    throw badRequest("The body is not JSON.", "Send a JSON object.");
  }
  if (!isRecord(value)) throw badRequest("The body is not a JSON object.", "Send a JSON object.");
  return value;
}

const CHAT_ROLES: ReadonlySet<string> = new Set([
  "system",
  "developer",
  "user",
  "assistant",
  "tool",
  "function",
]);

function chatMessages(body: Body): { messages: readonly Message[]; listPath: readonly string[] } {
  const { messages } = body;
  if (!Array.isArray(messages)) {
    throw badRequest(
      'The field "messages" is not a list.',
      "Give the messages of the conversation.",
    );
  }
  return {
    listPath: ["messages"],
    messages: messages.map((message: unknown, index) => {
      const role = isRecord(message) ? message["role"] : undefined;
      if (!isRecord(message) || typeof role !== "string" || !CHAT_ROLES.has(role)) {
        throw badRequest(
          `messages[${index}] has ${typeof role === "string" ? `the unknown role ${JSON.stringify(role.slice(0, 40))}` : "no role"}.`,
          `Roles are: ${[...CHAT_ROLES].join(", ")}.`,
        );
      }
      return { role, content: message["content"] };
    }),
  };
}

/** `input` is a text or a list of items, of which those with a role are messages. */
function responseItems(body: Body): {
  messages: readonly Message[];
  listPath: readonly string[] | null;
} {
  const { input } = body;
  if (typeof input === "string") {
    return { listPath: null, messages: [{ role: "user", content: input }] };
  }
  if (!Array.isArray(input)) return { listPath: ["input"], messages: [] };
  return {
    listPath: ["input"],
    messages: input.map((item: unknown) => {
      const role = isRecord(item) ? item["role"] : undefined;
      return {
        role: typeof role === "string" ? role : "",
        content: isRecord(item) ? item["content"] : undefined,
      };
    }),
  };
}

const TEXT_PART_TYPES: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text"]);

function textParts(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => textOfPart(part) ?? []);
}

function textOfPart(part: unknown): string | null {
  if (!isRecord(part) || !TEXT_PART_TYPES.has(part["type"])) return null;
  return typeof part["text"] === "string" ? part["text"] : null;
}

function editFirstText(
  json: string,
  span: Span,
  content: unknown,
  modelText: string,
  dialect: Dialect,
): Edit {
  const text = JSON.stringify(modelText);
  if (!Array.isArray(content)) return { span, text };
  const first = content.findIndex((part: unknown) => textOfPart(part) !== null);
  if (first !== -1) return { span: spanOf(json, [first, "text"], span.start), text };
  // A turn of pictures alone: the block becomes a part of its own before them.
  const type = dialect === "chat" ? "text" : "input_text";
  return insertFirst(json, span, `{"type":"${type}","text":${text}}`);
}

/**
 * The edit that adds to the last of the leading system messages, behind which nothing of the system comes; null where
 * there is none. A second message would be one too many: many chat templates take one only, and only at the start.
 */
function appendToLeading(
  json: string,
  messages: readonly Message[],
  dialect: Dialect,
  text: string,
): Edit | null {
  const leading = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const last = (leading === -1 ? messages.length : leading) - 1;
  const content = messages[last]?.content;
  const [list, type] = dialect === "chat" ? ["messages", "text"] : ["input", "input_text"];
  if (typeof content === "string") {
    return {
      span: spanOf(json, [list, last, "content"]),
      text: JSON.stringify(content === "" ? text : `${content}\n\n${text}`),
    };
  }
  if (!Array.isArray(content)) return null;
  const { end } = spanOf(json, [list, last, "content"]);
  const part = `{"type":"${type}","text":${JSON.stringify(text)}}`;
  const separator = content.length === 0 ? "" : ",";
  return { span: { start: end - 1, end: end - 1 }, text: separator + part };
}

function insertSystemMessage(json: string, text: string): Edit {
  const message = `{"role":"system","content":${JSON.stringify(text)}}`;
  return insertFirst(json, spanOf(json, ["messages"]), message);
}

function appendToInstructions(json: string, instructions: unknown, text: string): Edit {
  const span = findValue(json, ["instructions"]);
  if (span === null) {
    return insertFirst(json, spanOf(json, []), `"instructions":${JSON.stringify(text)}`);
  }
  const before =
    typeof instructions === "string" && instructions !== "" ? `${instructions}\n\n` : "";
  return { span, text: JSON.stringify(before + text) };
}

/** The span of a value that was seen in the parsed body, so that it must stand in its text too. */
function spanOf(json: string, path: readonly (string | number)[], from = 0): Span {
  const span = findValue(json, path, from);
  if (span === null) throw new ActivityError("internal", `The body has no ${path.join(".")}.`);
  return span;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function badRequest(message: string, hint: string): ActivityError {
  return new ActivityError("bad_request", message, hint);
}
