/**
 * The lines of a file that somebody made with another program. It hides how its text is encoded, and promises that
 * reading takes time by its size, also where all of it is one line.
 */
import { createReadStream } from "node:fs";
import { TextDecoder } from "node:util";
import { ActivityError, whyRefused } from "../errors.ts";

/**
 * The lines of a file, of stdin for `-`, one by one, without their ends: UTF-8, or UTF-16 with its mark, as a Windows shell
 * writes it.
 *
 * @throws ActivityError `bad_request` when it cannot be read, or is compressed
 */
export async function* readTextLines(file: string): AsyncGenerator<string, void, undefined> {
  // What the line is made of that has not ended yet: joined once, when it has.
  let begun: string[] = [];
  for await (const text of readText(file)) {
    const [head = "", ...rest] = text.split("\n");
    begun.push(head);
    const last = rest.pop();
    if (last === undefined) continue;
    yield joined(begun, file);
    yield* rest;
    begun = [last];
  }
  const end = joined(begun, file);
  if (end !== "") yield end;
}

/** One text of many. What is longer than a text can be has another way in. */
export function joined(parts: readonly string[], file: string, between = ""): string {
  try {
    return parts.join(between);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new ActivityError(
      "bad_request",
      `${file} is larger than 500 MB, too large to be read at once.`,
      "Import the database it came from, or each bucket's export by itself: activityd import PATH",
      { cause },
    );
  }
}

async function* readText(file: string): AsyncGenerator<string, void, undefined> {
  const input: AsyncIterable<Buffer> = file === "-" ? process.stdin : createReadStream(file);
  let decoder: TextDecoder | null = null;
  let head = Buffer.alloc(0);
  try {
    for await (const chunk of input) {
      if (decoder !== null) {
        yield decoder.decode(chunk, { stream: true });
        continue;
      }
      // A pipe may bring its first bytes one by one.
      head = Buffer.concat([head, chunk]);
      if (head.length < 2) continue;
      decoder = new TextDecoder(encodingOf(head, file));
      yield decoder.decode(head, { stream: true });
    }
  } catch (cause) {
    if (cause instanceof ActivityError) throw cause;
    const reason = whyRefused(cause);
    throw new ActivityError(
      "bad_request",
      `Cannot read ${file}: ${reason}.`,
      "Name an exported file.",
      { cause },
    );
  }
  yield decoder === null ? head.toString("utf8") : decoder.decode();
}

function encodingOf(head: Buffer, file: string): "utf-8" | "utf-16le" | "utf-16be" {
  switch (head.readUInt16BE(0)) {
    case 0xfffe:
      return "utf-16le";
    case 0xfeff:
      return "utf-16be";
    case 0x1f8b:
      throw new ActivityError(
        "bad_request",
        `${file} is compressed.`,
        "Unpack it on the way: gunzip -c FILE | activityd import -",
      );
    default:
      return "utf-8";
  }
}
