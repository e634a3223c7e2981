/** The thread in which queries run. It promises one answer to each message, and never to write. */
import { parentPort, workerData } from "node:worker_threads";
import { runQueries } from "../activitywatch/query.ts";
import { createBucketStore } from "../store/buckets.ts";
import { openDatabase } from "../store/database.ts";
import { standBack } from "../store/stand-back.ts";
import { requireVersion } from "../version.ts";

export interface QueryMessage {
  readonly id: number;
  readonly body: unknown;
}

/** `failure` null: `value` is the answer. */
export interface QueryAnswer {
  readonly id: number;
  readonly value: unknown;
  readonly failure: string | null;
}

const path: unknown = workerData?.path;

standBack();

parentPort?.on("message", ({ id, body }: QueryMessage) => {
  const reply = (answer: QueryAnswer): void => parentPort?.postMessage(answer);
  try {
    requireVersion(workerData?.version);
    if (typeof path !== "string") throw new Error("The thread was started without a database.");
    // Opened for each query, so that it never holds up the writer's housekeeping.
    const database = openDatabase({ path, role: "reader" });
    try {
      reply({ id, value: runQueries(body, createBucketStore(database)), failure: null });
    } finally {
      database.close();
    }
  } catch (thrown) {
    reply({ id, value: null, failure: thrown instanceof Error ? thrown.message : String(thrown) });
  }
});
