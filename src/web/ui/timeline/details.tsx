/** What is known of one span: its document, its times, its active time. The same for the pointer, the choice and the list. */
import type { JSX } from "preact";
import type { TimelineLaneId, TimelineSpan } from "../../../api.ts";
import { usePage } from "../page.ts";
import { Foreign } from "../parts.tsx";
import type { TimelineController } from "./controller.ts";
import { laneTitle, type Hit } from "./lanes.ts";
import { gapKind } from "./patterns.ts";
import { presenceName } from "./span-brush.ts";

const TITLE_MAX_GRAPHEMES = 160;

export function SpanFacts(props: { readonly hit: Hit }): JSX.Element {
  const { formats } = usePage();
  const { span, lane } = props.hit;
  const lengthUs = span.endUs - span.startUs;
  const clock = lengthUs < 120_000_000 ? formats.clockWithSeconds : formats.clock;
  return (
    <div class="span-facts">
      <p class="span-title">
        <SpanTitle lane={lane} span={span} />
      </p>
      <p class="muted">
        <SpanPlace lane={lane} span={span} />
      </p>
      <p>
        {clock(span.startUs)} – {clock(span.endUs)}
        <span class="muted">
          {" · "}
          {formats.duration(lengthUs)}
          {span.activeUs < lengthUs * 0.95 && `, active ${formats.duration(span.activeUs)}`}
        </span>
      </p>
      {span.merged > 1 && (
        <p class="muted small">
          The longest of {formats.count(span.merged)} stretches here. Zoom in to tell them apart.
        </p>
      )}
    </div>
  );
}

/** The name of a span; a stranger's text stands by itself. */
export function SpanTitle(props: {
  readonly lane: TimelineLaneId;
  readonly span: TimelineSpan;
}): JSX.Element {
  const { lane, span } = props;
  if (lane === "presence") return <>{presenceName(span)}</>;
  if (lane === "gaps") return <>{gapKind(span.state).title}</>;
  const text = lane === "focus" ? span.app : span.label;
  return <Foreign text={text} maxGraphemes={TITLE_MAX_GRAPHEMES} absent="no title" />;
}

/** Where a span belongs: the application, the page, the reason. */
export function SpanPlace(props: {
  readonly lane: TimelineLaneId;
  readonly span: TimelineSpan;
}): JSX.Element {
  const { lane, span } = props;
  if (lane === "gaps") return <>{gapKind(span.state).why}</>;
  if (lane === "presence") return <></>;
  const parts = [lane === "focus" ? null : span.app, span.place, span.device ?? null].filter(
    (part) => part !== null,
  );
  return (
    <>
      {parts.map((part, index) => (
        <span key={index}>
          {index > 0 && " · "}
          <Foreign text={part} maxGraphemes={80} />
        </span>
      ))}
    </>
  );
}

/** What was chosen, told aloud by screen readers as it changes. */
export function Chosen(props: { readonly timeline: TimelineController }): JSX.Element {
  const { formats } = usePage();
  const hit = props.timeline.selected.value;
  return (
    <div class="chosen" aria-live="polite">
      {hit === null ? (
        <p class="muted">Point at something, or choose it, to see what it was.</p>
      ) : (
        <>
          <p class="tip-lane">
            {laneTitle(hit.lane)} · {formats.shortDay(hit.span.startUs)}
          </p>
          <SpanFacts hit={hit} />
          <p class="row">
            <button
              type="button"
              class="button"
              onClick={() => {
                const { startUs, endUs } = hit.span;
                const margin = Math.max(30_000_000, (endUs - startUs) * 0.6);
                props.timeline.show({ fromUs: startUs - margin, toUs: endUs + margin });
              }}
            >
              Zoom to it
            </button>
            <button
              type="button"
              class="button"
              onClick={() => {
                props.timeline.selected.value = null;
              }}
            >
              Let go
            </button>
          </p>
        </>
      )}
    </div>
  );
}
