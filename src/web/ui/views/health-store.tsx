/** The store and the daemon: how large, how fresh, whether it can be written, and which version runs since when. */
import type { JSX } from "preact";
import { CopyButton } from "../copy-button.tsx";
import { usePage } from "../page.ts";
import { Panel } from "../parts.tsx";
import { useNowUs } from "../ticking.ts";
import { StaleNote } from "./stale-note.tsx";

export function StorePanel(): JSX.Element {
  const { connection, formats } = usePage();
  const nowUs = useNowUs(5000);
  const status = connection.status.value;
  if (status === null) {
    return (
      <Panel title="Store">
        <p class="muted">Asking…</p>
      </Panel>
    );
  }
  const { path, sizeBytes, eventCount, lastCommittedUs, writable } = status.store;
  const isRecovering = eventCount === null;
  const unwritten = isRecovering ? "not known yet" : "nothing yet";
  const unwritable = isRecovering
    ? "begins when the record is recovered"
    : "fails: events are held in memory";
  return (
    <Panel title="Store">
      <StaleNote />
      <dl class="facts">
        <div>
          <dt>Size</dt>
          <dd>{formats.bytes(sizeBytes)}</dd>
        </div>
        <div>
          <dt>Events</dt>
          <dd>{isRecovering ? "not known yet" : formats.count(eventCount)}</dd>
        </div>
        <div>
          <dt>Last written</dt>
          <dd>
            {lastCommittedUs === null
              ? unwritten
              : formats.ago(Math.min(lastCommittedUs, nowUs.value), nowUs.value)}
          </dd>
        </div>
        <div>
          <dt>Writing</dt>
          <dd>
            <span class={writable ? "chip chip-on" : "chip chip-bad"}>
              {writable ? "works" : unwritable}
            </span>
          </dd>
        </div>
        <div>
          <dt>Daemon</dt>
          <dd>
            {status.version}, process {status.pid}, since {formats.moment(status.startedUs)}
          </dd>
        </div>
      </dl>
      <p class="small">
        <code>{path}</code> <CopyButton text={path} label="Copy the path of the store" />
      </p>
    </Panel>
  );
}
