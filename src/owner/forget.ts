/**
 * Forgetting, from the wish to the proof: what goes on is cut off, events, ledger, messages and backups go, what
 * was freed is overwritten, and every file is searched for what may be left.
 */
import { rmSync } from "node:fs";
import type { ForgetAnswer, ForgetProof, ForgetRequest } from "../api.ts";
import type { EventFacts } from "../capture/events.ts";
import type { Sampler } from "../capture/sampler.ts";
import type { Clock } from "../clock.ts";
import { ActivityError } from "../errors.ts";
import { reasonForLog, type Log } from "../log.ts";
import { createBucketMatcher, createTextMatcher, readWish, type Wish } from "./wishes.ts";
import type { Paths } from "../paths.ts";
import { createBackup, listCopies, removeCopies } from "../store/backups.ts";
import type { EventStore } from "../store/events.ts";
import { searchFiles } from "../store/forget/file-search.ts";
import { forgetBucketEvents, type BucketWish } from "../store/forget/buckets.ts";
import { carryOut, forgetOtherRows, forgetTotals, textsWithoutRow } from "../store/forget.ts";
import type { WishOrigin } from "../store/event-walk.ts";
import { planForget, planRules, type ForgetPlan, type RemotePlan } from "../store/forget/plan.ts";
import type { Ledger, LedgerEntry } from "../store/ledger.ts";
import { createLocalDays } from "../store/local-day.ts";
import type { RemoteId } from "../store/devices/remote-reader.ts";

export interface ForgettingOptions {
  readonly store: EventStore;
  readonly ledger: Ledger;
  readonly sampler: Pick<Sampler, "cut">;
  /** What the rules of today would store of facts at an instant: the same object, other facts, or null. */
  readonly judge: (facts: EventFacts, atUs: number) => EventFacts | null;
  /** The same for the data of another recorder's event. */
  readonly judgeBucket: BucketWish["judge"];
  /** Whether `judge` depends on the instant. */
  readonly isTimed: () => boolean;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when what may be answered changed. */
  readonly onChange: () => void;
  /** Called when a wish was carried out, with what went of other devices' record. */
  readonly onForgotten: (wish: Wish, elsewhere: readonly RemoteId[]) => void;
}

const SHRED_ATTEMPTS = 10;
const SHRED_RETRY_MS = 200;

/**
 * Makes what carries out wishes to forget, one at a time. It throws `bad_request` for a wish that means nothing
 * and `database_busy` while another is carried out. `origin`: the other device on which the wish was made, and told.
 */
