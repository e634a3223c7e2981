/**
 * The ledger as it is read on a page that goes on: newest first, older entries on demand, new ones without the
 * reader's place moving. Pure; it promises that an entry stands once, with the newest count that was heard of it.
 */
import type { LedgerAnswer, LedgerEntry, LedgerRequest } from "../../../api.ts";

export interface LedgerFeed {
  /** Newest first. */
  readonly entries: readonly LedgerEntry[];
  /** New entries that wait until the reader asks for them, newest first. */
  readonly waiting: readonly LedgerEntry[];
  /** Whether more than those that wait happened in between: the shown entries go when they are shown. */
  readonly isApart: boolean;
  /** Whether there are older entries than those shown. */
  readonly hasOlder: boolean;
}

/** How many entries are asked for at once. */
export const PAGE_ENTRIES = 30;

/** A page that is open for days keeps so many of what came in; older ones can be asked for again. */
const MAX_LIVE = 300;

export function startFeed({ entries, truncated }: LedgerAnswer): LedgerFeed {
  return { entries, waiting: [], isApart: false, hasOlder: truncated };
}

/** What to ask for the entries behind the last one shown; null when there are none. */
export function olderRequest(feed: LedgerFeed): LedgerRequest | null {
  const last = feed.entries.at(-1);
  if (last === undefined || !feed.hasOlder) return null;
  // The answer begins with every entry that was begun before that moment, those that went on after it included.
  const overlap = feed.entries.filter(({ firstUs }) => firstUs <= last.lastUs).length;
  return { toUs: last.lastUs, limit: overlap + PAGE_ENTRIES };
}

export function addOlder(feed: LedgerFeed, { entries, truncated }: LedgerAnswer): LedgerFeed {
  const known = new Set([...feed.entries, ...feed.waiting].map(({ id }) => id));
  const older = entries.filter(({ id }) => !known.has(id));
  return { ...feed, entries: [...feed.entries, ...older], hasOlder: truncated };
}

/** What to ask for what happened since the newest entry that is known, that entry included. */
export function newerRequest({ entries, waiting }: LedgerFeed): LedgerRequest {
  const newest = waiting.at(0) ?? entries.at(0);
  return newest === undefined
    ? { limit: PAGE_ENTRIES }
    : { fromUs: newest.lastUs, limit: PAGE_ENTRIES };
}

/**
 * Takes in what is new. Counts of entries that are shown change where they stand; new entries wait while `isHeld`,
 * so that what is being read stays in its place. Where nothing is new it gives the same feed. When more happened than
 * one answer holds, the feed begins anew.
 */
export function addNewer(feed: LedgerFeed, answer: LedgerAnswer, isHeld: boolean): LedgerFeed {
  // Between the oldest of these and the newest that is known others may lie.
  if (answer.truncated) {
    return isHeld ? { ...feed, waiting: answer.entries, isApart: true } : startFeed(answer);
  }
  const known = new Set([...feed.entries, ...feed.waiting].map(({ id }) => id));
  const heard = new Map(answer.entries.map((entry) => [entry.id, entry]));
  const update = (entry: LedgerEntry): LedgerEntry => {
    const now = heard.get(entry.id);
    return now === undefined || now.times === entry.times ? entry : now;
  };
  const fresh = answer.entries.filter(({ id }) => !known.has(id));
  const isChanged = (entry: LedgerEntry): boolean => update(entry) !== entry;
  if (fresh.length === 0 && ![...feed.entries, ...feed.waiting].some(isChanged)) return feed;
  const next = {
    ...feed,
    entries: feed.entries.map(update),
    waiting: [...fresh, ...feed.waiting.map(update)],
  };
  if (!isHeld) return showWaiting(next);
  if (next.waiting.length <= MAX_LIVE) return next;
  return { ...next, waiting: byNewest(next.waiting).slice(0, PAGE_ENTRIES), isApart: true };
}

/** Puts what waited before the rest, and everything in its order. */
export function showWaiting(feed: LedgerFeed): LedgerFeed {
  const { entries, waiting, hasOlder, isApart } = feed;
  if (isApart) return startFeed({ entries: waiting, truncated: true });
  const all = byNewest([...waiting, ...entries]);
  return startFeed({
    entries: all.slice(0, MAX_LIVE),
    truncated: hasOlder || all.length > MAX_LIVE,
  });
}

function byNewest(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  return [...entries].sort((a, b) => b.lastUs - a.lastUs || b.id - a.id);
}
