/**
 * The route table: every request the socket answers, with the right it needs, the shape of its input and its
 * limits. The server, the OpenAPI document and the docs are made from it; a new route is one entry here.
 */
import type {
  ActivityApi,
  ContextAnswer,
  ContextRequest,
  Encoding,
  PreparedAnswers,
} from "../api.ts";
import { stripTurn, stripUserContent } from "../context/turn.ts";
import type { z } from "../shapes.ts";
import { parseInput } from "./read-input.ts";
import {
  clientBody,
  contextBody,
  contextQuery,
  daysQuery,
  eventBody,
  eventsQuery,
  forgetBody,
  hubBody,
  ledgerQuery,
  nothing,
  pauseBody,
  ruleTestBody,
  searchQuery,
  stripBody,
  timelineQuery,
  totalsQuery,
  turnBody,
  watchQuery,
  type WatchQuery,
} from "./requests.ts";

/** `read` looks; `change` alters what is kept or recorded, and is logged. */
type Right = "read" | "change";

interface RouteFrame {
  readonly method: "GET" | "POST";
  readonly path: `/v1/${string}`;
  readonly right: Right;
  /** One sentence for the documentation. */
  readonly summary: string;
  /** Where the input stands: GET takes the query string, POST a JSON body. */
  readonly input: () => z.ZodMiniType;
  readonly maxBodyBytes: number;
  /** Whether the input has a field `client`, which is filled in when it is absent. */
  readonly namesClient?: boolean;
}

/** One request the socket answers. `call` checks the raw input before it asks the daemon. */
export type Route = RouteFrame &
  (
    | {
        /** The value as JSON. */
        readonly answers: "json";
        readonly call: (api: ActivityApi, raw: unknown) => Promise<unknown>;
        /** The JSON itself, where it is made elsewhere. */
        readonly prepare?: (
          prepared: PreparedAnswers,
          raw: unknown,
          encoding: Encoding,
        ) => Promise<Uint8Array>;
      }
    | {
        /** The block as `text/plain`, or the whole answer as JSON, as the client asks. */
        readonly answers: "context";
        readonly call: (api: ActivityApi, raw: unknown) => Promise<ContextAnswer>;
      }
    | {
        /** A stream of server-sent events. */
        readonly answers: "watch";
        readonly call: (raw: unknown) => WatchQuery;
      }
  );

const DEFAULT_MAX_BODY_BYTES = 1024 * 1024;

