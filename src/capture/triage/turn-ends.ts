/** Which end of a time a turn asks for: "the last thing I did yesterday", "womit hab ich heute angefangen?". */
import { compilePhrases } from "./phrases.ts";
import type { TimeEnd } from "./turn-reading.ts";
import type { Token } from "./turn-tokens.ts";

const ENDS = compilePhrases<TimeEnd>([
  [
    "first",
    "first thing|the first thing|first|start with|started with|start on|started on|start the day|started the day|begin with|began with|begun with|begin the day|began the day|kick off with|kicked off with",
  ],
  [
    "last",
    "last thing|the last thing|last|finish with|finished with|finish on|finished on|finish the day|finished the day|end with|ended with|end the day|ended the day|wrap up with|wrapped up with|stop with|stopped with",
  ],
  [
    "first",
    "als erstes|als erste|als erster|zuerst|das erste|zu allererst|angefangen|anfing|begonnen|begann|losgelegt|ging s los|gings los|ging es los",
  ],
  [
    "last",
    "als letztes|als letzte|als letzter|zuletzt|das letzte|zum schluss|am schluss|zu guter letzt|aufgehört|aufhörte|geendet|schluss gemacht",
  ],
]);

/** @param taken Indexes of tokens that belong to times: "last Friday" is no end of one. */
export function readTimeEnd(tokens: readonly Token[], taken: ReadonlySet<number>): TimeEnd | null {
  // "What did I start today with?": the time may stand within the words.
  const free = tokens.filter((_, index) => !taken.has(index));
  for (let index = 0; index < free.length; index++) {
    const match = ENDS.match(free, index);
    if (match !== null) return match.meaning;
  }
  return null;
}
