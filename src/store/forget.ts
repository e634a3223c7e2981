/**
 * Taking out what a plan names, on the owner's word. It promises that what lies beside the wish stays, cut at
 * its edges where need be, and that requests are answered meanwhile.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventFacts } from "../capture/events.ts";
import type { StoreDatabase } from "./database.ts";
import { createOutbox } from "./devices/outbox.ts";
import { readFacts, type FactsRow } from "./stored-facts.ts";
import type { EventStore } from "./events.ts";
import type { CutEvent, ForgetPlan, ForgetWish, RemotePlan } from "./forget/plan.ts";

export interface ForgottenCounts {
  readonly events: number;
  readonly cut: number;
  readonly rewritten: number;
  readonly documents: number;
}

/**
 * Does what a plan says. What is recorded meanwhile is left alone. `isForGood`: nothing brings back what other
 * devices recorded; otherwise only this store does without it, as when its own rules do not let it by.
 */
export async function carryOut(
  store: EventStore,
  plan: ForgetPlan,
  isForGood = true,
): Promise<ForgottenCounts> {
  const hasTold = createOutbox(store.database).hasTold();
  for (const event of plan.cut) {
    // First the part that stays, then the cut: a crash in between leaves too much rather than too little. Put in, so
    // that the wish which comes again after it finds that part there.
    const startUs = hasTold ? startAfterCut(event) : event.keepFromUs;
    if (startUs !== null && startUs < event.endUs) store.put(event.facts, { ...event, startUs });
    if (event.keepUntilUs !== null) store.setEnd(event.id, event.keepUntilUs);
  }
  const gone = [
    ...plan.whole,
    ...plan.cut.flatMap(({ id, keepUntilUs }) => (keepUntilUs === null ? [id] : [])),
  ];
  if (hasTold && isForGood) store.remote().forgetOwn(gone);
  const erased = await store.eraser.events(gone, "forget");
  const rewritten = await store.eraser.rewrite(plan.rewritten);
  const elsewhere = await carryOutElsewhere(store, plan.remote, isForGood);
  return {
    events: erased.events - (gone.length - plan.whole.length) + plan.remote.whole.length,
    cut: plan.cut.length + plan.remote.cut.length + plan.remote.aside.length,
    rewritten: rewritten.events + plan.remote.rewritten.length,
    documents: erased.documents + rewritten.documents + elsewhere,
  };
}

/**
 * Where the part behind a cut begins where there are other devices: less than a millisecond behind the cut, at an instant
 * that follows from the event's own start. One wish cuts the events of several devices, and an event that begins as
 * another's does is taken for the same one, told twice.
 */
function startAfterCut({ keepFromUs, startUs }: CutEvent): number | null {
  return keepFromUs === null ? null : keepFromUs + (startUs % CUT_STARTS);
}

/** Prime: starts are whole milliseconds mostly, and are to spread all the same. */
const CUT_STARTS = 997;

/** The same in the record of other devices. Returns how many documents went. */
async function carryOutElsewhere(
  store: EventStore,
  { whole, cut, aside, rewritten }: RemotePlan,
  isForGood: boolean,
): Promise<number> {
  if (whole.length + cut.length + aside.length + rewritten.length === 0) return 0;
  const remote = store.remote();
  const labels = new Set<number>();
  const note = (gone: ReadonlySet<number>): void => {
    for (const label of gone) labels.add(label);
  };
  for (const { id, keepUntilUs } of cut) remote.cut(id, keepUntilUs);
  const leaving = isForGood ? [] : whole;
  for (const some of inBatches([...leaving, ...aside])) {
    note(remote.drop(some));
    await nextTurn();
  }
  for (const some of inBatches(isForGood ? whole : [])) {
    note(remote.forget(some));
    await nextTurn();
  }
  for (const some of inBatches(rewritten)) {
    note(remote.rewrite(some));
    await nextTurn();
  }
  return (await store.eraser.sweep(labels)).documents;
}

function* inBatches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += ROWS_PER_STEP)
    yield items.slice(from, from + ROWS_PER_STEP);
}

/** A few milliseconds of work. */
const ROWS_PER_STEP = 200;

