/**
 * What leaves the daemon is written down for its owner. It hides which words of a question and of an answer are kept, and
 * promises that whatever a client was told, or read, stands in the ledger, and nothing while recording is paused.
 */
import type {
  ContextAnswer,
  ContextRequest,
  ForgetAnswer,
  LedgerAnswer,
  LedgerRequest,
  SearchAnswer,
} from "../api.ts";
import type { ActivityEvent } from "../capture/events.ts";
import type { PrivacyGate } from "../capture/privacy.ts";
import { type GivenText, joinLines, writeHits } from "./texts.ts";
import type { Ledger } from "../store/ledger.ts";

export interface OwnerLedger {
  readonly ledger: (request: LedgerRequest) => LedgerAnswer;
  /** Notes in the ledger what a client was given: `given`, or the block of the answer. */
  readonly note: (
    request: Pick<ContextRequest, "client" | "session" | "turn">,
    answer: ContextAnswer,
    given?: GivenText,
  ) => void;
  /** Notes what a client was told besides that an answer does without. */
  readonly noteLeftOut: (
    request: Pick<ContextRequest, "client" | "session">,
    answer: ContextAnswer,
  ) => void;
  /** Notes events that were read by a client that says who it is. */
  readonly noteEvents: (client: string | undefined, events: readonly ActivityEvent[]) => void;
  /** Notes what a search gave to a client that says who it is. */
  readonly noteSearch: (client: string | undefined, q: string, hits: SearchAnswer["hits"]) => void;
  /** Notes that a client that says who it is read a stretch of the record in another form. */
  readonly noteReading: (client: string | undefined, form: ReadingForm, what: string) => void;
  /** Notes that a client that says who it is read examples of what would be forgotten. */
  readonly noteExamples: (client: string | undefined, examples: ForgetAnswer["examples"]) => void;
}

/** Readings of the record other than for a block. */
type ReadingForm = "events" | "search" | "timeline" | "totals" | "days";

/** Of what the owner wrote the ledger keeps so much: enough to know the turn again. */
const MAX_TURN_CHARS = 2_000;
const DEFAULT_LEDGER_LIMIT = 100;
const MAX_LEDGER_LIMIT = 10_000;

export function createOwnerLedger(options: {
  readonly ledger: Ledger;
  /** Cleans what clients say of themselves. */
  readonly gate: Pick<PrivacyGate, "text">;
  /** Whether the ledger keeps what the owner wrote. */
  readonly keepTurns: boolean;
  readonly isPaused: () => boolean;
}): OwnerLedger {
  const { ledger, gate, keepTurns, isPaused } = options;
  return {
    ledger: ({
      fromUs = 0,
      toUs = Number.MAX_SAFE_INTEGER,
      client,
      limit = DEFAULT_LEDGER_LIMIT,
    }) =>
      ledger.read({
        fromUs,
        toUs,
        limit: Math.min(Math.max(1, limit), MAX_LEDGER_LIMIT),
        ...(client === undefined ? {} : { client }),
      }),
    note: ({ client, session, turn }, answer, given) => {
      const { text, untrustedSpans } = given ?? {
        text: answer.block ?? "",
        untrustedSpans: answer.untrustedSpans,
      };
      // While recording is paused nothing is told, and nothing is written.
      if (text === "" || isPaused()) return;
      ledger.note({
        client: client === undefined ? null : gate.text(client),
        session: session === undefined ? null : gate.text(session),
        form: answer.form,
        intent: answer.intent,
        source: answer.source,
        text,
        untrustedSpans,
        ownerText: turn === undefined || !keepTurns ? null : gate.text(cutTurn(turn)),
        tokens: answer.tokens,
        eventIds: answer.eventIds,
        reasons: answer.reasons,
      });
    },
    noteReading: (client, form, what) => {
      if (client === undefined || isPaused()) return;
      ledger.note({ ...reading(client, form), text: null, eventIds: [], reasons: [what] });
    },
    noteLeftOut: ({ client, session }, answer) => {
      const { leftOut = [] } = answer;
      if (leftOut.length === 0 || isPaused()) return;
      ledger.note({
        client: client === undefined ? null : gate.text(client),
        session: session === undefined ? null : gate.text(session),
        form: "left-out",
        intent: answer.intent,
        source: answer.source,
        ...joinLines(leftOut),
        ownerText: null,
        tokens: leftOut.reduce((sum, { tokens }) => sum + tokens, 0),
        eventIds: [...new Set(leftOut.flatMap(({ eventIds }) => eventIds))],
        reasons: leftOut.map(({ reason }) => reason),
      });
    },
    noteEvents: (client, events) => {
      const [first, last] = [events.at(0), events.at(-1)];
      if (client === undefined || first === undefined || last === undefined) return;
      // The events themselves stand in the record: the first, the last and the number tell which they were.
      ledger.note({
        ...reading(client, "events"),
        text: null,
        eventIds: [...new Set([first.id, last.id])],
        reasons: [`${events.length} events were read, from the first to the last of these`],
      });
    },
    noteSearch: (client, q, hits) => {
      if (client === undefined || hits.length === 0) return;
      ledger.note({
        ...reading(client, "search"),
        ...writeHits(hits),
        eventIds: [],
        reasons: [`all words of ${JSON.stringify(gate.text(q))} stand in it`],
      });
    },
    // What was to be forgotten was read before: which it was is kept, and none of its words.
    noteExamples: (client, examples) => {
      if (client === undefined || examples.length === 0) return;
      ledger.note({
        ...reading(client, "events"),
        text: null,
        eventIds: examples.map(({ lastId }) => lastId).sort((a, b) => a - b),
        reasons: [`${examples.length} examples of what would be forgotten were read`],
      });
    },
  };

  /** What all notes of requests other than for a block have in common. */
  function reading(client: string, form: ReadingForm) {
    return {
      client: gate.text(client),
      session: null,
      form,
      intent: form,
      source: "record",
      untrustedSpans: [],
      ownerText: null,
      tokens: 0,
    };
  }
}

/** At a whole character: half of a pair is none. */
function cutTurn(turn: string): string {
  return turn.slice(0, MAX_TURN_CHARS).replace(/\p{Surrogate}$/u, "");
}
