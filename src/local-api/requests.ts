/**
 * What each request of the socket may hold: the shape of its query or body. It promises that nothing reaches the daemon
 * which these did not let through. Each is made when a request first needs it: all together take 3 ms of a start.
 */
import { z } from "zod";
import type {
  ClientRequest,
  ContextRequest,
  DaysRequest,
  EventRequest,
  EventsRequest,
  ForgetRequest,
  HubRequest,
  LedgerRequest,
  PauseRequest,
  RuleTestRequest,
  SearchRequest,
  TimelineRequest,
  TotalsRequest,
} from "../api.ts";
import { EVENT_KINDS } from "../capture/events.ts";

/** Numbers in a query string arrive as text. */
const queryInteger = () =>
  z
    .string()
    .regex(/^-?\d{1,16}$/, "expected a whole number")
    .transform(Number);

/** So do answers to yes or no. */
const queryFlag = () => z.enum(["true", "false"]).transform((text) => text === "true");

const contextFields = () => ({
  turn: z.string().exactOptional(),
  session: z.string().min(1).max(200).exactOptional(),
  now: z.string().exactOptional(),
  timeZone: z.string().exactOptional(),
  client: z.string().min(1).max(200).exactOptional(),
});
const contextForm = () => z.enum(["exact", "digest", "auto"]);

export const contextBody = () =>
  z.strictObject({
    form: contextForm(),
    budgetTokens: z.int().exactOptional(),
    withLeftOut: z.boolean().exactOptional(),
    ...contextFields(),
  }) satisfies z.ZodType<ContextRequest>;

export const contextQuery = () =>
  z.strictObject({
    form: contextForm().default("exact"),
    budgetTokens: queryInteger().exactOptional(),
    ...contextFields(),
  }) satisfies z.ZodType<ContextRequest>;

export const eventsQuery = () =>
  z.strictObject({
    fromUs: queryInteger(),
    toUs: queryInteger().exactOptional(),
    kinds: z
      .string()
      .transform((list) => list.split(","))
      .pipe(z.array(z.enum(EVENT_KINDS)))
      .exactOptional(),
    limit: queryInteger().exactOptional(),
    allDevices: queryFlag().exactOptional(),
    client: z.string().min(1).max(200).exactOptional(),
  }) satisfies z.ZodType<EventsRequest>;

export const searchQuery = () =>
  z.strictObject({
    q: z.string().min(1).max(400),
    fromUs: queryInteger().exactOptional(),
    toUs: queryInteger().exactOptional(),
    limit: queryInteger().exactOptional(),
    client: z.string().min(1).max(200).exactOptional(),
  }) satisfies z.ZodType<SearchRequest>;

const session = () => z.string().min(1).max(200);
const part = () => z.looseObject({ type: z.string() });

export const eventBody = () =>
  z.strictObject({
    session: session(),
    text: z.string(),
    key: z.string().min(1).max(200).exactOptional(),
  }) satisfies z.ZodType<EventRequest>;

export const turnBody = () =>
  z
    .strictObject({
      session: session(),
      ownerText: z.string().exactOptional(),
      parts: z.array(part()).exactOptional(),
      form: contextForm().exactOptional(),
      requestId: z.string().min(1).max(200).exactOptional(),
      budgetTokens: z.int().exactOptional(),
      now: z.string().exactOptional(),
      timeZone: z.string().exactOptional(),
      client: z.string().min(1).max(200).exactOptional(),
    })
    .refine(({ ownerText, parts }) => (ownerText === undefined) !== (parts === undefined), {
      message: "give either ownerText or parts",
    });

export const stripBody = () =>
  z
    .strictObject({ text: z.string().exactOptional(), parts: z.array(part()).exactOptional() })
    .refine(({ text, parts }) => (text === undefined) !== (parts === undefined), {
      message: "give either text or parts",
    });
export const pauseBody = () =>
  z.strictObject({
    minutes: z.number().exactOptional(),
    until: z.string().exactOptional(),
  }) satisfies z.ZodType<PauseRequest>;

export const forgetBody = () =>
  z.strictObject({
    lastMinutes: z.number().exactOptional(),
    fromUs: z.int().exactOptional(),
    toUs: z.int().exactOptional(),
    app: z.string().min(1).max(200).exactOptional(),
    match: z.string().min(1).max(1000).exactOptional(),
    byRules: z.boolean().exactOptional(),
    dryRun: z.boolean().exactOptional(),
    examples: z.int().min(1).max(50).exactOptional(),
    client: z.string().min(1).max(200).exactOptional(),
  }) satisfies z.ZodType<ForgetRequest>;

export const ledgerQuery = () =>
  z.strictObject({
    fromUs: queryInteger().exactOptional(),
    toUs: queryInteger().exactOptional(),
    client: z.string().min(1).max(200).exactOptional(),
    limit: queryInteger().exactOptional(),
  }) satisfies z.ZodType<LedgerRequest>;

const client = () => z.string().min(1).max(200);
const timelineLane = () =>
  z.enum(["focus", "documents", "tabs", "presence", "media", "elsewhere", "gaps"]);

export const timelineQuery = () =>
  z.strictObject({
    fromUs: queryInteger(),
    toUs: queryInteger(),
    maxSpans: queryInteger().exactOptional(),
    lanes: z
      .string()
      .transform((list) => list.split(","))
      .pipe(z.array(timelineLane()))
      .exactOptional(),
    client: client().exactOptional(),
  }) satisfies z.ZodType<TimelineRequest>;

export const totalsQuery = () =>
  z.strictObject({
    fromUs: queryInteger(),
    toUs: queryInteger(),
    by: z.enum(["application", "document", "project", "host"]),
    limit: queryInteger().exactOptional(),
    client: client().exactOptional(),
  }) satisfies z.ZodType<TotalsRequest>;

export const daysQuery = () =>
  z.strictObject({
    fromDay: z.string(),
    toDay: z.string(),
    client: client().exactOptional(),
  }) satisfies z.ZodType<DaysRequest>;

export const clientBody = () =>
  z.strictObject({
    client: client(),
    access: z.enum(["allowed", "revoked"]),
  }) satisfies z.ZodType<ClientRequest>;

export const hubBody = () =>
  z.strictObject({
    action: z.enum(["rotate", "revoke", "rejoin", "leave"]),
    device: z.string().min(1).max(100).exactOptional(),
  }) satisfies z.ZodType<HubRequest>;

export const ruleTestBody = () =>
  z.strictObject({
    app: z.string().max(1000),
    title: z.string().max(10_000).exactOptional(),
    url: z.string().max(10_000).exactOptional(),
    private: z.boolean().exactOptional(),
  }) satisfies z.ZodType<RuleTestRequest>;

export const watchQuery = () =>
  z.strictObject({ client: z.string().min(1).max(200).exactOptional() });
export type WatchQuery = z.output<ReturnType<typeof watchQuery>>;

export const nothing = () => z.strictObject({});
