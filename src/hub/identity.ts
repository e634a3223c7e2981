/**
 * Who this device is in a hub: its key pairs and the keys that records are sealed with, in one file for its owner
 * alone. It promises that the file is whole or not there, that it is sealed where the database is encrypted, and
 * that a code which another device joins with is refused when a letter of it is wrong.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ActivityError } from "../errors.ts";
import { integer, text, z } from "../shapes.ts";
import { keyFor } from "../store/cipher.ts";
import type { DeviceKind } from "../store/devices.ts";
import { DATABASE_FILE } from "../store/events.ts";
import { writeWhole } from "../whole-file.ts";

/** A key that all devices of a hub share for a while. */
export interface HubKey {
  /** 16 hex digits, random. */
  readonly id: string;
  /** From 1; a key that is made later has a higher one. */
  readonly generation: number;
  /** 32 bytes. */
  readonly secret: Uint8Array;
  /** The devices it was handed to; null: whoever has the code. */
  readonly recipients: readonly string[] | null;
  /** False from its making until the others are sure to be told: until then nothing is sealed with it. */
  readonly isHanded: boolean;
}

/** By device: the position of its last record that counts, as `toVersion` makes it. */
export type Revoked = Readonly<Record<string, number>>;

/** A device in a hub. */
export interface HubIdentity {
  /** 32 hex digits. */
  readonly hub: string;
  /** 32 hex digits: the beginning of the hash of its public signing key, so that nobody can take another's. */
  readonly device: string;
  /** What its owner calls it. */
  readonly name: string;
  /** What sort of machine it is; null: unknown. */
  readonly kind: DeviceKind | null;
  readonly signingKey: KeyObject;
  /** 32 bytes. */
  readonly signingPublic: Uint8Array;
  readonly sealingKey: KeyObject;
  /** 32 bytes. */
  readonly sealingPublic: Uint8Array;
  /** Oldest first. */
  readonly ring: readonly HubKey[];
  /** Devices that were taken out, with the last of their records that still counts. */
  readonly revoked: Revoked;
  /** Whether what was recorded before it joined is told as well. */
  readonly withHistory: boolean;
}

/** What a code says besides the keys: how to get there. */
export interface JoinHints {
  readonly driver: "folder" | "nats";
  readonly servers: readonly string[];
}

export interface JoinCode extends JoinHints {
  readonly hub: string;
  readonly ring: readonly HubKey[];
}

/** The file in the data folder. */
export const IDENTITY_FILE = "hub.json";

export interface NewIdentity {
  readonly name: string;
  readonly kind?: DeviceKind | null;
  readonly withHistory: boolean;
  /** Absent: a new hub. */
  readonly code?: JoinCode;
}

/** Makes key pairs for this device, and a hub where no code is given. */
export function createIdentity({ name, kind = null, withHistory, code }: NewIdentity): HubIdentity {
  const signing = generateKeyPairSync("ed25519");
  const sealing = generateKeyPairSync("x25519");
  const signingPublic = rawPublic(signing.publicKey);
  return {
    hub: code?.hub ?? randomBytes(16).toString("hex"),
    device: deviceIdOf(signingPublic),
    name,
    kind,
    signingKey: signing.privateKey,
    signingPublic,
    sealingKey: sealing.privateKey,
    sealingPublic: rawPublic(sealing.publicKey),
    ring: code?.ring ?? [{ ...createHubKey(1, null), isHanded: true }],
    revoked: {},
    withHistory,
  };
}

/** A new key that nobody has yet. */
export function createHubKey(generation: number, recipients: readonly string[] | null): HubKey {
  return {
    id: randomBytes(8).toString("hex"),
    generation,
    secret: randomBytes(32),
    recipients,
    isHanded: false,
  };
}

/** The key that records are sealed with: of the newest generation, and of two of one the same on every device. */
export function currentKey(ring: readonly HubKey[]): HubKey {
  const usable = ring.filter(({ isHanded }) => isHanded);
  const [newest] = usable.sort((a, b) => b.generation - a.generation || (a.id < b.id ? 1 : -1));
  if (newest === undefined) throw new ActivityError("internal", "The hub has no key.");
  return newest;
}

