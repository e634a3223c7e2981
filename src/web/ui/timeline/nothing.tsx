/**
 * Says why the lanes are empty, where they are: nothing was ever recorded, recording is paused, nothing can be seen
 * here, the stretch lies before or after the record. Unknown is never shown as nothing.
 */
import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import type { StatusAnswer } from "../../../api.ts";
import { usePage } from "../page.ts";
import type { TimelineController } from "./controller.ts";
import { coveringLayer } from "./lanes.ts";
import { gapKind } from "./patterns.ts";

interface Reason {
  readonly title: string;
  readonly more: string;
  readonly command?: string;
}

export function Nothing(props: { readonly timeline: TimelineController }): JSX.Element | null {
  const { timeline } = props;
  const { connection, formats } = usePage();
  const known = useComputed(() => lookAt(timeline));
  const { value } = known;
  if (value === "asking" || value === "something") return null;
  const reachesNow = timeline.settled.value.toUs > timeline.nowUs.peek();
  const reason = reasonFor(value, reachesNow, connection.status.value, formats.clock);
  return (
    <div class="nothing" role="status">
      <p class="empty-title">{reason.title}</p>
      <p class="muted">{reason.more}</p>
      {reason.command !== undefined && <code class="command">{reason.command}</code>}
    </div>
  );
}

/** What there is in the stretch: `never` when the whole record is empty, else the kinds of holes in it. */
type Known = "asking" | "something" | "never" | "after" | readonly string[];

function lookAt(timeline: TimelineController): Known {
  const { fromUs, toUs } = timeline.settled.value;
  const layer = coveringLayer(timeline.layers.value, timeline.settled.value);
  if (layer === undefined) return "asking";
  if (layer.firstUs === null) return "never";
  const meets = (span: { readonly startUs: number; readonly endUs: number }): boolean =>
    span.endUs > fromUs && span.startUs < toUs;
  const { gaps, ...others } = layer.rows;
  if (Object.values(others).some((rows) => rows.some((row) => row.some(meets)))) return "something";
  if (fromUs >= timeline.nowUs.peek()) return "after";
  return [
    ...new Set(
      gaps
        .flat()
        .filter(meets)
        .map((span) => span.state ?? ""),
    ),
  ];
}

function reasonFor(
  known: Exclude<Known, "asking" | "something">,
  reachesNow: boolean,
  status: StatusAnswer | null,
  clock: (atUs: number) => string,
): Reason {
  if (known === "after") {
    return { title: "This is still to come", more: "Press T to go to today." };
  }
  const paused = status?.paused ?? null;
  if (paused !== null && (known === "never" || reachesNow)) {
    return {
      title: "Recording is paused",
      more:
        paused.untilUs === null
          ? "Nothing is recorded and no assistant is told anything until you resume."
          : `Nothing is recorded and no assistant is told anything until ${clock(paused.untilUs)}.`,
    };
  }
  const blind = status?.sources.find(({ kind, state }) => kind === "window" && state !== "live");
  if (blind !== undefined && blind.why !== null && (known === "never" || reachesNow)) {
    return { title: "Windows cannot be seen", more: blind.why.reason, command: blind.why.remedy };
  }
  if (known === "never") {
    return {
      title: "The first minute",
      more: "Nothing is recorded yet. What you look at will stand here as soon as it has lasted a moment.",
    };
  }
  if (known.length === 0) {
    return { title: "Nothing was recorded here", more: "No window, no presence and no media." };
  }
  const names = known.map((state) => gapKind(state).why).join(" ");
  return { title: "Nothing is known of this time", more: names };
}
