import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readUpload } from "../../src/activitywatch/body.ts";
import { readExportParts, type ExportPart } from "../../src/activitywatch/export-stream.ts";
import { isObject } from "../../src/activitywatch/wire.ts";

const event = fc.record({ timestamp: fc.string(), duration: fc.double(), data: fc.jsonValue() });
const fields = fc.record({
  id: fc.string(),
  type: fc.string(),
  client: fc.string(),
  hostname: fc.string(),
  data: fc.dictionary(fc.string(), fc.jsonValue()),
});
/** Fields before the events or after them, as servers differ in it. */
const bucket = fc
  .tuple(fields, fc.array(event, { maxLength: 5 }), fc.boolean())
  .map(([told, events, isLast]) => (isLast ? { ...told, events } : { events, ...told }));
const cuts = fc.array(fc.nat({ max: 300 }), { maxLength: 60 });

describe("an export that arrives in pieces", () => {
  it("gives what the whole says, wherever it is cut", async () => {
    // Few, so that the cuts fall into all of them.
    const buckets = fc.oneof(
      fc.array(bucket, { maxLength: 3 }),
      fc.dictionary(fc.string(), bucket, { maxKeys: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(buckets, cuts, async (buckets, at) => {
        const text = JSON.stringify({ version: 1, buckets, other: [{ events: [1] }] });
        const found = await collect(readExportParts(pieces(Buffer.from(text), at)));
        const whole: unknown = JSON.parse(text);
        expect(found).toEqual(isObject(whole) ? Object.values(Object(whole["buckets"])) : null);
      }),
    );
  });

  it("holds some hundred events of a bucket, and more only when their bucket is described after them", async () => {
    const events = Array.from({ length: 2000 }, (_, n) => ({ n }));
    const described = { type: "t", client: "c", hostname: "h" };
    const sizes = async (value: object): Promise<number[]> => {
      const body = Buffer.from(JSON.stringify({ buckets: { a: value } }));
      const parts: ExportPart[] = [];
      for await (const part of readExportParts(pieces(body, [1000, 3000]))) parts.push(part);
      expect(parts.flatMap((part) => part.events)).toEqual(events);
      expect(parts.every((part) => part.bucket["type"] === "t")).toBe(true);
      return parts.map((part) => part.events.length);
    };
    expect(Math.max(...(await sizes({ ...described, events })))).toBe(250);
    expect(Math.max(...(await sizes({ events, ...described })))).toBe(250);
  });

  it.each([
    ["{", "no JSON"],
    ["nothing", "no JSON"],
    ['{"buckets": {"a": {"type": "t", "events": [{}, }', "no JSON"],
    ['{"events": []}', "must be"],
    ["[]", "must be"],
    ['{"buckets": 5}', "must be"],
    ['{"buckets": {"a": 5}}', "no JSON object"],
  ])("%s is refused in words", async (text, words) => {
    await expect(collect(readExportParts(pieces(Buffer.from(text), [3])))).rejects.toThrow(words);
  });

  it("may be without any bucket", async () => {
    expect(await collect(readExportParts(pieces(Buffer.from('{"buckets": {}}\n'), [])))).toEqual(
      [],
    );
  });
});

describe("a form with a file", () => {
  it("gives the bytes of the file, wherever it is cut and whatever is in it", async () => {
    const content = fc.oneof(
      fc.uint8Array(),
      fc.constantFrom("\r\n--", "\r\n--xy", "\r\n\r\n", "--xyz--").map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(content, { maxLength: 6 }), cuts, async (contents, at) => {
        const file = Buffer.concat(contents);
        const body = Buffer.concat([
          Buffer.from(
            '--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\nfield\r\n--xyz\r\n',
          ),
          Buffer.from('Content-Disposition: form-data; name="f"; filename="b.json"\r\n\r\n'),
          file,
          Buffer.from("\r\n--xyz--\r\n"),
        ]);
        // Where the mark itself stands in a file, no form can hold it.
        fc.pre(!file.includes("\r\n--xyz") && !file.subarray(0, 5).equals(Buffer.from("--xyz")));
        const read: Uint8Array[] = [];
        const upload = readUpload(pieces(body, at), "multipart/form-data; boundary=xyz");
        for await (const chunk of upload) read.push(chunk);
        expect(Buffer.concat(read).equals(file)).toBe(true);
      }),
    );
  });

  it("without one is refused", async () => {
    const body = Buffer.from(
      '--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--xyz--',
    );
    const upload = readUpload(pieces(body, [9]), 'multipart/form-data; boundary="xyz"');
    await expect(collect(readExportParts(upload))).rejects.toThrow("holds no file");
  });
});

async function* pieces(body: Buffer, at: readonly number[]): AsyncGenerator<Buffer, void> {
  let from = 0;
  for (const cut of [...at].sort((a, b) => a - b)) {
    yield body.subarray(from, Math.min(cut, body.length));
    from = Math.min(cut, body.length);
  }
  yield body.subarray(from);
}

/** The buckets that the parts make. */
async function collect(parts: AsyncIterable<ExportPart>): Promise<unknown[]> {
  const buckets = new Map<string | number, Record<string, unknown>>();
  for await (const { key, bucket, events } of parts) {
    const known = buckets.get(key)?.["events"];
    const before: unknown[] = Array.isArray(known) ? known : [];
    buckets.set(key, { ...bucket, events: [...before, ...events] });
  }
  return [...buckets.values()];
}
