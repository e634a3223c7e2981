import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSystemEventQueue } from "../../src/auto-reply/reply/system-events.ts";
import { openDatabase } from "../../src/store/database.ts";
import { createSessionEventTable } from "../../src/store/session-events.ts";
import { createTempHome } from "../helpers/temp-home.ts";

function openQueue(path: string) {
  const database = openDatabase({ path });
  onTestFinished(() => database.close());
  return createSystemEventQueue({
    rows: createSessionEventTable(database),
    nowUs: () => 1_000_000,
  });
}

describe("the event queue in SQLite", () => {
  test("survives a restart, told and waiting alike", () => {
    const path = join(createTempHome(), "activity.db");
    const texts = (events: readonly { readonly text: string }[]) => events.map(({ text }) => text);
    const before = openQueue(path);
    before.enqueue({ session: "a", text: "one" });
    before.drain("a", texts, "request 1");
    before.enqueue({ session: "a", text: "two" });
    const after = openQueue(path);
    expect(after.drain("a", texts, "request 1")).toEqual(["one"]);
    expect(after.drain("a", texts)).toEqual(["two"]);
  });

  test("two readers that race share no event and lose none", async () => {
    const path = join(createTempHome(), "activity.db");
    const queue = openQueue(path);
    const total = 300;
    const started = new SharedArrayBuffer(4);
    const other = startReader(path, started);
    await other.ready;
    for (let number = 0; number < total; number += 1) {
      // Every session holds two, so that no event is dropped for want of room.
      queue.enqueue({ session: `s${number >> 1}`, text: `event ${number}` });
    }
    Atomics.store(new Int32Array(started), 0, total >> 1);
    Atomics.notify(new Int32Array(started), 0);
    const told: string[] = [];
    for (let session = 0; session < total >> 1; session += 1) {
      told.push(...queue.drain(`s${session}`, (events) => events.map(({ text }) => text)));
    }
    told.push(...(await other.told));
    expect(told.toSorted()).toEqual(
      Array.from({ length: total }, (_, number) => `event ${number}`).toSorted(),
    );
  });
});

interface Reader {
  readonly ready: Promise<void>;
  readonly told: Promise<readonly string[]>;
}

/**
 * Another process's reader: a connection of its own in a thread of its own, which drains every session as soon
 * as it is told how many there are.
 */
function startReader(path: string, started: SharedArrayBuffer): Reader {
  const worker = new Worker(
    `const { workerData, parentPort } = require("node:worker_threads");
     const database = new (require(workerData.sqlite))(workerData.path, { timeout: 5000 });
     const waiting = database.prepare("SELECT id, text FROM session_event WHERE session = ? AND told_to IS NULL ORDER BY id");
     const remove = database.prepare("DELETE FROM session_event WHERE id = ?");
     const drain = database.transaction((session) => {
       const rows = waiting.all(session);
       for (const { id } of rows) remove.run(id);
       return rows.map(({ text }) => text);
     });
     const cell = new Int32Array(workerData.started);
     parentPort.postMessage("ready");
     Atomics.wait(cell, 0, 0);
     const told = [];
     for (let number = 0; number < cell[0]; number += 1) told.push(...drain.immediate("s" + number));
     database.close();
     parentPort.postMessage(told);`,
    {
      eval: true,
      workerData: { path, started, sqlite: join(process.cwd(), "node_modules/better-sqlite3") },
    },
  );
  onTestFinished(async () => {
    await worker.terminate();
  });
  const messages = receive(worker);
  return {
    ready: messages.next().then(() => {}),
    told: messages.next().then(({ value }) => value as readonly string[]),
  };
}

async function* receive(worker: Worker): AsyncGenerator {
  const queue: unknown[] = [];
  let wake = (): void => {};
  worker.on("message", (message) => {
    queue.push(message);
    wake();
  });
  worker.on("error", (error) => {
    queue.push(error);
    wake();
  });
  for (;;) {
    if (queue.length > 0) yield queue.shift();
    else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}
