/**
 * Secrets for one device alone: sealed to its public X25519 key by whoever knows that (RFC 7748, with HKDF and
 * AES-256-GCM). It promises that only that device opens it, and only as what it was sealed for.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from "node:crypto";

/** Seals a secret. `purpose` must be the same when it is opened. */
export function sealFor(
  recipientPublic: Uint8Array,
  secret: Uint8Array,
  purpose: string,
): Uint8Array {
  const own = generateKeyPairSync("x25519");
  const ownPublic = own.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const shared = diffieHellman({ privateKey: own.privateKey, publicKey: toKey(recipientPublic) });
  // Every box has a key of its own, so the nonce may stand still.
  const cipher = createCipheriv(
    "aes-256-gcm",
    boxKey(shared, ownPublic, recipientPublic, purpose),
    NONCE,
  );
  return Buffer.concat([ownPublic, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
}

/** Opens what was sealed for this device; null when it was not, or not for this purpose. */
export function openBox(
  privateKey: KeyObject,
  recipientPublic: Uint8Array,
  box: Uint8Array,
  purpose: string,
): Uint8Array | null {
  if (box.length < 48) return null;
  const senderPublic = box.subarray(0, 32);
  try {
    const shared = diffieHellman({ privateKey, publicKey: toKey(senderPublic) });
    const key = boxKey(shared, senderPublic, recipientPublic, purpose);
    const decipher = createDecipheriv("aes-256-gcm", key, NONCE);
    decipher.setAuthTag(box.subarray(-16));
    return Buffer.concat([decipher.update(box.subarray(32, -16)), decipher.final()]);
  } catch {
    // Not for us, or not as it was: either way there is no secret.
    return null;
  }
}

const NONCE = Buffer.alloc(12);
/** What precedes the 32 bytes of a key in its standard form (RFC 8410). */
const X25519_SPKI = Buffer.from("302a300506032b656e032100", "hex");

function toKey(raw: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([X25519_SPKI, raw]), format: "der", type: "spki" });
}

function boxKey(
  shared: Uint8Array,
  senderPublic: Uint8Array,
  recipientPublic: Uint8Array,
  purpose: string,
): Buffer {
  const salt = Buffer.concat([senderPublic, recipientPublic]);
  return Buffer.from(hkdfSync("sha256", shared, salt, `activityd box ${purpose}`, 32));
}
