/** What the stretch on the screen adds up to, as it stands still: focused time and the applications it went to. */
import type { JSX } from "preact";
import { useLoad } from "../load.ts";
import { usePage } from "../page.ts";
import { Bar, Foreign, Panel } from "../parts.tsx";
import { toHash } from "../route.ts";
import { toneOf } from "./colours.ts";
import type { TimelineController } from "./controller.ts";
import { useScheme } from "./scheme.ts";

const SHOWN = 8;

export function StretchTotals(props: { readonly timeline: TimelineController }): JSX.Element {
  const { api, formats } = usePage();
  const scheme = useScheme();
  const { fromUs, toUs } = props.timeline.settled.value;
  const loaded = useLoad(
    `${fromUs} ${toUs}`,
    async (signal) => {
      const answer = await api.totals({ fromUs, toUs, by: "application", limit: SHOWN }, signal);
      return { ...answer, fromUs, toUs };
    },
    { keepAcrossKeys: true },
  );
  const { answer } = loaded.value;
  // What stays on the screen until the next answer is that of another stretch, and must not be taken for this one's.
  const isOld = answer === null || answer.fromUs !== fromUs || answer.toUs !== toUs;
  const longest = answer?.totals[0]?.activeUs ?? 0;
  const range = { from: String(fromUs / 1_000_000), to: String(toUs / 1_000_000) };
  return (
    <Panel
      title={isOld ? "Focused" : `Focused ${formats.duration(answer.activeUs)}`}
      aside={<a href={toHash("totals", range)}>All totals</a>}
    >
      {!isOld && answer.totals.length === 0 && (
        <p class="muted">No window had the focus in this stretch, as far as is known.</p>
      )}
      {isOld && <p class="muted">Asking…</p>}
      <ul class="totals-list">
        {answer?.totals.map((total) => (
          <li key={total.label}>
            <span class="totals-name">
              <Foreign text={total.label} maxGraphemes={60} />
            </span>
            <span class="number">{formats.duration(total.activeUs)}</span>
            <Bar
              share={longest === 0 ? 0 : total.activeUs / longest}
              tone={toneOf(total.label, scheme).fill}
            />
          </li>
        ))}
      </ul>
      {answer !== null && answer.rest.count > 0 && (
        <p class="muted small">
          {formats.count(answer.rest.count)} more, {formats.duration(answer.rest.activeUs)} together
        </p>
      )}
    </Panel>
  );
}