/** Erases the totals that outlived their events: those of applications that are meant, and of whole days. */
export function forgetTotals(
  store: EventStore,
  isMeant: ((facts: EventFacts) => boolean) | null,
  days: { readonly first: number; readonly last: number } | null,
): void {
  const { database } = store;
  if (days !== null && isMeant === null) {
    database.transaction(() => {
      database
        .prepare("DELETE FROM day_total WHERE local_day BETWEEN ? AND ?")
        .run(days.first, days.last);
      database
        .prepare("DELETE FROM day WHERE local_day BETWEEN ? AND ?")
        .run(days.first, days.last);
    });
  }
  if (isMeant === null || days !== null) return;
  const appOnly = database
    .prepare<FactsRow>(
      `SELECT 0 AS label_id, NULL AS raw_title, NULL AS facts, app, title, place FROM document
        WHERE kind = 'window' AND title IS NULL AND place IS NULL`,
    )
    .all();
  const takeFromDays = database.prepare(
    `UPDATE day SET active_us = active_us - (
        SELECT coalesce(sum(active_us), 0) FROM day_total
          WHERE day_total.local_day = day.local_day
            AND document_id IN (SELECT id FROM document WHERE app = ?))`,
  );
  for (const row of appOnly) {
    if (row.app === null || !isMeant(readFacts(row))) continue;
    takeFromDays.run(row.app);
    store.eraser.totalsOf(row.app);
  }
  database.execute("DELETE FROM day WHERE active_us <= 0");
}

/**
 * Removes, or counts, rows of every table beside the events' own that meet all of the wish that is given: made
 * (`at_us`) within the span, holding the text. What clients left here is forgotten too, whatever the table is
 * called.
 */
export function forgetOtherRows(
  database: StoreDatabase,
  { span, holds }: { readonly span: ForgetWish["span"]; readonly holds: TextMatcher | null },
  dryRun: boolean,
): number {
  if (span === null && holds === null) return 0;
  let count = 0;
  for (const { name, texts, isTimed } of otherTables(database)) {
    const columns = [...texts, ...(isTimed ? ["at_us"] : [])].map(quoteName);
    if (columns.length === 0) continue;
    const rowIds = database
      .prepare<Record<string, string | number | null>>(
        `SELECT rowid AS row_id, ${columns.join(", ")} FROM ${quoteName(name)}`,
      )
      .all()
      .filter((row) => {
        const atUs = isTimed ? Number(row["at_us"]) : Number.NaN;
        if (span !== null && !(atUs >= span.fromUs && atUs < span.toUs)) return false;
        const found = texts.map((column) => row[column]);
        return holds === null || found.some((text) => typeof text === "string" && holds(text));
      })
      .map((row) => row["row_id"] ?? null);
    count += rowIds.length;
    if (dryRun) continue;
    const drop = database.prepare(`DELETE FROM ${quoteName(name)} WHERE rowid = ?`);
    database.transaction(() => {
      for (const rowId of rowIds) drop.run(rowId);
    });
  }
  return count;
}

type TextMatcher = (text: string) => boolean;

/** Tables with rows of their own, with the columns that hold text, and whether `at_us` says when a row was made. */
function otherTables(database: StoreDatabase) {
  const columnsOf = database.prepare<{ name: string; type: string }>(
    "SELECT name, type FROM pragma_table_info(?)",
  );
  return database
    .prepare<{ name: string }>(
      `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT wr
         AND name NOT LIKE 'sqlite_%'`,
    )
    .all()
    .filter(({ name }) => !OWN_TABLES.has(name))
    .map(({ name }) => {
      const columns = columnsOf.all(name);
      return {
        name,
        texts: columns.filter(({ type }) => type === "TEXT").map((column) => column.name),
        isTimed: columns.some((column) => column.name === "at_us"),
      };
    });
}

/** Tables that are seen to on their own, or that hold no text of anybody's. */
const OWN_TABLES: ReadonlySet<string> = new Set([
  "event",
  "label",
  "document",
  "visit",
  "day",
  "day_total",
  "hour_total",
  "zone",
  "meta",
  "ledger",
  "bucket",
  "bucket_event",
  "device",
  "hub_change",
  "hub_held",
  "hub_log",
  "hub_message",
]);

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Those of the texts that no row holds any more: what may be in no file. */
export async function textsWithoutRow(
  database: StoreDatabase,
  texts: readonly string[],
): Promise<readonly string[]> {
  const find = database.prepare(
    `SELECT 1 FROM document WHERE instr(app, ?) OR instr(title, ?) OR instr(place, ?)
      UNION ALL SELECT 1 FROM label WHERE instr(title, ?) OR instr(facts, ?)
      UNION ALL SELECT 1 FROM ledger WHERE instr(text, ?) OR instr(reasons, ?)
        OR instr(owner_text, ?) LIMIT 1`,
  );
  const gone: string[] = [];
  for (const text of texts) {
    if (find.get(...Array.from({ length: 8 }, () => text)) === undefined) gone.push(text);
    await nextTurn();
  }
  return gone;
}
