/**
 * Server-sent events on the wire (WHATWG HTML §9.2.6), as far as a proxy needs them: where one ends, what it
 * carries, how to write another. It promises that bytes which are not touched come out as they went in,
 * whatever the pieces they came in.
 */

/** What an event carries: its name, and its data as JSON where it is some, else as text. */
export interface StreamEvent {
  readonly name: string | null;
  readonly data: unknown;
}

export interface EventSplitter {
  /** The events that are whole now, each with the blank line that ends it. */
  readonly push: (chunk: Buffer) => readonly Buffer[];
  /** Takes what has come of the event that is not whole yet. */
  readonly rest: () => Buffer;
}

/** An event larger than this is not waited for: what came of it counts as an event. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;

export function createEventSplitter(): EventSplitter {
  let pieces: Buffer[] = [];
  let length = 0;
  /** Whether the bytes so far end a line, and whether that line end was a CR that a LF may still join. */
  let atLineStart = false;
  let afterCarriageReturn = false;

  const take = (): Buffer => {
    const whole =
      pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
    pieces = [];
    length = 0;
    return whole;
  };

  return {
    push: (chunk) => {
      const events: Buffer[] = [];
      let from = 0;
      const endEvent = (end: number): void => {
        pieces.push(chunk.subarray(from, end));
        from = end;
        atLineStart = false;
        events.push(take());
      };
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at];
        if (byte === LINE_FEED && afterCarriageReturn) {
          // The second half of a CRLF. When the CR ended an event already, it stays with the next one.
          afterCarriageReturn = false;
          continue;
        }
        afterCarriageReturn = byte === CARRIAGE_RETURN;
        if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
          atLineStart = false;
          continue;
        }
        if (!atLineStart) {
          atLineStart = true;
          continue;
        }
        // With CRLF the event ends behind the LF, when that is here already.
        const withLineFeed = byte === CARRIAGE_RETURN && chunk[at + 1] === LINE_FEED;
        if (withLineFeed) {
          at += 1;
          afterCarriageReturn = false;
        }
        endEvent(at + 1);
      }
      if (from < chunk.length) {
        pieces.push(chunk.subarray(from));
        length += chunk.length - from;
        if (length > MAX_EVENT_BYTES) events.push(take());
      }
      return events;
    },
    rest: take,
  };
}

/** What an event carries; null for one without data, such as a comment. */
export function readEvent(raw: Buffer): StreamEvent | null {
  let name: string | null = null;
  const data: string[] = [];
  for (const line of raw.toString("utf8").split(/\r\n|\n|\r/)) {
    if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line.startsWith("event:")) name = line.slice(line[6] === " " ? 7 : 6);
  }
  if (data.length === 0) return null;
  const text = data.join("\n");
  try {
    return { name, data: JSON.parse(text) };
  } catch {
    return { name, data: text };
  }
}

export function renderEvent({ name, data }: StreamEvent): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${name === null ? "" : `event: ${name}\n`}data: ${text}\n\n`;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
