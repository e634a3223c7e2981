/**
 * How a stretch of time looks on a lane. It hides colours, patterns, where there is room for a label and what is too thin
 * for one, and promises to stay within the rectangle that it is given.
 */
import type { TimelineLaneId, TimelineSpan } from "../../../api.ts";
import { toneOf, type Scheme, type Tone } from "./colours.ts";
import { createTextFitter, type TextFitter } from "./fit-text.ts";
import { gapKind, gapPattern } from "./patterns.ts";

/** Colours and type of the page, read from its style sheet. */
export interface Ink {
  readonly scheme: Scheme;
  readonly surface: string;
  readonly sunken: string;
  readonly line: string;
  readonly lineStrong: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly bad: string;
  readonly family: string;
  readonly remPx: number;
}

export interface SpanBrush {
  /** Draws a span of a lane into a rectangle, in CSS pixels. */
  readonly draw: (
    lane: TimelineLaneId,
    span: TimelineSpan,
    x: number,
    y: number,
    width: number,
    height: number,
  ) => void;
  /** What stands for a gap of this reason, in a colour. */
  readonly pattern: (state: string | null, colour: string) => CanvasPattern | string;
}

/** What is thinner than this is drawn in one colour, without an edge. */
const MIN_TINTED_PX = 8;

/** What stands in a lane of presence, by the state or kind of its span. */
export function presenceName(span: TimelineSpan): string {
  if (span.kind === "lock") return "Locked";
  if (span.kind === "sleep") return "Asleep";
  return span.state === "passive" ? "Watching or listening" : "Away";
}

