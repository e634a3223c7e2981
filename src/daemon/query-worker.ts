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

/** JSON in bytes, which are handed over as they are: to take a long answer apart and write it would hold up the others. */
export type QueryAnswer =
  | { readonly id: number; readonly json: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly failure: string };

const path: unknown = workerData?.path;

standBack();

parentPort?.on("message", ({ id, body }: QueryMessage) => {
  const reply = (answer: QueryAnswer): void =>
    parentPort?.postMessage(answer, "json" in answer ? [answer.json.buffer] : []);
  try {
    requireVersion(workerData?.version);
    if (typeof path !== "string") throw new Error("The thread was started without a database.");
    // Opened for each query, so that it never holds up the writer's housekeeping.
    const database = openDatabase({ path, role: "reader" });
    try {
      const results = runQueries(body, createBucketStore(database));
      reply({ id, json: new TextEncoder().encode(JSON.stringify(results)) });
    } finally {
      database.close();
    }
  } catch (thrown) {
    reply({ id, failure: thrown instanceof Error ? thrown.message : String(thrown) });
  }
});
