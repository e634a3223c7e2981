/** What assistants were given, newest first: the exact bytes, why, and what the owner saw; and who may ask. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { LedgerEntry } from "../../../api.ts";
import { GivenBlock } from "../given-block.tsx";
import { usePage } from "../page.ts";
import { EmptyState, Foreign, Refusal } from "../parts.tsx";
import { useNowUs } from "../ticking.ts";
import { ClientsPanel } from "./clients.tsx";
import { formWords, givenWhen, groupByDay, intentWords, sourceWords } from "./ledger-words.ts";
import type { LedgerFeed } from "./ledger-feed.ts";
import { useLedgerFeed } from "./use-ledger-feed.ts";

export function SawView(): JSX.Element {
  const { formats, router } = usePage();
  const client = router.route.value.params["client"] ?? null;
  const list = useRef<HTMLDivElement>(null);
  const nowUs = useNowUs(60_000);
  const { feed, refused, showNew, loadOlder } = useLedgerFeed(client, () => isRead(list.current));
  const shown = feed.value;
  // An entry that is as it was is drawn as it was: a ledger that was read to its end has thousands of lines.
  const drawn = useRef(new WeakMap<LedgerEntry, JSX.Element>()).current;
  const drawOnce = (entry: LedgerEntry): JSX.Element => {
    const known = drawn.get(entry);
    if (known !== undefined) return known;
    const fresh = <Entry key={entry.id} entry={entry} />;
    drawn.set(entry, fresh);
    return fresh;
  };
  return (
    <div class="saw">
      <ClientsPanel
        chosen={client}
        onChoose={(next) => router.replaceParams(next === null ? {} : { client: next })}
      />
      <div class="saw-feed" ref={list}>
        {refused.value !== null && <Refusal error={refused.value} />}
        {shown === null && refused.value === null && <p class="muted">Asking…</p>}
        {/* Always there, so that a screen reader hears what comes into it. */}
        <div class="saw-news" role="status">
          {shown !== null && shown.waiting.length > 0 && (
            <button
              type="button"
              class="button button-main"
              onClick={() => {
                showNew();
                scrollTo({ top: 0 });
              }}
            >
              {newsWords(shown, formats.count)}
            </button>
          )}
        </div>
        {shown !== null && shown.entries.length === 0 && <NothingGiven client={client} />}
        {shown !== null && shown.entries.length > 0 && (
          <p class="muted small saw-legend">
            <span class="untrusted">Underlined</span> is what others wrote, such as titles of
            windows: it is told as data and commands nothing. ↵ ends a line.
          </p>
        )}
        {groupByDay(shown?.entries ?? [], nowUs.value, formats).map(({ day, entries }) => (
          <section key={day} class="saw-day">
            <h2>{day}</h2>
            {entries.map((entry) => drawOnce(entry))}
          </section>
        ))}
        {shown?.hasOlder === true && <Older onReached={loadOlder} />}
        {shown !== null && shown.entries.length > 0 && !shown.hasOlder && (
          <p class="muted small">
            This is where the ledger begins. Entries last as long as the events they tell of.
          </p>
        )}
      </div>
    </div>
  );
}

function newsWords({ waiting, isApart }: LedgerFeed, count: (value: number) => string): string {
  if (waiting.length === 1) return "1 new entry";
  return `${isApart ? "More than " : ""}${count(waiting.length)} new entries`;
}

function NothingGiven(props: { readonly client: string | null }): JSX.Element {
  return props.client === null ? (
    <EmptyState title="No assistant has asked yet" command="activityd mcp install HOST">
      Each block that one is given will stand here, byte for byte, with the reason of every line.
    </EmptyState>
  ) : (
    <EmptyState title="Nothing of this client is kept">
      Entries last as long as the events they tell of, and go when those are forgotten.
    </EmptyState>
  );
}

function Entry(props: { readonly entry: LedgerEntry }): JSX.Element {
  const { formats } = usePage();
  const { entry } = props;
  const titleId = `entry-${entry.id}`;
  return (
    <article class="panel entry" aria-labelledby={titleId}>
      <header class="entry-head">
        <h3 id={titleId}>
          <Foreign text={entry.client} maxGraphemes={80} absent="a client without a name" />{" "}
          <span class="tag">{formWords(entry.form)}</span>
        </h3>
        <time class="muted" dateTime={new Date(entry.lastUs / 1000).toISOString()}>
          {givenWhen(entry, formats)}
        </time>
      </header>
      <p class="muted small">
        {isQuestion(entry) && <>about {intentWords(entry.intent)}, </>}
        {sourceWords(entry.source)}
        {entry.ownerText === null && entry.form !== "left-out" && isQuestion(entry) && (
          <>, without words of yours that are kept</>
        )}
        {entry.tokens > 0 && <>, {formats.count(entry.tokens)} tokens</>}
        {entry.session !== null && (
          <>
            , session <Foreign text={entry.session} maxGraphemes={40} />
          </>
        )}
      </p>
      <div class={entry.ownerText === null ? "" : "entry-sides"}>
        <section>
          <h4>What it was given</h4>
          {entry.text === null ? (
            <EventsRead entry={entry} />
          ) : (
            <GivenBlock
              text={entry.text}
              spans={entry.untrustedSpans}
              reasons={entry.reasons}
              label="What it was given, line by line"
            />
          )}
        </section>
        {entry.ownerText !== null && (
          <section>
            <h4>What you saw</h4>
            <blockquote class="owner-words" dir="auto">
              <Foreign text={entry.ownerText} maxGraphemes={2000} />
            </blockquote>
          </section>
        )}
      </div>
    </article>
  );
}

/** Whether what was asked for was read out of a turn. */
function isQuestion({ form }: LedgerEntry): boolean {
  return form === "exact" || form === "digest" || form === "left-out";
}

/** What was read is in the record itself: which part of it, and no words. */
function EventsRead(props: { readonly entry: LedgerEntry }): JSX.Element {
  const { formats } = usePage();
  const { eventIds, reasons } = props.entry;
  const [first, last] = [eventIds.at(0), eventIds.at(-1)];
  return (
    <>
      {reasons.map((reason, index) => (
        <p key={index}>
          <bdi>{reason}</bdi>
        </p>
      ))}
      {/* The id of an event is the moment at which it began. */}
      {first !== undefined && last !== undefined && (
        <p class="muted small">
          {first === last
            ? formats.moment(first)
            : `${formats.moment(first)} – ${formats.moment(last)}`}
        </p>
      )}
    </>
  );
}

/** Loads on when the reader comes near the end, and for those who press the button. */
function Older(props: { readonly onReached: () => Promise<void> }): JSX.Element {
  const end = useRef<HTMLButtonElement>(null);
  const reached = useRef(props.onReached);
  reached.current = props.onReached;
  useEffect(() => {
    if (end.current === null) return;
    const watcher = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) void reached.current();
      },
      { rootMargin: "600px" },
    );
    watcher.observe(end.current);
    return () => watcher.disconnect();
  }, []);
  return (
    <button ref={end} type="button" class="button saw-older" onClick={() => void reached.current()}>
      Show older entries
    </button>
  );
}

/** Whether somebody reads in the list: it is scrolled, or has the focus, or a part of it is selected. */
function isRead(list: HTMLElement | null): boolean {
  if (list === null) return false;
  const selection = getSelection();
  const selects =
    selection !== null && !selection.isCollapsed && list.contains(selection.anchorNode);
  return scrollY > 40 || list.contains(document.activeElement) || selects;
}
