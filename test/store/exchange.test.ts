import { describe, expect, it, onTestFinished } from "vitest";
import type { EventFacts } from "../../src/capture/events.ts";
import { silentLog } from "../../src/log.ts";
import { openEventStore, type EventStore } from "../../src/store/events.ts";
import { createExchangeImporter, exportLines } from "../../src/store/exchange.ts";
import { openReadings } from "../../src/store/readings.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const HEADER = '{"activityd":"export","format":1}';
const S = 1_000_000;

describe("an import", () => {
  it("can be searched in while the rest is still coming in", async () => {
    const store = openStore();
    const importer = createExchangeImporter(HEADER, store, admit);
    for (let n = 0; n < 700; n += 1) importer.take(line(n));
    const search = openReadings(store.database.path);
    expect((await search.search({ q: "title 499" })).hits).toHaveLength(1);
    expect((await search.search({ q: "title 650" })).hits).toEqual([]);
    expect(importer.finish()).toMatchObject({ added: 700 });
    expect((await search.search({ q: "title 650" })).hits).toHaveLength(1);
    search.close();
  });

  it("lengthens an event that went on in a later export, and shortens none", () => {
    const store = openStore();
    const take = (lengthS: number): unknown => {
      const importer = createExchangeImporter(HEADER, store, admit);
      importer.take(line(1, lengthS));
      return importer.finish();
    };
    expect(take(5)).toMatchObject({ added: 1 });
    expect(take(9)).toMatchObject({ added: 0, extended: 1 });
    expect(take(3)).toMatchObject({ added: 0, extended: 0, present: 1 });
    const parts = [...exportLines(store.database)].map(({ text }) => text);
    expect(parts.join("")).toBe(`${HEADER}\n${exported(1, 9)}\n`);
  });
});

function openStore(): EventStore {
  const clock = createFakeClock("2026-11-27T09:00:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  onTestFinished(() => {
    store.close();
  });
  return store;
}

/** A gate that lets everything by: the real one is tested with the command. */
function admit(facts: {
  readonly kind: string;
  readonly title?: string | null;
}): EventFacts | null {
  return {
    kind: "window",
    app: storable("Code"),
    title: storable(facts.title ?? ""),
    place: null,
  };
}

function line(n: number, lengthS = 5): string {
  const startUs = 1_780_000_000_000_000 + n * 10 * S;
  const span = { startUs, endUs: startUs + lengthS * S, utcOffsetMinutes: 0, timeZone: "UTC" };
  return JSON.stringify({ kind: "window", app: "Code", title: `title ${n}`, place: null, ...span });
}

function exported(n: number, lengthS: number): string {
  const { kind, app, title, place, ...span } = JSON.parse(line(n, lengthS));
  return JSON.stringify({ ...span, kind, app, title, place });
}
