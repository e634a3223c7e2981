/**
 * What each request of the socket may hold: the shape of its query or body. It promises that nothing reaches the daemon
 * which these did not let through. Each is made when a request first needs it: all together take 3 ms of a start.
 */
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
import { integer, text, withDefault, z } from "../shapes.ts";

/** Numbers in a query string arrive as text. */
const queryInteger = () =>
  z.pipe(
    z.string().check(z.regex(/^-?\d{1,16}$/, "expected a whole number")),
    z.transform((text: string) => Number(text)),
  );

/** So do answers to yes or no. */
const queryFlag = () =>
  z.pipe(
    z.enum(["true", "false"]),
    z.transform((text: "true" | "false") => text === "true"),
  );

/** And lists, with commas. */
const listOf = <Item extends z.ZodMiniType<string, string>>(item: Item) =>
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((list: string) => list.split(",")),
    ),
    z.array(item),
  );

const contextFields = () => ({
  turn: z.exactOptional(z.string()),
  session: z.exactOptional(text(1, 200)),
  now: z.exactOptional(z.string()),
  timeZone: z.exactOptional(z.string()),
  client: z.exactOptional(text(1, 200)),
});
const contextForm = () => z.enum(["exact", "digest", "auto"]);

export const contextBody = () =>
  z.strictObject({
    form: contextForm(),
    budgetTokens: z.exactOptional(z.int()),
    withLeftOut: z.exactOptional(z.boolean()),
    ...contextFields(),
  }) satisfies z.ZodMiniType<ContextRequest>;

export const contextQuery = () =>
  z.strictObject({
    form: withDefault(contextForm(), "exact"),
    budgetTokens: z.exactOptional(queryInteger()),
    ...contextFields(),
  }) satisfies z.ZodMiniType<ContextRequest>;

export const eventsQuery = () =>
  z.strictObject({
    fromUs: queryInteger(),
    toUs: z.exactOptional(queryInteger()),
    kinds: z.exactOptional(listOf(z.enum(EVENT_KINDS))),
    limit: z.exactOptional(queryInteger()),
    allDevices: z.exactOptional(queryFlag()),
    client: z.exactOptional(text(1, 200)),
  }) satisfies z.ZodMiniType<EventsRequest>;

export const searchQuery = () =>
  z.strictObject({
    q: text(1, 400),
    fromUs: z.exactOptional(queryInteger()),
    toUs: z.exactOptional(queryInteger()),
    limit: z.exactOptional(queryInteger()),
    client: z.exactOptional(text(1, 200)),
  }) satisfies z.ZodMiniType<SearchRequest>;

const session = () => text(1, 200);
const part = () => z.looseObject({ type: z.string() });

export const eventBody = () =>
  z.strictObject({
    session: session(),
    text: z.string(),
    key: z.exactOptional(text(1, 200)),
  }) satisfies z.ZodMiniType<EventRequest>;

export const turnBody = () =>
  z
    .strictObject({
      session: session(),
      ownerText: z.exactOptional(z.string()),
      parts: z.exactOptional(z.array(part())),
      form: z.exactOptional(contextForm()),
      requestId: z.exactOptional(text(1, 200)),
      budgetTokens: z.exactOptional(z.int()),
      now: z.exactOptional(z.string()),
      timeZone: z.exactOptional(z.string()),
      client: z.exactOptional(text(1, 200)),
    })
    .check(
      z.refine(({ ownerText, parts }) => (ownerText === undefined) !== (parts === undefined), {
        message: "give either ownerText or parts",
      }),
    );

export const stripBody = () =>
  z
    .strictObject({ text: z.exactOptional(z.string()), parts: z.exactOptional(z.array(part())) })
    .check(
      z.refine(({ text, parts }) => (text === undefined) !== (parts === undefined), {
        message: "give either text or parts",
      }),
    );
export const pauseBody = () =>
  z.strictObject({
    minutes: z.exactOptional(z.number()),
    until: z.exactOptional(z.string()),
  }) satisfies z.ZodMiniType<PauseRequest>;

export const forgetBody = () =>
  z.strictObject({
    lastMinutes: z.exactOptional(z.number()),
    fromUs: z.exactOptional(z.int()),
    toUs: z.exactOptional(z.int()),
    app: z.exactOptional(text(1, 200)),
    match: z.exactOptional(text(1, 1000)),
    byRules: z.exactOptional(z.boolean()),
    dryRun: z.exactOptional(z.boolean()),
    examples: z.exactOptional(integer(1, 50)),
    client: z.exactOptional(text(1, 200)),
  }) satisfies z.ZodMiniType<ForgetRequest>;

export const ledgerQuery = () =>
  z.strictObject({
    fromUs: z.exactOptional(queryInteger()),
    toUs: z.exactOptional(queryInteger()),
    client: z.exactOptional(text(1, 200)),
    limit: z.exactOptional(queryInteger()),
  }) satisfies z.ZodMiniType<LedgerRequest>;

const client = () => text(1, 200);
const timelineLane = () =>
  z.enum(["focus", "documents", "tabs", "presence", "media", "elsewhere", "gaps"]);

export const timelineQuery = () =>
  z.strictObject({
    fromUs: queryInteger(),
    toUs: queryInteger(),
    maxSpans: z.exactOptional(queryInteger()),
    lanes: z.exactOptional(listOf(timelineLane())),
    client: z.exactOptional(client()),
  }) satisfies z.ZodMiniType<TimelineRequest>;

export const totalsQuery = () =>
  z.strictObject({
    fromUs: queryInteger(),
    toUs: queryInteger(),
    by: z.enum(["application", "document", "project", "host"]),
    limit: z.exactOptional(queryInteger()),
    client: z.exactOptional(client()),
  }) satisfies z.ZodMiniType<TotalsRequest>;

export const daysQuery = () =>
  z.strictObject({
    fromDay: z.string(),
    toDay: z.string(),
    client: z.exactOptional(client()),
  }) satisfies z.ZodMiniType<DaysRequest>;

export const clientBody = () =>
  z.strictObject({
    client: client(),
    access: z.enum(["allowed", "revoked"]),
  }) satisfies z.ZodMiniType<ClientRequest>;

export const hubBody = () =>
  z.strictObject({
    action: z.enum(["rotate", "revoke", "rejoin", "leave"]),
    device: z.exactOptional(text(1, 100)),
  }) satisfies z.ZodMiniType<HubRequest>;

export const ruleTestBody = () =>
  z.strictObject({
    app: text(0, 1000),
    title: z.exactOptional(text(0, 10_000)),
    url: z.exactOptional(text(0, 10_000)),
    private: z.exactOptional(z.boolean()),
  }) satisfies z.ZodMiniType<RuleTestRequest>;

export const watchQuery = () => z.strictObject({ client: z.exactOptional(text(1, 200)) });
export type WatchQuery = z.output<ReturnType<typeof watchQuery>>;

export const nothing = () => z.strictObject({});
