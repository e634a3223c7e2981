/**
 * What the buckets of one machine say of each other: when its owner was away, and which page was in a browser's
 * window. It promises that looking costs the same however long the history is, for spans asked for by start.
 */
import { isPrivateTitle, readPrivateMarking } from "../capture/privacy/windows.ts";
import { documentTitle } from "../capture/titles.ts";
import type { History, HistoryBucket } from "./history.ts";

export interface Span {
  readonly startUs: number;
  readonly endUs: number;
}

export interface Desk {
  /** Stretches without the owner, by start, joined. Of several machines those of each. */
  readonly absences: () => Iterable<Span>;
  readonly hasWindows: (hostname: string) => boolean;
  /** Gives the parts of a span with the owner present. Spans must be asked for by start. */
  readonly attended: (hostname: string) => (span: Span) => readonly Span[];
  /** Gives whether a private tab was in front of a browser during a span. Spans must be asked for by start. */
  readonly hidden: (hostname: string) => (app: string, span: Span) => boolean;
  /** Gives what tabs tell of a window. Spans must be asked for by start. */
  readonly pages: (hostname: string) => (app: string, title: string | null, span: Span) => Page;
}

export interface Page {
  readonly url: string | null;
  /** Whether a private tab was in front during the span: then the window is private whatever its title. */
  readonly private: boolean;
}

/** A browser reports at each change of tab and once a minute: so long its word stands without another. */
const WORD_STANDS_US = 80_000_000;

export function createDesk(history: History): Desk {
  const away = new Map<string, readonly Span[]>();
  const ofType = (type: string): readonly HistoryBucket[] =>
    history.buckets.filter((bucket) => bucket.type === type);
  for (const { hostname, events } of ofType("afkstatus")) {
    const spans = [...(away.get(hostname) ?? [])];
    for (const event of events()) {
      if ("unreadable" in event || event.data["status"] !== "afk" || event.durationUs <= 0)
        continue;
      spans.push({ startUs: event.startUs, endUs: event.startUs + event.durationUs });
    }
    away.set(hostname, joinSpans(spans));
  }
  const tabs = ofType("web.tab.current");
  return {
    absences: function* () {
      for (const spans of away.values()) yield* spans;
    },
    hasWindows: (hostname) => ofType("currentwindow").some((each) => isSameHost(each, hostname)),
    attended: (hostname) => {
      const meeting = createCursor(away.get(hostname) ?? []);
      return (span) => without(span, meeting(span));
    },
    hidden: (hostname) => {
      const cursors = tabCursors(tabs, hostname);
      return (app, span) =>
        readPrivateMarking(app) !== null &&
        cursors.flatMap((meeting) => meeting(span)).some((tab) => tab.private);
    },
    pages: (hostname) => {
      const cursors = tabCursors(tabs, hostname);
      return (app, title, span) => {
        if (cursors.length === 0 || readPrivateMarking(app) === null) return NO_PAGE;
        // Every cursor moves on, whichever knows the window.
        const tabsThen = cursors.flatMap((meeting) => meeting(span));
        if (tabsThen.some((tab) => tab.private)) return { url: null, private: true };
        if (title === null || isPrivateTitle(readPrivateMarking(app), title)) return NO_PAGE;
        const document = documentTitle(app, title);
        const tab = tabsThen.find((each) => documentTitle(app, each.title) === document);
        return { url: tab?.url ?? null, private: false };
      };
    },
  };
}

function tabCursors(tabs: readonly HistoryBucket[], hostname: string): readonly Cursor<Tab>[] {
  return tabs
    .filter((bucket) => isSameHost(bucket, hostname))
    .map((bucket) => createCursor(readTabs(bucket)));
}

const NO_PAGE: Page = { url: null, private: false };

/** Browsers do not know the name of their machine, and many say so. */
function isSameHost(bucket: HistoryBucket, hostname: string): boolean {
  return bucket.hostname === hostname || bucket.hostname === "unknown" || hostname === "unknown";
}

interface Tab extends Span {
  readonly title: string;
  readonly url: string | null;
  readonly private: boolean;
}

/** Tabs by start. The word of one stands until the next, or until it is too old. */
function* readTabs(bucket: HistoryBucket): Iterable<Tab> {
  let last: Tab | null = null;
  for (const event of bucket.events()) {
    if ("unreadable" in event) continue;
    if (last !== null)
      yield { ...last, endUs: Math.min(last.endUs, Math.max(event.startUs, last.startUs)) };
    const { title, url, incognito } = event.data;
    last = {
      startUs: event.startUs,
      endUs: event.startUs + Math.max(0, event.durationUs) + WORD_STANDS_US,
      title: typeof title === "string" ? title : "",
      url: typeof url === "string" ? url : null,
      private: incognito === true,
    };
  }
  if (last !== null) yield last;
}

type Cursor<T> = (span: Span) => readonly T[];

/** Gives the items that meet a span, for spans that come by start; items are read as they are needed. */
function createCursor<T extends Span>(items: Iterable<T>): Cursor<T> {
  const source = items[Symbol.iterator]();
  let upcoming = source.next();
  let held: T[] = [];
  return ({ startUs, endUs }) => {
    held = held.filter((item) => item.endUs > startUs);
    for (; upcoming.done !== true && upcoming.value.startUs <= endUs; upcoming = source.next())
      if (upcoming.value.endUs > startUs) held.push(upcoming.value);
    return held.filter((item) => item.startUs < endUs || item.startUs === startUs);
  };
}

/** A span without stretches that are joined and in order; what is left may be nothing, or several pieces. */
function without(span: Span, gone: readonly Span[]): readonly Span[] {
  const pieces: Span[] = [];
  let fromUs = span.startUs;
  for (const { startUs, endUs } of gone) {
    if (startUs > fromUs) pieces.push({ startUs: fromUs, endUs: Math.min(startUs, span.endUs) });
    fromUs = Math.max(fromUs, endUs);
  }
  if (fromUs < span.endUs) pieces.push({ startUs: fromUs, endUs: span.endUs });
  return pieces;
}

/** Spans in order, those that touch or overlap made one. */
function joinSpans(spans: readonly Span[]): readonly Span[] {
  const joined: { startUs: number; endUs: number }[] = [];
  for (const span of spans.toSorted((a, b) => a.startUs - b.startUs)) {
    const last = joined.at(-1);
    if (last !== undefined && span.startUs <= last.endUs)
      last.endUs = Math.max(last.endUs, span.endUs);
    else joined.push({ ...span });
  }
  return joined;
}
