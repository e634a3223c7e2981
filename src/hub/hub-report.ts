/**
 * How the hub stands, in words and numbers. Pure; it promises that a clock is called wrong only where that is known,
 * and that each thing that is wrong comes with what to do about it.
 */
import type { HubAnswer, HubDevice } from "../api.ts";
import type { DeviceRow } from "../store/devices.ts";
import type { DriverState } from "./driver.ts";
import type { HubIdentity } from "./identity.ts";
import type { Trouble } from "./sender.ts";

/** What a report is made from. */
export interface HubParts {
  readonly nowUs: number;
  readonly place: string;
  readonly state: DriverState;
  readonly identity: Pick<HubIdentity, "device" | "name" | "kind">;
  /** Whether this device was taken out. */
  readonly isRevoked: boolean;
  readonly others: readonly (DeviceRow & { readonly missing: number })[];
  /** Changes that were not told yet. */
  readonly waiting: number;
  readonly sentUs: number | null;
  /** Records under a key that is not here. */
  readonly held: number;
  /** Why this device stands apart; null: it does not. */
  readonly ownTrouble: Trouble | null;
  /** What keeps records from going out or coming in. */
  readonly troubles: readonly Trouble[];
  /** Records that were forged or damaged. */
  readonly forged: number;
  /** How far this device's clock is ahead of the hub's; null: not known. */
  readonly aheadOfHubUs: number | null;
  /** What the way to the hub has to say. */
  readonly notes: readonly Trouble[];
}

export function reportHub(parts: HubParts): HubAnswer {
  const { place, state, others, waiting, sentUs } = parts;
  return {
    place,
    link: {
      state: state.state,
      sinceUs: state.sinceUs,
      why: state.state === "connected" ? null : { reason: state.reason, remedy: state.remedy },
    },
    devices: [ownDevice(parts), ...others.map(toHubDevice)],
    waiting,
    lastSentUs: sentUs,
    problems: problemsOf(parts),
    notes: notesOf(parts),
  };
}

/** What is said where a device, by its id, left and those that stay did not hear of it. */
export function leftUnheard(device: string): Trouble {
  return {
    reason:
      "The other devices were not told that this one left: they wait for it, and what it recorded stays with them whatever is forgotten here.",
    remedy: `Tell them on one of them: activityd hub revoke ${device.slice(0, 8)}`,
  };
}

/** A clock that is off by less than this harms nobody. */
const CLOCK_TOLERANCE_US = 120_000_000;
/** What was known of the clock of a device that was not heard of for so long is of no use to anybody. */
const CLOCK_KNOWN_US = 86_400_000_000;

function ownDevice({ identity, isRevoked }: HubParts): HubDevice {
  return {
    key: 0,
    id: identity.device,
    name: identity.name,
    kind: identity.kind,
    state: isRevoked ? "revoked" : "member",
    lastHeardUs: null,
    lagUs: null,
    clockOffsetUs: null,
    missing: 0,
  };
}

function toHubDevice(row: HubParts["others"][number]): HubDevice {
  const { key, id, name, kind, state, sentUs, receivedUs, offsetUs, missing } = row;
  return {
    key,
    id,
    name,
    kind,
    state,
    lastHeardUs: receivedUs,
    lagUs: sentUs === null || receivedUs === null ? null : Math.max(0, receivedUs - sentUs),
    clockOffsetUs: offsetUs,
    missing,
  };
}

function problemsOf({
  ownTrouble,
  state,
  troubles,
  held,
  others,
  aheadOfHubUs,
  nowUs,
}: HubParts): readonly Trouble[] {
  return [
    ...(ownTrouble === null ? [] : [ownTrouble]),
    ...(state.state === "refused"
      ? [{ reason: `The hub is not reached: ${state.reason}.`, remedy: state.remedy }]
      : []),
    ...troubles,
    ...(held > 0 && ownTrouble === null
      ? [
          {
            reason: `${held} records of other devices cannot be read: they are under a key that this device does not have, or of a newer activityd.`,
            remedy:
              "Update activityd; or get a new code (activityd hub invite) and: activityd hub join CODE",
          },
        ]
      : []),
    ...others.flatMap(({ name, state: standing, trouble }) =>
      standing === "forked" && trouble !== null
        ? [
            {
              reason: `${name}: ${trouble}`,
              remedy: `On ${name}, see what to do with: activityd hub status`,
            },
          ]
        : [],
    ),
    ...ownClockTrouble(aheadOfHubUs ?? 0),
    ...others.filter((device) => isHeardOf(device, nowUs)).flatMap(clockTrouble),
  ];
}

function ownClockTrouble(aheadUs: number): readonly Trouble[] {
  if (Math.abs(aheadUs) <= CLOCK_TOLERANCE_US) return [];
  return [
    {
      reason: `The clock of this device is ${inWords(Math.abs(aheadUs))} ${aheadUs > 0 ? "ahead of" : "behind"} the hub's.`,
      remedy: "Set the one that is wrong; what was recorded keeps the times it has.",
    },
  ];
}

function isHeardOf({ receivedUs }: DeviceRow, nowUs: number): boolean {
  return receivedUs !== null && Math.abs(nowUs - receivedUs) < CLOCK_KNOWN_US;
}

/** A clock that is ahead is known to be; one that seems behind may be a record that took long. */
function clockTrouble({ name, state, offsetUs }: DeviceRow): readonly Trouble[] {
  if (state !== "member" || offsetUs === null || offsetUs <= CLOCK_TOLERANCE_US) return [];
  return [
    {
      reason: `The clock of ${name} is ${inWords(offsetUs)} ahead of this one's.`,
      remedy: "Set the one that is wrong; what was recorded keeps the times it has.",
    },
  ];
}

function notesOf({ state, waiting, others, forged, notes, nowUs }: HubParts): readonly Trouble[] {
  return [
    ...notes,
    ...(state.state === "away"
      ? [
          {
            reason: `The hub is out of reach: ${state.reason}. ${waiting} changes wait for it.`,
            remedy: state.remedy,
          },
        ]
      : []),
    ...(others.length === 0 && state.state === "connected"
      ? [
          {
            reason: "No other device was heard of yet.",
            remedy:
              "Each one joins with: activityd hub join CODE (activityd hub invite prints it). One that did has to name the same place.",
          },
        ]
      : []),
    ...others.flatMap(({ name, missing }) =>
      missing === 0
        ? []
        : [
            {
              reason: `${missing} records of ${name} did not arrive.`,
              remedy: `They may be on their way. If they stay away, on ${name}: activityd hub rejoin`,
            },
          ],
    ),
    ...others
      .filter((device) => isHeardOf(device, nowUs))
      .flatMap(({ name, state: standing, offsetUs }) =>
        standing !== "member" || offsetUs === null || offsetUs >= -CLOCK_TOLERANCE_US
          ? []
          : [
              {
                reason: `The clock of ${name} is ${inWords(-offsetUs)} behind this one's, or its records take as long to arrive.`,
                remedy: "",
              },
            ],
      ),
    ...(forged === 0
      ? []
      : [
          {
            reason: `${forged} records in the hub are damaged or of nobody who belongs to it; they were passed over.`,
            remedy: "",
          },
        ]),
  ];
}

function inWords(us: number): string {
  const minutes = Math.round(us / 60e6);
  if (minutes < 90) return `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}
