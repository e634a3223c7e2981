/** A gateway before an upstream stub, with a daemon that a test can take away. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { TurnRequest } from "../../src/api.ts";
import { createMemoryEventRows } from "../../src/auto-reply/reply/system-events-memory.ts";
import { createSystemEventQueue } from "../../src/auto-reply/reply/system-events.ts";
import { headingBlockOfText, type SessionEvent } from "../../src/context/markers.ts";
import { composeTurn } from "../../src/context/turn.ts";
import { ActivityError } from "../../src/errors.ts";
import { openGateway, type Gateway, type GatewayOptions } from "../../src/gateway/openai-http.ts";
import { openTurnMemory } from "../../src/gateway/turn-memory.ts";
import type { TurnComposer } from "../../src/gateway/turn-injector.ts";
import type { Log } from "../../src/log.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { openUpstreamStub, type UpstreamStub } from "./openai-upstream.ts";
import { createTempHome } from "./temp-home.ts";

export const TOKEN = "adg_test-token";

export interface GatewayRig {
  readonly upstream: UpstreamStub;
  readonly gateway: Gateway;
  readonly daemon: FakeDaemon;
  readonly clock: FakeClock;
  readonly logged: readonly string[];
  readonly home: string;
  /** A POST with the right token, as a client would send it. */
  readonly post: (
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ) => Promise<Response>;
  /** Another gateway on the same memory, as after a restart. */
  readonly restart: () => Promise<Gateway>;
}

/** Composes turns with a block that counts how often it was asked. */
export interface FakeDaemon extends TurnComposer {
  readonly asked: readonly TurnRequest[];
  readonly setAway: (away: boolean) => void;
  /** Whether the owner refuses every client. */
  readonly setRefusing: (refusing: boolean) => void;
  /** Whether there is something to say. */
  readonly setSilent: (silent: boolean) => void;
  /** Whether turns are composed and their answers lost on the way. */
  readonly setLosing: (losing: boolean) => void;
  /** An event that waits for a session. */
  readonly tell: (session: string, text: string) => void;
}

export async function openGatewayRig(options: Partial<GatewayOptions> = {}): Promise<GatewayRig> {
  const home = createTempHome();
  const upstream = await openUpstreamStub();
  const daemon = createFakeDaemon();
  const clock = createFakeClock("2026-11-27T16:12:00Z");
  const logged: string[] = [];
  const keep = (message: string, fields?: object): void => {
    logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  const log: Log = { info: keep, warn: keep, error: keep };
  const open = async (): Promise<Gateway> => {
    const gateway = await openGateway({
      upstream: upstream.url,
      upstreamKey: "upstream-key",
      turns: daemon,
      memory: openTurnMemory(join(home, "turns.jsonl"), log),
      token: TOKEN,
      port: 0,
      form: "auto",
      offClients: [],
      allowedOrigins: [],
      clock,
      log,
      ...options,
    });
    onTestFinished(gateway.close);
    return gateway;
  };
  const gateway = await open();
  return {
    upstream,
    gateway,
    daemon,
    clock,
    logged,
    home,
    restart: open,
    post: (path, body, headers = {}) =>
      fetch(new URL(path, `${gateway.address}/`), {
        method: "POST",
        headers: {
          authorization: `Bearer ${TOKEN}`,
          "content-type": "application/json",
          ...headers,
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
  };
}

function createFakeDaemon(): FakeDaemon {
  const asked: TurnRequest[] = [];
  let away = false;
  let refusing = false;
  let silent = false;
  let losing = false;
  const queue = createSystemEventQueue({ rows: createMemoryEventRows(), nowUs: () => 0 });
  return {
    asked,
    setAway: (next) => (away = next),
    setRefusing: (next) => (refusing = next),
    setSilent: (next) => (silent = next),
    setLosing: (next) => (losing = next),
    tell: (session, text) => void queue.enqueue({ session, text }),
    composeTurn: async (request) => {
      if (away) throw new ActivityError("daemon_unreachable", "No daemon answers.", "");
      if (refusing) throw new ActivityError("client_revoked", "The owner refuses it.", "");
      asked.push(request);
      const activity = silent
        ? []
        : [headingBlockOfText("realtime", [`- Focused: Code: "number ${asked.length}"`])];
      const { session, ownerText, requestId } = request;
      const render = (events: readonly SessionEvent[]) =>
        composeTurn({ events, activity, ownerText });
      const turn = queue.drain(session, render, requestId);
      if (losing) throw new ActivityError("timed_out", "The daemon did not answer.", "");
      return {
        modelText: turn.composed,
        ownerText: turn.visible,
        injectedLength: turn.injectedLength,
        untrustedSpans: turn.untrustedSpans,
      };
    },
  };
}

/** The block that the fake daemon gives when it is asked for the nth time, as it stands before a turn. */
export function blockNumber(n: number): string {
  return `# Device Activity (exact, real-time)\n- Focused: Code: "number ${n}"\n---\n\n`;
}
