/** A law of the connection: whatever other programs send, it lives and goes on answering. */
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openBus } from "../../../src/capture/sources/dbus.ts";
import { propertyRuns } from "../../helpers/property-runs.ts";
import { type BusService, openBusService, Variant } from "../fakes/bus-service.ts";
import { openPrivateBus, type PrivateBus } from "../fakes/private-bus.ts";

let daemon: PrivateBus;
let stranger: BusService;

beforeEach(async () => {
  daemon = await openPrivateBus();
  stranger = await openBusService(daemon.address);
});

afterEach(async () => {
  stranger.close();
  await daemon.close();
});

it("no message of any shape ends the connection or keeps it from answering", async () => {
  let lossCount = 0;
  const opened = await openBus("session", daemon.env, () => {
    lossCount += 1;
  });
  if ("rejected" in opened) throw new Error(opened.rejected.reason);
  const { bus } = opened;
  let heard = 0;
  await bus.onSignal({ interface: "org.test.Any", member: "Thing" }, () => {
    heard += 1;
  });
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(typedValue, { maxLength: 3 }), async (values) => {
      const signature = values.map((value) => value.signature).join("");
      const body = values.map((value) => value.value);
      stranger.emit("/", "org.test.Any", "Thing", signature, body, bus.uniqueName);
      await stranger
        .call(bus.uniqueName, "/any", "org.test.Any", "Thing", signature, body)
        .catch(() => "refused, which is an answer");
      sent += 1;
      expect([heard, lossCount]).toEqual([sent, 0]);
    }),
    { numRuns: propertyRuns(300, 5_000) },
  );
  bus.close();
});

interface TypedValue {
  readonly signature: string;
  readonly value: unknown;
}

/** Texts as the protocol allows them: no zero, no lone surrogate. */
const text = fc
  .string({ unit: "grapheme" })
  .map((raw) => Buffer.from(raw.replaceAll("\0", "")).toString());

const simple: fc.Arbitrary<TypedValue> = fc.oneof(
  fc.nat(255).map((value) => ({ signature: "y", value })),
  fc.boolean().map((value) => ({ signature: "b", value })),
  fc.integer().map((value) => ({ signature: "i", value })),
  // The library that sends here takes the least of all for too small.
  fc
    .bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n })
    .map((value) => ({ signature: "x", value })),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => ({ signature: "t", value })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => ({ signature: "d", value })),
  text.map((value) => ({ signature: "s", value })),
  fc.constantFrom("/", "/a/b").map((value) => ({ signature: "o", value })),
  fc.constantFrom("", "s", "a{sv}", "(ii)").map((value) => ({ signature: "g", value })),
);

const { typedValue } = fc.letrec<{ typedValue: TypedValue }>((tie) => ({
  typedValue: fc.oneof(
    { maxDepth: 5 },
    simple,
    tie("typedValue").map(({ signature, value }) => ({
      signature: "v",
      value: new Variant(signature, value),
    })),
    fc.array(tie("typedValue"), { minLength: 1, maxLength: 4 }).map((parts) => ({
      signature: `(${parts.map((part) => part.signature).join("")})`,
      value: parts.map((part) => part.value),
    })),
    fc.tuple(tie("typedValue"), fc.nat(3)).map(([part, count]) => ({
      signature: `a${part.signature}`,
      value: Array.from({ length: count }, () => part.value),
    })),
    fc.tuple(fc.array(text, { maxLength: 3 }), tie("typedValue")).map(([keys, part]) => ({
      signature: `a{s${part.signature}}`,
      value: Object.fromEntries(keys.map((key) => [key, part.value])),
    })),
  ),
}));
