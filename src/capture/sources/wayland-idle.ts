/**
 * Idle time from Wayland compositors, which tell only that a time without input has passed: ext-idle-notify
 * (staging), else KDE's older idle protocol. It promises the time of the last input to the second once the
 * owner is still for a few seconds, and "unknown" until then after the start.
 *
 * https://wayland.app/protocols/ext-idle-notify-v1, https://wayland.app/protocols/kde-idle
 */
import type { Source, SourceContext, SourceProvider } from "./source.ts";
import {
  openWayland,
  watchForWayland,
  type WaylandConnection,
  type WaylandHandler,
} from "./wayland.ts";

/** Shorter would wake the daemon in every pause of typing. */
const STILL_MS = 5_000;
/** How much later than due the news of stillness may come. */
const ANSWER_MS = 500;
const EXT_NOTIFIER = "ext_idle_notifier_v1";
const KDE_IDLE = "org_kde_kwin_idle";
const SEAT = "wl_seat";
/** Requests: since version 2 one that counts input alone, whatever application asks that the screen stay on. */
const GET_NOTIFICATION = 1;
const GET_INPUT_NOTIFICATION = 2;
const KDE_GET_TIMEOUT = 0;
/** Events of both protocols' notification objects. */
const IDLED = 0;

/** `stillMs`: how long without input counts as still; shorter for tests. */
export function createWaylandIdle(stillMs = STILL_MS): SourceProvider<"input"> {
  return {
    id: "wayland-idle",
    kind: "input",
    open: async (context) => {
      const opened = await openWayland(context);
      if ("rejected" in opened) return opened;
      const { connection } = opened;
      const hasNotifier =
        connection.versionOf(EXT_NOTIFIER) > 0 || connection.versionOf(KDE_IDLE) > 0;
      if (!hasNotifier || connection.versionOf(SEAT) === 0) {
        connection.close();
        return {
          rejected: {
            reason:
              "The Wayland compositor offers neither ext-idle-notify nor KDE's idle protocol.",
            remedy: "",
            applies: true,
          },
        };
      }
      const source = createSource(connection, context, stillMs);
      try {
        await connection.roundTrip();
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return { rejected: { reason: why, remedy: "", applies: true } };
      }
      return { source };
    },
    watchForReturn: watchForWayland,
  };
}

function createSource(
  connection: WaylandConnection,
  context: SourceContext,
  stillMs: number,
): Source<"input"> {
  const { clock } = context;
  const startedUs = clock.monotonicUs();
  /** When the last input was, while the owner is still; null while there is input. */
  let stillSinceUs: number | null = null;
  let heard = false;
  let onChange: () => void = () => {};

  const seat = connection.bind(SEAT, 1, () => {});
  const hear: WaylandHandler = (opcode) => {
    heard = true;
    stillSinceUs = opcode === IDLED ? clock.monotonicUs() - stillMs * 1000 : null;
    onChange();
  };
  if (connection.versionOf(EXT_NOTIFIER) > 0) {
    const notifier = connection.bind(EXT_NOTIFIER, 2, () => {});
    const request =
      connection.versionOf(EXT_NOTIFIER) >= 2 ? GET_INPUT_NOTIFICATION : GET_NOTIFICATION;
    connection.request(notifier, request, connection.newId(hear), stillMs, seat);
  } else {
    const idle = connection.bind(KDE_IDLE, 1, () => {});
    connection.request(idle, KDE_GET_TIMEOUT, connection.newId(hear), seat, stillMs);
  }

  const idleMs = (): number | null => {
    const nowUs = clock.monotonicUs();
    if (stillSinceUs !== null) return Math.round((nowUs - stillSinceUs) / 1000);
    // No news means input only once news could have come.
    return heard || nowUs - startedUs > (stillMs + ANSWER_MS) * 1000 ? 0 : null;
  };

  return {
    start: (onSample, onLost) => {
      connection.onLost(onLost);
      onChange = () => {
        const now = idleMs();
        if (now !== null) onSample({ ok: true, value: { idleMs: now } });
      };
    },
    snapshot: async () => {
      try {
        await connection.roundTrip();
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return { ok: false, reason: why, remedy: "" };
      }
      const now = idleMs();
      // Not heard yet is neither a failure nor "no input": the compositor answers as it should.
      return { ok: true, value: now === null ? null : { idleMs: now } };
    },
    close: () => {
      onChange = () => {};
      connection.close();
    },
  };
}
