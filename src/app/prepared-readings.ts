/**
 * Timelines, totals and days: readings of the record that take their time. It hides that another process makes
 * them, and promises that they are settled up to the present, noted in the ledger, and given as JSON that is
 * only handed on.
 */
import type { Answers } from "./answers.ts";
import type {
  ActivityApi,
  DaysAnswer,
  Encoding,
  PreparedAnswers,
  TimelineAnswer,
  TotalsAnswer,
} from "../api.ts";
import { EVENT_KINDS } from "../capture/events.ts";
import type { Present } from "../capture/sampler.ts";
import type { Clock } from "../clock.ts";
import type { OwnerControl } from "../owner/control.ts";
import type { Question, Readings } from "../store/readings.ts";
import type { Running } from "../store/readings/timeline-rows.ts";

/** How long a reading may be behind the last settlement. */
const SETTLED_FOR_US = 1_000_000;

/** The readings that `ActivityApi` gives as bytes; each may throw what `readings` and `owner.clients.admit` throw. */
export function createPreparedReadings(options: {
  readonly readings: Pick<Readings, "prepare">;
  readonly answers: Pick<Answers, "settle">;
  readonly owner: Pick<OwnerControl, "clients" | "noteReading">;
  readonly present: () => Present;
  readonly clock: Clock;
}): PreparedAnswers {
  const { readings, answers, owner, present, clock } = options;
  let settledUs = -Infinity;

  const read = async (
    client: string | undefined,
    question: () => Question,
    form: Question["name"],
    what: string,
    encoding: Encoding,
  ): Promise<Uint8Array> => {
    owner.clients.admit(client);
    const nowUs = clock.monotonicUs();
    // A page that zooms asks many times a second, and what was settled a moment ago is settled.
    if (nowUs - settledUs > SETTLED_FOR_US) {
      settledUs = nowUs;
      answers.settle();
    }
    const bytes = await readings.prepare(question(), encoding);
    owner.noteReading(client, form, what);
    return bytes;
  };

  return {
    timeline: ({ client, ...request }, encoding) =>
      read(
        client,
        () => ({ name: "timeline", request, running: running() }),
        "timeline",
        spanInWords(request),
        encoding,
      ),
    totals: ({ client, ...request }, encoding) =>
      read(
        client,
        () => ({ name: "totals", request, timeZone: clock.timeZone() }),
        "totals",
        spanInWords(request),
        encoding,
      ),
    days: ({ client, ...request }, encoding) =>
      read(
        client,
        () => ({ name: "days", request, timeZone: clock.timeZone() }),
        "days",
        `the days ${request.fromDay} to ${request.toDay}`,
        encoding,
      ),
  };

  /** Which events go on: the database has their ends some seconds late. */
  function running(): Running {
    const { open } = present();
    const ids = EVENT_KINDS.map((kind) => open(kind)?.id ?? null);
    return { ids: ids.filter((id) => id !== null), nowUs: clock.nowUs() };
  }
}

/** The same readings for whoever looks into them. */
export function parseReadings(
  prepared: PreparedAnswers,
): Pick<ActivityApi, "timeline" | "totals" | "days"> {
  return {
    timeline: async (request) => trusted("timeline", await prepared.timeline(request, "identity")),
    totals: async (request) => trusted("totals", await prepared.totals(request, "identity")),
    days: async (request) => trusted("days", await prepared.days(request, "identity")),
  };
}

interface ReadAnswers {
  readonly timeline: TimelineAnswer;
  readonly totals: TotalsAnswer;
  readonly days: DaysAnswer;
}

/** What was read for a request of this very name: the one place where it gets its type again. */
function trusted<Name extends keyof ReadAnswers>(
  _name: Name,
  bytes: Uint8Array,
): ReadAnswers[Name] {
  return JSON.parse(new TextDecoder().decode(bytes)) as ReadAnswers[Name];
}

/** For the ledger: which stretch was read. */
function spanInWords({ fromUs, toUs }: { readonly fromUs: number; readonly toUs: number }): string {
  const [from, to] = [fromUs, toUs].map((us) => new Date(us / 1000).toISOString().slice(0, 16));
  return `what was recorded from ${from} to ${to} UTC`;
}
