/**
 * A sealed record: what the hub carries of what a device says. It promises that nobody without the key reads it,
 * that nothing of it can be changed, swapped, moved to another place in a log or claimed by another device
 * without being noticed, and that its size tells no more than which step it falls into.
 *
 * Layout: version, hub, epoch, seq, key id, public signing key, hash of the record before, nonce (all of it
 * authenticated), the ciphertext with its tag (AES-256-GCM, NIST SP 800-38D), the signature over it all (Ed25519,
 * RFC 8032). The device's id follows from its signing key.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPublicKey,
  hkdfSync,
  randomBytes,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";
import type { LogPosition } from "./driver.ts";
import { deviceIdOf, type HubIdentity, type HubKey } from "./identity.ts";

/** What stands readable on a record. */
export interface Envelope extends LogPosition {
  readonly hub: string;
  readonly device: string;
  /** Which of the hub's keys opens it. */
  readonly keyId: string;
  /** Hash of the record before in the same epoch; all zero at the first. */
  readonly previous: Uint8Array;
  /** Hash of the record itself. */
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
}

/** No record stands before the first of an epoch. */
export const NO_RECORD: Uint8Array = new Uint8Array(32);

/** Makes a record of this device. */
export function sealRecord(
  identity: HubIdentity,
  key: HubKey,
  { epoch, seq }: LogPosition,
  previous: Uint8Array,
  payload: Uint8Array,
): { readonly bytes: Uint8Array; readonly hash: Uint8Array } {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(VERSION, 0);
  Buffer.from(identity.hub, "hex").copy(header, HUB_AT);
  header.writeUInt32BE(epoch, EPOCH_AT);
  header.writeBigUInt64BE(BigInt(seq), SEQ_AT);
  Buffer.from(key.id, "hex").copy(header, KEY_AT);
  header.set(identity.signingPublic, SIGNER_AT);
  header.set(previous, PREVIOUS_AT);
  randomBytes(12).copy(header, NONCE_AT);
  const cipher = createCipheriv(
    "aes-256-gcm",
    recordKey(key, identity.hub, identity.device),
    header.subarray(NONCE_AT),
  );
  cipher.setAAD(header);
  const body = Buffer.concat([header, cipher.update(pad(payload)), cipher.final()]);
  const signed = Buffer.concat([body, cipher.getAuthTag()]);
  const bytes = Buffer.concat([signed, sign(null, signed, identity.signingKey)]);
  return { bytes, hash: hashOf(bytes) };
}

/** Reads what stands on a record; null when it is none, or when its signature is not that of its device. */
export function readEnvelope(bytes: Uint8Array): Envelope | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < HEADER_BYTES + TAG_BYTES + SIGNATURE_BYTES) return null;
  if (view.readUInt8(0) !== VERSION) return null;
  const signer = view.subarray(SIGNER_AT, PREVIOUS_AT);
  const signed = view.subarray(0, -SIGNATURE_BYTES);
  if (!verify(null, signed, publicKey(signer), view.subarray(-SIGNATURE_BYTES))) return null;
  return {
    hub: view.toString("hex", HUB_AT, EPOCH_AT),
    device: deviceIdOf(signer),
    epoch: view.readUInt32BE(EPOCH_AT),
    seq: Number(view.readBigUInt64BE(SEQ_AT)),
    keyId: view.toString("hex", KEY_AT, SIGNER_AT),
    previous: view.subarray(PREVIOUS_AT, NONCE_AT),
    hash: hashOf(view),
    bytes: view,
  };
}

/** What a record says; null when the key does not open it. */
export function openRecord({ bytes, hub, device }: Envelope, key: HubKey): Uint8Array | null {
  const header = bytes.subarray(0, HEADER_BYTES);
  const decipher = createDecipheriv(
    "aes-256-gcm",
    recordKey(key, hub, device),
    header.subarray(NONCE_AT),
  );
  decipher.setAAD(header);
  decipher.setAuthTag(bytes.subarray(-SIGNATURE_BYTES - TAG_BYTES, -SIGNATURE_BYTES));
  try {
    const padded = Buffer.concat([
      decipher.update(bytes.subarray(HEADER_BYTES, -SIGNATURE_BYTES - TAG_BYTES)),
      decipher.final(),
    ]);
    return padded.subarray(4, 4 + padded.readUInt32BE(0));
  } catch {
    // The tag does not fit: another key, or not what was sealed. There is nothing more to know.
    return null;
  }
}

/** The hash that the next record of the log names. */
export function hashOf(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

const VERSION = 1;
const HUB_AT = 1;
const EPOCH_AT = 17;
const SEQ_AT = 21;
const KEY_AT = 29;
const SIGNER_AT = 37;
const PREVIOUS_AT = 69;
const NONCE_AT = 101;
const HEADER_BYTES = 113;
const TAG_BYTES = 16;
const SIGNATURE_BYTES = 64;
const SMALLEST_STEP = 256;

/** Each device has a key of its own under each key of the hub: two random nonces of two devices never meet. */
function recordKey(key: HubKey, hub: string, device: string): Buffer {
  const salt = Buffer.from(hub, "hex");
  return Buffer.from(hkdfSync("sha256", key.secret, salt, `activityd record ${device}`, 32));
}

/** By its number: read out of the standard form of a file it would cost more than the signature does. */
function publicKey(raw: Uint8Array): KeyObject {
  const x = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}

/** Length, bytes, zeros up to the next step: 256 bytes at first, then an eighth of the power of two below. */
function pad(payload: Uint8Array): Buffer {
  const length = payload.length + 4;
  const step = Math.max(SMALLEST_STEP, 2 ** (Math.floor(Math.log2(length)) - 3));
  const padded = Buffer.alloc(Math.ceil(length / step) * step);
  padded.writeUInt32BE(payload.length, 0);
  padded.set(payload, 4);
  return padded;
}
