/** The thread in which a database is looked through. It promises one answer, and to leave the processor to others. */
import { parentPort, workerData } from "node:worker_threads";
import { findDamage } from "../sqlite.ts";
import { standBack } from "../stand-back.ts";

export interface CheckAnswer {
  /** What is wrong with it; null: nothing. */
  readonly damage: string | null;
}

const path: unknown = workerData?.path;

standBack();
if (typeof path === "string") {
  const answer: CheckAnswer = { damage: findDamage(path) };
  parentPort?.postMessage(answer);
}
