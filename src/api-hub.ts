/** What the daemon tells of the owner's other devices, and what may be asked about them. Types only, spoken through `api.ts`. */
import type { Blindness } from "./capture/sources/source.ts";

/** What to do about the hub. */
export interface HubRequest {
  /**
   * `rotate`: a new key for all devices. `revoke`: the same, without `device`. `rejoin`: this device goes on after a
   * restore. `leave`: it takes no part any more, and what others recorded goes from here.
   */
  readonly action: "rotate" | "revoke" | "rejoin" | "leave";
  /** For `revoke`: the name of a device, or the beginning of its id. */
  readonly device?: string;
}

/** How the hub stands, seen from this device. */
export interface HubAnswer {
  /** Where it is, without secrets; null: this device is in no hub. */
  readonly place: string | null;
  readonly link: HubLink | null;
  /** This device first. */
  readonly devices: readonly HubDevice[];
  /** Changes that others have not been told yet: events, or records that wait for the hub. */
  readonly waiting: number;
  /** When the hub last took something from this device, in this run of the daemon; null: nothing yet. */
  readonly lastSentUs: number | null;
  /** What is wrong, each with its remedy. */
  readonly problems: readonly Blindness[];
  /** What is as it should be and yet good to know. */
  readonly notes: readonly Blindness[];
}

/** `away`: out of reach, and tried again. `refused`: it does not take this device. */
export interface HubLink {
  readonly state: "connected" | "away" | "refused";
  readonly sinceUs: number;
  /** Null while connected. */
  readonly why: Blindness | null;
}

export interface HubDevice {
  /** 0 for this device; the others as visits and search hits name them. */
  readonly key: number;
  /** 32 hex digits. */
  readonly id: string;
  readonly name: string;
  /** What sort of machine it says it is; null: it does not say. */
  readonly kind: "desktop" | "laptop" | "phone" | "server" | "tablet" | null;
  /** `forked`: two logs go under its name. */
  readonly state: "member" | "revoked" | "left" | "forked";
  /** When its newest record came in; null: never, or this device itself. */
  readonly lastHeardUs: number | null;
  /** How long that record was on its way, as far as both clocks are right; null as above. */
  readonly lagUs: number | null;
  /** How far its clock is ahead of this one's, as near as can be told; null: unknown. */
  readonly clockOffsetUs: number | null;
  /** Records before its newest that are missing here. */
  readonly missing: number;
}
