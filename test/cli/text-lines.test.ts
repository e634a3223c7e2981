/** Reading a file that another program made, line by line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { joined, readTextLines } from "../../src/cli/text-lines.ts";
import { createTempHome } from "../helpers/temp-home.ts";

async function linesOf(bytes: Buffer | string): Promise<readonly string[]> {
  const file = join(createTempHome(), "export");
  writeFileSync(file, bytes);
  const lines: string[] = [];
  for await (const line of readTextLines(file)) lines.push(line);
  return lines;
}

const TEXT = `{"a":"Größe 🙂"}\n\n${"é".repeat(100_000)}\nlast`;

describe("the lines of a file", () => {
  it.each([
    ["UTF-8", Buffer.from(TEXT)],
    ["UTF-8 with a mark", Buffer.from(`\uFEFF${TEXT}`)],
    ["UTF-16 of a Windows shell", Buffer.from(`\uFEFF${TEXT}`, "utf16le")],
    ["UTF-16 the other way round", Buffer.from(`\uFEFF${TEXT}`, "utf16le").swap16()],
  ])("are the same in %s", async (_encoding, bytes) => {
    expect(await linesOf(bytes)).toEqual(TEXT.split("\n"));
  });

  it("are none in an empty file, and one in a file of one character", async () => {
    expect(await linesOf("")).toEqual([]);
    expect(await linesOf("x")).toEqual(["x"]);
  });

  it("of a compressed file are not read, and the way to read them is told", async () => {
    await expect(linesOf(gzipSync(TEXT))).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("is compressed."),
      hint: expect.stringContaining("gunzip"),
    });
  });

  it("are read as fast where all of it is one line", async () => {
    const size = 24 * 1024 * 1024;
    const timed = async (text: string): Promise<number> => {
      const startMs = performance.now();
      await linesOf(text);
      return performance.now() - startMs;
    };
    const many = await timed(
      "x"
        .repeat(1023)
        .concat("\n")
        .repeat(size / 1024),
    );
    const one = await timed("x".repeat(size));
    expect(one / many).toBeLessThan(8);
  });

  it("that are longer together than a text can be are told, with another way in", () => {
    const part = "x".repeat(2 ** 28);
    expect(() => joined([part, part, part], "buckets.json")).toThrow(
      "buckets.json is larger than 500 MB",
    );
  });
});
