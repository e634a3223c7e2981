/** Whether it records, for how long it does not, and the buttons that change it. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { useAction } from "../action.ts";
import { usePage } from "../page.ts";
import { Panel, Refusal } from "../parts.tsx";
import { useNowUs } from "../ticking.ts";
import { countdown, pauseChoices } from "./pause-choices.ts";

export function PausePanel(): JSX.Element {
  const { api, connection, formats } = usePage();
  const action = useAction();
  const nowUs = useNowUs(1000);
  const status = connection.status.value;
  const isKnown =
    status !== null && (connection.state.value === "live" || connection.state.value === "back");
  const change = (work: () => Promise<unknown>): Promise<void> =>
    action.run(async () => {
      await work();
      await connection.refresh();
    });
  const paused = status?.paused ?? null;
  // The tick may be older than the pause that was just begun.
  const left =
    paused === null ? null : countdown(paused.untilUs, Math.max(nowUs.value, paused.sinceUs));
  const isOver = left === "0:00";
  useEffect(() => {
    // The daemon ends the pause by itself; it is asked whether it did.
    if (isOver) void connection.refresh();
  }, [isOver, connection]);
  return (
    <Panel title="Pause" class="pause">
      <div class="pause-state">
        <p class="pause-word" role="status">
          {!isKnown
            ? "Unknown: the daemon does not answer"
            : paused === null
              ? "Recording"
              : "Paused"}
        </p>
        {isKnown && paused !== null && (
          <>
            {left !== null && (
              // A clock that is read out every second would drown everything else.
              <p class="pause-left" role="timer" aria-live="off">
                {left}
              </p>
            )}
            <p class="muted">
              Since {formats.moment(paused.sinceUs)},{" "}
              {paused.untilUs === null
                ? "until you resume"
                : `until ${formats.moment(paused.untilUs)}`}
              . Nothing is recorded and nothing is told.
            </p>
          </>
        )}
        {isKnown && paused === null && (
          <p class="muted">
            While it is paused nothing is recorded, and an assistant is told that it is paused and
            nothing else.
          </p>
        )}
      </div>
      <div class="row" role="group" aria-label={paused === null ? "Pause for" : "Pause anew for"}>
        {isKnown && paused !== null && (
          <button
            type="button"
            class="button button-main"
            disabled={action.busy.value}
            onClick={() => void change(() => api.resume())}
          >
            Resume now
          </button>
        )}
        {pauseChoices(nowUs.value, (untilUs) => formats.clock(untilUs)).map(
          ({ label, request }) => (
            <button
              key={label}
              type="button"
              class="button"
              disabled={!isKnown || action.busy.value}
              onClick={() => void change(() => api.pause(request))}
            >
              {label}
            </button>
          ),
        )}
      </div>
      {action.refused.value !== null && <Refusal error={action.refused.value} />}
    </Panel>
  );
}
