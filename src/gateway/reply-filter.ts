/**
 * Takes an echoed directive off the start of a model's reply as it streams by. It hides how OpenAI's two
 * streams carry text, and promises that whatever is not such an echo goes on byte for byte: once a reply has
 * begun otherwise, nothing is looked at any more.
 */
import { createEventSplitter, readEvent, renderEvent, type StreamEvent } from "./event-stream.ts";
import type { Dialect } from "./conversation.ts";
import { ActivityError } from "../errors.ts";
import { applyEdits, findValue, type Edit } from "./json-edit.ts";
import { makeLeakStripper, stripLeakedDirectives, type LeakStripper } from "./voice-steering.ts";

/** A reply on its way through. */
export interface ReplyFilter {
  /** What may go on now. */
  readonly push: (chunk: Buffer) => Buffer;
  /** What is left when the upstream has ended. */
  readonly end: () => Buffer;
  /** What is left when the upstream broke off: whole events alone. */
  readonly cut: () => Buffer;
}

type Json = Readonly<Record<string, unknown>>;

/** A reply larger than this that does not stream is not waited for. */
const MAX_WHOLE_BYTES = 32 * 1024 * 1024;

/**
 * Filters an answer that streams or does not: its first sign tells which, whatever its content type says.
 * `push` throws `upstream_broken` for a reply that does not stream and does not end.
 */
export function createReplyFilter(dialect: Dialect, replyCount: number): ReplyFilter {
  let chosen: ReplyFilter | null = null;
  return {
    push: (chunk) => {
      if (chosen === null) {
        const first = chunk.find((byte) => byte > 0x20);
        if (first === undefined) return chunk;
        chosen =
          first === 0x7b ? createWholeFilter(dialect) : createStreamFilter(dialect, replyCount);
      }
      return chosen.push(chunk);
    },
    end: () => chosen?.end() ?? NOTHING,
    cut: () => chosen?.cut() ?? NOTHING,
  };
}

function createWholeFilter(dialect: Dialect): ReplyFilter {
  let chunks: Buffer[] = [];
  let length = 0;
  return {
    push: (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= MAX_WHOLE_BYTES) return NOTHING;
      throw new ActivityError(
        "upstream_broken",
        `The upstream's reply is larger than ${MAX_WHOLE_BYTES / 1024 / 1024} MiB.`,
        "Ask for a stream.",
      );
    },
    end: () => {
      const whole = Buffer.concat(chunks);
      chunks = [];
      const json = whole.toString("utf8");
      const filtered = filterWholeReply(json, dialect);
      return filtered === json ? whole : Buffer.from(filtered);
    },
    cut: () => NOTHING,
  };
}

/** Filters a stream of server-sent events with `replyCount` replies in it. */
export function createStreamFilter(dialect: Dialect, replyCount: number): ReplyFilter {
  const splitter = createEventSplitter();
  const rewriter = dialect === "chat" ? createChatRewriter(replyCount) : createResponsesRewriter();

  const rewrite = (raw: Buffer): Buffer => {
    const event = readEvent(raw);
    const next = event === null ? null : rewriter.rewrite(event);
    return next === null ? raw : renderAll(next);
  };

  return {
    push: (chunk) => {
      if (rewriter.isPassing()) return chunk;
      const out: Buffer[] = [];
      for (const raw of splitter.push(chunk)) out.push(rewriter.isPassing() ? raw : rewrite(raw));
      if (rewriter.isPassing()) out.push(splitter.rest());
      return out.length === 1 && out[0] !== undefined ? out[0] : Buffer.concat(out);
    },
    end: () => {
      if (rewriter.isPassing()) return NOTHING;
      const rest = splitter.rest();
      const event = readEvent(rest);
      // The last event may lack its blank line. One that was cut off is no JSON, and goes behind what is held.
      const isWhole = event !== null && (isRecord(event.data) || event.data === "[DONE]");
      const last = isWhole ? renderAll(rewriter.rewrite(event) ?? [event]) : NOTHING;
      const held = renderAll(rewriter.end());
      if (held.length === 0 && last.length === 0) return rest;
      return Buffer.concat([last, held, isWhole ? NOTHING : rest]);
    },
    cut: () => (rewriter.isPassing() ? NOTHING : renderAll(rewriter.end())),
  };
}

const NOTHING = Buffer.alloc(0);

function renderAll(events: readonly StreamEvent[]): Buffer {
  return Buffer.from(events.map((event) => renderEvent(event)).join(""));
}

