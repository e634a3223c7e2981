/**
 * Which events a wish to forget means, and how many. It promises that looking changes nothing, and that
 * requests are answered meanwhile.
 */
import type { EventFacts, EventSpan } from "../../capture/events.ts";
import {
  eachEvent,
  eachRemoteEvent,
  type FoundEvent,
  type FoundRemoteEvent,
  type WishOrigin,
} from "../event-walk.ts";
import type { EventStore } from "../events.ts";
import type { RemoteId } from "../devices/remote-reader.ts";

/** What is to be forgotten: what lies in the span and is meant by the facts. */
export interface ForgetWish {
  /** Half open; null: of all times. */
  readonly span: { readonly fromUs: number; readonly toUs: number } | null;
  /** Whether these facts are meant; null: all are. */
  readonly isMeant: ((facts: EventFacts) => boolean) | null;
  /** Events that began with the wish: its span may reach past them. */
  readonly begun?: readonly number[];
  /**
   * The wish was made on another device, which says itself what goes of its record, as does every third that takes
   * part. Absent: it was made on this one, and all that others recorded is meant.
   */
  readonly elsewhere?: WishOrigin;
}

/** A wish to forget as it travels between the owner's devices. */
export interface TravellingWish {
  /** Half open; null: without a bound on that side. */
  readonly fromUs: number | null;
  readonly toUs: number | null;
  readonly app: string | null;
  readonly match: string | null;
  /** When it was wished, by the clock of the device where it was. */
  readonly atUs: number;
}

/** What a wish comes to: a plan that `carryOut` does, or that is only counted. */
export interface ForgetPlan {
  /** Events that go whole. */
  readonly whole: readonly number[];
  /** Events of which a part goes: the parts outside the span stay. */
  readonly cut: readonly CutEvent[];
  /** Events that get other facts, when privacy rules are applied backwards. */
  readonly rewritten: readonly { readonly id: number; readonly facts: EventFacts }[];
  /** The same for what other devices recorded. */
  readonly remote: RemotePlan;
  /** Distinct facts among them. */
  readonly labelCount: number;
  /** What goes, one entry for all that is the same, what had most time first. */
  readonly examples: readonly ForgetExample[];
  /** Texts of what goes, for the search of the files afterwards: a sample, the longest first. */
  readonly texts: readonly string[];
  /** When the first of it began and the last of it ended; null when there is none. */
  readonly span: { readonly fromUs: number; readonly toUs: number } | null;
}

/** What a wish comes to in the record of other devices. */
export interface RemotePlan {
  /** Events that go whole. */
  readonly whole: readonly RemoteId[];
  /** Events that end where the span begins, until their own device says what stays of them. */
  readonly cut: readonly { readonly id: RemoteId; readonly keepUntilUs: number }[];
  /** Events that go from here, until their own device says what stays of them, if anything does. */
  readonly aside: readonly RemoteId[];
  readonly rewritten: readonly { readonly id: RemoteId; readonly facts: EventFacts }[];
}

/** Something that is to be forgotten, as it was recorded. */
export interface ForgetExample {
  readonly facts: EventFacts;
  /** Whether all of it goes, a part of it, or its words alone. Of several fates that which takes most. */
  readonly fate: "removed" | "shortened" | "rewritten";
  /** How many events of it are meant. */
  readonly events: number;
  /** How long they are together, as far as they are meant. */
  readonly durationUs: number;
  /** When the last of them ends, and its id. */
  readonly lastUs: number;
  readonly lastId: number;
}

/** An event that reaches out of the span. */
export interface CutEvent extends EventSpan {
  readonly id: number;
  readonly facts: EventFacts;
  /** The end of the part before the span; null when there is none. */
  readonly keepUntilUs: number | null;
  /** The start of the part after the span; null when there is none. */
  readonly keepFromUs: number | null;
}

/** Finds what a wish means. Goes through the events in steps of a few milliseconds. */
export async function planForget(store: EventStore, wish: ForgetWish): Promise<ForgetPlan> {
  const { span, isMeant, elsewhere } = wish;
  const begun = new Set(wish.begun);
  const plan = createPlan();
  await eachRemoteEvent(store.database, span, elsewhere ?? null, (event, facts) => {
    if (isMeant !== null && !isMeant(facts)) return;
    const isWhole = span === null || (event.startUs >= span.fromUs && event.endUs <= span.toUs);
    if (isWhole && event.deviceKey === elsewhere?.deviceKey) plan.remote.leaveOut(event, facts);
    else if (isWhole) plan.remote.remove(event, facts);
    else plan.remote.cut(event, facts, event.startUs < span.fromUs ? span.fromUs : null);
  });
  await eachEvent(store.database, span, (event, facts) => {
    if (begun.has(event.id) || (isMeant !== null && !isMeant(facts))) return;
    if (span === null || (event.startUs >= span.fromUs && event.endUs <= span.toUs)) {
      plan.remove(event, facts);
      return;
    }
    plan.cut({
      ...event,
      facts,
      keepUntilUs: event.startUs < span.fromUs ? span.fromUs : null,
      keepFromUs: event.endUs > span.toUs ? span.toUs : null,
    });
  });
  return plan.done();
}

/**
 * Finds what privacy rules would not store as it is. `judge` gives what they would store of facts at an
 * instant, or null; `isTimed` says whether that depends on the instant.
 */
