/**
 * The OpenAPI 3.1 document of the socket, made from the route table and the schemas that check its input. It
 * is loaded when somebody asks for it, so that the daemon does not carry it.
 */
import { EVENT_KINDS } from "../capture/events.ts";
import { ERROR_CODES } from "../errors.ts";
import { z } from "../shapes.ts";
import { ROUTES, type Route } from "./protocol.ts";

const micros = z.int().check(z.describe("microseconds since 1970 UTC"));

const contextAnswer = z.object({
  block: z.nullable(z.string()),
  form: z.enum(["exact", "digest"]),
  intent: z.string(),
  source: z.enum(["rules", "semantic", "model", "fallback"]),
  tokens: z.int(),
  ms: z.number(),
  asOfUs: micros,
  reasons: z.array(z.string()),
  eventIds: z.array(z.int()),
  untrustedSpans: z.array(z.object({ start: z.int(), end: z.int() })),
  etag: z.string(),
  leftOut: z.optional(
    z.array(
      z.object({
        text: z.string(),
        untrustedSpans: z.array(z.object({ start: z.int(), end: z.int() })),
        startUs: z.nullable(micros),
        tokens: z.int(),
        reason: z.string(),
        eventIds: z.array(z.int()),
      }),
    ),
  ),
});

const blindness = z.object({ reason: z.string(), remedy: z.string() });

const statusAnswer = z.object({
  version: z.string(),
  pid: z.int(),
  startedUs: micros,
  nowUs: micros,
  socket: z.string(),
  health: z.enum(["ok", "degraded"]),
  problems: z.array(blindness),
  notes: z.array(blindness),
  paused: z.nullable(z.object({ sinceUs: micros, untilUs: z.nullable(micros) })),
  sources: z.array(
    z.object({
      kind: z.string(),
      state: z.enum(["live", "lost", "blind", "off"]),
      backend: z.nullable(z.string()),
      sinceUs: micros,
      why: z.nullable(blindness),
      rejected: z.array(z.extend(blindness, { backend: z.string() })),
    }),
  ),
  store: z.object({
    path: z.string(),
    sizeBytes: z.int(),
    eventCount: z.nullable(z.int()),
    lastCommittedUs: z.nullable(micros),
    writable: z.boolean(),
  }),
});

const eventsAnswer = z.object({
  events: z.array(
    z.looseObject({
      id: z.int(),
      kind: z.enum(EVENT_KINDS),
      startUs: micros,
      endUs: micros,
      utcOffsetMinutes: z.int(),
      timeZone: z.string(),
      device: z.optional(z.string()),
    }),
  ),
  truncated: z.boolean(),
});

const spans = z.array(z.object({ start: z.int(), end: z.int() }));
const parts = z.array(z.looseObject({ type: z.string() }));

const turnAnswer = z.union([
  z.object({
    modelText: z.string(),
    ownerText: z.string(),
    injectedLength: z.int(),
    untrustedSpans: spans,
  }),
  z.object({
    parts,
    ownerText: z.string(),
    injectedPart: z.nullable(z.int()),
    injectedLength: z.int(),
    untrustedSpans: spans,
  }),
]);
const pauseAnswer = z.object({ paused: statusAnswer.shape.paused });

const forgetAnswer = z.object({
  dryRun: z.boolean(),
  events: z.int(),
  shortened: z.int(),
  rewritten: z.int(),
  documents: z.int(),
  ledgerEntries: z.int(),
  otherRows: z.int(),
  backups: z.int(),
  span: z.nullable(z.object({ fromUs: micros, toUs: micros })),
  examples: z.array(
    z.object({
      facts: z.looseObject({ kind: z.enum(EVENT_KINDS) }),
      fate: z.enum(["removed", "shortened", "rewritten"]),
      events: z.int(),
      durationUs: z.int(),
      lastUs: micros,
      lastId: z.int(),
    }),
  ),
  proof: z.nullable(
    z.object({
      filesSearched: z.int(),
      bytesSearched: z.int(),
      texts: z.int(),
      foundIn: z.array(z.string()),
    }),
  ),
});

const ledgerAnswer = z.object({
  entries: z.array(
    z.object({
      id: z.int(),
      firstUs: micros,
      lastUs: micros,
      times: z.int(),
      client: z.nullable(z.string()),
      session: z.nullable(z.string()),
      form: z.string(),
      intent: z.string(),
      source: z.string(),
      text: z.nullable(z.string()),
      untrustedSpans: z.array(z.object({ start: z.int(), end: z.int() })),
      ownerText: z.nullable(z.string()),
      tokens: z.int(),
      eventIds: z.array(z.int()),
      reasons: z.array(z.string()),
    }),
  ),
  truncated: z.boolean(),
});

const clientsAnswer = z.object({
  clients: z.array(
    z.object({
      client: z.string(),
      access: z.enum(["allowed", "revoked"]),
      firstUs: z.nullable(micros),
      lastUs: z.nullable(micros),
      times: z.int(),
      revokedUs: z.nullable(micros),
    }),
  ),
});

