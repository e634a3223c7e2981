/** A store with windows in it, a minute apart, and pages of its file spoiled. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, onTestFinished } from "vitest";
import type { EventFacts } from "../../../src/capture/events.ts";
import { silentLog } from "../../../src/log.ts";
import { readAllEvents } from "../../../src/store/event-reader.ts";
import { openEventStore, type EventStore } from "../../../src/store/events.ts";
import type { Recoverer } from "../../../src/store/recovery/aside.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { storable } from "../../helpers/storable.ts";

export const S = 1_000_000;
export const NOW = Date.parse("2026-11-27T12:00:00Z") * 1000;

export function openStore(directory: string, recoverer?: Recoverer): EventStore {
  const clock = createFakeClock("2026-11-27T12:00:00Z");
  const options = recoverer === undefined ? {} : { recoverer };
  const store = openEventStore({ directory, clock, log: silentLog, ...options });
  onTestFinished(() => store.close());
  return store;
}

export function fill(store: EventStore, count: number): void {
  store.database.transaction(() => {
    for (let n = count; n > 0; n -= 1) store.begin(window(n), span(NOW - n * 60 * S));
  });
  store.settle();
  expect([...readAllEvents(store.database)].flat()).toHaveLength(count);
}

export function window(n: number): EventFacts {
  return { kind: "window", app: storable("App"), title: storable(`document ${n}`), place: null };
}

export function span(startUs: number) {
  return { startUs, endUs: startUs + 50 * S, utcOffsetMinutes: 0, timeZone: "UTC" };
}

export function overwrite(path: string, page: number): void {
  const bytes = readFileSync(path);
  bytes.fill(0x5a, (page - 1) * 4096, page * 4096);
  writeFileSync(path, bytes);
}
