/**
 * How MCP hosts reach the tools: over stdin and stdout, or over HTTP on this machine alone. It promises that a
 * web page gets nothing: exact Host, no foreign Origin, a token.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ActivityError, toErrorEnvelope } from "../errors.ts";
import { accessRefusal } from "../gateway/access.ts";
import { text, z } from "../shapes.ts";
import { createMcpServer, type McpOptions } from "./server.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/** A host that has closed its end waits for this process to go; what takes longer than this is not waited for. */
const LAST_ANSWERS_MS = 2_000;

/** Serves one host over stdin and stdout. Resolves when the host has closed them and has its answers. */
export async function serveMcpStdio(options: McpOptions): Promise<void> {
  const server = createMcpServer(options);
  const ended = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
  });
  const transport = new StdioServerTransport();
  await server.connect(transport);
  const answered = watchAnswers(transport);
  await ended;
  await answered(LAST_ANSWERS_MS);
  await server.close();
}

/** Counts what was asked and not answered yet. The function it gives resolves when that is nothing, or after a time. */
function watchAnswers(transport: Transport): (patienceMs: number) => Promise<void> {
  const open = new Set<unknown>();
  let done = (): void => {};
  const close = (id: unknown): void => {
    open.delete(id);
    if (open.size === 0) done();
  };
  const { onmessage } = transport;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget.
  transport.onmessage = (message, extra) => {
    if ("method" in message && "id" in message) open.add(message.id);
    // What is called off gets no answer.
    else if ("method" in message && message.method === "notifications/cancelled")
      close(message.params?.["requestId"]);
    onmessage?.(message, extra);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, sendOptions) => {
    await send(message, sendOptions);
    if (!("method" in message)) close(message.id);
  };
  return async (patienceMs) => {
    if (open.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, patienceMs);
      done = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };
}

export interface McpHttpServer {
  readonly address: string;
  readonly close: () => Promise<void>;
}

/**
 * Serves any number of hosts at `http://127.0.0.1:PORT/mcp`, each request by a server of its own. What a host calls
 * itself stands in its session's name, which it sends with each request: nothing is kept, and it outlives this process.
 */
export async function serveMcpHttp(
  options: McpOptions & { readonly port: number; readonly token: string },
): Promise<McpHttpServer> {
  let port = options.port;
  const http = createServer((request, response) => {
    const refused = accessRefusal(request, { port, token: options.token, allowedOrigins: [] });
    if (refused !== null) {
      send(response, refused.code === "unauthorized" ? 401 : 403, toErrorEnvelope(refused));
      return;
    }
    void handle(options, request, response).catch((thrown: unknown) => {
      send(
        response,
        thrown instanceof ActivityError && thrown.code === "body_too_large" ? 413 : 400,
        toErrorEnvelope(thrown),
      );
    });
  });
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, "127.0.0.1", resolve);
  }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EADDRINUSE") throw cause;
    throw new ActivityError(
      "port_in_use",
      `Port ${port} of this machine is taken.`,
      "Choose another: activityd mcp --http --port 0",
      { cause },
    );
  });
  ({ port } = http.address() as AddressInfo);
  return {
    address: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

async function handle(
  options: McpOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.url !== "/mcp") {
    send(
      response,
      404,
      toErrorEnvelope(
        new ActivityError("not_found", "There is nothing here.", "The address is /mcp."),
      ),
    );
    return;
  }
  const body = request.method === "POST" ? await readJson(request) : undefined;
  const introduced = initializeRequest.safeParse(body).data?.params.clientInfo.name;
  if (introduced !== undefined) response.setHeader(SESSION_HEADER, nameSession(introduced));
  const client = introduced ?? readSession(request.headers[SESSION_HEADER]);
  const server = createMcpServer({ ...options, ...(client === null ? {} : { client }) });
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.once("close", () => {
    void transport.close();
    void server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(request, response, body);
}

/** Of the Model Context Protocol 2025-06-18, "Session Management": visible ASCII alone. */
const SESSION_HEADER = "mcp-session-id";

const initializeRequest = z.object({
  method: z.literal("initialize"),
  params: z.object({ clientInfo: z.object({ name: text(1, MAX_BODY_BYTES) }) }),
});

function nameSession(client: string): string {
  return `${randomUUID()}.${Buffer.from(client.slice(0, 200)).toString("base64url")}`;
}

/** Null for a session that no one here has named. */
function readSession(session: string | readonly string[] | undefined): string | null {
  if (typeof session !== "string") return null;
  const [, name = ""] = session.split(".");
  const client = Buffer.from(name, "base64url").toString();
  return client === "" ? null : client;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) {
      throw new ActivityError(
        "body_too_large",
        `The request is larger than ${MAX_BODY_BYTES} bytes.`,
        "Ask for less at once.",
      );
    }
    chunks.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch (cause) {
    throw new ActivityError("bad_request", "The request is no JSON.", "Send JSON-RPC 2.0.", {
      cause,
    });
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
