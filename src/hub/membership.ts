/**
 * Who is in the hub and has its key: this device's identity and the others' right to read, as they change while the daemon
 * runs. It promises that a new key is in the file before anybody hears of it, and in use when all that stay are sure to
 * have it.
 */
import { ActivityError } from "../errors.ts";
import type { Log } from "../log.ts";
import { takesPart, type Devices } from "../store/devices.ts";
import {
  readIdentity,
  removeIdentity,
  requireIdentity,
  writeIdentity,
  type HubIdentity,
  type Revoked,
} from "./identity.ts";
import {
  finishHandout,
  isKeySpoiled,
  makeHandout,
  repeatHandout,
  takeHandout,
  takeRing,
  unfinishedHandouts,
  type KeyRecipient,
} from "./keys.ts";
import type { KeyHandout } from "./payload.ts";
import type { Trouble } from "./sender.ts";

export interface Membership {
  readonly identity: () => HubIdentity;
  /** Whether this device was taken out, or left. */
  readonly isRevoked: () => boolean;
  /** Why this device takes no part, or only in what came before; null: it does. */
  readonly trouble: () => Trouble | null;
  /** The key in use as it is told to those who may not have it; null: all that take part have it. */
  readonly handout: () => KeyHandout | null;
  /** Tells the keys that were in the file and not told yet when the daemon ended. */
  readonly resume: () => void;
  /** Gives the hub a new key, for all that are in it. */
  readonly rotate: () => void;
  /** Takes out the device with this name, or beginning of an id. @throws ActivityError `not_found`, `bad_request` */
  readonly revoke: (wanted: string) => void;
  /** Takes what another device says of keys. */
  readonly takeKeys: (handout: KeyHandout, maker: string) => void;
  /** Whether a key came in since this was last asked: what could not be opened before may be now. */
  readonly hasNewKey: () => boolean;
  /** Takes no part any more, and removes the identity. */
  readonly leave: () => void;
}

export interface MembershipOptions {
  /** The data folder, with the identity in it. */
  readonly directory: string;
  readonly devices: Devices;
  /** Tells all devices. Committed when it returns. */
  readonly tell: (handout: KeyHandout) => void;
  readonly log: Log;
}

/** @throws ActivityError `hub_refused` when this device has no identity in a hub */
export function openMembership(options: MembershipOptions): Membership {
  const { directory, devices, tell, log } = options;
  let identity = requireIdentity(directory);
  let isRevoked = identity.revoked[identity.device] !== undefined;
  let trouble: Trouble | null = isRevoked ? REVOKED : null;
  let hasNewKey = false;

  return {
    identity: () => identity,
    isRevoked: () => isRevoked,
    trouble: () => trouble,
    handout: () => repeatHandout(identity, recipients()),
    resume: () => {
      for (const handout of unfinishedHandouts(identity, recipients())) hand(handout);
    },
    rotate: () => rotate({}),
    revoke,
    takeKeys,
    hasNewKey: () => {
      const isNew = hasNewKey;
      hasNewKey = false;
      return isNew;
    },
    leave: () => {
      removeIdentity(directory);
      isRevoked = true;
      trouble = null;
    },
  };

  function setIdentity(next: HubIdentity): void {
    // What `hub join` with a newer code wrote beside this daemon stays.
    const written = readIdentity(directory);
    const joined =
      written?.device === next.device
        ? takeRing({ ...next, name: written.name }, written.ring)
        : next;
    writeIdentity(directory, joined);
    identity = joined;
  }

  function recipients(): readonly KeyRecipient[] {
    return devices
      .all()
      .flatMap(({ id, sealingKey }) =>
        sealingKey === null ? [] : [{ id, sealingPublic: sealingKey }],
      );
  }

  /** A new key for all that stay. In the file before anybody hears of it, in use when all are sure to. */
  function rotate(revoked: Revoked): void {
    const made = makeHandout(identity, recipients(), revoked);
    setIdentity(made.identity);
    hand(made.handout);
    markRevoked();
    log.info("the key of the hub was changed", { devices: Object.keys(made.handout.boxes).length });
  }

  function hand(handout: KeyHandout): void {
    tell(handout);
    setIdentity(finishHandout(identity, handout.id));
  }

  function markRevoked(): void {
    for (const { key, id, state } of devices.all()) {
      if (identity.revoked[id] !== undefined && state !== "revoked")
        devices.update(key, { state: "revoked" });
    }
  }

  function takeKeys(handout: KeyHandout, maker: string): void {
    const { identity: next, outcome } = takeHandout(identity, handout, maker);
    setIdentity(next);
    markRevoked();
    if (outcome === "revoked") {
      isRevoked = true;
      trouble = REVOKED;
      log.error("this device was taken out of the hub");
      return;
    }
    if (outcome === "excluded") {
      trouble = EXCLUDED;
      log.warn("the key of the hub was changed without this device");
      return;
    }
    if (outcome === "taken") hasNewKey = true;
    // Two devices may have taken out each another one at the same time.
    if (isKeySpoiled(identity)) rotate({});
  }

  function revoke(wanted: string): void {
    const named = devices
      .all()
      .filter(({ id, name }) => name === wanted || (wanted.length >= 4 && id.startsWith(wanted)));
    // A device that came back bears the name of the one that it was before.
    const present = named.filter(takesPart);
    const found = present.length > 0 ? present : named;
    const [device] = found;
    if (device === undefined || found.length > 1) {
      const names = devices.all().map(({ id, name }) => `${name} (${id.slice(0, 8)})`);
      throw new ActivityError(
        device === undefined ? "not_found" : "bad_request",
        device === undefined
          ? `There is no other device "${wanted}" in the hub.`
          : `More than one device is meant by "${wanted}".`,
        names.length === 0 ? "There are no others yet." : `There are: ${names.join(", ")}.`,
      );
    }
    rotate({ [device.id]: device.version });
  }
}

const REVOKED: Trouble = {
  reason: "This device was taken out of the hub.",
  remedy:
    "To take part again: activityd hub leave, then activityd hub join CODE with a new code (activityd hub invite).",
};

const EXCLUDED: Trouble = {
  reason:
    "The key of the hub was changed before this device was known, and it cannot read what came since.",
  remedy: "Get a new code on another device (activityd hub invite) and: activityd hub join CODE",
};
