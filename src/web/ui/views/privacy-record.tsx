/** What is recorded, where it lies and how long, and all of it as a download. */
import type { JSX } from "preact";
import { CopyButton } from "../copy-button.tsx";
import { useLoad } from "../load.ts";
import { usePage } from "../page.ts";
import { Panel, Refusal } from "../parts.tsx";
import type { PageAbout } from "../../page-api.ts";

export function RecordPanel(): JSX.Element {
  const { api } = usePage();
  const { answer, refused } = useLoad("about", (signal) =>
    api.get<PageAbout>("/api/page/about", {}, signal),
  ).value;
  return (
    <Panel title="What is recorded, and where it lies" class="record">
      {refused !== null && <Refusal error={refused} />}
      {answer === null && refused === null && <p class="muted">Asking…</p>}
      {answer !== null && <About about={answer} />}
    </Panel>
  );
}

function About(props: { readonly about: PageAbout }): JSX.Element {
  const { state } = usePage().connection;
  const isLive = state.value === "live" || state.value === "back";
  const { recorded, places, keepDays, maxMegabytes } = props.about;
  return (
    <>
      <ul class="recorded">
        {recorded.map(({ kind, on, what }) => (
          <li key={kind}>
            <span class={on ? "chip chip-on" : "chip"}>
              {kind}: {on ? "on" : "off"}
            </span>
            <span class="muted">{what}</span>
          </li>
        ))}
      </ul>
      <h3>On this machine alone, in</h3>
      <dl class="places">
        {places.map(({ what, path }) => (
          <div key={path}>
            <dt>{what}</dt>
            <dd>
              <code>{path}</code>
              <CopyButton text={path} label={`Copy the path of ${what}`} />
            </dd>
          </div>
        ))}
      </dl>
      <h3>For</h3>
      <p>{keepWords(keepDays, maxMegabytes)}</p>
      <div class="row record-export">
        {/* The answer says itself that it is a file. Where none comes the browser would leave the page. */}
        {isLive ? (
          <a class="button" href="/api/page/export">
            Download all of it
          </a>
        ) : (
          <button type="button" class="button" disabled>
            Download all of it
          </button>
        )}
        <span class="muted small">
          One event a line, as JSON: it can be read by everything, and by everybody.
        </span>
      </div>
    </>
  );
}

function keepWords(keepDays: number | null, maxMegabytes: number | null): string {
  const days = keepDays === null ? "As long as you keep it" : `${keepDays} days`;
  return maxMegabytes === null
    ? `${days}, of any size.`
    : `${days}, up to ${maxMegabytes} MB: then the oldest goes.`;
}
