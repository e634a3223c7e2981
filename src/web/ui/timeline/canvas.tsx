/**
 * The timeline under the owner's hands: wheel, drag, pinch and keys move it, the pointer and the keys find things
 * in it.
 */
import { useSignal, type Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { usePage } from "../page.ts";
import type { TimelineController } from "./controller.ts";
import { SpanFacts } from "./details.tsx";
import { handleKey } from "./keys.ts";
import { laneTitle, type Layout } from "./lanes.ts";
import { createPainter } from "./painter.ts";
import { listenToPointers, type Pointed } from "./pointers.ts";

export function TimelineCanvas(props: {
  readonly timeline: TimelineController;
  /** What the stretch is called, for those who hear it. */
  readonly name: string;
  /** Shows the day of today. */
  readonly onToday: () => void;
}): JSX.Element {
  const { timeline } = props;
  const page = usePage();
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const pointed = useSignal<Pointed | null>(null);
  const layout = useRef<Layout | null>(null);

  useEffect(() => {
    if (place.current === null || canvas.current === null) return;
    const painter = createPainter(
      place.current,
      canvas.current,
      timeline,
      page,
      pointed,
      (made) => {
        layout.current = made;
      },
    );
    const stopListening = listenToPointers(canvas.current, timeline, pointed, () => layout.current);
    return () => {
      painter.close();
      stopListening();
    };
  }, [timeline, page, pointed]);

  return (
    <div
      ref={place}
      class="timeline-canvas"
      role="application"
      aria-roledescription="timeline"
      aria-label={props.name}
      aria-busy={timeline.busy.value}
      aria-describedby="timeline-keys"
      tabIndex={0}
      onKeyDown={(event) => {
        if (handleKey(event, timeline, props.onToday)) event.preventDefault();
      }}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <Tip pointed={pointed} />
      <p id="timeline-keys" class="visually-hidden">
        Plus and minus zoom, left and right move, Home and End go to the ends of the record, T to
        today. Up and down choose a lane, comma and full stop go from one thing to the next, Escape
        lets go. The list below has the same content.
      </p>
    </div>
  );
}

/** What the pointer is on. It stays within the page, and out of the pointer's way. */
function Tip(props: { readonly pointed: Signal<Pointed | null> }): JSX.Element | null {
  const { value } = props.pointed;
  if (value === null) return null;
  const { hit, x, y } = value;
  const room = document.documentElement.clientWidth;
  const flips = x > room * 0.6;
  return (
    <div
      class="tip"
      style={{
        top: `${y + 18}px`,
        ...(flips ? { right: `calc(100% - ${x - 12}px)` } : { left: `${x + 12}px` }),
      }}
    >
      <p class="tip-lane">{laneTitle(hit.lane)}</p>
      <SpanFacts hit={hit} />
    </div>
  );
}
