/**
 * What a client asks of the gateway for one request. It hides in which header or suffix a wish may stand, so
 * that clients which can set neither a header nor a body field still have the name of the model.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { ContextForm } from "../api.ts";
import { ActivityError } from "../errors.ts";

export interface Wishes {
  /** Which block the turn gets; `off`: the request goes on as it came. */
  readonly form: ContextForm | "off";
  /** The reply will be spoken. */
  readonly voice: boolean;
  /** The name of the conversation, when the client gives one. */
  readonly session: string | null;
  /** Who asks: the client's own name, or the first word of its User-Agent. */
  readonly client: string;
  /** The model without wishes in its name; null when there were none. */
  readonly model: string | null;
}

/** What clients send to us and the upstream has no use for. */
export const WISH_HEADERS = {
  context: "activityd-context",
  turn: "activityd-turn",
  session: "activityd-session",
  client: "activityd-client",
} as const;

const FORMS = ["exact", "digest", "auto", "off"] as const;

/**
 * Reads headers and the end of the model's name (`llama3.2+voice+off`). A header counts more than a suffix,
 * a suffix more than what was set for all requests.
 *
 * @throws ActivityError `bad_request` for a header with another value than those there are
 */
export function readWishes(
  headers: IncomingHttpHeaders,
  model: string | null,
  defaults: { readonly form: ContextForm; readonly offClients: readonly string[] },
): Wishes {
  const client = clientOf(headers);
  const suffix = readSuffixes(model ?? "");
  const isOff = defaults.offClients.some((name) => name.toLowerCase() === client.toLowerCase());
  const turn = readChoice(headers, WISH_HEADERS.turn, ["voice", "text"] as const);
  return {
    form:
      readChoice(headers, WISH_HEADERS.context, FORMS) ??
      suffix.form ??
      (isOff ? "off" : defaults.form),
    voice: turn === null ? suffix.voice : turn === "voice",
    session: textOf(headers, WISH_HEADERS.session)?.slice(0, MAX_NAME_CHARS) ?? null,
    client,
    model: suffix.model === (model ?? "") ? null : suffix.model,
  };
}

const MAX_NAME_CHARS = 200;

function readSuffixes(model: string): {
  readonly model: string;
  readonly voice: boolean;
  readonly form: (typeof FORMS)[number] | null;
} {
  let rest = model;
  let voice = false;
  let form: (typeof FORMS)[number] | null = null;
  for (;;) {
    const at = rest.lastIndexOf("+");
    const word = rest.slice(at + 1);
    const named = FORMS.find((one) => one === word);
    if (at <= 0 || (word !== "voice" && named === undefined)) return { model: rest, voice, form };
    if (named === undefined) voice = true;
    else form ??= named;
    rest = rest.slice(0, at);
  }
}

function readChoice<Choice extends string>(
  headers: IncomingHttpHeaders,
  name: string,
  choices: readonly Choice[],
): Choice | null {
  const value = textOf(headers, name);
  if (value === null) return null;
  const choice = choices.find((one) => one === value);
  if (choice !== undefined) return choice;
  throw new ActivityError(
    "bad_request",
    `The header ${name} is ${JSON.stringify(value.slice(0, 40))}.`,
    `It may be: ${choices.join(", ")}.`,
  );
}

function clientOf(headers: IncomingHttpHeaders): string {
  const named = textOf(headers, WISH_HEADERS.client);
  const product = /^[^\s/]+/.exec(headers["user-agent"] ?? "")?.[0];
  return (named ?? product ?? "unknown").slice(0, MAX_NAME_CHARS);
}

function textOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}
