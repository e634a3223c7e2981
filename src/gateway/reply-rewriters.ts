/**
 * The events of OpenAI's two streams without the echo that a reply begins with. It hides how each of them carries text,
 * and tells when nothing needs to be looked at any more.
 */
import type { StreamEvent } from "./event-stream.ts";
import { makeEchoStripper, stripEchoes } from "./reply-echo.ts";
import type { LeakStripper } from "./voice-steering.ts";

export type Json = Readonly<Record<string, unknown>>;

/** What a client sees beside a reply of which nothing was left. */
export const EMPTIED = { reply: "emptied" } as const;

export interface Rewriter {
  /** The events in place of this one, or null to leave it as it is. */
  readonly rewrite: (event: StreamEvent) => readonly StreamEvent[] | null;
  /** Whether every reply has begun with something else than an echo. */
  readonly isPassing: () => boolean;
  /** What replies that never finished still hold. */
  readonly end: () => readonly StreamEvent[];
}

/** https://platform.openai.com/docs/api-reference/chat-streaming */
export function createChatRewriter(replyCount: number, injected: readonly string[]): Rewriter {
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
      // No client reads on behind an error.
      if (isRecord(data["error"])) {
        const held = flushAll();
        return held.length === 0 ? null : [...held, { name, data }];
      }
      const { choices: _choices, usage: _usage, ...rest } = data;
      const before: StreamEvent[] = [];
      let changed = false;
      const choices = listOf(data["choices"]).map((choice) => {
        const { delta, finish_reason: finish } = choice;
        if (!isRecord(delta)) return choice;
        // Servers that give one reply alone may leave its number out.
        const index = typeof choice["index"] === "number" ? choice["index"] : 0;
        frame = rest;
        let reply = replies.get(index);
        if (reply === undefined) {
          reply = { stripper: makeEchoStripper(injected), calls: false };
          replies.set(index, reply);
        }
        if (callsTool(delta)) reply.calls = true;
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
export function createResponsesRewriter(injected: readonly string[]): Rewriter {
  /** One for each text part of each message; they are announced one after another, so it never passes for good. */
  const parts = new Map<string, LeakStripper>();
  /** By the same key: the last event of a part whose text has not ended. */
  const unfinished = new Map<string, { readonly name: string | null; readonly data: Json }>();
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
          unfinished.set(keyOf(data), { name, data });
          return text === delta ? null : [{ name, data: { ...data, delta: text, logprobs: [] } }];
        }
        case "response.output_text.done": {
          const stripper = stripperOf(data);
          const held = stripper.flush();
          unfinished.delete(keyOf(data));
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
          const whole = typeof text === "string" ? stripEchoes(text, injected) : text;
          return [
            ...before,
            { name, data: { ...data, text: whole, ...(stripper.removed ? { logprobs: [] } : {}) } },
          ];
        }
        case "response.content_part.done":
          return replaced(name, data, "part", stripPart(data["part"]));
        case "response.output_item.done":
          return replaced(name, data, "item", stripItem(data["item"]));
        case "error":
        case "response.completed":
        case "response.incomplete":
        case "response.failed": {
          const held = flushAll();
          const last = stripResponse(data);
          return held.length === 0 && last === data ? null : [...held, { name, data: last }];
        }
        default:
          return null;
      }
    },
    isPassing: () => false,
    end: () => flushAll(),
  };

  /** What is held of texts that were never said to have ended. */
  function flushAll(): StreamEvent[] {
    const events = [...unfinished].flatMap(([key, { name, data }]) => {
      const held = parts.get(key)?.flush() ?? "";
      return held === "" ? [] : [{ name, data: { ...data, delta: held, logprobs: [] } }];
    });
    unfinished.clear();
    return events;
  }

  function stripResponse(data: Json): Json {
    const response = data["response"];
    if (!isRecord(response)) return data;
    const output = listOf(response["output"]).map(stripItem);
    if (!removed && output.every((item, index) => item === listOf(response["output"])[index]))
      return data;
    const mark = removed && emptyText ? { activityd: EMPTIED } : {};
    return { ...data, response: { ...response, output, ...mark } };
  }

  function stripperOf(data: Json): LeakStripper {
    const key = keyOf(data);
    const known = parts.get(key);
    if (known !== undefined) return known;
    const made = makeEchoStripper(injected);
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
    const text = stripEchoes(part["text"], injected);
    if (text.trim() !== "") emptyText = false;
    if (text === part["text"]) return part;
    removed = true;
    return { ...part, text, ...("logprobs" in part ? { logprobs: [] } : {}) };
  }
}

function keyOf(data: Json): string {
  return `${String(data["item_id"])}:${String(data["content_index"])}`;
}

/** Whether a message or a piece of it calls a tool. Servers name an empty list, or null, where none is called. */
export function callsTool(message: Json): boolean {
  return listOf(message["tool_calls"]).length > 0;
}

/** The objects of a list; none where it is no list. */
export function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
