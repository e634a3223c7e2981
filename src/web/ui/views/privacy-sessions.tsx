/** Who can look at this page, and the buttons that end it: here, or in every browser. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useAction } from "../action.ts";
import { ConfirmDialog } from "../confirm-dialog.tsx";
import { usePage } from "../page.ts";
import { Panel, Refusal } from "../parts.tsx";

export function SessionsPanel(): JSX.Element {
  const { api, connection } = usePage();
  const action = useAction();
  /** Which end is asked for: of all sessions, of this one, or none yet. */
  const asked = useSignal<"all" | "this" | null>(null);
  const end = (all: boolean): Promise<void> =>
    action.run(async () => {
      asked.value = null;
      await api.post("/api/page/end", all ? { all: true } : {});
      await connection.refresh();
    });
  return (
    <Panel title="This page" class="sessions">
      <p class="muted">
        It comes from this machine and answers the browsers that used a link of yours, for 30 days
        each.
      </p>
      <div class="row">
        <button
          type="button"
          class="button"
          disabled={action.busy.value}
          onClick={() => {
            asked.value = "this";
          }}
        >
          End it in this browser
        </button>
        <button
          type="button"
          class="button"
          disabled={action.busy.value}
          onClick={() => {
            asked.value = "all";
          }}
        >
          End it in every browser
        </button>
      </div>
      {action.refused.value !== null && <Refusal error={action.refused.value} />}
      {asked.value !== null && (
        <ConfirmDialog
          title={asked.value === "all" ? "End this page everywhere?" : "End this page here?"}
          yes="End it"
          onYes={() => void end(asked.value === "all")}
          onNo={() => {
            asked.value = null;
          }}
        >
          <p>
            A new link opens it again: <code>activityd open</code>
          </p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}
