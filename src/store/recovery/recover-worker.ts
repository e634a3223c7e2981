/** The thread in which a damaged database is read. It promises one answer, and to leave the processor to others. */
import { parentPort, workerData } from "node:worker_threads";
import { toErrorEnvelope, type ErrorEnvelope } from "../../errors.ts";
import { readRemains, type Place, type RecoveredCounts } from "../recovery.ts";
import { standBack } from "../stand-back.ts";

export type RecoveryAnswer = { readonly counts: RecoveredCounts } | ErrorEnvelope;

const { directory, path, nowUs } = workerData as Place;

standBack();
parentPort?.postMessage(answer());

function answer(): RecoveryAnswer {
  try {
    return { counts: readRemains({ directory, path, nowUs }) };
  } catch (thrown) {
    return toErrorEnvelope(thrown);
  }
}
