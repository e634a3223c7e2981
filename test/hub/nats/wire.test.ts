/** How records travel through NATS. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_RECORD_BYTES, type SealedRecord } from "../../../src/hub/driver.ts";
import {
  decodeBatch,
  deviceOfSubject,
  encodeBatch,
  formatCursor,
  MAX_MESSAGE_BYTES,
  parseCursor,
  splitBatches,
  subjectOfLog,
} from "../../../src/hub/nats/wire.ts";

const DEVICE = "a0".repeat(16);
const position = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 100 });

/** Consecutive records of one epoch, some of the greatest size. */
const records = fc
  .tuple(
    position,
    position,
    fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.integer({ min: 0, max: 2_000 }) },
        fc.constantFrom(MAX_RECORD_BYTES - 1, MAX_RECORD_BYTES),
      ),
      { minLength: 1, maxLength: 12 },
    ),
  )
  .map(([epoch, first, sizes]) =>
    sizes.map((size, index): SealedRecord => ({
      device: DEVICE,
      epoch,
      seq: first + index,
      bytes: new Uint8Array(size).fill(index + 1),
    })),
  );

describe("batches", () => {
  it("give back the records they were made of, in order, whole and in messages that fit", () => {
    fc.assert(
      fc.property(records, (log) => {
        const messages = splitBatches(log).map(encodeBatch);
        for (const message of messages)
          expect(message.length).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
        const read = messages.flatMap((message) => decodeBatch(DEVICE, message) ?? []);
        expect(read.map(toPlain)).toEqual(log.map(toPlain));
      }),
    );
  });

  it("are refused when they are cut, whatever is missing", () => {
    fc.assert(
      fc.property(records, fc.nat(), (log, cut) => {
        const [message = new Uint8Array()] = splitBatches(log).map(encodeBatch);
        const length = cut % message.length;
        const read = decodeBatch(DEVICE, message.subarray(0, length));
        // A cut between two records leaves a batch of the first ones; any other leaves none.
        expect(
          read === null || read.every(({ bytes }, at) => bytes.length === log[at]?.bytes.length),
        ).toBe(true);
        expect(read?.length ?? 0).toBeLessThan(log.length);
      }),
    );
  });

  it("that strangers wrote are null or records, and never a fault", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (message) => {
        const read = decodeBatch(DEVICE, message);
        expect(read === null || read.length > 0).toBe(true);
      }),
    );
  });

  it("do not keep the message alive that they were read from", () => {
    const message = encodeBatch([{ device: DEVICE, epoch: 1, seq: 1, bytes: new Uint8Array(8) }]);
    const [record] = decodeBatch(DEVICE, message) ?? [];
    expect(record?.bytes.buffer).not.toBe(message.buffer);
  });
});

describe("subjects", () => {
  it("name the device whose log they are", () => {
    expect(deviceOfSubject(subjectOfLog("c0".repeat(16), "UABC", DEVICE))).toBe(DEVICE);
  });

  it.each(["activityd.ev.h.w", "activityd.ev.h.w.d", `activityd.ev.h.w.${DEVICE}.x`, ""])(
    "that are no log name nobody: %j",
    (subject) => {
      expect(deviceOfSubject(subject)).toBeNull();
    },
  );
});

describe("cursors", () => {
  it("come back as they were", () => {
    const cursor = { created: "2026-11-30T04:46:29.308541514Z", sequence: 135 };
    expect(parseCursor(formatCursor(cursor))).toEqual(cursor);
  });

  it.each(["", "135", "@x", "-1@x", "1.5@x", `${"9".repeat(16)}@x`])(
    "of others are none: %j",
    (text) => {
      expect(parseCursor(text)).toBeNull();
    },
  );
});

function toPlain({ device, epoch, seq, bytes }: SealedRecord) {
  return { device, epoch, seq, text: Buffer.from(bytes).toString("base64") };
}
