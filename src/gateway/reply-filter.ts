/**
 * Takes an echo of the directive, or of the blocks before its turns, off the start of a model's reply, whether it streams by or comes whole. It promises that
 * whatever is not such an echo goes on byte for byte: once a reply has begun otherwise, nothing is looked at any more.
 */
import { stripEchoes } from "./reply-echo.ts";
import { createEventSplitter, readEvent, renderEvent, type StreamEvent } from "./event-stream.ts";
import type { Dialect } from "./conversation.ts";
import { ActivityError } from "../errors.ts";
import { applyEdits, findValue, type Edit } from "./json-edit.ts";
import {
  callsTool,
  createChatRewriter,
  createResponsesRewriter,
  EMPTIED,
  isRecord,
  listOf,
} from "./reply-rewriters.ts";

/** A reply on its way through. */
export interface ReplyFilter {
  /** What may go on now. */
  readonly push: (chunk: Buffer) => Buffer;
  /** What is left when the upstream has ended. */
  readonly end: () => Buffer;
  /** What is left when the upstream broke off: whole events alone. */
  readonly cut: () => Buffer;
}

/** A reply larger than this that does not stream is not waited for. */
const MAX_WHOLE_BYTES = 32 * 1024 * 1024;

/**
 * Filters an answer that streams or does not: its first sign tells which, whatever its content type says.
 * `push` throws `upstream_broken` for a reply that does not stream and does not end.
 */
export function createReplyFilter(
  dialect: Dialect,
  replyCount: number,
  injected: readonly string[],
): ReplyFilter {
  let chosen: ReplyFilter | null = null;
  return {
    push: (chunk) => {
      if (chosen === null) {
        const first = chunk.find((byte) => byte > 0x20);
        if (first === undefined) return chunk;
        chosen =
          first === 0x7b
            ? createWholeFilter(dialect, injected)
            : createStreamFilter(dialect, replyCount, injected);
      }
      return chosen.push(chunk);
    },
    end: () => chosen?.end() ?? NOTHING,
    cut: () => chosen?.cut() ?? NOTHING,
  };
}

function createWholeFilter(dialect: Dialect, injected: readonly string[]): ReplyFilter {
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
      const filtered = filterWholeReply(json, dialect, injected);
      return filtered === json ? whole : Buffer.from(filtered);
    },
    cut: () => NOTHING,
  };
}

/** Filters a stream of server-sent events with `replyCount` replies in it. */
export function createStreamFilter(
  dialect: Dialect,
  replyCount: number,
  injected: readonly string[] = [],
): ReplyFilter {
  const splitter = createEventSplitter();
  const rewriter =
    dialect === "chat"
      ? createChatRewriter(replyCount, injected)
      : createResponsesRewriter(injected);

  const rewrite = (raw: Buffer): Buffer => {
    const event = readEvent(raw);
    const next = event === null ? null : rewriter.rewrite(event);
    return next === null ? raw : Buffer.concat([lateLineFeed(raw), renderAll(next)]);
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
      const last = isWhole
        ? Buffer.concat([lateLineFeed(rest), renderAll(rewriter.rewrite(event) ?? [event])])
        : NOTHING;
      const held = renderAll(rewriter.end());
      if (held.length === 0 && last.length === 0) return rest;
      return Buffer.concat([last, held, isWhole ? NOTHING : rest]);
    },
    cut: () => (rewriter.isPassing() ? NOTHING : renderAll(rewriter.end())),
  };
}

const NOTHING = Buffer.alloc(0);

/** What came late of the line end before an event: without it a client that knows no lone CR misses the event. */
function lateLineFeed(raw: Buffer): Buffer {
  return raw.subarray(0, raw[0] === 0x0a ? 1 : 0);
}

function renderAll(events: readonly StreamEvent[]): Buffer {
  return Buffer.from(events.map((event) => renderEvent(event)).join(""));
}

/** A whole reply in JSON, filtered; what is no such reply comes back as it is. */
export function filterWholeReply(
  json: string,
  dialect: Dialect,
  injected: readonly string[] = [],
): string {
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
      const { path, content } = firstText(at, message["content"]);
      const text = editText(json, path, content, edits, injected);
      if (text === null) continue;
      dropValue(json, ["choices", index, "logprobs"], edits);
      if (text.trim() === "" && !callsTool(message)) markEmptied(json, ["choices", index], edits);
    }
    return applyEdits(json, edits);
  }
  let left = "";
  for (const [index, item] of listOf(body["output"]).entries()) {
    for (const [part, { text }] of listOf(item["content"]).entries()) {
      const at = ["output", index, "content", part];
      const changed = editText(json, [...at, "text"], text, edits, injected);
      if (changed !== null) dropValue(json, [...at, "logprobs"], edits, "[]");
      left += changed ?? (typeof text === "string" ? text : "");
    }
  }
  if (edits.length > 0 && left.trim() === "") markEmptied(json, [], edits);
  return applyEdits(json, edits);
}

/** Where a message's text begins: some servers give it in parts, what the model thought before it among them. */
function firstText(
  path: readonly (string | number)[],
  content: unknown,
): { readonly path: readonly (string | number)[]; readonly content: unknown } {
  if (!Array.isArray(content)) return { path, content };
  const first = content.findIndex((part: unknown) => isRecord(part) && part["type"] === "text");
  const part: unknown = content[first];
  return { path: [...path, first, "text"], content: isRecord(part) ? part["text"] : null };
}

/** Adds the edit that strips the text at `path`; null when it stays as it is. */
function editText(
  json: string,
  path: readonly (string | number)[],
  text: unknown,
  edits: Edit[],
  injected: readonly string[],
): string | null {
  if (typeof text !== "string") return null;
  const stripped = stripEchoes(text, injected);
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
