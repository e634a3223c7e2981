/**
 * One connection to NATS that is made again for ever: it hides servers that fall, keys that are refused and a stream
 * that is not there yet, and gives work a session to run on or says why there is none.
 */
import { readFileSync } from "node:fs";
import type * as JetStream from "@nats-io/jetstream";
import type * as Nats from "@nats-io/transport-node";
import { ActivityError } from "../../errors.ts";
import type { DriverState, HubDriver, HubDriverOptions } from "../driver.ts";
import { holdStream } from "./stream.ts";
import {
  explainTrouble,
  mustBeNewEnough,
  noteOnVersion,
  TroubleError,
  TryAgain,
  type Trouble,
} from "./trouble.ts";
import { INSTALL } from "../../version.ts";

/** A connection on which JetStream answered and the stream is as it has to be. */
export interface Session {
  readonly js: JetStream.JetStreamClient;
  readonly jsm: JetStream.JetStreamManager;
  /** Who the server knows this device as: the public half of its key, or its id where no key is asked for. */
  readonly writer: string;
  /** Resolves when the connection is gone. */
  readonly ended: Promise<unknown>;
}

export interface Link {
  readonly state: () => DriverState;
  readonly onState: (changed: (state: DriverState) => void) => () => void;
  /** What the owner should know beside the state, such as a server with published holes. */
  readonly notes: HubDriver["notes"];
  /**
   * Runs `work` on a session, again on another while it fails for want of the hub, until `timeoutMs` have passed.
   * Rejects with `hub_away` or `hub_refused`; an `ActivityError` of `work` is passed on as it is. `deadline` is a time
   * of `performance.now()`.
   */
  readonly use: <T>(
    timeoutMs: number,
    work: (session: Session, deadline: number) => Promise<T>,
  ) => Promise<T>;
  /** The session there is, or the next one; null when `signal` fired first. */
  readonly nextSession: (signal: AbortSignal) => Promise<Session | null>;
  /** Takes note that reading works. */
  readonly isRead: () => void;
  /** Takes note that reading failed on `session`; a server that does not answer is given up for another. */
  readonly isNotRead: (session: Session, thrown: unknown) => void;
  readonly close: () => Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 2_000;
const PING_INTERVAL_MS = 20_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

export async function openLink(options: HubDriverOptions, place: string): Promise<Link> {
  const packages = await loadPackages();
  const closing = new AbortController();
  const listeners = new Set<(state: DriverState) => void>();
  // Each device begins at another server, so that a cluster carries them evenly.
  let servers = rotate(options.settings.servers, Math.floor(Math.random() * 1_000));
  let session: Session | null = null;
  let drop: (() => void) | null = null;
  /**
   * Why nothing can be read though there is a connection. Of appends the state tells nothing: their callers hear it,
   * and would not call again while the state said so.
   */
  let readTrouble: Trouble | null = null;
  let connectionTrouble: Trouble = { state: "away", reason: "not connected yet", remedy: "Wait." };
  const waiters = new Set<() => void>();
  let note: ReturnType<typeof noteOnVersion> = null;
  let told = toState();

  function toState(before: DriverState | null = null): DriverState {
    const trouble = session === null ? connectionTrouble : readTrouble;
    const state = trouble?.state ?? "connected";
    const sinceUs = before?.state === state ? before.sinceUs : options.clock.nowUs();
    return trouble === null ? { state: "connected", sinceUs } : { ...trouble, sinceUs };
  }

  function settle(): void {
    const next = toState(told);
    if (sayTheSame(next, told)) return;
    if (next.state !== told.state) {
      if (next.state === "connected") options.log.info("hub: connected");
      else options.log.warn("hub: not connected", { state: next.state, reason: next.reason });
    }
    told = next;
    for (const changed of listeners) changed(next);
  }

  function wake(): void {
    waiters.forEach((each) => each());
  }

  async function keepConnected(): Promise<void> {
    let failures = 0;
    while (!closing.signal.aborted) {
      let key: string | null = null;
      try {
        const identity = readIdentity(packages, options);
        key = identity.authenticator === null ? null : identity.writer;
        const { connection, ...opened } = await openSession(packages, options, servers, identity);
        drop = () => void connection.close();
        if (closing.signal.aborted) break;
        session = opened;
        note = noteOnVersion(connection.info?.version ?? "");
        failures = 0;
        settle();
        wake();
        const why = await opened.ended;
        connectionTrouble = explainTrouble(why ?? new TryAgain("the connection is gone"), {
          place,
          key,
        });
      } catch (thrown) {
        failures += 1;
        connectionTrouble = explainTrouble(thrown, { place, key });
      }
      session = null;
      // The server that failed comes last next time: in a cluster that is parted, the next may be on the other side.
      servers = rotate(servers, 1);
      settle();
      wake();
      await pause(growingPause(failures), closing.signal);
    }
    drop?.();
  }

  /** Resolves when the connection changed, after `atMostMs`, or when `signal` fires. */
  async function change(atMostMs: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const end = (): void => waiting.abort();
    waiters.add(end);
    signal.addEventListener("abort", end);
    await pause(atMostMs, waiting.signal);
    signal.removeEventListener("abort", end);
    waiters.delete(end);
  }

  async function waitForSession(deadline: number): Promise<Session> {
    for (;;) {
      if (session !== null) return session;
      const isOver = closing.signal.aborted || performance.now() >= deadline;
      if (connectionTrouble.state === "refused" || isOver) throw toError(connectionTrouble);
      await change(deadline - performance.now(), closing.signal);
    }
  }

  function explain(used: Session, thrown: unknown): Trouble {
    const trouble = explainTrouble(thrown, { place, key: used.writer });
    // A server that does not answer may be cut off from its cluster: the next one is tried.
    const isGone = !(thrown instanceof TryAgain) && trouble.state === "away";
    if (isGone && session === used) drop?.();
    return trouble;
  }

  const running = keepConnected();

  return {
    state: () => told,
    onState: (changed) => {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
    notes: () => (note === null ? [] : [note]),
    use: async (timeoutMs, work) => {
      const deadline = performance.now() + timeoutMs;
      for (let failures = 0; ; failures += 1) {
        const used = await waitForSession(deadline);
        try {
          return await work(used, deadline);
        } catch (thrown) {
          if (thrown instanceof ActivityError) throw thrown;
          const trouble = explain(used, thrown);
          const pauseMs = Math.min(growingPause(failures), deadline - performance.now());
          if (trouble.state === "refused" || pauseMs <= 0) throw toError(trouble);
          await pause(pauseMs, closing.signal);
        }
      }
    },
    nextSession: async (signal) => {
      for (;;) {
        if (signal.aborted || closing.signal.aborted) return null;
        if (session !== null) return session;
        await change(LONGEST_PAUSE_MS, signal);
      }
    },
    isRead: () => {
      readTrouble = null;
      settle();
    },
    isNotRead: (used, thrown) => {
      const trouble = explain(used, thrown);
      readTrouble = trouble.state === "refused" ? trouble : null;
      settle();
    },
    close: async () => {
      closing.abort();
      listeners.clear();
      drop?.();
      wake();
      // A server that takes the connection and says nothing cannot hold up the end of the program.
      await Promise.race([running, pause(1_000, new AbortController().signal)]);
    },
  };
}

interface Packages {
  readonly nats: typeof Nats;
  readonly jetstream: typeof JetStream;
}

/** The packages are optional: whoever has no hub of NATS neither needs nor loads them. */
async function loadPackages(): Promise<Packages> {
  try {
    const [nats, jetstream] = await Promise.all([
      import("@nats-io/transport-node"),
      import("@nats-io/jetstream"),
    ]);
    return { nats, jetstream };
  } catch (cause) {
    throw new ActivityError(
      "platform_unsupported",
      "The packages that speak to NATS are not installed.",
      `Install activityd again with what is optional: ${INSTALL}`,
      { cause },
    );
  }
}

interface Identity {
  readonly writer: string;
  readonly authenticator: Nats.Authenticator | null;
}

/** Reads the key afresh at each try, so that a file that was put right needs no restart. */
function readIdentity({ nats }: Packages, { settings, device }: HubDriverOptions): Identity {
  if (settings.credentials_file === "") return { writer: device, authenticator: null };
  const text = readOwnerFile(settings.credentials_file, "credentials_file");
  const bytes = new TextEncoder().encode(text);
  const jwt = /-{3,}BEGIN NATS USER JWT-{3,}\s*([\w.-]+)/.exec(text)?.[1];
  if (jwt !== undefined) {
    return { writer: subjectOfJwt(jwt), authenticator: nats.credsAuthenticator(bytes) };
  }
  const seed = new TextEncoder().encode(/^SU[A-Z2-7]{56}$/m.exec(text)?.[0] ?? "");
  if (seed.length === 0) {
    throw new TroubleError({
      state: "refused",
      reason: `${settings.credentials_file} holds neither an NKey seed nor credentials`,
      remedy: "A seed is a line that begins with SU; credentials have a line BEGIN NATS USER JWT.",
    });
  }
  const writer = nats.nkeys.fromSeed(seed).getPublicKey();
  return { writer, authenticator: nats.nkeyAuthenticator(seed) };
}

function readOwnerFile(path: string, key: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    const reason = `${path} cannot be read (${code})`;
    const remedy = `Put the file there, or name another under [hub] ${key}.`;
    throw new TroubleError({ state: "refused", reason, remedy }, cause);
  }
}

/** The public key that a user's JWT was made for. The server checks the token; here it is only read. */
function subjectOfJwt(jwt: string): string {
  const claims: unknown = JSON.parse(
    Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString("utf8"),
  );
  if (typeof claims !== "object" || claims === null || !("sub" in claims)) return "";
  return String(claims.sub);
}

async function openSession(
  packages: Packages,
  { settings }: HubDriverOptions,
  servers: readonly string[],
  identity: Identity,
): Promise<Session & { readonly connection: Nats.NatsConnection }> {
  const wantsTls = settings.ca_file !== "" || servers.some((each) => each.startsWith("tls:"));
  const connection = await packages.nats.connect({
    servers: [...servers],
    name: "activityd",
    // A device hears answers under its own name alone: the server's permissions can hold it to that.
    inboxPrefix: `_INBOX_${identity.writer}`,
    timeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_INTERVAL_MS,
    noRandomize: true,
    // The loop around this one connects again: it also reads the key and looks after the stream anew.
    reconnect: false,
    ...(identity.authenticator === null ? {} : { authenticator: identity.authenticator }),
    ...(wantsTls
      ? { tls: settings.ca_file === "" ? {} : { ca: readOwnerFile(settings.ca_file, "ca_file") } }
      : {}),
  });
  try {
    mustBeNewEnough(connection.info?.version ?? "", connection.getServer());
    const options = { checkAPI: false, timeout: REQUEST_TIMEOUT_MS };
    const jsm = await packages.jetstream.jetstreamManager(connection, options);
    await holdStream(packages.jetstream, jsm, settings.keep_days);
    const js = packages.jetstream.jetstream(connection, options);
    return { connection, js, jsm, writer: identity.writer, ended: connection.closed() };
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}

function toError({ state, reason, remedy }: Trouble): ActivityError {
  const sentence = `The hub ${state === "refused" ? "refuses" : "is away"}: ${reason}.`;
  return new ActivityError(state === "refused" ? "hub_refused" : "hub_away", sentence, remedy);
}

function sayTheSame(a: DriverState, b: DriverState): boolean {
  return (
    a.state === b.state && (a.state === "connected" || ("reason" in b && a.reason === b.reason))
  );
}

function rotate<T>(list: readonly T[], by: number): readonly T[] {
  const at = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

/** Doubles from `FIRST_PAUSE_MS` up; a part is left to chance, so that a server that comes back is not met by all at once. */
function growingPause(failures: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 16));
  return longest / 2 + (Math.random() * longest) / 2;
}

/** Resolves after `pauseMs`, or at once when `signal` fires. */
export function pause(pauseMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, pauseMs));
    signal.addEventListener("abort", end);
  });
}
