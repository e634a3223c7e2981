/** Who asked and how often, with the switch that refuses a client from then on. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { ClientAccess, ClientsAnswer, ClientUse } from "../../../api.ts";
import { useAction } from "../action.ts";
import { ConfirmDialog } from "../confirm-dialog.tsx";
import { useLoad } from "../load.ts";
import { usePage } from "../page.ts";
import { Foreign, Panel, Refusal } from "../parts.tsx";
import { useNowUs } from "../ticking.ts";
import { shortMoment } from "./ledger-words.ts";

export function ClientsPanel(props: {
  /** The client whose entries are shown; null: all. */
  readonly chosen: string | null;
  readonly onChoose: (client: string | null) => void;
}): JSX.Element {
  const { api } = usePage();
  const changes = useSignal(0);
  const asked = useSignal<ClientUse | null>(null);
  const action = useAction();
  const { answer, refused } = useLoad(
    String(changes.value),
    (signal) => api.get<ClientsAnswer>("/api/v1/clients", {}, signal),
    { keepAcrossKeys: true },
  ).value;
  const set = async (client: string, access: ClientAccess): Promise<void> => {
    asked.value = null;
    await action.run(() => api.post("/api/v1/clients", { client, access }));
    changes.value += 1;
  };
  const clients = answer?.clients ?? [];
  return (
    <Panel
      title="Who asks"
      class="clients"
      aside={
        props.chosen !== null && (
          <button
            type="button"
            class="button button-quiet"
            onClick={() => {
              props.onChoose(null);
            }}
          >
            Show all
          </button>
        )
      }
    >
      {refused !== null && <Refusal error={refused} />}
      {action.refused.value !== null && <Refusal error={action.refused.value} />}
      {answer !== null && clients.length === 0 && (
        <p class="muted">Nobody has asked yet. Who does stands here, and can be refused.</p>
      )}
      <ul class="client-list">
        {clients.map((use) => (
          <Client
            key={use.client}
            use={use}
            isChosen={use.client === props.chosen}
            onChoose={props.onChoose}
            onRevoke={() => {
              asked.value = use;
            }}
            onAllow={() => void set(use.client, "allowed")}
          />
        ))}
      </ul>
      {asked.value !== null && (
        <ConfirmDialog
          title="Refuse this client?"
          yes="Refuse it"
          onYes={() => void set(asked.value?.client ?? "", "revoked")}
          onNo={() => {
            asked.value = null;
          }}
        >
          <p>
            <Foreign text={asked.value.client} maxGraphemes={80} /> is given nothing from now on,
            also after a restart, until you allow it again. It keeps what it was given before.
          </p>
          <p class="muted small">
            A name is what a program says of itself: this is a switch, not a wall against programs
            that lie.
          </p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}

function Client(props: {
  readonly use: ClientUse;
  readonly isChosen: boolean;
  readonly onChoose: (client: string | null) => void;
  readonly onRevoke: () => void;
  readonly onAllow: () => void;
}): JSX.Element {
  const { formats } = usePage();
  const nowUs = useNowUs(30_000);
  const { use, isChosen } = props;
  const { client, access, lastUs, times, revokedUs } = use;
  return (
    <li class="client">
      <button
        type="button"
        class="client-name"
        aria-pressed={isChosen}
        onClick={() => {
          props.onChoose(isChosen ? null : client);
        }}
      >
        <span class="visually-hidden">Show only </span>
        <Foreign text={client} maxGraphemes={60} />
      </button>
      <span class="small muted">
        {client === "page" && "you, under Try it, "}
        {lastUs === null
          ? "nothing that is kept"
          : `${formats.ago(lastUs, nowUs.value)}, ${formats.count(times)} ${times === 1 ? "time" : "times"}`}
      </span>
      {access === "revoked" && (
        <span class="chip chip-bad">
          Refused
          {revokedUs === null ? "" : ` since ${shortMoment(revokedUs, nowUs.value, formats)}`}
        </span>
      )}
      {access === "revoked" ? (
        <button type="button" class="button" onClick={props.onAllow}>
          Allow<span class="visually-hidden"> {client} again</span>
        </button>
      ) : (
        <button type="button" class="button button-quiet-danger" onClick={props.onRevoke}>
          Refuse<span class="visually-hidden"> {client}</span>
        </button>
      )}
    </li>
  );
}
