/**
 * How the hub's key changes hands: a new one is sealed for each device that stays, and never used when a device
 * that was taken out got it too. Pure: identities in, identities out.
 */
import {
  createHubKey,
  currentKey,
  type HubIdentity,
  type HubKey,
  type Revoked,
} from "./identity.ts";
import type { KeyHandout } from "./payload.ts";
import { openBox, sealFor } from "./sealed-box.ts";

/** A device that is to have the new key. */
export interface KeyRecipient {
  readonly id: string;
  readonly sealingPublic: Uint8Array;
}

/**
 * A new key for those in `recipients` who stay, and this device; `revoked` adds to those that are out already. It is
 * in the ring and not in use until `finishHandout`.
 */
export function makeHandout(
  identity: HubIdentity,
  recipients: readonly KeyRecipient[],
  revoked: Revoked,
): { readonly identity: HubIdentity; readonly handout: KeyHandout } {
  const out = joinRevoked(identity.revoked, revoked);
  const ids = stayingOf(identity, recipients, out).map(({ id }) => id);
  const newest = Math.max(...identity.ring.map(({ generation }) => generation));
  const key = createHubKey(newest + 1, [identity.device, ...ids]);
  const next = { ...identity, ring: [...identity.ring, key], revoked: out };
  return { identity: next, handout: handoutOf(next, key, recipients) };
}

/** The handouts that were made and, for all that is known, never told: after a crash they are told again. */
export function unfinishedHandouts(
  identity: HubIdentity,
  recipients: readonly KeyRecipient[],
): readonly KeyHandout[] {
  return identity.ring
    .filter(({ isHanded }) => !isHanded)
    .map((key) => handoutOf(identity, key, recipients));
}

/**
 * The key in use once more for all that stay, as when the hub has lost the record that told it; null where it was handed
 * to nobody.
 */
export function repeatHandout(
  identity: HubIdentity,
  recipients: readonly KeyRecipient[],
): KeyHandout | null {
  const key = currentKey(identity.ring);
  return key.recipients === null ? null : handoutOf(identity, key, recipients);
}

/** The same identity once the others are sure to be told of a key. */
export function finishHandout(identity: HubIdentity, keyId: string): HubIdentity {
  const ring = identity.ring.map((key) => (key.id === keyId ? { ...key, isHanded: true } : key));
  return { ...identity, ring };
}

function stayingOf(
  { device }: HubIdentity,
  recipients: readonly KeyRecipient[],
  revoked: Revoked,
): readonly KeyRecipient[] {
  return recipients.filter(({ id }) => revoked[id] === undefined && id !== device);
}

function handoutOf(
  identity: HubIdentity,
  key: HubKey,
  recipients: readonly KeyRecipient[],
): KeyHandout {
  const { id, generation } = key;
  const purpose = purposeOf(identity.hub, key);
  const boxes = stayingOf(identity, recipients, identity.revoked).map((recipient) => [
    recipient.id,
    sealFor(recipient.sealingPublic, key.secret, purpose),
  ]);
  return { id, generation, revoked: identity.revoked, boxes: Object.fromEntries(boxes) };
}

/**
 * `taken`: the key is in the ring now. `known`: it was before. `excluded`: it was made without this device, which
 * joined meanwhile. `revoked`: this device was taken out.
 */
export type HandoutOutcome = "taken" | "known" | "excluded" | "revoked";

/** Takes a new key that another device made; the recipients are those it was sealed for, and its maker. */
export function takeHandout(
  identity: HubIdentity,
  { id, generation, revoked, boxes }: KeyHandout,
  maker: string,
): { readonly identity: HubIdentity; readonly outcome: HandoutOutcome } {
  const next = { ...identity, revoked: joinRevoked(identity.revoked, revoked) };
  const recipients = [maker, ...Object.keys(boxes)];
  const known = identity.ring.find((key) => key.id === id);
  if (known !== undefined) {
    // Whoever joined by the code does not know yet whom the key was handed to.
    const ring = identity.ring.map((key) =>
      key.id === id ? { ...key, recipients: key.recipients ?? recipients } : key,
    );
    return { identity: { ...next, ring }, outcome: "known" };
  }
  if (revoked[identity.device] !== undefined) return { identity: next, outcome: "revoked" };
  const box = boxes[identity.device];
  const blank = { id, generation };
  const secret =
    box === undefined
      ? null
      : openBox(identity.sealingKey, identity.sealingPublic, box, purposeOf(identity.hub, blank));
  if (secret === null) return { identity: next, outcome: "excluded" };
  const key: HubKey = { id, generation, secret, recipients, isHanded: true };
  return { identity: { ...next, ring: [...identity.ring, key] }, outcome: "taken" };
}

/** Whether the key in use is known to a device that was taken out meanwhile: then a new one is due. */
export function isKeySpoiled({ ring, revoked }: HubIdentity): boolean {
  const { recipients } = currentKey(ring);
  return recipients?.some((id) => revoked[id] !== undefined) === true;
}

/** Takes the keys of a code into the ring, such as after a change that this device was left out of. */
export function takeRing(identity: HubIdentity, ring: readonly HubKey[]): HubIdentity {
  const fresh = ring.filter(({ id }) => identity.ring.every((key) => key.id !== id));
  return { ...identity, ring: [...identity.ring, ...fresh] };
}

/** The newest of the two words about a device counts: whoever saw more of its records. */
function joinRevoked(a: Revoked, b: Revoked): Revoked {
  const ids = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...ids].map((id) => [id, Math.max(a[id] ?? 0, b[id] ?? 0)]));
}

function purposeOf(
  hub: string,
  { id, generation }: { readonly id: string; readonly generation: number },
): string {
  return `key ${hub} ${id} ${generation}`;
}
