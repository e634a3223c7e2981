/**
 * The thread in which long readings of the record run, so that none delays a block. It promises one answer to each
 * message, and opens the database for reading at each, so that it never holds up the writer's housekeeping.
 */
import { parentPort } from "node:worker_threads";
import { toErrorEnvelope } from "../errors.ts";
import { readHere, type Question } from "./readings.ts";

export interface ReadingMessage {
  readonly id: number;
  readonly path: string;
  readonly question: Question;
}

parentPort?.on("message", ({ id, path, question }: ReadingMessage) => {
  try {
    parentPort?.postMessage({ id, answer: readHere(path, question) });
  } catch (error) {
    parentPort?.postMessage({ id, failure: toErrorEnvelope(error) });
  }
});
