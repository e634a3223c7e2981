/** Holes in the record by their kind, over a day, a week or a month: silence that has a name. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLoad } from "../load.ts";
import { usePage } from "../page.ts";
import { Panel, Refusal } from "../parts.tsx";
import { gapWords, sumGaps } from "./health-words.ts";
import { shortMoment } from "./ledger-words.ts";

const SPANS = [
  { label: "Day", days: 1 },
  { label: "Week", days: 7 },
  { label: "Month", days: 30 },
] as const;

const DAY_US = 86_400_000_000;
const LIMIT = 10_000;

export function GapsPanel(): JSX.Element {
  const { api, formats } = usePage();
  const days = useSignal<number>(SPANS[0].days);
  const { answer, refused } = useLoad(
    String(days.value),
    async (signal) => {
      const toUs = Date.now() * 1000;
      const fromUs = toUs - days.peek() * DAY_US;
      const kinds = ["gap", "lock", "sleep"] as const;
      const found = await api.events({ fromUs, toUs, kinds, limit: LIMIT }, signal);
      return { totals: sumGaps(found.events, fromUs, toUs), truncated: found.truncated };
    },
    { keepAcrossKeys: true },
  ).value;
  return (
    <Panel
      title="Gaps"
      class="gaps"
      aside={
        <div class="segments" role="group" aria-label="How far back">
          {SPANS.map(({ label, days: choice }) => (
            <button
              key={label}
              type="button"
              class="button"
              aria-pressed={days.value === choice}
              onClick={() => {
                days.value = choice;
              }}
            >
              {label}
            </button>
          ))}
        </div>
      }
    >
      {refused !== null && <Refusal error={refused} />}
      {answer === null && refused === null && <p class="muted">Asking…</p>}
      {answer !== null && answer.totals.length === 0 && (
        <p class="muted">None: nothing kept the record from being made.</p>
      )}
      {answer !== null && answer.totals.length > 0 && (
        <div
          class="table-scroll"
          tabIndex={0}
          role="region"
          aria-label="What was not recorded, and why"
        >
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Why</th>
                <th scope="col" class="number">
                  How long
                </th>
                <th scope="col" class="number">
                  Times
                </th>
                <th scope="col">Last</th>
              </tr>
            </thead>
            <tbody>
              {answer.totals.map(({ name, count, durationUs, lastUs }) => (
                <tr key={name}>
                  <th scope="row">{gapWords(name)}</th>
                  <td class="number">{formats.duration(durationUs)}</td>
                  <td class="number">{formats.count(count)}</td>
                  <td class="when">{shortMoment(lastUs, Date.now() * 1000, formats)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {answer?.truncated === true && (
        <p class="muted small">
          There are more than {formats.count(LIMIT)}: the oldest are not counted.
        </p>
      )}
    </Panel>
  );
}
