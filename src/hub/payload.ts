/**
 * What a record says: events, what was erased and forgotten, who a device is, and keys. It hides the form on the
 * wire and promises that what cannot be meant is refused whole, before anything of it is done.
 */
import type { EventSpan, RawFacts } from "../capture/events.ts";
import { integer, text, withDefault, z } from "../shapes.ts";
import { readRawFacts } from "../store/exchange.ts";
import type { DeviceKind } from "../store/devices.ts";
import type { ToldEvent } from "../store/devices/outbox.ts";
import type { TravellingWish } from "../store/forget/plan.ts";
import type { Revoked } from "./identity.ts";

/** A new key of the hub, sealed for each device that is to have it. */
export interface KeyHandout {
  readonly id: string;
  readonly generation: number;
  /** Every device that was ever taken out. */
  readonly revoked: Revoked;
  /** By device. */
  readonly boxes: Readonly<Record<string, Uint8Array>>;
}

/** Events of another device that the owner took away there. */
export interface ForgottenEvents {
  readonly device: string;
  readonly startsUs: readonly number[];
}

/** What a device calls itself, and its public key for what only it may open. */
export interface Hello {
  readonly name: string;
  /** What sort of machine it is; null: it does not say. */
  readonly kind: DeviceKind | null;
  readonly sealingPublic: Uint8Array;
}

/** What a record may say besides events. */
export interface Notices {
  readonly hello: Hello | null;
  readonly forgotten: readonly ForgottenEvents[];
  readonly wishes: readonly TravellingWish[];
  readonly keys: readonly KeyHandout[];
  /** Whether the device leaves the hub with this record. */
  readonly isBye: boolean;
}

export interface OutgoingPayload extends Notices {
  /** By the sender's clock. */
  readonly sentUs: number;
  readonly events: readonly ToldEvent[];
  readonly erased: readonly (readonly [number, number])[];
}

/** An event as it came in: its texts have met no gate of this device. */
export interface IncomingEvent extends EventSpan {
  readonly facts: RawFacts;
  readonly isOpen: boolean;
}

export interface IncomingPayload extends Notices {
  readonly sentUs: number;
  readonly events: readonly IncomingEvent[];
  readonly erased: readonly (readonly [number, number])[];
}

export const NO_NOTICES: Notices = {
  hello: null,
  forgotten: [],
  wishes: [],
  keys: [],
  isBye: false,
};

export function writePayload(payload: OutgoingPayload): Uint8Array {
  const { sentUs, events, erased, hello, forgotten, wishes, keys, isBye } = payload;
  const facts = createIndex();
  const zones = createIndex();
  const puts = events.map((event) => [
    facts.at(JSON.stringify(event.facts)),
    zones.at(JSON.stringify([event.timeZone, event.utcOffsetMinutes])),
    event.startUs,
    event.endUs - event.startUs,
    event.isOpen ? 1 : 0,
  ]);
  // The texts are JSON already: put together by hand, they are not parsed and written once more.
  const parts = [
    `"v":${FORMAT},"at":${sentUs}`,
    puts.length === 0
      ? null
      : `"facts":[${facts.texts().join()}],"zones":[${zones.texts().join()}],"put":${JSON.stringify(puts)}`,
    erased.length === 0 ? null : `"erase":${JSON.stringify(erased)}`,
    hello === null
      ? null
      : `"hello":${JSON.stringify({ name: hello.name, kind: hello.kind, key: toText(hello.sealingPublic) })}`,
    forgotten.length === 0
      ? null
      : `"forget":${JSON.stringify(forgotten.map((each) => [each.device, each.startsUs]))}`,
    wishes.length === 0 ? null : `"wish":${JSON.stringify(wishes)}`,
    keys.length === 0 ? null : `"keys":${JSON.stringify(keys.map(toWire))}`,
    isBye ? '"bye":1' : null,
  ];
  return Buffer.from(`{${parts.filter((part) => part !== null).join()}}`);
}

