/**
 * What an assistant was given, byte for byte, with what strangers wrote marked by a line and a tint, hidden
 * characters by their names, and beside each line why it was told.
 */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { CopyButton } from "./copy-button.tsx";
import {
  type GivenLine,
  type GivenPiece,
  nameHidden,
  readGiven,
  type UntrustedSpan,
} from "./given-lines.ts";
import { usePage } from "./page.ts";

/** More is drawn when the reader asks for it. */
const MAX_CHARS = 10_000;

export function GivenBlock(props: {
  readonly text: string;
  readonly spans: readonly UntrustedSpan[];
  readonly reasons: readonly string[];
  /** What it is, for a screen reader. */
  readonly label: string;
}): JSX.Element {
  const { formats } = usePage();
  const whole = useSignal(false);
  const { text, spans, reasons, label } = props;
  const given = readGiven(text, spans, reasons, whole.value ? undefined : MAX_CHARS);
  return (
    <div class="given">
      <ol class="given-lines" aria-label={label}>
        {given.lines.map((line, index) => (
          <Line key={index} line={line} />
        ))}
      </ol>
      {given.cutChars > 0 && (
        <button
          type="button"
          class="button"
          onClick={() => {
            whole.value = true;
          }}
        >
          Show {formats.count(given.cutChars)} more characters
        </button>
      )}
      {given.moreReasons.length > 0 && (
        <ul class="given-more">
          {given.moreReasons.map((reason, index) => (
            <li key={index}>
              <bdi>{reason}</bdi>
            </li>
          ))}
        </ul>
      )}
      <CopyButton text={text} label="Copy the exact text" />
    </div>
  );
}

function Line(props: { readonly line: GivenLine }): JSX.Element {
  const { pieces, ends, reason } = props.line;
  return (
    <li class="given-line">
      <code class={ends ? "given-text given-ends" : "given-text"}>{drawPieces(pieces)}</code>
      {reason !== null && (
        <span class="given-why">
          <span class="visually-hidden">Why: </span>
          <bdi>{reason}</bdi>
        </span>
      )}
    </li>
  );
}

/** One line by itself. */
export function GivenLineText(props: {
  readonly text: string;
  readonly spans: readonly UntrustedSpan[];
}): JSX.Element {
  const { lines } = readGiven(props.text, props.spans, [], MAX_CHARS);
  return <code class="given-text">{drawPieces(lines.flatMap(({ pieces }) => pieces))}</code>;
}

function drawPieces(pieces: readonly GivenPiece[]): JSX.Element {
  return (
    <>
      {runsOf(pieces).map((run, index) =>
        run.untrusted ? (
          <bdi key={index} class="untrusted">
            <span class="visually-hidden">from outside: </span>
            {run.pieces.map(drawPiece)}
          </bdi>
        ) : (
          run.pieces.map(drawPiece)
        ),
      )}
    </>
  );
}

interface Run {
  readonly untrusted: boolean;
  readonly pieces: readonly GivenPiece[];
}

/** Neighbours by the same hand are one stretch: what turns the direction in it ends with it. */
function runsOf(pieces: readonly GivenPiece[]): readonly Run[] {
  const runs: { untrusted: boolean; pieces: GivenPiece[] }[] = [];
  for (const piece of pieces) {
    const last = runs.at(-1);
    if (last?.untrusted === piece.untrusted) last.pieces.push(piece);
    else runs.push({ untrusted: piece.untrusted, pieces: [piece] });
  }
  return runs;
}

function drawPiece({ text, sort }: GivenPiece, index: number): JSX.Element | string {
  if (sort === "text") return text;
  return sort === "blank" ? (
    <span key={index} class="blank">
      {text}
    </span>
  ) : (
    <span key={index} class="hidden-characters">
      {nameHidden(text)}
    </span>
  );
}
