/** A bar for long work, on stderr and only where a person looks at it. */
import type { CliIo } from "./io.ts";

export interface Progress {
  /** Tells how far the work is; cheap enough to be called for every item. */
  readonly at: (done: number) => void;
  /** Takes the bar away. */
  readonly end: () => void;
}

const WIDTH = 30;
const REDRAW_MS = 100;

/** `total` is null where the end is not known: then items are counted. `unit` is their word, in the plural. */
export function createProgress(io: CliIo, total: number | null, unit: string): Progress {
  if (!process.stderr.isTTY || io.env["TERM"] === "dumb") return { at: () => {}, end: () => {} };
  let drawnAt = 0;
  let calls = 0;
  return {
    at: (done) => {
      calls += 1;
      // Asking the clock for each of ten million items would cost more than the items.
      if (calls % 256 !== 0) return;
      const now = performance.now();
      if (now - drawnAt < REDRAW_MS) return;
      drawnAt = now;
      process.stderr.write(`\r\u001B[K${describe(done, total, unit)}`);
    },
    end: () => {
      if (drawnAt > 0) process.stderr.write("\r\u001B[K");
    },
  };
}

function describe(done: number, total: number | null, unit: string): string {
  const count = done.toLocaleString("en-US");
  if (total === null || total === 0) return `${count} ${unit}`;
  const share = Math.min(done / total, 1);
  const filled = Math.round(share * WIDTH);
  return `[${"#".repeat(filled)}${".".repeat(WIDTH - filled)}] ${Math.floor(share * 100)} % · ${count} ${unit}`;
}