const daysAnswer = z.object({
  days: z.array(
    z.object({
      day: z.string(),
      activeUs: z.nullable(z.int()),
      firstUs: z.nullable(micros),
      hours: z.array(z.int()).check(z.length(24)),
      gapUs: z.int(),
    }),
  ),
  timeZone: z.string(),
});

const ruleTestAnswer = z.object({
  verdict: z.enum(["keep", "drop"]),
  rule: z.nullable(z.string()),
  stored: z.nullable(
    z.object({ app: z.string(), title: z.nullable(z.string()), place: z.nullable(z.string()) }),
  ),
  lines: z.array(z.string()),
});

const timelineAnswer = z.object({
  fromUs: micros,
  toUs: micros,
  resolutionUs: z.int(),
  lanes: z.array(
    z.object({
      id: z.enum(["focus", "documents", "tabs", "presence", "media", "elsewhere", "gaps"]),
      spans: z.array(
        z.object({
          startUs: micros,
          endUs: micros,
          kind: z.enum(EVENT_KINDS),
          state: z.nullable(z.string()),
          app: z.nullable(z.string()),
          label: z.nullable(z.string()),
          place: z.nullable(z.string()),
          documentId: z.nullable(z.int()),
          activeUs: z.int(),
          merged: z.int(),
          device: z.optional(z.string()),
        }),
      ),
      merged: z.int(),
    }),
  ),
  firstUs: z.nullable(micros),
  lastUs: z.nullable(micros),
});

const totalsAnswer = z.object({
  totals: z.array(
    z.object({
      label: z.nullable(z.string()),
      app: z.nullable(z.string()),
      place: z.nullable(z.string()),
      documentId: z.nullable(z.int()),
      activeUs: z.int(),
    }),
  ),
  activeUs: z.int(),
  rest: z.object({ activeUs: z.int(), count: z.int() }),
  withoutUs: z.int(),
  fromDayTotals: z.boolean(),
  elsewhere: z.optional(z.array(z.object({ device: z.string(), activeUs: z.int() }))),
});

const errorEnvelope = z.object({
  error: z.object({ code: z.enum(ERROR_CODES), message: z.string(), hint: z.string() }),
});

/** What the routes answer with as JSON. A route that is not here is described as any object. */
export const ANSWERS: Readonly<Record<string, z.ZodMiniType>> = {
  "/v1/clients": clientsAnswer,
  "/v1/context": contextAnswer,
  "/v1/days": daysAnswer,
  "/v1/events": eventsAnswer,
  "/v1/forget": forgetAnswer,
  "/v1/ledger": ledgerAnswer,
  "/v1/page": z.object({ url: z.string(), expiresUs: micros }),
  "/v1/pause": pauseAnswer,
  "/v1/resume": pauseAnswer,
  "/v1/rules": z.object({ lines: z.array(z.string()) }),
  "/v1/rules/test": ruleTestAnswer,
  "/v1/status": statusAnswer,
  "/v1/strip": z.union([z.object({ ownerText: z.string() }), z.object({ parts })]),
  "/v1/system-events": z.object({ outcome: z.enum(["queued", "duplicate"]) }),
  "/v1/timeline": timelineAnswer,
  "/v1/totals": totalsAnswer,
  "/v1/turns": turnAnswer,
};

/** The document, as the value to serialise. */
export function describeRoutes(version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of ROUTES) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = describeRoute(route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "activityd",
      version,
      description:
        "HTTP/1.1 over a Unix socket. Requests with Origin, Referer or an unknown Host are refused.",
    },
    servers: [{ url: "http://localhost" }],
    paths,
    components: { schemas: { Error: toSchema(errorEnvelope, "output") } },
  };
}

function describeRoute(route: Route): object {
  const failure = {
    description: "What is wrong, and what to do.",
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
  return {
    summary: route.summary,
    "x-right": route.right,
    ...describeInput(route),
    responses: { ...describeSuccess(route), "4XX": failure, "5XX": failure },
  };
}

function describeInput(route: Route): object {
  const schema = toSchema(route.input(), "input");
  if (route.method === "POST") {
    return {
      requestBody: {
        required: true,
        description: `At most ${route.maxBodyBytes} bytes.`,
        content: { "application/json": { schema } },
      },
    };
  }
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const parameters = Object.entries(schema["properties"] ?? {}).map(([name, property]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema: property,
  }));
  return parameters.length === 0 ? {} : { parameters };
}

function describeSuccess(route: Route): object {
  const json = {
    "application/json": { schema: toSchema(ANSWERS[route.path] ?? z.looseObject({}), "output") },
  };
  switch (route.answers) {
    case "json":
      return { "200": { description: "Done.", content: json } };
    case "context":
      return {
        "200": {
          description: "The block: as text the very bytes to prepend.",
          content: { "text/plain": { schema: { type: "string" } }, ...json },
        },
        "204": { description: "There is nothing to say (to a client that asked for text)." },
        "304": { description: "The client named the ETag of this block in If-None-Match." },
      };
    default:
      return {
        "200": {
          description: "Events named context; their data is the answer of /v1/context.",
          content: { "text/event-stream": { schema: { type: "string" } } },
        },
      };
  }
}

function toSchema(schema: z.ZodMiniType, io: "input" | "output"): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}
