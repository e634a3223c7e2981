/** What leaving a hub takes out of the store: everything of other devices, and all that was kept for them. */
import { createDevices } from "../devices.ts";
import type { EventStore } from "../events.ts";
import { createOutbox } from "./outbox.ts";

/** Says whether it was in one: without, records of other devices came by an import, and stay. */
export async function leaveRecords(store: EventStore): Promise<boolean> {
  const outbox = createOutbox(store.database);
  if (!outbox.isStarted()) return false;
  for (const { key } of createDevices(store.database).all()) {
    const labels = store.remote().dropDevice(key);
    await store.eraser.sweep(labels);
  }
  outbox.stop();
  await store.eraser.shred();
  return true;
}
