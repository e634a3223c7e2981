/**
 * Everything that makes text which the owner is not to see. A file of `src` that makes a block, a line of one
 * or an event, and is not here, fails the guard: see docs/system-context-injection.md.
 */
import { createDaemonNotices } from "../../src/auto-reply/reply/daemon-notices.ts";
import { describeExec } from "../../src/auto-reply/reply/exec-event.ts";
import { createMessageNotices } from "../../src/auto-reply/reply/message-notices.ts";
import { prependSystemEvents } from "../../src/auto-reply/reply/session-updates.ts";
import { renderContextBlock } from "../../src/capture/context-block.ts";
import type { EventSpan, WindowEvent } from "../../src/capture/events.ts";
import { fitDigest, type DigestLine } from "../../src/capture/triage/fit.ts";
import { eventsBlock } from "../../src/context/markers.ts";
import type { UntrustedSpan } from "../../src/context/plain-text.ts";
import { composeTurn } from "../../src/context/turn.ts";
import { renderEvents } from "../../src/mcp/results.ts";
import { storable } from "../helpers/storable.ts";

/** One producer: the files it stands in, and the block it makes when a stranger wrote `hostile` everywhere. */
export interface BlockProducer {
  readonly name: string;
  readonly files: readonly string[];
  readonly produce: (hostile: string) => Produced;
}

export interface Produced {
  readonly block: string;
  readonly untrustedSpans?: readonly UntrustedSpan[];
}

const ZONE = "Europe/Berlin";
const NOW_US = Date.parse("2026-11-27T15:12:00Z") * 1000;
const MINUTE_US = 60_000_000;
/** More than any block costs: what is dropped for want of budget is another matter. */
const BUDGET = 1_000_000;

/** Makers of heading blocks out of what strangers wrote: titles, places, songs, what the owner is asked about. */
export const HEADING_PRODUCERS: readonly BlockProducer[] = [
  {
    name: "the real-time block",
    files: ["capture/context-block.ts", "capture/context-lines.ts"],
    produce: (hostile) => blockOf(renderContextBlock(snapshotOf(hostile), BUDGET)),
  },
  {
    name: "the digest",
    files: ["capture/triage/fit.ts"],
    produce: (hostile) => blockOf(fitDigest(digestOf(hostile), BUDGET, NOW_US, ZONE)),
  },
  {
    name: "the results of a tool",
    files: ["mcp/results.ts"],
    produce: (hostile) => {
      const { text, untrustedSpans } = renderEvents(
        [{ ...windowOf(hostile, 12), device: hostile }],
        ZONE,
        false,
      );
      // A result is no block, but the lines in it keep the same law: in a frame they would be a block.
      return {
        block: `# ${text}\n---\n\n`,
        untrustedSpans: untrustedSpans.map(({ start, end }) => ({
          start: start + 2,
          end: end + 2,
        })),
      };
    },
  },
];

/** Makers of system blocks, and of the events in them. */
export const SYSTEM_PRODUCERS: readonly BlockProducer[] = [
  {
    name: "the events of a session",
    files: ["auto-reply/reply/session-updates.ts"],
    produce: (hostile) => ({
      block: prependSystemEvents({ events: [{ ts: "now", text: hostile }], body: "" }),
    }),
  },
  {
    name: "a turn with its events",
    files: ["context/turn.ts"],
    produce: (hostile) => ({
      block: composeTurn({
        events: [
          { ts: "now", text: hostile },
          { ts: "", text: hostile },
        ],
        activity: [],
        ownerText: "",
      }).composed,
    }),
  },
  {
    name: "a command that ended",
    files: ["cli/commands/exec.ts", "auto-reply/reply/exec-event.ts"],
    produce: (hostile) =>
      blockOf(
        eventsBlock([
          {
            ts: "now",
            text: describeExec({
              command: [hostile, hostile],
              outcome: { kind: "not-started", reason: hostile },
              durationMs: 1,
              output: hostile,
            }),
          },
        ]),
      ),
  },
  {
    name: "a notification",
    files: ["auto-reply/reply/message-notices.ts"],
    produce: (hostile) => {
      const told: string[] = [];
      const notices = createMessageNotices(
        {
          enqueue: ({ text }) => {
            told.push(text);
            return "queued";
          },
        },
        () => NOW_US,
      );
      notices.spoke("a");
      notices.tell(hostile, hostile);
      return blockOf(eventsBlock(told.map((text) => ({ ts: "now", text }))));
    },
  },
  {
    name: "what the daemon says of itself",
    files: ["auto-reply/reply/daemon-notices.ts"],
    produce: (hostile) => {
      const told: string[] = [];
      const notices = createDaemonNotices({ pause: true, source: true, battery: true }, (text) =>
        told.push(text),
      );
      notices.paused(true);
      notices.source(hostile, "lost");
      notices.battery(5, "battery");
      return blockOf(eventsBlock(told.map((text) => ({ ts: "now", text }))));
    },
  },
  {
    name: "an event of the command line",
    files: ["cli/commands/session.ts"],
    produce: (hostile) => blockOf(eventsBlock([{ ts: "now", text: hostile.trimEnd() }])),
  },
];