export function createSpanBrush(
  ctx: CanvasRenderingContext2D,
  ink: Ink,
  devicePixels: number,
): SpanBrush {
  const { remPx } = ink;
  const fonts = {
    label: `550 ${0.82 * remPx}px ${ink.family}`,
    plain: `400 ${0.82 * remPx}px ${ink.family}`,
  };
  const fitters: Readonly<Record<"label" | "plain", TextFitter>> = {
    label: createTextFitter(measureIn(ctx, fonts.label)),
    plain: createTextFitter(measureIn(ctx, fonts.plain)),
  };
  const tones = new Map<string | null, Tone>();
  const patterns = new Map<string, CanvasPattern | string>();

  const tone = (name: string | null): Tone => {
    const kept = tones.get(name);
    if (kept !== undefined) return kept;
    const made = toneOf(name, ink.scheme);
    if (tones.size > 1000) tones.clear();
    tones.set(name, made);
    return made;
  };

  const pattern = (state: string | null, colour: string): CanvasPattern | string => {
    const key = `${state}${colour}`;
    const kept = patterns.get(key);
    if (kept !== undefined) return kept;
    const made = gapPattern(ctx, state, colour, devicePixels);
    patterns.set(key, made);
    return made;
  };

  /** A label on the left of a rectangle, when there is room for one. */
  const label = (
    text: string | null,
    font: "label" | "plain",
    colour: string,
    x: number,
    y: number,
    width: number,
    height: number,
  ): void => {
    const pad = 0.4 * remPx;
    if (text === null || width < 2.2 * remPx) return;
    const shown = fitters[font].fit(text, width - 2 * pad);
    if (shown === "") return;
    ctx.font = fonts[font];
    ctx.fillStyle = colour;
    ctx.fillText(shown, x + pad, y + height / 2 + 0.5);
  };

  const box = (x: number, y: number, width: number, height: number): void => {
    // A pixel of the lane stays between neighbours, unless they are too thin to spare it.
    const drawn = width > 3 ? width - 1 : width;
    if (drawn < 5) {
      ctx.fillRect(x, y, drawn, height);
      return;
    }
    ctx.beginPath();
    ctx.roundRect(x, y, drawn, height, 3);
    ctx.fill();
  };

  /** Pale, with an edge in the colour of its application, so that its text is read as on the page. */
  const tinted = (
    span: TimelineSpan,
    text: string | null,
    x: number,
    y: number,
    width: number,
    height: number,
  ): void => {
    const { fill, tint } = tone(span.app);
    if (width < MIN_TINTED_PX) {
      // Too thin for an edge of its own: it is all edge, and paler, so that the eye is not drawn to it.
      ctx.globalAlpha = 0.6;
      ctx.fillStyle = fill;
      ctx.fillRect(x, y, Math.max(1, width - 0.5), height);
      ctx.globalAlpha = 1;
      return;
    }
    ctx.fillStyle = tint;
    box(x, y, width, height);
    ctx.fillStyle = fill;
    ctx.fillRect(x, y, 2, height);
    label(text, "plain", ink.text, x + 1, y, width - 1, height);
  };

  const drawSpan: Readonly<
    Record<
      TimelineLaneId,
      (span: TimelineSpan, x: number, y: number, width: number, height: number) => void
    >
  > = {
    focus: (span, x, y, width, height) => {
      const { fill, text } = tone(span.app);
      ctx.fillStyle = fill;
      // Where stretches were merged, the height tells how much of the time they fill.
      const share = span.merged > 1 ? span.activeUs / (span.endUs - span.startUs) : 1;
      const filled = Math.max(3, Math.round(height * Math.min(1, share)));
      box(x, y + height - filled, width, filled);
      if (filled > height * 0.7) label(span.app, "label", text, x, y, width, height);
    },
    documents: (span, x, y, width, height) => tinted(span, span.label, x, y, width, height),
    tabs: (span, x, y, width, height) => tinted(span, span.label, x, y, width, height),
    presence: (span, x, y, width, height) => {
      const dark = span.kind === "lock" || span.kind === "sleep";
      ctx.fillStyle = dark ? ink.muted : span.state === "passive" ? ink.line : ink.lineStrong;
      box(x, y, width, height);
      if (span.state === "passive" && width > MIN_TINTED_PX) {
        ctx.strokeStyle = ink.lineStrong;
        ctx.lineWidth = 1;
        ctx.strokeRect(x + 0.5, y + 0.5, width - 2, height - 1);
      }
      const colour = dark ? ink.surface : ink.text;
      label(presenceName(span), "plain", colour, x, y, width, height);
    },
    media: (span, x, y, width, height) => {
      const piece = span.place === null ? span.label : `${span.label ?? ""} — ${span.place}`;
      tinted(span, piece, x, y, width, height);
    },
    elsewhere: (span, x, y, width, height) => tinted(span, span.label, x, y, width, height),
    gaps: (span, x, y, width, height) => {
      ctx.fillStyle = ink.surface;
      ctx.fillRect(x, y, width, height);
      ctx.fillStyle = pattern(span.state, ink.muted);
      ctx.fillRect(x, y, width, height);
      if (width >= 4 * remPx) {
        const text = fitters.plain.fit(gapKind(span.state).title, width - 1.2 * remPx);
        ctx.font = fonts.plain;
        const textWidth = text === "" ? 0 : ctx.measureText(text).width;
        ctx.fillStyle = ink.surface;
        ctx.fillRect(x + 0.3 * remPx, y, textWidth + 0.4 * remPx, height);
        ctx.fillStyle = ink.muted;
        ctx.fillText(text, x + 0.5 * remPx, y + height / 2 + 0.5);
      }
      ctx.strokeStyle = ink.lineStrong;
      ctx.lineWidth = 1;
      ctx.strokeRect(x + 0.5, y + 0.5, Math.max(0, width - 1), height - 1);
    },
  };

  return {
    draw: (lane, span, x, y, width, height) => drawSpan[lane](span, x, y, width, height),
    pattern,
  };
}

/** Tells how wide a text is on a canvas, in pixels. */
export function measureIn(ctx: CanvasRenderingContext2D, font: string): (text: string) => number {
  return (text) => {
    ctx.font = font;
    return ctx.measureText(text).width;
  };
}
