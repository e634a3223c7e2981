import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEventSplitter, readEvent, renderEvent } from "../../src/gateway/event-stream.ts";
import { propertyRuns } from "../helpers/property-runs.ts";

const numRuns = propertyRuns(200, 20_000);

/** Everything a splitter gives for a stream in pieces of these sizes. */
function split(stream: Buffer, sizes: readonly number[]) {
  const splitter = createEventSplitter();
  const events: Buffer[] = [];
  for (let at = 0, turn = 0; at < stream.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    events.push(...splitter.push(stream.subarray(at, at + size)));
    at += size;
  }
  return { events, rest: splitter.rest() };
}

const sizes = fc.array(fc.integer({ min: 1, max: 13 }), { minLength: 1 });
const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const line = fc.oneof(
  fc.constantFrom(": ping", "event: x", "data:", "data: [DONE]", "id: 7"),
  fc.string({ unit: "grapheme" }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
);

describe("the events of a stream", { timeout: 60_000 }, () => {
  test("are found wherever the pieces are cut, and not a byte is lost", () => {
    const event = fc.tuple(fc.array(line, { minLength: 1, maxLength: 4 }), lineEnd);
    fc.assert(
      fc.property(fc.array(event), sizes, (parts, cuts) => {
        const texts = parts.map(([lines, end]) => lines.map((one) => one + end).join("") + end);
        const stream = Buffer.from(texts.join(""));
        const { events, rest } = split(stream, cuts);
        expect(Buffer.concat([...events, rest]).toString("hex")).toBe(stream.toString("hex"));
        expect(events).toHaveLength(texts.length);
        // A CRLF that was cut between its halves leaves its LF with the event behind it, which changes nothing.
        expect(events.map(readEvent)).toEqual(texts.map((text) => readEvent(Buffer.from(text))));
      }),
      { numRuns },
    );
  });

  test("of any bytes at all come out as they went in", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), sizes, (bytes, cuts) => {
        const { events, rest } = split(Buffer.from(bytes), cuts);
        const whole = Buffer.from(bytes).toString("hex");
        expect(Buffer.concat([...events, rest]).toString("hex")).toBe(whole);
      }),
      { numRuns },
    );
  });

  test("say what they were made of", () => {
    const data = fc.jsonValue().filter((value) => typeof value !== "string");
    fc.assert(
      fc.property(fc.option(fc.constantFrom("a", "b.c")), data, (name, value) => {
        const json: unknown = JSON.parse(JSON.stringify(value));
        expect(readEvent(Buffer.from(renderEvent({ name, data: json })))).toEqual({
          name,
          data: json,
        });
      }),
      { numRuns },
    );
  });

  test("may carry data over several lines, text, or nothing", () => {
    expect(readEvent(Buffer.from('data: {"a":\ndata:1}\n\n'))).toEqual({
      name: null,
      data: { a: 1 },
    });
    expect(readEvent(Buffer.from("event:x\ndata: [DONE]\n\n"))).toEqual({
      name: "x",
      data: "[DONE]",
    });
    expect(readEvent(Buffer.from(": ping\n\n"))).toBeNull();
  });
});