/** Files that hand on what producers made, and make nothing themselves. */
export const CARRIERS: readonly string[] = [
  "auto-reply/reply/system-events.ts",
  "auto-reply/reply/system-events-memory.ts",
  "context/block-lines.ts",
  "context/markers.ts",
  "index.ts",
  "local-api/client.ts",
  "local-api/protocol.ts",
  "app/held-notices.ts",
  "app/session-turns.ts",
];

function blockOf(
  made: { readonly block: string | null; readonly untrustedSpans: readonly UntrustedSpan[] } | null,
): Produced {
  if (made === null || made.block === null) throw new Error("The producer made no block.");
  return { block: made.block, untrustedSpans: made.untrustedSpans };
}

function span(minutesAgo: number, minutes: number): EventSpan & { readonly id: number } {
  const startUs = NOW_US - minutesAgo * MINUTE_US;
  const endUs = startUs + minutes * MINUTE_US;
  return { id: startUs, startUs, endUs, utcOffsetMinutes: 60, timeZone: ZONE };
}

function windowOf(hostile: string, minutesAgo: number): WindowEvent {
  const text = storable(hostile);
  return { ...span(minutesAgo, 5), kind: "window", app: text, title: text, place: text };
}

function snapshotOf(hostile: string): Parameters<typeof renderContextBlock>[0] {
  const text = storable(hostile);
  return {
    nowUs: NOW_US,
    timeZone: ZONE,
    focused: windowOf(hostile, 12),
    recent: [windowOf(hostile, 30), windowOf(`y${hostile}`, 40)],
    input: {
      state: "active",
      sinceUs: NOW_US - MINUTE_US,
      lastIdle: { ...span(50, 10), kind: "idle", state: "away" },
      activeToday: { activeUs: 100 * MINUTE_US, firstUs: NOW_US - 200 * MINUTE_US },
    },
    system: {
      ...span(1, 1),
      kind: "system",
      power: "ac",
      batteryPercent: 82,
      online: true,
      cpuLoad: 0.12,
      memoryUsed: 0.41,
      displayCount: 1,
    },
    locked: false,
    media: [
      { ...span(3, 3), kind: "media", player: text, title: text, artist: text, playing: true },
    ],
    editing: {
      ...span(2, 2),
      kind: "editor",
      app: text,
      file: text,
      project: text,
      branch: text,
      language: text,
    },
    gaps: [],
    blind: null,
    elsewhere: [
      {
        device: hostile,
        kind: "laptop",
        event: windowOf(hostile, 7),
        lastUs: NOW_US - 2 * MINUTE_US,
        isNow: false,
      },
      { device: hostile, kind: null, event: windowOf(hostile, 5), lastUs: null, isNow: false },
    ],
    unknownBeforeUs: null,
  };
}

function digestOf(hostile: string): readonly DigestLine[] {
  const document = { id: 1, app: hostile, title: hostile, place: hostile };
  const reason = "a test";
  return [
    {
      kind: "span",
      document,
      device: hostile,
      startUs: NOW_US - 90 * MINUTE_US,
      endUs: NOW_US - 60 * MINUTE_US,
      activeUs: 20 * MINUTE_US,
      score: 1,
      reason,
    },
    {
      kind: "total",
      subject: hostile,
      eventIds: [],
      device: hostile,
      activeUs: MINUTE_US,
      allUs: 2 * MINUTE_US,
      fromUs: NOW_US - MINUTE_US,
      toUs: NOW_US,
      score: 1,
      reason,
    },
    {
      kind: "nothing",
      subject: hostile,
      device: hostile,
      window: { fromUs: NOW_US - MINUTE_US, toUs: NOW_US },
      meanwhile: "sleep",
      sinceUs: NOW_US,
      score: 1,
      reason,
    },
  ];
}
