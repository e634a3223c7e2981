/** Each kind of source: whether it sees, since when and by what, and if not why and what to do. */
import type { JSX } from "preact";
import type { StatusAnswer } from "../../../api.ts";
import { usePage } from "../page.ts";
import { Panel } from "../parts.tsx";
import { useNowUs } from "../ticking.ts";
import { RemedyText } from "./remedy.tsx";
import { StaleNote } from "./stale-note.tsx";

type SourceStatus = StatusAnswer["sources"][number];

const STATES = {
  live: { word: "Seen", chip: "chip-on" },
  lost: { word: "Lost", chip: "chip-bad" },
  blind: { word: "Not seen here", chip: "chip-warn" },
  off: { word: "Off in the settings", chip: "" },
} as const satisfies Readonly<Record<SourceStatus["state"], object>>;

export function SourcesPanel(): JSX.Element {
  const { connection } = usePage();
  const nowUs = useNowUs(10_000);
  const status = connection.status.value;
  return (
    <Panel title="Sources" class="sources">
      <StaleNote />
      {status === null ? (
        <p class="muted">Asking…</p>
      ) : (
        <>
          {status.sources.every(({ state }) => state !== "live") && (
            <p>Nothing is seen at all: no source of any kind is live.</p>
          )}
          <table class="table source-table">
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {status.sources.map((source) => (
                <Source key={source.kind} source={source} nowUs={nowUs.value} />
              ))}
            </tbody>
          </table>
        </>
      )}
    </Panel>
  );
}

function Source(props: { readonly source: SourceStatus; readonly nowUs: number }): JSX.Element {
  const { formats } = usePage();
  const { kind, state, backend, sinceUs, why, rejected } = props.source;
  const { word, chip } = STATES[state];
  return (
    <tr>
      <th scope="row">{kind}</th>
      <td>
        <span class={`chip ${chip}`}>{word}</span>{" "}
        <span class="muted small">
          {backend !== null && `through ${backend} `}
          {state !== "off" && `for ${formats.duration(Math.max(0, props.nowUs - sinceUs))}`}
        </span>
        {why !== null && (
          <>
            <p class="small">
              <bdi>{why.reason}</bdi>
            </p>
            <RemedyText remedy={why.remedy} />
          </>
        )}
        {rejected.length > 0 && (
          <details class="small">
            <summary>
              {rejected.length === 1
                ? "1 other way was tried"
                : `${rejected.length} other ways were tried`}
            </summary>
            <ul>
              {rejected.map(({ backend: other, reason, remedy }) => (
                <li key={other}>
                  <strong>{other}</strong>: <bdi>{reason}</bdi>
                  <RemedyText remedy={remedy} />
                </li>
              ))}
            </ul>
          </details>
        )}
      </td>
    </tr>
  );
}