/** Reads what a record says; null for what this program does not understand. */
export function readPayload(bytes: Uint8Array): IncomingPayload | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return null;
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) return null;
  const { at, facts, zones, put, erase, hello, forget, wish, keys, bye } = parsed.data;
  const read = facts.map(readRawFacts);
  const events: IncomingEvent[] = [];
  for (const [factsAt, zoneAt, startUs, durationUs, isOpen] of put) {
    const [said, zone] = [read[factsAt], zones[zoneAt]];
    if (said === undefined || said === null || zone === undefined) return null;
    events.push({
      facts: said,
      startUs,
      endUs: startUs + durationUs,
      timeZone: zone[0],
      utcOffsetMinutes: zone[1],
      isOpen: isOpen === 1,
    });
  }
  return {
    sentUs: at,
    events,
    erased: erase,
    hello:
      hello === undefined
        ? null
        : {
            name: plainName(hello.name),
            kind: hello.kind,
            sealingPublic: fromText(hello.key),
          },
    forgotten: forget.map(([device, startsUs]) => ({ device, startsUs })),
    wishes: wish,
    keys: keys.map(({ id, generation, revoked, boxes }) => ({
      id,
      generation,
      revoked,
      boxes: Object.fromEntries(
        Object.entries(boxes).map(([device, box]) => [device, fromText(box)]),
      ),
    })),
    isBye: bye === 1,
  };
}

/** A name as it may stand in a line: letters, digits and what names are made of. */
function plainName(name: string): string {
  const plain = name
    .normalize("NFKC")
    .replaceAll(/[^\p{L}\p{M}\p{N} ._'()-]/gu, "")
    .replaceAll(/ +/g, " ")
    .trim();
  return plain.slice(0, MAX_NAME_CHARS) || "device";
}

/** Grows when a record says something that an older program would misread. */
const FORMAT = 1;
const MAX_NAME_CHARS = 40;

const hex32 = z.string().check(z.regex(/^[0-9a-f]{32}$/));
const instant = integer(0, 7_258_118_400_000_000);
/** No event lasts longer than a year or so. */
const duration = integer(0, 400 * 86_400_000_000);
const key32 = z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/));
const short = text(0, 4096);
/** A sort that a newer program knows is none here. */
const deviceKind = z.catch(
  z.nullable(z.enum(["desktop", "laptop", "phone", "server", "tablet"])),
  null,
);

const schema = z.object({
  v: z.literal(FORMAT),
  at: instant,
  facts: withDefault(z.array(z.unknown()), []),
  zones: withDefault(z.array(z.tuple([text(1, 64), integer(-1440, 1440)])), []),
  put: withDefault(
    z.array(z.tuple([integer(0), integer(0), instant, duration, integer(0, 1)])),
    [],
  ),
  erase: withDefault(z.array(z.tuple([instant, instant])), []),
  hello: z.optional(z.object({ name: short, kind: deviceKind, key: key32 })),
  forget: withDefault(z.array(z.tuple([hex32, z.array(instant)])), []),
  wish: withDefault(
    z.array(
      z.object({
        fromUs: z.nullable(instant),
        toUs: z.nullable(instant),
        app: z.nullable(short),
        match: z.nullable(short),
        atUs: instant,
      }),
    ),
    [],
  ),
  keys: withDefault(
    z.array(
      z.object({
        id: z.string().check(z.regex(/^[0-9a-f]{16}$/)),
        generation: integer(1),
        revoked: z.record(hex32, integer(0)),
        boxes: z.record(hex32, short),
      }),
    ),
    [],
  ),
  bye: z.optional(z.int()),
});

function toWire({ id, generation, revoked, boxes }: KeyHandout) {
  const texts = Object.entries(boxes).map(([device, box]) => [device, toText(box)]);
  return { id, generation, revoked, boxes: Object.fromEntries(texts) };
}

/** Numbers for texts, the same text always the same. */
function createIndex() {
  const places = new Map<string, number>();
  return {
    at: (text: string): number => {
      const place = places.get(text) ?? places.size;
      places.set(text, place);
      return place;
    },
    texts: (): readonly string[] => [...places.keys()],
  };
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

function fromText(encoded: string): Uint8Array {
  return Buffer.from(encoded, "base64url");
}
