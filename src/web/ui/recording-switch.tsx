/** The switch that stops recording and telling, on every view: what goes on now, and one press to change it. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { PauseRequest, StatusAnswer } from "../../api.ts";
import { usePage } from "./page.ts";
import { toHash } from "./route.ts";

const CHOICES: readonly { readonly label: string; readonly request: PauseRequest }[] = [
  { label: "15 minutes", request: { minutes: 15 } },
  { label: "1 hour", request: { minutes: 60 } },
  { label: "8 hours", request: { minutes: 480 } },
  { label: "Until I resume", request: {} },
];

export function RecordingSwitch(): JSX.Element {
  const { api, connection, formats } = usePage();
  const open = useSignal(false);
  const status = connection.status.value;
  const reachable = connection.state.value === "live" || connection.state.value === "back";

  const change = async (ask: () => Promise<unknown>): Promise<void> => {
    open.value = false;
    try {
      await ask();
    } catch (error) {
      connection.report(error);
    }
    await connection.refresh();
  };

  if (status === null || !reachable) {
    return (
      <div class="switch">
        <span class="chip chip-unknown">{status === null ? "Asking…" : "Unknown"}</span>
      </div>
    );
  }
  const { paused } = status;
  if (paused !== null) {
    return (
      <div class="switch">
        <span class="chip chip-paused">
          {paused.untilUs === null ? "Paused" : `Paused until ${formats.clock(paused.untilUs)}`}
        </span>
        <button type="button" class="button" onClick={() => void change(() => api.resume())}>
          Resume
        </button>
      </div>
    );
  }
  return (
    <div
      class="switch"
      onKeyDown={(event) => {
        if (event.key === "Escape") open.value = false;
      }}
    >
      <RecordingChip status={status} />
      <button
        type="button"
        class="button"
        aria-expanded={open.value}
        aria-controls="pause-choices"
        onClick={() => {
          open.value = !open.value;
        }}
      >
        Pause
      </button>
      <div id="pause-choices" class="menu" hidden={!open.value}>
        {CHOICES.map(({ label, request }) => (
          <button
            key={label}
            type="button"
            class="menu-item"
            onClick={() => void change(() => api.pause(request))}
          >
            {label}
          </button>
        ))}
      </div>
    </div>
  );
}

/** That it records, or that something is amiss, which the view of its health explains. */
function RecordingChip(props: { readonly status: StatusAnswer }): JSX.Element {
  const { health, sources } = props.status;
  const windows = sources.find(({ kind }) => kind === "window");
  if (windows !== undefined && (windows.state === "blind" || windows.state === "lost")) {
    return (
      <a class="chip chip-bad" href={toHash("health")}>
        Windows not seen
      </a>
    );
  }
  if (health === "ok") return <span class="chip chip-on">Recording</span>;
  return (
    <a class="chip chip-warn" href={toHash("health")}>
      Recording, in part
    </a>
  );
}