/** The id of the device that signs with a key. */
export function deviceIdOf(signingPublic: Uint8Array): string {
  return createHash("sha256").update(signingPublic).digest("hex").slice(0, 32);
}

/** The identity of a data folder whose settings name a hub. @throws ActivityError `hub_refused` where there is none */
export function requireIdentity(directory: string): HubIdentity {
  const identity = readIdentity(directory);
  if (identity !== null) return identity;
  throw new ActivityError(
    "hub_refused",
    "This device is in no hub, though the settings name one.",
    "Take part in one: activityd hub join CODE. Or be without: activityd hub leave",
  );
}

/** Reads the identity of a data folder; null where there is none. @throws ActivityError `hub_refused` */
export function readIdentity(directory: string): HubIdentity | null {
  const path = join(directory, IDENTITY_FILE);
  if (!existsSync(path)) return null;
  let value: unknown;
  try {
    value = JSON.parse(openText(directory, readFileSync(path, "utf8")));
  } catch (cause) {
    throw unreadable(path, cause);
  }
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) throw unreadable(path, parsed.error);
  const { hub, name, kind, signing, sealing, ring, revoked, withHistory } = parsed.data;
  const signingKey = createPrivateKey({ key: fromText(signing), format: "der", type: "pkcs8" });
  const sealingKey = createPrivateKey({ key: fromText(sealing), format: "der", type: "pkcs8" });
  const signingPublic = rawPublic(createPublicKey(signingKey));
  return {
    hub,
    device: deviceIdOf(signingPublic),
    name,
    kind,
    signingKey,
    signingPublic,
    sealingKey,
    sealingPublic: rawPublic(createPublicKey(sealingKey)),
    ring: ring.map((key) => ({ ...key, secret: fromText(key.secret) })),
    revoked,
    withHistory,
  };
}

/** Writes it, whole or not at all, readable for its owner alone. */
export function writeIdentity(directory: string, identity: HubIdentity): void {
  const { hub, name, kind, signingKey, sealingKey, ring, revoked, withHistory } = identity;
  const text = JSON.stringify({
    hub,
    name,
    kind,
    signing: toText(signingKey.export({ format: "der", type: "pkcs8" })),
    sealing: toText(sealingKey.export({ format: "der", type: "pkcs8" })),
    ring: ring.map((key) => ({ ...key, secret: toText(key.secret) })),
    revoked,
    withHistory,
  } satisfies z.input<typeof fileSchema>);
  const path = join(directory, IDENTITY_FILE);
  writeWhole(path, `${sealText(directory, text)}\n`);
}

export function removeIdentity(directory: string): void {
  rmSync(join(directory, IDENTITY_FILE), { force: true });
}

/** The code that another device joins with. It is a secret: whoever has it reads everything. */
export function writeJoinCode({ hub, ring }: HubIdentity, hints: JoinHints): string {
  const body = Buffer.from(
    JSON.stringify({
      h: fromHex(hub),
      d: hints.driver,
      ...(hints.servers.length === 0 ? {} : { s: hints.servers }),
      k: ring
        .filter(({ isHanded }) => isHanded)
        .map(({ id, generation, secret }) => [fromHex(id), generation, toText(secret)]),
    }),
  );
  return `${CODE_PREFIX}${Buffer.concat([body, checksum(body)]).toString("base64url")}`;
}