/** A turn in parts carries its images with it. */
const TURN_MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Every route, sorted by path, then method. */
export const ROUTES: readonly Route[] = [
  jsonRoute({
    method: "GET",
    path: "/v1/clients",
    right: "read",
    summary: "Who was given something, when last and how often, and who is refused.",
    input: nothing,
    call: (api) => api.clients(),
  }),
  jsonRoute({
    method: "POST",
    path: "/v1/clients",
    right: "change",
    summary: "Refuses a client from now on, or allows it again.",
    input: clientBody,
    call: (api, request) => api.setClient(request),
  }),
  contextRoute("GET", contextQuery, "The block that fits now, or fits the turn."),
  contextRoute("POST", contextBody, "The same, with the turn in the body."),
  jsonRoute({
    method: "GET",
    path: "/v1/days",
    right: "read",
    summary: "Focused time by local day and hour.",
    input: daysQuery,
    namesClient: true,
    call: (api, request) => api.days(request),
    prepare: (prepared, request, encoding) => prepared.days(request, encoding),
  }),
  jsonRoute({
    method: "GET",
    path: "/v1/events",
    right: "read",
    summary: "Recorded events that touch a stretch of time, oldest first.",
    input: eventsQuery,
    namesClient: true,
    call: (api, request) => api.events(request),
  }),
  jsonRoute({
    method: "POST",
    path: "/v1/forget",
    right: "change",
    summary: "Removes what was recorded from every file, or counts it with dryRun.",
    input: forgetBody,
    namesClient: true,
    call: (api, request) => api.forget(request),
  }),
  jsonRoute({
    method: "GET",
    path: "/v1/hub",
    right: "read",
    summary: "The owner's devices, how far each was heard, and how the hub between them stands.",
    input: nothing,
    call: (api) => api.hub(),
  }),
  jsonRoute({
    method: "POST",
    path: "/v1/hub",
    right: "change",
    summary: "Changes the hub's key, takes a device out, begins the log anew, or leaves the hub.",
    input: hubBody,
    call: (api, request) => api.changeHub(request),
  }),
  jsonRoute({
    method: "GET",
    path: "/v1/ledger",
    right: "read",
    summary: "What clients were given, newest first, of which events and why.",
    input: ledgerQuery,
    call: (api, request) => api.ledger(request),
  }),
  jsonRoute({
    method: "POST",
    path: "/v1/page",
    right: "change",
    summary: "A link that opens the local page once.",
    input: nothing,
    call: (api) => api.openPage(),
  }),
  jsonRoute({
    method: "POST",
    path: "/v1/pause",
    right: "change",
    summary:
      "Stops recording and answering for some minutes, until an instant, or until it is resumed.",
    input: pauseBody,
    call: (api, request) => api.pause(request),
  }),
  jsonRoute({
    method: "POST",
    path: "/v1/resume",
    right: "change",
    summary: "Ends the pause.",
    input: nothing,
    call: (api) => api.resume(),
  }),
  jsonRoute({
    method: "GET",
    path: "/v1/rules",
    right: "read",
    summary: "The privacy rules in force, in sentences.",
    input: nothing,
    call: (api) => api.rules(),
  }),
  jsonRoute({
    method: "POST",
    path: "/v1/rules/test",
    right: "read",
    summary: "What the rules in force would make of a window. Nothing of it is kept.",
    input: ruleTestBody,
    call: (api, request) => api.testRule(request),
  }),
  jsonRoute({
    method: "GET",
    path: "/v1/search",
    right: "read",
    summary: "Documents that have all words of `q`, last seen first.",
    input: searchQuery,
    namesClient: true,
    call: (api, request) => api.search(request),
  }),
  jsonRoute({
    method: "GET",
    path: "/v1/status",
    right: "read",
    summary: "What is seen, what is not and why, and how the store stands.",
    input: nothing,
    call: (api) => api.status(),
  }),
  jsonRoute({
    method: "POST",
    path: "/v1/strip",
    right: "read",
    summary: "What the owner wrote in a composed turn, as text or in parts. Once for each turn.",
    input: stripBody,
    maxBodyBytes: TURN_MAX_BODY_BYTES,
    call: async (_api, { text, parts }) =>
      parts === undefined
        ? { ownerText: stripTurn(text ?? "") }
        : { parts: stripUserContent(parts) },
  }),
  jsonRoute({
    method: "POST",
    path: "/v1/system-events",
    right: "change",
    summary: "Adds an event that the session tells the model with its next turn.",
    input: eventBody,
    call: (api, request) => api.enqueueEvent(request),
  }),
  jsonRoute({
    method: "GET",
    path: "/v1/timeline",
    right: "read",
    summary: "A stretch of the record as lanes to draw, thinned to what can be seen.",
    input: timelineQuery,
    namesClient: true,
    call: (api, request) => api.timeline(request),
    prepare: (prepared, request, encoding) => prepared.timeline(request, encoding),
  }),
  jsonRoute({
    method: "GET",
    path: "/v1/totals",
    right: "read",
    summary: "What time went to, by application, document, project or host.",
    input: totalsQuery,
    namesClient: true,
    call: (api, request) => api.totals(request),
    prepare: (prepared, request, encoding) => prepared.totals(request, encoding),
  }),
  jsonRoute({
    method: "POST",
    path: "/v1/turns",
    right: "change",
    namesClient: true,
    summary: "The turn for the model: waiting events and the block before the owner's words.",
    input: turnBody,
    maxBodyBytes: TURN_MAX_BODY_BYTES,
    call: async (api, { ownerText = "", parts, ...frame }) =>
      parts === undefined
        ? api.composeTurn({ ...frame, ownerText })
        : api.composeParts({ ...frame, parts }),
  }),
  {
    method: "GET",
    path: "/v1/watch",
    right: "read",
    summary: "The block now and after every change, as server-sent events.",
    input: watchQuery,
    namesClient: true,
    maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
    answers: "watch",
    call: (raw) => parseInput(watchQuery(), raw, "GET"),
  },
];

/** A route whose answer is a JSON value: the usual case. */
function jsonRoute<Schema extends z.ZodMiniType>(
  route: Omit<RouteFrame, "input" | "maxBodyBytes"> & {
    readonly input: () => Schema;
    readonly maxBodyBytes?: number;
    readonly call: (api: ActivityApi, input: z.output<Schema>) => Promise<unknown>;
    readonly prepare?: (
      prepared: PreparedAnswers,
      input: z.output<Schema>,
      encoding: Encoding,
    ) => Promise<Uint8Array>;
  },
): Route {
  const { call, prepare, maxBodyBytes = DEFAULT_MAX_BODY_BYTES, ...frame } = route;
  const input = once(route.input);
  return {
    ...frame,
    maxBodyBytes,
    answers: "json",
    call: async (api, raw) => call(api, parseInput(input(), raw, route.method)),
    ...(prepare === undefined
      ? {}
      : {
          prepare: async (prepared: PreparedAnswers, raw: unknown, encoding: Encoding) =>
            prepare(prepared, parseInput(input(), raw, route.method), encoding),
        }),
  };
}

function contextRoute(
  method: "GET" | "POST",
  shape: () => z.ZodMiniType<ContextRequest>,
  summary: string,
): Route {
  const input = once(shape);
  return {
    method,
    path: "/v1/context",
    right: "read",
    summary,
    input,
    namesClient: true,
    maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
    answers: "context",
    call: async (api, raw) => api.context(parseInput(input(), raw, method)),
  };
}

function once<T>(make: () => T): () => T {
  let made: T | null = null;
  return () => (made ??= make());
}
