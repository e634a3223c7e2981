/**
 * The process in which long readings of the record run, so that none delays a block. It promises one answer to each
 * message, to open the database anew at each, so that it never holds up the writer's housekeeping, to read for its own
 * version alone, and to end with the process that started it.
 */
import { getPriority, setPriority } from "node:os";
import { toErrorEnvelope } from "../../errors.ts";
import { requireVersion } from "../../version.ts";
import { runHere, type Errand } from "../readings.ts";
import { NICENESS } from "../stand-back.ts";

export interface ReadingMessage {
  readonly id: number;
  readonly path: string;
  readonly errand: Errand;
  readonly encoding: "identity" | "gzip";
}

// A block comes first. With less than a third of a share, a year would not be read while all processors are wanted.
// One that stands back further already may not be able to come forward.
if (getPriority() < NICENESS) setPriority(NICENESS);
process.once("disconnect", () => process.exit(0));
process.on("message", ({ id, path, errand, encoding }: ReadingMessage) => {
  try {
    requireVersion(process.argv[2]);
    process.send?.({ id, answer: runHere(path, errand, encoding) });
  } catch (error) {
    process.send?.({ id, failure: toErrorEnvelope(error) });
  }
});
