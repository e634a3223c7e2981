import { describe, expect, it, onTestFinished } from "vitest";
import type { EventFacts } from "../../../src/capture/events.ts";
import { silentLog } from "../../../src/log.ts";
import { openEventStore, type EventStore } from "../../../src/store/events.ts";
import { openReadings, type Readings } from "../../../src/store/readings.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { storable } from "../../helpers/storable.ts";
import { createTempHome } from "../../helpers/temp-home.ts";

const S = 1_000_000;
const T0 = Date.parse("2026-11-27T09:00:00Z") * 1000;

describe("a search", () => {
  it("finds by stem and without accents, in title, application and place", async () => {
    const { store, search } = openBoth();
    see(store, window("Firefox", "Über Größen und Tänze", "example.org/tango"), 0);
    see(store, window("Code", "retries.ts — payments-api"), 10);
    see(
      store,
      {
        kind: "media",
        player: storable("Spotify"),
        title: storable("Tango"),
        artist: storable("Gotan"),
        playing: true,
      },
      20,
    );
    expect(await titles(search, "tanze")).toEqual(["Über Größen und Tänze"]);
    expect(await titles(search, "retry")).toEqual(["retries.ts — payments-api"]);
    expect(await titles(search, "CODE")).toEqual(["retries.ts — payments-api"]);
    expect(await titles(search, "tango")).toEqual(["Tango", "Über Größen und Tänze"]);
    expect(await titles(search, "tango firefox")).toEqual(["Über Größen und Tänze"]);
    expect(await titles(search, "tango code")).toEqual([]);
  });

  it("takes words as beginnings when no document has them whole", async () => {
    const { store, search } = openBoth();
    see(store, window("Code", "idempotency.ts"), 0);
    expect(await titles(search, "idempo")).toEqual(["idempotency.ts"]);
  });

  it("finds a part of a title that has no spaces, and of a word that no other has", async () => {
    const { store, search } = openBoth();
    see(store, window("Firefox", "東京タワーの営業時間"), 0);
    see(store, window("Code", "idempotency.ts"), 10);
    expect(await titles(search, "タワー")).toEqual(["東京タワーの営業時間"]);
    expect(await titles(search, "Potency")).toEqual(["idempotency.ts"]);
    expect(await titles(search, "京都")).toEqual([]);
  });

  it("puts what was last seen first, however old the document is, and tells how long and often", async () => {
    const { store, search } = openBoth();
    see(store, window("A", "report one"), 0);
    see(store, window("A", "report two"), 100);
    see(store, window("A", "report one"), 1000);
    const { hits } = await search.search({ q: "report" });
    expect(hits).toMatchObject([
      { title: "report one", lastUs: T0 + 1005 * S, activeUs: 10 * S, visits: 2 },
      { title: "report two", lastUs: T0 + 105 * S, activeUs: 5 * S, visits: 1 },
    ]);
  });

  it("keeps to the range that is asked for", async () => {
    const { store, search } = openBoth();
    see(store, window("A", "report one"), 0);
    see(store, window("A", "report two"), 1000);
    const ask = async (range: object): Promise<unknown> =>
      (await search.search({ q: "report", ...range })).hits.map(({ title }) => title);
    expect(await ask({ fromUs: T0 + 500 * S })).toEqual(["report two"]);
    expect(await ask({ toUs: T0 + 500 * S })).toEqual(["report one"]);
    expect(await ask({ limit: 1 })).toEqual(["report two"]);
  });

  it("finds what was seen in a range also by words that thousands of newer documents have", async () => {
    const { store, search } = openBoth();
    seeMany(store, 5200, (n) => `report reporting${n}`);
    const ask = async (q: string, range: object): Promise<unknown> =>
      (await search.search({ q, ...range })).hits.map(({ title }) => title);
    const early = { fromUs: T0 + 10 * S, toUs: T0 + 30 * S };
    for (const q of ["report", "repor", "repor reporting"])
      expect(await ask(q, early)).toEqual(["report reporting2", "report reporting1"]);
    expect(await ask("report", { limit: 1 })).toEqual(["report reporting5199"]);
    expect(await ask("repor", { limit: 1 })).toEqual(["report reporting5199"]);
  });

  it("finds beginnings of frequent and rare words together, and such as only old documents have", async () => {
    const { store, search } = openBoth();
    see(store, window("A", "Prüfbericht zur Größe"), 0);
    seeMany(store, 2100, (n) => (n === 50 ? "reporting on Grenoble" : `reporting ${n}`), 100);
    expect(await titles(search, "repor greno")).toEqual(["reporting on Grenoble"]);
    expect(await titles(search, "prufberi gros")).toEqual(["Prüfbericht zur Größe"]);
    expect(await titles(search, "repor berlin")).toEqual([]);
  });

  it("looks through what is newest for words that stand nearly everywhere, and says so", async () => {
    const { store, search } = openBoth();
    // More than the index is asked to merge; some old ones have what no other has.
    store.database.execute(`
      WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100100)
      INSERT INTO document(id, hash, kind, app, title)
        SELECT n, n, 'window', 'A', CASE
          WHEN n = 30 THEN 'reporting summary'
          WHEN n = 31 THEN 'Réporting on Grenoble'
          WHEN n % 2 = 0 THEN 'reporting ' || n ELSE 'summary ' || n END FROM number;
      INSERT INTO visit(start_us, document_id, span_us, active_us)
        SELECT ${T0} + id * ${10 * S}, id, ${5 * S}, ${5 * S} FROM document;`);
    const ask = async (q: string, range: object = {}): Promise<unknown> => {
      const { hits, truncated } = await search.search({ q, limit: 2, ...range });
      return [hits.map(({ documentId }) => documentId), truncated];
    };
    const early = { fromUs: T0 + 285 * S, toUs: T0 + 325 * S };
    expect(await ask("repor")).toEqual([[100_100, 100_098], true]);
    expect(await ask("repor", early)).toEqual([[32, 31], true]);
    expect(await ask("repor greno")).toEqual([[31], false]);
    expect(await ask("reports greno")).toEqual([[31], false]);
    expect(await ask("repor summar")).toEqual([[], true]);
    expect(await ask("repor summar", early)).toEqual([[30], false]);
    expect(await ask("eporting")).toEqual([[100_100, 100_098], true]);
    expect(await ask("eporting", early)).toEqual([[32, 31], true]);
    expect(await ask("summit")).toEqual([[], true]);
  });

  it("says that there may be more where a notification is older than thousands of others", async () => {
    const { store, search } = openBoth();
    const notify = (summary: string, n: number): void => {
      const at = { startUs: T0 + n * S, endUs: T0 + n * S, utcOffsetMinutes: 0, timeZone: "UTC" };
      const facts = { app: storable("Signal"), summary: storable(summary) };
      store.begin({ kind: "notification", ...facts }, at);
    };
    store.database.transaction(() => {
      notify("Grenoble", 0);
      notify("Berlin", 1);
      for (let n = 2; n < 5001; n += 1) notify("again", n);
    });
    const ask = async (q: string, range: object = {}): Promise<unknown> => {
      const { hits, truncated } = await search.search({ q, ...range });
      return [hits.map(({ title }) => title), truncated];
    };
    expect(await ask("berlin")).toEqual([["Berlin"], false]);
    expect(await ask("grenoble")).toEqual([[], true]);
    expect(await ask("grenoble", { toUs: T0 + S })).toEqual([["Grenoble"], false]);
    expect(await ask("marseille")).toEqual([[], false]);
  });

  it("takes what looks like the index's own grammar as words", async () => {
    const { store, search } = openBoth();
    see(store, window("A", 'he said "NEAR" me OR not'), 0);
    for (const q of ['"', "NEAR(", "a AND", "title:", "-x *", "'; DROP TABLE event"]) {
      const outcome = await search.search({ q }).then(
        () => "answered",
        (error: unknown) => error,
      );
      expect(["answered", expect.objectContaining({ code: "bad_request" })]).toContainEqual(
        outcome,
      );
    }
    expect(await titles(search, 'said "near')).toEqual(['he said "NEAR" me OR not']);
  });

  it("says when there are more, and refuses a question without words", async () => {
    const { store, search } = openBoth();
    for (let n = 0; n < 4; n += 1) see(store, window("A", `report ${n}`), n * 100);
    expect(await search.search({ q: "report", limit: 2 })).toMatchObject({ truncated: true });
    await expect(search.search({ q: "!?" })).rejects.toMatchObject({ code: "bad_request" });
    await expect(search.search({ q: "a", limit: 0 })).rejects.toMatchObject({
      code: "bad_request",
    });
  });
});

