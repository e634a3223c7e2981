/**
 * The content of the canvas as a table: for screen readers, for those who read rather than look, and for finding
 * a thing again. It has everything that is drawn, by the lane or all of them in the order of time.
 */
import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { TimelineLaneId, TimelineSpan } from "../../../api.ts";
import { usePage } from "../page.ts";
import { Panel } from "../parts.tsx";
import { DAY_US } from "../wall-clock.ts";
import type { TimelineController } from "./controller.ts";
import { SpanPlace, SpanTitle } from "./details.tsx";
import { coveringLayer, LANE_IDS, laneTitle, type Hit } from "./lanes.ts";
import { spanOf, type Viewport } from "./viewport.ts";

/** How many rows are shown at first, and how many more each time. */
const PAGE_ROWS = 60;

export function Diary(props: { readonly timeline: TimelineController }): JSX.Element {
  const { timeline } = props;
  const lane = useSignal<TimelineLaneId | "all">("all");
  const shownRows = useSignal(PAGE_ROWS);
  const rows = useComputed<readonly Hit[] | null>(() => {
    const { fromUs, toUs } = timeline.settled.value;
    const layer = coveringLayer(timeline.layers.value, timeline.settled.value);
    if (layer === undefined) return null;
    // The lane of documents tells the application too: together the two would say everything twice.
    const lanes = lane.value === "all" ? LANE_IDS.filter((id) => id !== "focus") : [lane.value];
    return lanes
      .flatMap((id) => layer.rows[id].flatMap((row) => row.map((span) => ({ lane: id, span }))))
      .filter(({ span }) => span.endUs > fromUs && span.startUs < toUs)
      .toSorted((a, b) => a.span.startUs - b.span.startUs);
  });
  const all = rows.value ?? [];
  const count = all.length;
  const shown = all.slice(0, shownRows.value);
  return (
    <Panel
      title="List"
      aside={
        <label class="inline-field">
          <span class="muted small">Show</span>
          <select
            class="input"
            value={lane.value}
            onChange={(event) => {
              lane.value = LANE_IDS.find((id) => id === event.currentTarget.value) ?? "all";
              shownRows.value = PAGE_ROWS;
            }}
          >
            <option value="all">everything</option>
            {LANE_IDS.map((id) => (
              <option key={id} value={id}>
                {laneTitle(id)}
              </option>
            ))}
          </select>
        </label>
      }
    >
      {count === 0 ? (
        <p class="muted">{rows.value === null ? "Asking…" : "Nothing in this stretch."}</p>
      ) : (
        <Rows rows={shown} timeline={timeline} />
      )}
      {count > shown.length && (
        <button
          type="button"
          class="button"
          onClick={() => {
            shownRows.value += PAGE_ROWS;
          }}
        >
          Show more ({count - shown.length} left)
        </button>
      )}
    </Panel>
  );
}

function Rows(props: {
  readonly rows: readonly Hit[];
  readonly timeline: TimelineController;
}): JSX.Element {
  const { formats, clock } = usePage();
  const { rows, timeline } = props;
  const view = timeline.settled.value;
  const today = clock.dayNumber((view.fromUs + view.toUs) / 2);
  // Told as finely as the stretch is: of a year nobody wants the minutes.
  const when = (atUs: number): string => {
    if (spanOf(view) > 8 * DAY_US) return formats.shortDay(atUs);
    return clock.dayNumber(atUs) === today ? formats.clock(atUs) : formats.shortMoment(atUs);
  };
  return (
    <div class="table-scroll">
      <table class="table diary">
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">What</th>
            <th scope="col">Where</th>
            <th scope="col" class="number">
              Time
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ lane, span }) => (
            <tr key={`${lane} ${span.startUs} ${span.endUs} ${span.label}`} class={`diary-${lane}`}>
              <td class="time">{when(Math.max(span.startUs, view.fromUs))}</td>
              <td class="time">{when(Math.min(span.endUs, view.toUs))}</td>
              <td>
                <button
                  type="button"
                  class="link-button clamped"
                  onClick={() => {
                    timeline.selected.value = { lane, span };
                  }}
                >
                  <SpanTitle lane={lane} span={span} />
                </button>
                {lane !== "documents" && lane !== "focus" && (
                  <span class="tag">{laneTitle(lane)}</span>
                )}
              </td>
              <td class="muted">
                <span class="clamped">
                  <SpanPlace lane={lane} span={span} />
                </span>
              </td>
              <td class="number">
                {formats.duration(shownUs(span, view))}
                {span.merged > 1 && (
                  <span class="muted"> in {formats.count(span.merged)} stretches</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How much of a span lies within the stretch; of one that is cut, what it filled there on average. */
function shownUs(span: TimelineSpan, view: Viewport): number {
  const lengthUs = Math.min(span.endUs, view.toUs) - Math.max(span.startUs, view.fromUs);
  return (span.activeUs * lengthUs) / (span.endUs - span.startUs);
}
