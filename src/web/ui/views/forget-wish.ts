/**
 * What the owner types into the form for forgetting, as a request, and the answer in words. Pure; it promises that
 * a form which says nothing makes no request, and that what is carried out is what was looked at before.
 */
import type { ForgetAnswer, ForgetExample, ForgetRequest } from "../../../api.ts";
import { gapWords } from "./health-words.ts";

/** Which time is meant. */
export type ForgetSpan = "15min" | "1h" | "today" | "range" | "all" | "rules";

export interface ForgetForm {
  readonly span: ForgetSpan;
  /** For `range`: local date and time as `<input type="datetime-local">` has them; empty: open. */
  readonly from: string;
  readonly to: string;
  readonly app: string;
  readonly match: string;
}

export const EMPTY_FORM: ForgetForm = { span: "15min", from: "", to: "", app: "", match: "" };

/** A request, or the one sentence why there is none. */
export type ReadForm =
  | { readonly ok: true; readonly request: ForgetRequest }
  | { readonly ok: false; readonly why: string };

/** Reads the form at an instant. The start of "the last …" is fixed here: it does not move on until it is done. */
export function readForgetForm(form: ForgetForm, nowUs: number): ReadForm {
  if (form.span === "rules") return { ok: true, request: { byRules: true } };
  const app = form.app.trim();
  const match = form.match.trim();
  const what = { ...(app === "" ? {} : { app }), ...(match === "" ? {} : { match }) };
  switch (form.span) {
    case "15min":
      return { ok: true, request: { fromUs: nowUs - 15 * MINUTE_US, ...what } };
    case "1h":
      return { ok: true, request: { fromUs: nowUs - 60 * MINUTE_US, ...what } };
    case "today":
      return {
        ok: true,
        request: { fromUs: new Date(nowUs / 1000).setHours(0, 0, 0, 0) * 1000, ...what },
      };
    case "range":
      return readRange(form, what);
    default:
      return app === "" && match === ""
        ? {
            ok: false,
            why: "Name an application or a text: all of the record is not forgotten by mistake.",
          }
        : { ok: true, request: what };
  }
}

function readRange(form: ForgetForm, what: Pick<ForgetRequest, "app" | "match">): ReadForm {
  const fromUs = parseLocal(form.from);
  const toUs = parseLocal(form.to);
  if (fromUs === null && toUs === null) {
    return { ok: false, why: "Say when it begins or when it ends." };
  }
  if (fromUs !== null && toUs !== null && toUs <= fromUs) {
    return { ok: false, why: "It ends before it begins." };
  }
  return {
    ok: true,
    request: {
      ...(fromUs === null ? { fromUs: 0 } : { fromUs }),
      ...(toUs === null ? {} : { toUs }),
      ...what,
    },
  };
}

/** Microseconds of a local date and time; null when there is none. */
function parseLocal(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms * 1000;
}

/** Whether anything at all would go. */
export function isEmpty(answer: ForgetAnswer): boolean {
  const { events, shortened, rewritten, ledgerEntries, otherRows } = answer;
  return events + shortened + rewritten + ledgerEntries + otherRows === 0;
}

/** What goes, as a list of counts: "213 events", "2 of them cut at the edges". */
export function countWords(
  answer: ForgetAnswer,
  count: (value: number) => string,
): readonly string[] {
  const { dryRun, events, shortened, rewritten, documents, ledgerEntries, otherRows, backups } =
    answer;
  const plural = (value: number, one: string, many: string): string =>
    `${count(value)} ${value === 1 ? one : many}`;
  return [
    plural(events, "event", "events"),
    ...(shortened > 0 ? [`${plural(shortened, "event", "events")} cut at the edges`] : []),
    ...(rewritten > 0 ? [`${plural(rewritten, "event", "events")} rewritten`] : []),
    ...(dryRun ? [plural(documents, "distinct thing", "distinct things")] : []),
    // Of others something else is still recorded: fewer than were looked at, and none was passed over.
    ...(!dryRun && documents > 0
      ? [`all there was of ${plural(documents, "thing", "things")}`]
      : []),
    plural(ledgerEntries, "ledger entry", "ledger entries"),
    ...(otherRows > 0 ? [plural(otherRows, "other row", "other rows")] : []),
    ...(backups > 0 ? [`${plural(backups, "backup", "backups")}, made anew without it`] : []),
  ];
}

/** What an example tells of: who, what, and where. Null for each that it has none of. */
export function exampleTexts({ facts }: ForgetExample): {
  readonly app: string;
  readonly title: string | null;
  readonly place: string | null;
} {
  switch (facts.kind) {
    case "window":
    case "tab":
      return { app: facts.app, title: facts.title, place: facts.place };
    case "media":
      return { app: facts.player, title: facts.title, place: facts.artist };
    case "notification":
      return { app: facts.app, title: facts.summary, place: null };
    case "editor":
      return { app: facts.app, title: facts.file, place: facts.project };
    case "gap":
      return { app: gapWords(facts.reason), title: null, place: null };
    default:
      return { app: KIND_WORDS[facts.kind], title: null, place: null };
  }
}

const KIND_WORDS = {
  idle: "away from the input devices",
  lock: "screen locked",
  sleep: "asleep",
  system: "state of the machine",
} as const;

const MINUTE_US = 60_000_000;
