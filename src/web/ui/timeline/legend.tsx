/** What the patterns in the lane of gaps mean: those that are on the screen. */
import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { TimelineController } from "./controller.ts";
import { coveringLayer } from "./lanes.ts";
import { gapKind, gapPattern } from "./patterns.ts";

export function GapLegend(props: { readonly timeline: TimelineController }): JSX.Element | null {
  const { timeline } = props;
  // As one text, so that what follows is told only when another kind comes or one goes.
  const states = useComputed(() => {
    const { fromUs, toUs } = timeline.settled.value;
    const layer = coveringLayer(timeline.layers.value, timeline.settled.value);
    const spans = (layer?.rows.gaps ?? []).flat();
    const seen = spans.filter((span) => span.endUs > fromUs && span.startUs < toUs);
    return [...new Set(seen.map((span) => span.state ?? ""))].toSorted().join(" ");
  });
  if (states.value === "") return null;
  return (
    <ul class="legend" aria-label="Not known">
      {states.value.split(" ").map((state) => (
        <li key={state}>
          <Swatch state={state} />
          {gapKind(state).title}: <span class="muted">{gapKind(state).why}</span>
        </li>
      ))}
    </ul>
  );
}

function Swatch(props: { readonly state: string }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const ctx = canvas.current?.getContext("2d");
    if (canvas.current === null || ctx === null || ctx === undefined) return;
    const { width, height } = canvas.current;
    ctx.clearRect(0, 0, width, height);
    ctx.fillStyle = gapPattern(ctx, props.state, getComputedStyle(canvas.current).color, 2);
    ctx.scale(2, 2);
    ctx.fillRect(0, 0, width, height);
  });
  return <canvas ref={canvas} class="swatch" width={56} height={28} aria-hidden="true" />;
}
