/**
 * The turn: the one place that puts injected context and the owner's words together, and the one that
 * takes them apart. It promises `strip(composeTurn(context, text)) === text` for every text, and by its
 * brands that no turn is stripped twice or shown unstripped.
 */
import { ActivityError } from "../errors.ts";
import { pushShifted } from "./block-lines.ts";
import {
  type BlockKind,
  escapeOwnerText,
  escapeUntrusted,
  eventsBlock,
  headingBlockOfText,
  isWholeBlocks,
  ownerTextStart,
  type RenderedBlock,
  skipOwnerEscape,
  type SessionEvent,
} from "./markers.ts";
import type { UntrustedSpan } from "./plain-text.ts";

declare const owner: unique symbol;
declare const model: unique symbol;

/** What the owner wrote, fit to be shown. Stripping it again would take away words, and does not compile. */
export type OwnerText = string & { readonly [owner]: true };

/** What the model receives: blocks, then the owner's text. It is not for the screen. */
export type ModelTurnText = string & { readonly [model]: true };

/** A turn as it was stored or came over a channel that carries only the string: anything but an `OwnerText`. */
export type RawTurn = string & { readonly [owner]?: never };

/** A heading block of lines that somebody else wrote, such as a model. */
export interface ActivityText {
  readonly kind: BlockKind;
  readonly lines: readonly string[];
}

export interface TurnContext {
  /** Told first, in this order. */
  readonly events: readonly SessionEvent[];
  /** Blocks of the renderers as they are, or plain lines; told next, in this order. */
  readonly activity: readonly (RenderedBlock | ActivityText)[];
  readonly ownerText: string;
}

export interface ComposedTurn {
  /** For the model alone. */
  readonly composed: ModelTurnText;
  /** For every screen, title, search and voice: store it beside `composed`. Always the owner's text itself. */
  readonly visible: OwnerText;
  /** Code units of `composed` before the owner's text, and before its backslash when it needed one. */
  readonly injectedLength: number;
  /** Where in `composed` stand characters that strangers wrote; the owner's own text is not among them. */
  readonly untrustedSpans: readonly UntrustedSpan[];
}

/**
 * The turn as the model gets it: system block, heading blocks, owner's text, the latter escaped when it
 * looks like a block itself. Without context and without need of an escape it is the owner's text itself.
 *
 * Throws `internal` for a block that no encoder made.
 */
export function composeTurn({ events, activity, ownerText }: TurnContext): ComposedTurn {
  let injectedText = "";
  const untrustedSpans: UntrustedSpan[] = [];
  const told = eventsBlock(events);
  const rendered = activity.map((part) => ("block" in part ? part : ofText(part)));
  for (const { block, untrustedSpans: spans } of told === null ? rendered : [told, ...rendered]) {
    if (!isWholeBlocks(block)) throw unmarked();
    pushShifted(untrustedSpans, spans, injectedText.length);
    injectedText += block;
  }
  return {
    composed: (injectedText + escapeOwnerText(ownerText)) as ModelTurnText,
    visible: ownerText as OwnerText,
    injectedLength: injectedText.length,
    untrustedSpans,
  };
}

/** What {@link composeTurn} put around the owner's text, taken off again. Once: see {@link OwnerText}. */
export function stripTurn(text: RawTurn): OwnerText {
  return text.slice(skipOwnerEscape(text, ownerTextStart(text))) as OwnerText;
}

/**
 * Text of another person or program on its way into a turn. `modelFacing` cannot pass for injected
 * context line by line; `visible` is the text as it came, for display: prefix rules never hide it.
 */
export function ingressUntrusted(text: string): {
  readonly modelFacing: string;
  readonly visible: OwnerText;
} {
  return { modelFacing: escapeUntrusted(text), visible: text as OwnerText };
}

/** What the owner sees of one message: a user's turn stripped, everything else untouched. */
export function displayText(message: { readonly role: string; readonly text: RawTurn }): OwnerText {
  return message.role === "user" ? stripTurn(message.text) : (message.text as string as OwnerText);
}

