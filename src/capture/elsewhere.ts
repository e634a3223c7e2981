/**
 * What the owner looked at last on other devices, for the real-time block. It promises that the clock of a device is
 * never trusted further than it is known, that nothing old is told as current, and that the answer is the same all
 * through a minute.
 */
import { clockLeadUs, createDeviceReader, type DeviceRow } from "../store/devices.ts";
import type { EventStore } from "../store/events.ts";
import type { RemoteEvent } from "../store/devices/remote-reader.ts";
import type { ElsewhereActivity, WindowEvent } from "./events.ts";

/** Looks at the record of other devices. */
export interface Elsewhere {
  /**
   * The last window of each device that was active in the half hour before `nowUs`, the newest first. `isPast`: as of
   * an instant of the past, for which it does not count what was heard since.
   */
  readonly read: (nowUs: number, isPast: boolean) => readonly ElsewhereActivity[];
}

const MINUTE_US = 60_000_000;
const RECENT_MINUTES = 30;
/** A device tells of a window that goes on once a minute. */
const CURRENT_MINUTES = 1;
const CLOCK_TOLERANCE_US = 120_000_000;
/** So many of its windows are gone through for one that is not the assistant's own. */
const WINDOWS_TRIED = 20;

export function createElsewhere(
  store: Pick<EventStore, "database" | "remote">,
  /** Lower-case names of applications that are the assistant itself. */
  assistantApps: readonly string[],
): Elsewhere {
  const devices = createDeviceReader(store.database);
  return {
    read: (nowUs, isPast) =>
      devices
        .all()
        .filter(({ state }) => state !== "revoked")
        .flatMap((device) => lastSeen(device, nowUs, isPast) ?? [])
        .sort((a, b) => b.atMostUs - a.atMostUs || a.key - b.key)
        .map(({ activity }) => activity),
  };

  function lastSeen(device: DeviceRow, nowUs: number, isPast: boolean): Seen | null {
    // What came in later than now came while our clock was ahead: nobody can tell what was measured by it.
    const isDatedAhead = (device.receivedUs ?? 0) > nowUs + CLOCK_TOLERANCE_US;
    const leadUs = isDatedAhead && !isPast ? null : clockLeadUs(device);
    // In the present an event may seem to begin in a moment: the lead is known to some seconds.
    const beforeUs = isPast ? nowUs + (leadUs ?? 0) + 1 : Number.MAX_SAFE_INTEGER;
    const newest = (limit: number): RemoteWindow | undefined =>
      store.remote().latestWindows(device.key, limit, beforeUs).find(isOwners);
    // The newest is nearly always the one.
    const found = newest(1) ?? newest(WINDOWS_TRIED);
    if (found === undefined) return null;
    const { event } = found;
    const seen = isPast
      ? seenThen(event, leadUs ?? 0, nowUs)
      : seenByNow(found, device, leadUs, nowUs);
    if (minutesBetween(seen.atMostUs, nowUs) > RECENT_MINUTES) return null;
    const { name, kind, key } = device;
    const lastUs = leadUs === null ? null : seen.atMostUs;
    const isNow = seen.isNow && leadUs !== null;
    return {
      key,
      atMostUs: seen.atMostUs,
      activity: { device: name, kind, event: seen.event, lastUs, isNow },
    };
  }

  function isOwners(found: RemoteEvent): found is RemoteWindow {
    const { event } = found;
    return event.kind === "window" && !assistantApps.includes(event.app.toLowerCase());
  }
}

interface RemoteWindow extends RemoteEvent {
  readonly event: WindowEvent;
}

interface Seen {
  readonly key: number;
  /** It was not looked at later than this, by our clock. */
  readonly atMostUs: number;
  readonly activity: ElsewhereActivity;
}

interface When {
  /** Its end as far as it is known. */
  readonly event: WindowEvent;
  readonly atMostUs: number;
  readonly isNow: boolean;
}

/** As of an instant of the past the ends of events are known. */
function seenThen(event: WindowEvent, leadUs: number, nowUs: number): When {
  const endUs = event.endUs - leadUs;
  return { event, atMostUs: Math.min(endUs, nowUs), isNow: endUs >= nowUs };
}

/**
 * A window that goes on was looked at when its device was last heard of. What took long on its way is as old as its
 * sender says, and where the clocks cannot be compared, at least as old as the time since it came in.
 */
function seenByNow(
  { event, isOpen }: RemoteWindow,
  { sentUs, receivedUs }: DeviceRow,
  leadUs: number | null,
  nowUs: number,
): When {
  const saidUs = isOpen ? Math.max(event.endUs, sentUs ?? event.endUs) : event.endUs;
  const sinceSentUs = Math.max(0, (sentUs ?? saidUs) - saidUs);
  const cameInUs = receivedUs ?? nowUs;
  const atMostUs = Math.min(
    nowUs,
    cameInUs - sinceSentUs,
    leadUs === null ? nowUs : saidUs - leadUs,
  );
  return {
    event: { ...event, endUs: saidUs },
    atMostUs,
    isNow: isOpen && minutesBetween(atMostUs, nowUs) <= CURRENT_MINUTES,
  };
}

/** In whole minutes of the clock, so that the answer changes with the minute and not with the second. */
function minutesBetween(fromUs: number, toUs: number): number {
  return Math.floor(toUs / MINUTE_US) - Math.floor(fromUs / MINUTE_US);
}
