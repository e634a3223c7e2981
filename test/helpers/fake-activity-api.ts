/** An `ActivityApi` without capture or store: what it shows is what a test put in. */
import type {
  ActivityApi,
  ClientUse,
  ContextAnswer,
  SearchHit,
  LedgerEntry,
  PauseAnswer,
  StatusAnswer,
  WatchMessage,
} from "../../src/api.ts";
import type { ActivityEvent } from "../../src/capture/events.ts";
import { createMemoryEventRows } from "../../src/auto-reply/reply/system-events-memory.ts";
import { createSystemEventQueue } from "../../src/auto-reply/reply/system-events.ts";
import type { InjectedBlock, RenderedBlock } from "../../src/context/markers.ts";
import { composeParts, composeTurn, textOfParts } from "../../src/context/turn.ts";
import { ActivityError } from "../../src/errors.ts";

export interface FakeActivityApi extends ActivityApi {
  /** Replaces the block; null: there is nothing to say. */
  readonly show: (block: string | null) => void;
  readonly record: (event: ActivityEvent) => void;
  /** How many watches are open. */
  readonly watching: () => number;
}

/** With `auto`, only a turn that speaks of the owner's doings ("working") gets the block. */
export function createFakeActivityApi({ tokens = 1 } = {}): FakeActivityApi {
  const events: ActivityEvent[] = [];
  const wakes = new Set<() => void>();
  let block: string | null = null;
  let changes = 1;
  const given: LedgerEntry[] = [];
  const refused = new Set<string>();
  let paused: PauseAnswer["paused"] = null;
  let closed = false;

  const answer = (): ContextAnswer => ({
    // The brand is made by the grammar alone; here the text of a test stands in for it.
    block: block as InjectedBlock | null,
    form: "exact",
    intent: "now",
    source: "rules",
    tokens,
    ms: 0,
    asOfUs: 0,
    reasons: [],
    eventIds: [],
    untrustedSpans: [],
    etag: String(changes),
  });

  const queue = createSystemEventQueue({ rows: createMemoryEventRows(), nowUs: () => NOW_US });
  const activity = (): RenderedBlock[] => {
    const { block: present, untrustedSpans } = answer();
    return present === null ? [] : [{ block: present, untrustedSpans }];
  };

  return {
    composeTurn: async ({ session, ownerText, requestId }) =>
      queue.drain(
        session,
        (told) => {
          const turn = composeTurn({ events: told, activity: activity(), ownerText });
          const { composed, visible, ...injected } = turn;
          return { modelText: composed, ownerText: visible, ...injected };
        },
        requestId,
      ),
    composeParts: async ({ session, parts, requestId }) =>
      queue.drain(
        session,
        (told) => ({
          ...composeParts({ events: told, activity: activity(), parts }),
          ownerText: textOfParts(parts),
        }),
        requestId,
      ),
    enqueueEvent: async (request) => ({ outcome: queue.enqueue(request) }),
    show: (next) => {
      if (next === block) return;
      block = next;
      changes += 1;
      for (const wake of wakes) wake();
    },
    record: (event) => events.push(event),
    watching: () => wakes.size,
    status: async () => ({ ...STATUS, paused }),
    context: async (request) => {
      if (refused.has(request.client ?? "")) {
        throw new ActivityError("client_revoked", "The owner refuses it.", "Allow it again.");
      }
      if (request.form === "digest" && request.turn === undefined) {
        throw new ActivityError("bad_request", "A digest needs a turn.", "Give the owner's turn.");
      }
      given.unshift({
        id: given.length + 1,
        firstUs: 1e15,
        lastUs: 1e15,
        times: 1,
        client: request.client ?? null,
        session: request.session ?? null,
        form: "exact",
        intent: "now",
        source: "rules",
        text: block,
        tokens,
        eventIds: [],
        untrustedSpans: [],
        ownerText: request.turn ?? null,
        reasons: ["a test asked"],
      });
      const silent = request.form === "auto" && !(request.turn ?? "").includes("working");
      return silent ? { ...answer(), block: null, intent: "none", etag: "none" } : answer();
    },
    events: async ({ fromUs, toUs = Infinity, kinds, limit = 1000 }) => {
      const found = events.filter(
        (event) =>
          event.endUs > fromUs && event.startUs < toUs && (kinds?.includes(event.kind) ?? true),
      );
      return { events: found.slice(-limit), truncated: found.length > limit };
    },
    search: async ({ q }) => {
      const words = q.toLowerCase().split(" ");
      const hits = events.flatMap((event): SearchHit[] => {
        if (event.kind !== "window") return [];
        const { id: documentId, kind, app, title, place, endUs: lastUs, startUs } = event;
        const text = `${app} ${title ?? ""}`.toLowerCase();
        if (!words.every((word) => text.includes(word))) return [];
        return [
          { documentId, kind, app, title, place, lastUs, activeUs: lastUs - startUs, visits: 1 },
        ];
      });
      return { hits: hits.sort((a, b) => b.lastUs - a.lastUs), truncated: false };
    },
    watch: async function* ({ signal } = {}): AsyncGenerator<WatchMessage, void, undefined> {
      let seen = 0;
      let wake = (): void => {};
      const onChange = (): void => wake();
      wakes.add(onChange);
      signal?.addEventListener("abort", onChange);
      try {
        const ended = (): boolean => closed || signal?.aborted === true;
        while (!ended()) {
          if (seen === changes) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
            continue;
          }
          seen = changes;
          yield { id: seen, answer: answer() };
        }
      } finally {
        wakes.delete(onChange);
        signal?.removeEventListener("abort", onChange);
      }
    },
    pause: async ({ minutes, until }) => {
      if (minutes !== undefined && minutes <= 0) {
        throw new ActivityError("bad_request", "A pause lasts.", "Give more minutes.");
      }
      const untilUs = minutes === undefined ? null : 1e15 + minutes * 60e6;
      paused = { sinceUs: 1e15, untilUs: until === undefined ? untilUs : Date.parse(until) * 1000 };
      return { paused };
    },
    resume: async () => {
      paused = null;
      return { paused };
    },
    forget: async ({ fromUs = 0, toUs = Infinity, match, dryRun = false }) => {
      if (match === undefined && fromUs === 0) {
        throw new ActivityError("bad_request", "Nothing says what to forget.", "Say it.");
      }
      const isMeant = (event: ActivityEvent) =>
        event.startUs >= fromUs &&
        event.endUs <= toUs &&
        (match === undefined || JSON.stringify(event).includes(match));
      const meant = events.filter(isMeant);
      if (!dryRun) for (const event of meant) events.splice(events.indexOf(event), 1);
      return {
        dryRun,
        events: meant.length,
        shortened: 0,
        rewritten: 0,
        documents: meant.length,
        ledgerEntries: 0,
        otherRows: 0,
        backups: 0,
        span: null,
        examples: [],
        proof: dryRun ? null : { filesSearched: 1, bytesSearched: 1, texts: 1, foundIn: [] },
      };
    },
    ledger: async ({ client }) => ({
      entries: given.filter((entry) => client === undefined || entry.client === client),
      truncated: false,
    }),
    timeline: notHere,
    totals: notHere,
    days: notHere,
    rules: notHere,
    testRule: notHere,
    clients: async () => ({ clients: [...refused].map(refusedClient) }),
    setClient: async ({ client, access }) => {
      if (access === "revoked") refused.add(client);
      else refused.delete(client);
      return { clients: [...refused].map(refusedClient) };
    },
    openPage: notHere,
    hub: notHere,
    changeHub: notHere,
    close: async () => {
      closed = true;
      for (const wake of wakes) wake();
    },
  };
}

function refusedClient(client: string): ClientUse {
  return { client, access: "revoked", firstUs: null, lastUs: null, times: 0, revokedUs: NOW_US };
}

async function notHere(): Promise<never> {
  throw new ActivityError("internal", "What a test put in says nothing of this.");
}

const NOW_US = Date.parse("2026-11-27T15:12:00Z") * 1000;

const STATUS: StatusAnswer = {
  version: "0.0.0-test",
  pid: 1,
  startedUs: 0,
  nowUs: 1,
  socket: "/nowhere.sock",
  health: "ok",
  problems: [],
  notes: [],
  paused: null,
  sources: [
    { kind: "window", state: "live", backend: "fake", sinceUs: 0, why: null, rejected: [] },
  ],
  store: {
    path: "/nowhere.db",
    sizeBytes: 0,
    eventCount: 0,
    lastCommittedUs: null,
    writable: true,
  },
};
