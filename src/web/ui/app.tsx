/** The frame around every view: the name, the navigation, the switch that stops recording, the state of the connection. */
import type { FunctionComponent, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ConnectionBanner } from "./connection-banner.tsx";
import { usePage } from "./page.ts";
import { RecordingSwitch } from "./recording-switch.tsx";
import { toHash, VIEWS, type ViewName } from "./route.ts";
import { CalendarView } from "./views/calendar.tsx";
import { HealthView } from "./views/health.tsx";
import { PrivacyView } from "./views/privacy.tsx";
import { SawView } from "./views/saw.tsx";
import { TimelineView } from "./views/timeline.tsx";
import { TotalsView } from "./views/totals.tsx";
import { TryView } from "./views/try.tsx";

interface ViewEntry {
  readonly title: string;
  /** The drawing before the title in the navigation: a path in a box of 16. */
  readonly icon: string;
  readonly View: FunctionComponent;
}

const ENTRIES: Readonly<Record<ViewName, ViewEntry>> = {
  timeline: { title: "Timeline", icon: "M2 4h7M5 8h9M2 12h5M9 12h4", View: TimelineView },
  calendar: { title: "Calendar", icon: "M2 4h12v10H2zM2 7h12M5 2v3M11 2v3", View: CalendarView },
  totals: { title: "Totals", icon: "M2 14V9M6 14V3M10 14V6M14 14v-3", View: TotalsView },
  saw: {
    title: "What it saw",
    icon: "M1 8s2.5-5 7-5 7 5 7 5-2.5 5-7 5-7-5-7-5zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
    View: SawView,
  },
  try: { title: "Try it", icon: "M2 3h12v8H7l-3 3v-3H2z", View: TryView },
  privacy: { title: "Privacy", icon: "M3 7h10v7H3zM5 7V5a3 3 0 0 1 6 0v2", View: PrivacyView },
  health: { title: "Health", icon: "M1 8h3l2-5 4 10 2-5h3", View: HealthView },
};

/** Views that keep what they read, begun anew when something of it may be forgotten. The others ask at every change. */
const HOLDING: ReadonlySet<ViewName> = new Set(["timeline", "saw"]);

export function App(): JSX.Element {
  const { router, connection } = usePage();
  const { view } = router.route.value;
  const { title, View } = ENTRIES[view];
  const main = useRef<HTMLElement>(null);
  const shown = useRef(view);
  useEffect(() => {
    document.title = `${title} · activityd`;
    // A screen reader goes on at the new view; the first one is where the reader starts anyway.
    if (shown.current !== view) {
      main.current?.focus({ preventScroll: true });
      scrollTo({ top: 0 });
    }
    shown.current = view;
  }, [view, title]);
  return (
    <>
      <header class="top">
        <a class="skip" href={toHash(view)} onClick={(event) => skipTo(event, main.current)}>
          Skip to the content
        </a>
        <span class="brand">
          <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
            <rect x="3" y="6" width="14" height="5" rx="2.5" />
            <rect x="9" y="13.5" width="20" height="5" rx="2.5" />
            <rect x="3" y="21" width="8" height="5" rx="2.5" />
            <rect x="14" y="21" width="10" height="5" rx="2.5" />
          </svg>
          <span class="brand-name">activityd</span>
        </span>
        <Navigation current={view} />
        <RecordingSwitch />
      </header>
      <ConnectionBanner />
      <main ref={main} tabIndex={-1} class={`view view-${view}`}>
        <h1 class="view-title">{title}</h1>
        <View key={HOLDING.has(view) ? connection.forgotten.value : 0} />
      </main>
    </>
  );
}

function Navigation(props: { readonly current: ViewName }): JSX.Element {
  const { current } = props;
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // Where not all of it fits, an address or a link in a view leads to names that are out of sight.
    // Moved by hand: browsers of late go on with Tab from what `scrollIntoView` showed, past the link that skips all this.
    const frame = nav.current?.getBoundingClientRect();
    const shown = nav.current?.querySelector('[aria-current="page"]')?.getBoundingClientRect();
    if (frame === undefined || shown === undefined) return;
    nav.current?.scrollBy({ left: shown.left + shown.width / 2 - (frame.left + frame.width / 2) });
  }, [current]);
  return (
    <nav ref={nav} class="nav" aria-label="Views">
      {VIEWS.map((name) => (
        <a
          key={name}
          href={toHash(name)}
          class="nav-link"
          {...(name === current ? { "aria-current": "page" } : {})}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d={ENTRIES[name].icon} />
          </svg>
          {ENTRIES[name].title}
        </a>
      ))}
    </nav>
  );
}

function skipTo(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}
