/**
 * The owner's other devices, seen from the daemon: what it asks of the hub, where there is one, and what the hub
 * asks of it. It promises that a wish to forget is told once, by the device on which it was made.
 */
import type { ForgetRequest, HubAnswer, HubRequest } from "../api.ts";
import type { Blindness } from "../capture/sources/source.ts";
import type { Clock } from "../clock.ts";
import { ActivityError } from "../errors.ts";
import type { RemoteId } from "../store/devices/remote-reader.ts";
import type { TravellingWish } from "../store/forget/plan.ts";
import type { Wish } from "./wishes.ts";

/** What a device is called, and what sort of machine it says it is. */
export type DeviceName = Pick<HubAnswer["devices"][number], "name" | "kind">;

/** The hub, as far as the daemon asks it. */
export interface HubPort {
  /** What this device is called in it; null: it is not in it. */
  readonly self: () => DeviceName | null;
  /** How it stands, or, with a request, how it stands once that is done. */
  readonly request: (request: HubRequest | null) => Promise<HubAnswer>;
  /** Tells the other devices what was forgotten here. Committed when it returns. */
  readonly forgotten: (wish: TravellingWish, ids: readonly RemoteId[]) => void;
  readonly problems: () => readonly Blindness[];
  readonly notes: () => readonly Blindness[];
}

export interface OwnerHub {
  /** Null while this device is in no hub. */
  readonly self: () => DeviceName | null;
  /** Null until the hub is there. */
  readonly attach: (port: HubPort | null) => void;
  readonly answer: () => Promise<HubAnswer>;
  /** @throws ActivityError `not_found` where this device is in no hub */
  readonly change: (request: HubRequest) => Promise<HubAnswer>;
  readonly tell: (wish: Wish, elsewhere: readonly RemoteId[]) => void;
  readonly problems: () => readonly Blindness[];
  readonly notes: () => readonly Blindness[];
}

/** `leaveRecords`: takes what a hub left in the store out of it; false where there is nothing. */
export function createOwnerHub(clock: Clock, leaveRecords: () => Promise<boolean>): OwnerHub {
  let port: HubPort | null = null;

  /** Also where the hub cannot be opened, or the settings name it no more: what is left of it goes. */
  const leave = async (): Promise<HubAnswer> => {
    const wasIn = port !== null;
    const left = await port?.request({ action: "leave" });
    port = null;
    if (!(await leaveRecords()) && !wasIn) throw inNoHub();
    return { ...NO_HUB, notes: left?.notes ?? [] };
  };

  return {
    self: () => port?.self() ?? null,
    attach: (next) => {
      port = next;
    },
    answer: async () => (port === null ? NO_HUB : port.request(null)),
    change: async (request) => {
      if (request.action === "leave") return leave();
      if (port === null) throw inNoHub();
      return port.request(request);
    },
    tell: ({ span, app, match }, elsewhere) => {
      const { fromUs, toUs } = span ?? { fromUs: null, toUs: null };
      port?.forgotten({ fromUs, toUs, app, match, atUs: clock.nowUs() }, elsewhere);
    },
    problems: () => port?.problems() ?? [],
    notes: () => port?.notes() ?? [],
  };
}

/**
 * What a wish that was made elsewhere asks for here. One without a span means all that was recorded until it was
 * made: where that is a while ago, what came since is none of its business.
 */
export function toForgetRequest(
  { fromUs, toUs, app, match, atUs }: TravellingWish,
  nowUs: number,
): ForgetRequest {
  const isBounded = fromUs !== null || toUs !== null || Math.abs(nowUs - atUs) > FRESH_US;
  return {
    ...(app === null ? {} : { app }),
    ...(match === null ? {} : { match }),
    ...(isBounded ? { fromUs: fromUs ?? 0, toUs: Math.min(toUs ?? atUs, atUs) } : {}),
  };
}

/** A wish that is on its way no longer than this means the same here as there. */
const FRESH_US = 600_000_000;

/** What is said to whoever asks something of a hub that this device is not in. */
export function inNoHub(): ActivityError {
  return new ActivityError(
    "not_found",
    "This device is in no hub.",
    "Make one with: activityd hub create. Or take part in one: activityd hub join CODE",
  );
}

/** How a hub stands that is none. */
export const NO_HUB: HubAnswer = {
  place: null,
  link: null,
  devices: [],
  waiting: 0,
  lastSentUs: null,
  problems: [],
  notes: [],
};