export async function planRules(
  store: Pick<EventStore, "database">,
  judge: (facts: EventFacts, atUs: number) => EventFacts | null,
  isTimed: boolean,
): Promise<ForgetPlan> {
  const plan = createPlan();
  const judged = new Map<EventFacts, EventFacts | null>();
  const keptOf = ({ startUs }: EventSpan, facts: EventFacts): EventFacts | null => {
    let kept = isTimed ? undefined : judged.get(facts);
    if (kept === undefined) {
      kept = judge(facts, startUs);
      judged.set(facts, kept);
    }
    return kept;
  };
  await eachRemoteEvent(store.database, null, null, (event, facts) => {
    const kept = keptOf(event, facts);
    if (kept === null) plan.remote.remove(event, facts);
    else if (kept !== facts) plan.remote.rewrite(event, facts, kept);
  });
  await eachEvent(store.database, null, (event, facts) => {
    const kept = keptOf(event, facts);
    if (kept === null) plan.remove(event, facts);
    else if (kept !== facts) plan.rewrite(event, facts, kept);
  });
  return plan.done();
}

/** An example while it is counted. */
type Counted = { -readonly [Field in keyof ForgetExample]: ForgetExample[Field] };

const MAX_TEXTS = 16;
/** More than anybody reads before saying yes. */
const MAX_EXAMPLES = 50;
/** Shorter texts are found by chance. */
const MIN_TEXT_CHARS = 8;

function createPlan() {
  const whole: number[] = [];
  const cut: CutEvent[] = [];
  const rewritten: { readonly id: number; readonly facts: EventFacts }[] = [];
  const remote = {
    whole: new Array<RemoteId>(),
    cut: new Array<RemotePlan["cut"][number]>(),
    aside: new Array<RemoteId>(),
    rewritten: new Array<RemotePlan["rewritten"][number]>(),
  };
  const seen = new Map<EventFacts, Counted>();
  const texts = new Set<string>();
  let span: { readonly fromUs: number; readonly toUs: number } | null = null;

  const note = (
    { id, startUs, endUs }: FoundEvent,
    facts: EventFacts,
    fate: ForgetExample["fate"],
  ): void => {
    span = {
      fromUs: Math.min(span?.fromUs ?? startUs, startUs),
      toUs: Math.max(span?.toUs ?? endUs, endUs),
    };
    const known = seen.get(facts);
    if (known !== undefined) {
      if (fate === "removed") known.fate = fate;
      known.events += 1;
      known.durationUs += endUs - startUs;
      // Of one device they come oldest first.
      if (endUs >= known.lastUs) known.lastId = id;
      known.lastUs = Math.max(known.lastUs, endUs);
      return;
    }
    seen.set(facts, {
      facts,
      fate,
      events: 1,
      durationUs: endUs - startUs,
      lastUs: endUs,
      lastId: id,
    });
    for (const text of textsOf(facts)) if (text.length >= MIN_TEXT_CHARS) texts.add(text);
  };

  return {
    remote: {
      remove: (event: FoundRemoteEvent, facts: EventFacts) => {
        note(event, facts, "removed");
        remote.whole.push(toRemoteId(event));
      },
      leaveOut: (event: FoundRemoteEvent, facts: EventFacts) => {
        note(event, facts, "removed");
        remote.aside.push(toRemoteId(event));
      },
      cut: (event: FoundRemoteEvent, facts: EventFacts, keepUntilUs: number | null) => {
        note({ ...event, startUs: keepUntilUs ?? event.startUs }, facts, "shortened");
        if (keepUntilUs === null) remote.aside.push(toRemoteId(event));
        else remote.cut.push({ id: toRemoteId(event), keepUntilUs });
      },
      rewrite: (event: FoundRemoteEvent, old: EventFacts, facts: EventFacts) => {
        note(event, old, "rewritten");
        remote.rewritten.push({ id: toRemoteId(event), facts });
      },
    },
    remove: (event: FoundEvent, facts: EventFacts) => {
      note(event, facts, "removed");
      whole.push(event.id);
    },
    cut: (event: CutEvent) => {
      note(
        {
          ...event,
          startUs: event.keepUntilUs ?? event.startUs,
          endUs: event.keepFromUs ?? event.endUs,
        },
        event.facts,
        "shortened",
      );
      cut.push(event);
    },
    rewrite: (event: FoundEvent, old: EventFacts, facts: EventFacts) => {
      note(event, old, "rewritten");
      rewritten.push({ id: event.id, facts });
    },
    done: (): ForgetPlan => ({
      whole,
      cut,
      rewritten,
      remote,
      labelCount: seen.size,
      examples: [...seen.values()]
        .sort((a, b) => b.durationUs - a.durationUs || b.lastId - a.lastId)
        .slice(0, MAX_EXAMPLES),
      texts: [...texts].sort((a, b) => b.length - a.length).slice(0, MAX_TEXTS),
      span,
    }),
  };
}

function toRemoteId({ deviceKey, startUs }: FoundRemoteEvent): RemoteId {
  return { deviceKey, startUs };
}

/** Everything in facts that came from outside. */
export function textsOf(facts: EventFacts): readonly string[] {
  switch (facts.kind) {
    case "window":
    case "tab":
      return [facts.app, facts.title, facts.place].filter((text) => text !== null);
    case "media":
      return [facts.player, facts.title, facts.artist].filter((text) => text !== null);
    case "notification":
      return [facts.app, facts.summary];
    case "editor":
      return [facts.app, facts.file, facts.project, facts.branch, facts.language].filter(
        (text) => text !== null,
      );
    default:
      return [];
  }
}