function openBoth(): { store: EventStore; search: Readings } {
  const clock = createFakeClock("2026-11-27T09:00:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  const search = openReadings(store.database.path);
  onTestFinished(() => {
    search.close();
    store.close();
  });
  return { store, search };
}

function see(store: EventStore, facts: EventFacts, afterS: number): void {
  const startUs = T0 + afterS * S;
  store.begin(facts, { startUs, endUs: startUs + 5 * S, utcOffsetMinutes: 0, timeZone: "UTC" });
  store.settle();
}

/** Documents one after the other, ten seconds each. */
function seeMany(
  store: EventStore,
  count: number,
  titleOf: (n: number) => string,
  afterS = 0,
): void {
  store.database.transaction(() => {
    for (let n = 0; n < count; n += 1) {
      const startUs = T0 + (afterS + n * 10) * S;
      const span = { startUs, endUs: startUs + 5 * S, utcOffsetMinutes: 0, timeZone: "UTC" };
      store.begin(window("A", titleOf(n)), span);
    }
  });
  store.settle();
}

function window(app: string, title: string, place: string | null = null): EventFacts {
  return {
    kind: "window",
    app: storable(app),
    title: storable(title),
    place: place === null ? null : storable(place),
  };
}

async function titles(search: Readings, q: string): Promise<readonly (string | null)[]> {
  return (await search.search({ q })).hits.map(({ title }) => title);
}