/** A whole reply in JSON, filtered; what is no such reply comes back as it is. */
export function filterWholeReply(json: string, dialect: Dialect): string {
  let body: unknown;
  try {
    body = JSON.parse(json);
  } catch {
    // Not for us to judge: the client gets what the upstream said.
    return json;
  }
  if (!isRecord(body)) return json;
  const edits: Edit[] = [];
  if (dialect === "chat") {
    for (const [index, choice] of listOf(body["choices"]).entries()) {
      const message = choice["message"];
      if (!isRecord(message)) continue;
      const at = ["choices", index, "message", "content"];
      const text = editText(json, at, message["content"], edits);
      if (text === null) continue;
      dropValue(json, ["choices", index, "logprobs"], edits);
      if (text.trim() === "" && !("tool_calls" in message))
        markEmptied(json, ["choices", index], edits);
    }
    return applyEdits(json, edits);
  }
  let left = "";
  for (const [index, item] of listOf(body["output"]).entries()) {
    for (const [part, { text }] of listOf(item["content"]).entries()) {
      const at = ["output", index, "content", part];
      const changed = editText(json, [...at, "text"], text, edits);
      if (changed !== null) dropValue(json, [...at, "logprobs"], edits, "[]");
      left += changed ?? (typeof text === "string" ? text : "");
    }
  }
  if (edits.length > 0 && left.trim() === "") markEmptied(json, [], edits);
  return applyEdits(json, edits);
}

/** What a client sees beside a reply of which nothing was left. */
const EMPTIED = { reply: "emptied" } as const;

interface Rewriter {
  /** The events in place of this one, or null to leave it as it is. */
  readonly rewrite: (event: StreamEvent) => readonly StreamEvent[] | null;
  /** Whether every reply has begun with something else than an echo. */
  readonly isPassing: () => boolean;
  /** What replies that never finished still hold. */
  readonly end: () => readonly StreamEvent[];
}

/** https://platform.openai.com/docs/api-reference/chat-streaming */
function createChatRewriter(replyCount: number): Rewriter {
  const replies = new Map<number, { readonly stripper: LeakStripper; calls: boolean }>();
  const begun = new Set<number>();
  /** The frame of a chunk, for text that has to go out on its own. */
  let frame: Json = {};

  const textChunk = (index: number, content: string): StreamEvent => ({
    name: null,
    data: {
      ...frame,
      choices: [{ index, delta: { content }, logprobs: null, finish_reason: null }],
    },
  });

  return {
    rewrite: ({ name, data }) => {
      if (data === "[DONE]") {
        const held = flushAll();
        return held.length === 0 ? null : [...held, { name, data }];
      }
      if (!isRecord(data)) return null;
      const { choices: _choices, usage: _usage, ...rest } = data;
      const before: StreamEvent[] = [];
      let changed = false;
      const choices = listOf(data["choices"]).map((choice) => {
        const { index, delta, finish_reason: finish } = choice;
        if (typeof index !== "number" || !isRecord(delta)) return choice;
        frame = rest;
        let reply = replies.get(index);
        if (reply === undefined) {
          reply = { stripper: makeLeakStripper(), calls: false };
          replies.set(index, reply);
        }
        if ("tool_calls" in delta) reply.calls = true;
        const { content } = delta;
        const given = typeof content === "string" ? content : "";
        const text = given === "" ? "" : reply.stripper.push(given);
        // Half a surrogate pair stays behind in the stripper until the other half has come.
        if (text !== "" && !/[\ud800-\udbff]$/.test(given)) begun.add(index);
        const finished = typeof finish === "string";
        const held = finished ? reply.stripper.flush() : "";
        if (held !== "") before.push(textChunk(index, text + held));
        const kept = held === "" ? text : "";
        const emptied = finished && reply.stripper.removed && reply.stripper.empty && !reply.calls;
        if (kept === given && !emptied) return choice;
        changed = true;
        return {
          ...choice,
          delta: { ...delta, ...(typeof content === "string" ? { content: kept } : {}) },
          // The tokens of what was taken away would tell it.
          ...("logprobs" in choice ? { logprobs: null } : {}),
          ...(emptied ? { activityd: EMPTIED } : {}),
        };
      });
      if (!changed && before.length === 0) return null;
      return [...before, { name, data: { ...data, choices } }];
    },
    isPassing: () => begun.size >= replyCount,
    end: () => flushAll(),
  };

  function flushAll(): StreamEvent[] {
    return [...replies].flatMap(([index, { stripper }]) => {
      const held = stripper.flush();
      return held === "" ? [] : [textChunk(index, held)];
    });
  }
}

