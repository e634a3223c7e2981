/** What assistants were given, newest first. */
import type { JSX } from "preact";
import { useLoad } from "../load.ts";
import { usePage } from "../page.ts";
import { EmptyState, Foreign, Panel, Refusal } from "../parts.tsx";

export function SawView(): JSX.Element {
  const { api, formats } = usePage();
  const { answer, refused } = useLoad("", (signal) => api.ledger({}, signal)).value;
  if (refused !== null) return <Refusal error={refused} />;
  if (answer === null) return <p class="muted">Asking…</p>;
  if (answer.entries.length === 0) {
    return (
      <EmptyState title="No assistant has asked yet">
        Each block that one is given will stand here, byte for byte.
      </EmptyState>
    );
  }
  return (
    <>
      {answer.entries.map((entry) => (
        <Panel key={entry.id} title={formats.moment(entry.lastUs)}>
          <p>
            <Foreign text={entry.client} absent="a client without a name" />
          </p>
          {entry.text !== null && <pre class="block">{entry.text}</pre>}
        </Panel>
      ))}
    </>
  );
}
