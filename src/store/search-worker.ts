/**
 * The thread in which searches run, so that none delays a block. It promises one answer to each message, and
 * opens the database for reading at each, so that it never holds up the writer's housekeeping.
 */
import { parentPort } from "node:worker_threads";
import { toErrorEnvelope } from "../errors.ts";
import { openDatabase } from "./database.ts";
import { searchDocuments, type SearchRequest } from "./search-query.ts";

export interface SearchMessage {
  readonly id: number;
  readonly path: string;
  readonly request: SearchRequest;
}

parentPort?.on("message", ({ id, path, request }: SearchMessage) => {
  try {
    const database = openDatabase({ path, role: "reader" });
    try {
      parentPort?.postMessage({ id, answer: searchDocuments(database, request) });
    } finally {
      database.close();
    }
  } catch (error) {
    parentPort?.postMessage({ id, failure: toErrorEnvelope(error) });
  }
});
