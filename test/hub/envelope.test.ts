/** Sealed records: what cannot be read, changed, moved or claimed. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_RECORD, openRecord, readEnvelope, sealRecord } from "../../src/hub/envelope.ts";
import { createIdentity, currentKey, type HubIdentity } from "../../src/hub/identity.ts";
import { propertyRuns } from "../helpers/property-runs.ts";

const ADA = createIdentity({ name: "ada", withHistory: true });
const BOB: HubIdentity = {
  ...createIdentity({ name: "bob", withHistory: true }),
  hub: ADA.hub,
  ring: ADA.ring,
};
const KEY = currentKey(ADA.ring);
const PAYLOAD = Buffer.from("the title of a window");

function sealed(identity = ADA, seq = 1, payload: Uint8Array = PAYLOAD): Uint8Array {
  return sealRecord(identity, KEY, { epoch: 1, seq }, NO_RECORD, payload).bytes;
}

describe("a sealed record", () => {
  it("opens with the key of the hub, to what was sealed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5_000 }), (payload) => {
        const envelope = readEnvelope(sealed(ADA, 7, payload));
        if (envelope === null) throw new Error("unreadable");
        expect(envelope).toMatchObject({ hub: ADA.hub, device: ADA.device, epoch: 1, seq: 7 });
        expect(Buffer.from(openRecord(envelope, KEY) ?? [])).toEqual(Buffer.from(payload));
      }),
      { numRuns: propertyRuns(50, 2_000) },
    );
  });

  it("is no record any more when one bit of it is another", () => {
    const bytes = sealed();
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 7 }), (at, bit) => {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(at) ^ (1 << bit), at);
        expect(readEnvelope(changed)).toBeNull();
      }),
      { numRuns: propertyRuns(200, 5_000) },
    );
  });

  it("is none when it is cut, and none when there is only noise", () => {
    const bytes = sealed();
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), (length) => {
        expect(readEnvelope(bytes.subarray(0, length))).toBeNull();
      }),
      { numRuns: propertyRuns(50, 2_000) },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (noise) => {
        expect(readEnvelope(noise)).toBeNull();
      }),
      { numRuns: propertyRuns(50, 2_000) },
    );
  });

  it("does not open with another key, or with that of another hub", () => {
    const envelope = readEnvelope(sealed());
    if (envelope === null) throw new Error("unreadable");
    const other = currentKey(createIdentity({ name: "eve", withHistory: true }).ring);
    expect(openRecord(envelope, other)).toBeNull();
    expect(openRecord({ ...envelope, hub: "00".repeat(16) }, KEY)).toBeNull();
  });

  it("cannot be moved to another place or another device, even by somebody who has the key", () => {
    const [first, second] = [Buffer.from(sealed(ADA, 1)), Buffer.from(sealed(ADA, 2))];
    // The body of one under the head of the other: neither signature fits.
    const swapped = Buffer.concat([second.subarray(0, 113), first.subarray(113)]);
    expect(readEnvelope(swapped)).toBeNull();
    const claimed = Buffer.from(sealed(BOB));
    claimed.set(ADA.signingPublic, 37);
    expect(readEnvelope(claimed)).toBeNull();
    const bobs = readEnvelope(sealed(BOB));
    expect(bobs?.device).toBe(BOB.device);
  });

  it("tells by its size only a step, and holds no word of what it says", () => {
    const sizes = Array.from(
      { length: 250 },
      (_, length) => sealed(ADA, 1, Buffer.alloc(length)).length,
    );
    expect(new Set(sizes).size).toBe(1);
    const large = sealed(ADA, 1, Buffer.alloc(100_000, "canary"));
    expect(Buffer.from(large).includes("canary")).toBe(false);
    expect(large.length).toBeLessThan(100_000 * 1.15);
  });

  it("is never sealed to the same bytes twice", () => {
    expect(Buffer.from(sealed())).not.toEqual(Buffer.from(sealed()));
  });
});