/** @throws ActivityError `bad_request` for what is no whole code */
export function readJoinCode(text: string): JoinCode {
  // What a mail, a chat or a sentence puts around and between the letters; the checksum tells whether they are whole.
  const trimmed = text.replaceAll(/[^\w.-]/g, "").replace(/\.+$/, "");
  const encoded = trimmed.slice(CODE_PREFIX.length);
  const bytes = Buffer.from(encoded, "base64url");
  const body = bytes.subarray(0, -CHECKSUM_BYTES);
  const isWhole =
    trimmed.startsWith(CODE_PREFIX) &&
    bytes.length > CHECKSUM_BYTES &&
    // The last letter holds bits that stand for nothing.
    bytes.toString("base64url") === encoded &&
    checksum(body).equals(bytes.subarray(-CHECKSUM_BYTES));
  if (!isWhole) {
    throw new ActivityError(
      "bad_request",
      "This is no whole code of a hub: a letter is missing or wrong.",
      "Print it anew on a device that is in the hub: activityd hub invite",
    );
  }
  const { h, d, s, k } = codeSchema.parse(JSON.parse(body.toString("utf8")));
  return {
    hub: toHex(h),
    driver: d,
    servers: s ?? [],
    ring: k.map(([id, generation, secret]) => ({
      id: toHex(id),
      generation,
      secret: fromText(secret),
      recipients: null,
      isHanded: true,
    })),
  };
}

const CODE_PREFIX = "activityd-hub-1.";
const CHECKSUM_BYTES = 4;

function checksum(body: Uint8Array): Buffer {
  return createHash("sha256").update(body).digest().subarray(0, CHECKSUM_BYTES);
}

const hex32 = z.string().check(z.regex(/^[0-9a-f]{32}$/));
const hex16 = z.string().check(z.regex(/^[0-9a-f]{16}$/));
const someText = z.string().check(z.minLength(1));
/** 32 bytes. */
const secret = z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/));

const fileSchema = z.object({
  hub: hex32,
  name: z.string(),
  kind: z.nullable(z.enum(["desktop", "laptop", "phone", "server", "tablet"])),
  signing: someText,
  sealing: someText,
  ring: z
    .array(
      z.object({
        id: hex16,
        generation: integer(1),
        secret,
        recipients: z.nullable(z.readonly(z.array(hex32))),
        isHanded: z.boolean(),
      }),
    )
    .check(z.minLength(1)),
  revoked: z.readonly(z.record(hex32, integer(0))),
  withHistory: z.boolean(),
});

const codeSchema = z.object({
  h: someText,
  d: z.enum(["folder", "nats"]),
  s: z.optional(z.array(text(0, 300))),
  k: z.array(z.tuple([someText, integer(1), secret])).check(z.minLength(1)),
});

function unreadable(path: string, cause: unknown): ActivityError {
  return new ActivityError(
    "hub_refused",
    `Cannot read ${path}, which says who this device is in the hub.`,
    "Bring it back from a backup, or join anew: remove the file, then activityd hub join CODE",
    { cause },
  );
}

/** The last 32 bytes of the standard form are the key itself (RFC 8410). */
function rawPublic(key: KeyObject): Uint8Array {
  return new Uint8Array(key.export({ format: "der", type: "spki" }).subarray(-32));
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

function fromText(encoded: string): Buffer {
  return Buffer.from(encoded, "base64url");
}

function fromHex(hex: string): string {
  return Buffer.from(hex, "hex").toString("base64url");
}

function toHex(encoded: string): string {
  return Buffer.from(encoded, "base64url").toString("hex");
}

/** Beside an encrypted database the keys would tell what it hides: they are sealed with its key. */
function sealText(directory: string, plain: string): string {
  const key = fileKey(directory);
  if (key === null) return plain;
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const sealed = Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final()]);
  return JSON.stringify({ sealed: toText(Buffer.concat([sealed, cipher.getAuthTag()])) });
}

function openText(directory: string, stored: string): string {
  const value: unknown = JSON.parse(stored);
  const parsed = z.object({ sealed: someText }).safeParse(value);
  if (!parsed.success) return stored;
  const key = fileKey(directory);
  if (key === null) throw new Error("sealed with the key of a database that is not encrypted");
  const bytes = fromText(parsed.data.sealed);
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  return decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8");
}

function fileKey(directory: string): Buffer | null {
  const key = keyFor(join(directory, DATABASE_FILE));
  if (key === null) return null;
  return Buffer.from(hkdfSync("sha256", Buffer.from(key, "hex"), "", "activityd hub identity", 32));
}