export function createForgetting(
  options: ForgettingOptions,
): (request: ForgetRequest, origin?: WishOrigin) => Promise<ForgetAnswer> {
  const {
    store,
    ledger,
    sampler,
    judge,
    judgeBucket,
    isTimed,
    paths,
    clock,
    log,
    onChange,
    onForgotten,
  } = options;
  let isForgetting = false;

  return async (request, origin) => {
    const wish = readWish(request, clock.nowUs());
    if (isForgetting) {
      throw new ActivityError(
        "database_busy",
        "Something is being forgotten right now.",
        "Wait until it is done.",
      );
    }
    isForgetting = true;
    try {
      return await forget(request, wish, origin);
    } finally {
      isForgetting = false;
    }
  };

  async function forget(
    request: ForgetRequest,
    wish: Wish,
    origin: WishOrigin | undefined,
  ): Promise<ForgetAnswer> {
    const dryRun = request.dryRun === true;
    // What goes on now is ended here, so that the part before this moment can go.
    const begun = dryRun
      ? []
      : sampler.cut(
          wish.byRules ? (facts) => judge(facts, clock.nowUs()) === null : wish.isMeant,
          wish.span,
        );
    const plan = wish.byRules
      ? await planRules(store, judge, isTimed())
      : await planForget(store, {
          ...wish,
          begun,
          ...(origin === undefined ? {} : { elsewhere: origin }),
        });
    // What belongs to no event has no application: such a wish means events and what was made of them alone.
    const span = wish.app === null ? wish.span : null;
    const holds = wish.app === null && wish.match !== null ? createTextMatcher(wish.match) : null;
    const ledgerSelection = {
      eventIds: new Set([
        ...plan.whole,
        ...plan.cut.map(({ id }) => id),
        ...plan.rewritten.map(({ id }) => id),
        ...idsElsewhere(plan.remote).map(({ startUs }) => startUs),
      ]),
      span,
      holds,
      isMeant: (entry: LedgerEntry) => entry.form === "search" && tellsOf(entry.text ?? "[]", wish),
    };
    const counted = {
      dryRun,
      events: plan.whole.length + plan.remote.whole.length,
      shortened: plan.cut.length + plan.remote.cut.length + plan.remote.aside.length,
      rewritten: plan.rewritten.length + plan.remote.rewritten.length,
      documents: plan.labelCount,
      ledgerEntries: ledger.forget(ledgerSelection, dryRun),
      otherRows:
        forgetOtherRows(store.database, { span, holds }, dryRun) +
        (await forgetBucketEvents(store.database, bucketWish(wish, holds), dryRun)),
      backups: listCopies(paths.dataDirectory).length,
      span: plan.span,
      examples: dryRun ? plan.examples.slice(0, Math.max(0, request.examples ?? 0)) : [],
    };
    if (dryRun) return { ...counted, proof: null };
    const done = await carryOut(store, plan, !wish.byRules);
    // Before the files are searched: whatever is found, the other devices hear of it.
    if (!wish.byRules && origin === undefined) onForgotten(wish, plan.remote.whole);
    // The gateway keeps blocks that tell of what was recorded. Which of them do is not worth finding out: they
    // only spare the upstream work, and a running gateway forgets with the file.
    rmSync(paths.gatewayTurnsFile, { force: true });
    // So do the stored turns of a chat; the owner's own words in it stay theirs.
    rmSync(paths.chatModelFolder, { recursive: true, force: true });
    if (!wish.byRules)
      forgetTotals(store, wish.isMeant, wish.span === null ? null : wholeDays(wish.span));
    onChange();
    await shred();
    const backups = await renewBackups();
    const proof = await prove(wish, plan);
    log.info("forgot on the owner's word", {
      events: done.events,
      shortened: done.cut,
      rewritten: done.rewritten,
      found: proof.foundIn.length,
    });
    return {
      ...counted,
      events: done.events,
      shortened: done.cut,
      rewritten: done.rewritten,
      documents: done.documents,
      backups,
      proof,
    };
  }

  /** Whether the hits of a search, as they were given, tell of what is to be forgotten. */
  function tellsOf(hits: string, wish: Wish): boolean {
    const found: unknown = JSON.parse(hits);
    if (!Array.isArray(found)) return false;
    return found.some((hit: unknown) => {
      if (typeof hit !== "object" || hit === null) return false;
      const { app, title, place, lastUs } = { app: "", title: "", place: "", lastUs: 0, ...hit };
      const data = { app, title, url: place };
      const bucket = { id: "", type: "currentwindow" };
      if (wish.byRules) return judgeBucket(bucket, data, clock.nowUs()) !== "keep";
      const isMeant = createBucketMatcher(wish)(bucket, data);
      // It was seen last then, and perhaps before: what it says of the span is the whole of it.
      return (
        isMeant && (wish.span === null || (lastUs >= wish.span.fromUs && lastUs <= wish.span.toUs))
      );
    });
  }

  /** The same wish for the events of other recorders. */
  function bucketWish(wish: Wish, holds: BucketWish["holds"]): BucketWish {
    if (wish.byRules) return { span: null, judge: judgeBucket, holds: null };
    const isMeant = createBucketMatcher(wish);
    return {
      span: wish.span,
      judge: (bucket, data) => (isMeant(bucket, data) ? "forget" : "keep"),
      // Of a span a bucket outlives what is in it.
      holds: wish.span === null ? holds : null,
    };
  }

  /** A search that goes on may keep the log from being emptied for a moment. */
  async function shred(): Promise<void> {
    for (let attempt = 0; attempt < SHRED_ATTEMPTS; attempt++) {
      if (await store.eraser.shred()) return;
      await new Promise((resolve) => {
        setTimeout(resolve, SHRED_RETRY_MS);
      });
    }
  }

  /** Copies of the time before hold what was forgotten: they go, and a new one takes their place. */
  async function renewBackups(): Promise<number> {
    const removed = removeCopies(paths.dataDirectory);
    if (removed === 0) return 0;
    try {
      await createBackup(store.database, paths.dataDirectory, clock.nowUs());
    } catch (error) {
      // What was asked for is done; the next backup is made in its own time.
      log.warn("no backup could be made after forgetting", { reason: reasonForLog(error) });
    }
    return removed;
  }

  /** Looks for the texts in all files, and makes the database anew when they still stand in it. */
  async function prove(wish: Wish, plan: ForgetPlan): Promise<ForgetProof> {
    const texts =
      wish.match !== null && wish.span === null && wish.app === null
        ? [wish.match]
        : await textsWithoutRow(store.database, plan.texts);
    let search = await searchEverywhere(texts);
    if (search.found.some(({ file }) => file.startsWith(paths.dataDirectory))) {
      store.database.execute("VACUUM");
      await shred();
      await renewBackups();
      search = await searchEverywhere(texts);
    }
    return {
      filesSearched: search.filesSearched,
      bytesSearched: search.bytesSearched,
      texts: texts.length,
      foundIn: [...new Set([...search.found.map(({ file }) => file), ...search.unread])],
    };
  }

  function searchEverywhere(texts: readonly string[]) {
    return searchFiles({
      folders: [paths.dataDirectory, paths.logDirectory, paths.runtimeDirectory],
      texts,
      held: new Map([[store.database.path, store.database.readRaw]]),
      // The index of the write-ahead log and the lock of the daemon: numbers, and locks that opening would lose.
      passOver: ["-shm", ".lock"],
    });
  }

  /** The local days that lie wholly in a span, as the totals number them; null when there is none. */
  function wholeDays(span: { readonly fromUs: number; readonly toUs: number }) {
    const days = createLocalDays();
    const zone = clock.timeZone();
    const firstDay = days.dayAt(span.fromUs, zone);
    const isFromMidnight = days.dayAt(span.fromUs - 1, zone) !== firstDay;
    const oldest = store.database
      .prepare<{ first_us: number | null }>("SELECT min(first_us) AS first_us FROM day")
      .get();
    // A day before there is anything of it: the first one may begin after its midnight.
    const fromUs = Math.max(span.fromUs, (oldest?.first_us ?? clock.nowUs()) - 2 * DAY_US);
    const parts = days.parts(fromUs, Math.min(span.toUs, clock.nowUs()), zone);
    const whole = parts.filter(
      ({ localDay, toUs }) =>
        (localDay !== firstDay || isFromMidnight) && days.dayAt(toUs, zone) !== localDay,
    );
    const [first, last] = [whole.at(0)?.localDay, whole.at(-1)?.localDay];
    return first === undefined || last === undefined ? { first: 0, last: -1 } : { first, last };
  }
}

const DAY_US = 86_400_000_000;

function idsElsewhere({ whole, cut, aside, rewritten }: RemotePlan): readonly RemoteId[] {
  return [...whole, ...aside, ...[...cut, ...rewritten].map(({ id }) => id)];
}
