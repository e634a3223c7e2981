/**
 * What can be said about one moment, in any order: a day, a week, a part of the day, a time on the clock. It
 * promises to begin a new moment where something is said twice.
 */
import { parseAtom, type Atom } from "./atoms.ts";
import type { ClockNode } from "./clock.ts";
import { readConnector, readLead, type Bound, type Lead } from "./lead.ts";
import type { Lexed } from "./lexer.ts";
import type { MomentNode } from "./nodes.ts";

export interface Collected {
  readonly moment: MomentNode;
  readonly bound: Bound | null;
  /** "right before" within: "on Monday just before noon". */
  readonly close: boolean;
  readonly future: boolean;
  readonly next: number;
}

/** Gathers what is said from `start` on; null when nothing is. `seed` ends at `seedNext`. */
export function collectMoment(
  lexed: Lexed,
  start: number,
  seed: MomentNode,
  lead: Lead,
  seedNext = start,
): Collected | null {
  let moment: MomentNode = lead.links.includes("around") ? { ...seed, around: true } : seed;
  let next = seedNext;
  let bound: Bound | null = null;
  let close = false;
  let future = false;
  let current: Lead = lead;
  let at = start;
  for (;;) {
    const atom = parseAtom(lexed, at, current, moment);
    const merged = atom === null ? null : merge(moment, atom);
    if (atom === null || merged === null) break;
    moment = current.links.includes("around") ? { ...merged, around: true } : merged;
    future ||= atom.future;
    // "yesterday after 5", "on Tuesday from 3 pm": the bound stands inside.
    if (at !== start) {
      bound = current.bound ?? (opensAt(current, atom) ? "since" : bound);
      close ||= current.close;
    }
    next = atom.next;
    // "between noon and 3": the second end of a range is no more of the first.
    if (lead.opener === "between" && readConnector(lexed, next, true) !== null) break;
    current = readLead(lexed, next, true);
    at = current.next;
    // "On Monday from 3 pm onwards" needs no other word for "since".
    if (lexed.word(next).onward === true && moment.clock !== null) {
      bound = "since";
      next = lexed.after(next);
      break;
    }
  }
  if (
    moment.day === null &&
    moment.period === null &&
    moment.part === null &&
    moment.clock === null
  ) {
    return future && next !== seedNext ? { moment, bound, close, future, next } : null;
  }
  return { moment, bound, close, future, next };
}

/** "from 3 pm" without an end is the time since; "la réunion de 15h" is the one at three. */
export function opensAt(
  { opener, links }: Lead,
  { clock, clockEnd }: { readonly clock?: ClockNode | null; readonly clockEnd?: ClockNode | null },
): boolean {
  return opener === "from" && !links.includes("of") && clock != null && clockEnd == null;
}

/** Null when the atom says again what is said already: a new expression begins there. */
function merge(moment: MomentNode, atom: Atom): MomentNode | null {
  const whole = atom.whole === true || moment.whole;
  const overDay = moment.day?.type === "back" && atom.period?.loose !== true;
  // "le jeudi 19 novembre": the weekday says again which day the date is.
  const sameDay = moment.day?.type === "weekday" && atom.day?.type === "date";
  const clash =
    (atom.day !== undefined && moment.day !== null && !whole && !sameDay) ||
    (atom.period !== undefined && (moment.period !== null || overDay)) ||
    (atom.part !== undefined && moment.part !== null) ||
    (atom.shade !== undefined && moment.shade !== null) ||
    (atom.clock !== undefined && moment.clock !== null);
  if (clash) return null;
  const named = atom.whole === true ? (moment.day ?? atom.day) : (atom.day ?? moment.day);
  return {
    day: named ?? null,
    period: atom.period ?? moment.period,
    part: atom.part ?? moment.part,
    shade: atom.shade ?? moment.shade,
    clock: atom.clock ?? moment.clock,
    clockNow: atom.clockNow === true || moment.clockNow,
    clockEnd: atom.clockEnd ?? moment.clockEnd,
    around: moment.around,
    whole: atom.whole === true && moment.day === null,
  };
}