/** https://platform.openai.com/docs/api-reference/responses-streaming */
function createResponsesRewriter(): Rewriter {
  /** One for each text part of each message; they are announced one after another, so it never passes for good. */
  const parts = new Map<string, LeakStripper>();
  let emptyText = true;
  let removed = false;

  return {
    rewrite: ({ name, data }) => {
      if (!isRecord(data)) return null;
      switch (data["type"]) {
        case "response.output_text.delta": {
          const { delta } = data;
          if (typeof delta !== "string") return null;
          const text = stripperOf(data).push(delta);
          return text === delta ? null : [{ name, data: { ...data, delta: text, logprobs: [] } }];
        }
        case "response.output_text.done": {
          const stripper = stripperOf(data);
          const held = stripper.flush();
          const { text, logprobs: _logprobs, ...rest } = data;
          if (!stripper.removed && held === "") return null;
          const type = "response.output_text.delta";
          const before =
            held === ""
              ? []
              : [
                  {
                    name: name === null ? null : type,
                    data: { ...rest, type, delta: held, logprobs: [] },
                  },
                ];
          const whole = typeof text === "string" ? stripLeakedDirectives(text) : text;
          return [
            ...before,
            { name, data: { ...data, text: whole, ...(stripper.removed ? { logprobs: [] } : {}) } },
          ];
        }
        case "response.content_part.done":
          return replaced(name, data, "part", stripPart(data["part"]));
        case "response.output_item.done":
          return replaced(name, data, "item", stripItem(data["item"]));
        case "response.completed":
        case "response.incomplete":
        case "response.failed": {
          const response = data["response"];
          if (!isRecord(response)) return null;
          const output = listOf(response["output"]).map(stripItem);
          if (!removed && output.every((item, index) => item === listOf(response["output"])[index]))
            return null;
          const mark = removed && emptyText ? { activityd: EMPTIED } : {};
          return [{ name, data: { ...data, response: { ...response, output, ...mark } } }];
        }
        default:
          return null;
      }
    },
    isPassing: () => false,
    end: () => [],
  };

  function stripperOf(data: Json): LeakStripper {
    const key = `${String(data["item_id"])}:${String(data["content_index"])}`;
    const known = parts.get(key);
    if (known !== undefined) return known;
    const made = makeLeakStripper();
    parts.set(key, made);
    return made;
  }

  function replaced(
    name: string | null,
    data: Json,
    field: "part" | "item",
    value: unknown,
  ): readonly StreamEvent[] | null {
    return value === data[field] ? null : [{ name, data: { ...data, [field]: value } }];
  }

  function stripItem(item: unknown): unknown {
    if (!isRecord(item) || !Array.isArray(item["content"])) return item;
    const before: readonly unknown[] = item["content"];
    const content = before.map(stripPart);
    return content.every((part, index) => part === before[index]) ? item : { ...item, content };
  }

  function stripPart(part: unknown): unknown {
    if (!isRecord(part) || part["type"] !== "output_text" || typeof part["text"] !== "string")
      return part;
    const text = stripLeakedDirectives(part["text"]);
    if (text.trim() !== "") emptyText = false;
    if (text === part["text"]) return part;
    removed = true;
    return { ...part, text, ...("logprobs" in part ? { logprobs: [] } : {}) };
  }
}

/** Adds the edit that strips the text at `path`; null when it stays as it is. */
function editText(
  json: string,
  path: readonly (string | number)[],
  text: unknown,
  edits: Edit[],
): string | null {
  if (typeof text !== "string") return null;
  const stripped = stripLeakedDirectives(text);
  if (stripped === text) return null;
  const span = findValue(json, path);
  if (span !== null) edits.push({ span, text: JSON.stringify(stripped) });
  return stripped;
}

/** The tokens of what was taken away would tell it. */
function dropValue(
  json: string,
  path: readonly (string | number)[],
  edits: Edit[],
  empty = "null",
): void {
  const span = findValue(json, path);
  if (span !== null) edits.push({ span, text: empty });
}

function markEmptied(json: string, path: readonly (string | number)[], edits: Edit[]): void {
  const span = findValue(json, path);
  if (span === null) return;
  const at = span.start + 1;
  // The object holds the text that was emptied, so a member follows.
  edits.push({ span: { start: at, end: at }, text: `"activityd":${JSON.stringify(EMPTIED)},` });
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
