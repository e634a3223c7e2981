/**
 * One reply of the model, through the gateway. It hides the protocol and promises that what comes out is the
 * reply alone: an echo of the voice directive or of what stood before a turn is taken off its start.
 */
import { ActivityError, fromErrorEnvelope } from "../errors.ts";
import { makeEchoStripper } from "../gateway/reply-echo.ts";
import { createEventSplitter, readEvent } from "../gateway/event-stream.ts";

/** Whom a chat asks. */
export interface ChatModel {
  /** The gateway's address, such as `http://127.0.0.1:7117/v1`, without a slash at the end. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

export interface ReplyWish {
  readonly messages: readonly ModelMessage[];
  /** What stood before the owner's words in which of them, the last first. */
  readonly injected: readonly string[];
  /** Whether the reply will be spoken. */
  readonly isVoice: boolean;
  /** Ends the reply early; what came stays. */
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
}

/**
 * How a reply ended: by itself, or by the signal. Rejects with `upstream_unreachable`, `upstream_broken`,
 * `unauthorized` or what the gateway said in the stream.
 */
export async function askModel(to: ChatModel, wish: ReplyWish): Promise<"whole" | "stopped"> {
  const { signal, onText } = wish;
  const reply = makeEchoStripper(wish.injected);
  try {
    const body = await openReply(to, wish);
    const splitter = createEventSplitter();
    for await (const chunk of body)
      for (const raw of splitter.push(Buffer.from(chunk))) onText(reply.push(textOf(raw)));
  } catch (thrown) {
    onText(reply.flush());
    if (signal.aborted) return "stopped";
    if (thrown instanceof ActivityError) throw thrown;
    throw new ActivityError("upstream_broken", "The reply broke off.", "Ask again with: /resend", {
      cause: thrown,
    });
  }
  onText(reply.flush());
  return "whole";
}

async function openReply(
  { baseUrl, apiKey, model }: ChatModel,
  { messages, isVoice, signal }: ReplyWish,
): Promise<AsyncIterable<Uint8Array>> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${apiKey}`,
      // The turn is composed here, so that its owner's half can be kept beside it.
      "activityd-context": "off",
      ...(isVoice ? { "activityd-turn": "voice" } : {}),
    },
    body: JSON.stringify({ model, stream: true, messages }),
    signal,
  }).catch((cause: unknown) => {
    throw new ActivityError(
      "upstream_unreachable",
      `Nobody answers at ${baseUrl}.`,
      "Start it with: activityd gateway --upstream URL",
      { cause },
    );
  });
  if (response.ok && response.body !== null) return response.body;
  throw refusal(response.status, await response.text());
}

/** The gateway's own errors have a code and a hint; of others what they say is told. */
function refusal(status: number, body: string): ActivityError {
  const value = parse(body);
  const error = fromErrorEnvelope(value);
  const said = (error?.message ?? body).trim().slice(0, 300);
  return new ActivityError(
    status === 401 ? "unauthorized" : "upstream_broken",
    `The model answered with ${status}: ${said}`,
    error?.hint ?? "",
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // An error that is no JSON is told as it is.
    return null;
  }
}

/** The text of one piece of a streamed chat completion; empty for any other event. Throws for one that is an error. */
function textOf(raw: Buffer): string {
  const data = readEvent(raw)?.data;
  const error = fromErrorEnvelope(data);
  if (error !== null) throw error;
  const [choice] = fieldOf(data, "choices", Array.isArray) ?? [];
  const content = fieldOf(fieldOf(choice, "delta", isRecord), "content", isText);
  return content ?? "";
}

function fieldOf<T>(from: unknown, key: string, fits: (value: unknown) => value is T): T | null {
  if (!isRecord(from)) return null;
  const value = from[key];
  return fits(value) ? value : null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