/** A part of an array of content, as OpenAI's APIs have them; only `text` and `input_text` carry text. */
export interface ContentPart {
  readonly type: string;
  readonly text?: unknown;
}

export interface ComposedParts<P> {
  /** For the model alone. */
  readonly parts: readonly (P | { readonly type: string; readonly text: string })[];
  /** Which of `parts` carries the injected context; null when there is none. */
  readonly injectedPart: number | null;
  /** As in {@link ComposedTurn}, within the text of that part. */
  readonly injectedLength: number;
  readonly untrustedSpans: readonly UntrustedSpan[];
}

/**
 * A turn in parts as the model gets it: blocks and escape go to the first part that has text, or into a
 * text part of their own in front. {@link stripUserContent} gives `parts` back, for all parts.
 *
 * Throws `internal` for a block that no encoder made.
 */
export function composeParts<P extends ContentPart>({
  events,
  activity,
  parts,
}: Omit<TurnContext, "ownerText"> & { readonly parts: readonly P[] }): ComposedParts<P> {
  const texts = parts.map(textOf);
  const index = texts.findIndex((text) => text !== null && text !== "");
  const part = parts[index];
  const ownerText = texts[index] ?? "";
  const { composed, injectedLength, untrustedSpans } = composeTurn({ events, activity, ownerText });
  const injected = { injectedLength, untrustedSpans };
  if (part !== undefined) {
    const whole = composed === ownerText ? part : { ...part, text: composed };
    const injectedPart = injectedLength > 0 ? index : null;
    return { parts: parts.with(index, whole), injectedPart, ...injected };
  }
  if (injectedLength === 0) return { parts, injectedPart: null, ...injected };
  const type = parts.some((each) => each.type.startsWith("input_")) ? "input_text" : "text";
  return { parts: [{ type, text: composed }, ...parts], injectedPart: 0, ...injected };
}

/** What the owner wrote in the text parts of a turn that nothing was injected into, one part a line. */
export function textOfParts(parts: readonly ContentPart[]): OwnerText {
  const texts = parts.map(textOf).filter((text) => text !== null && text !== "");
  return texts.join("\n") as OwnerText;
}

/**
 * The owner's parts of a user message: the leading run of blocks is taken off across its text parts, and a
 * part that held nothing else is dropped. Parts of other types, parts after the first text, and the order
 * stay as they are; so does everything when no block begins the first text.
 */
export function stripUserContent<P extends ContentPart>(parts: readonly P[]): P[] {
  const kept: P[] = [];
  /** Blank parts before the first block: they go when a block follows and stay when none does. */
  const blankBefore: number[] = [];
  let inRun = false;
  for (const [index, part] of parts.entries()) {
    const text = textOf(part);
    if (text === null || text === "") {
      kept.push(part);
      continue;
    }
    const start = ownerTextStart(text, inRun);
    if (!inRun && start === 0 && text.trim() === "") {
      blankBefore.push(kept.length);
      kept.push(part);
      continue;
    }
    if (start > 0 && !inRun) {
      for (const blank of blankBefore.toReversed()) kept.splice(blank, 1);
      inRun = true;
    }
    const rest = text.slice(skipOwnerEscape(text, start));
    if (rest === "") continue;
    kept.push(rest === text ? part : { ...part, text: rest });
    return [...kept, ...parts.slice(index + 1)];
  }
  return kept;
}

function textOf(part: ContentPart): string | null {
  if (part.type !== "text" && part.type !== "input_text") return null;
  return typeof part.text === "string" ? part.text : null;
}

function ofText({ kind, lines }: ActivityText): RenderedBlock {
  return headingBlockOfText(kind, lines);
}

function unmarked(): ActivityError {
  return new ActivityError(
    "internal",
    "Context without a marker was handed to composeTurn and would have been shown to the owner.",
    "Make it with an encoder of context/markers.ts.",
  );
}
