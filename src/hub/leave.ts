/** What leaving a hub takes out of the store: everything of other devices, and all that was kept for them. */
import { createDevices } from "../store/devices.ts";
import type { EventStore } from "../store/events.ts";
import { createOutbox } from "../store/outbox.ts";

export async function leaveRecords(store: EventStore): Promise<void> {
  for (const { key } of createDevices(store.database).all()) {
    const labels = store.remote().dropDevice(key);
    await store.eraser.sweep(labels);
  }
  createOutbox(store.database).stop();
  await store.eraser.shred();
}
