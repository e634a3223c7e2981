/**
 * Who has opened the page: keys for one use and the sessions they open. It promises that a key opens one session within
 * minutes, that sessions outlive a restart, and that neither memory nor disk holds what would open one.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import type { Clock } from "../clock.ts";
import { reasonForLog, type Log } from "../log.ts";
import { writeWhole } from "../whole-file.ts";

export interface PageSessions {
  /** A key for one use, and until when. */
  readonly mint: () => { readonly key: string; readonly expiresUs: number };
  /** Uses a key up. The secret of a new session, for the cookie; null when the key is unknown, used or too old. */
  readonly redeem: (key: string) => string | null;
  /** Whether a secret belongs to a session that has not ended. */
  readonly isOpen: (secret: string) => boolean;
  /** Ends the session of a secret. */
  readonly end: (secret: string) => void;
  readonly endAll: () => void;
  /** How many sessions there are. */
  readonly count: () => number;
}

export interface PageSessionsOptions {
  /** Keeps the sessions, mode 0600. */
  readonly file: string;
  readonly clock: Pick<Clock, "nowUs">;
  readonly log: Log;
}

const KEY_US = 5 * 60_000_000;
/** How long a session lasts from its opening. */
export const SESSION_US = 30 * 86_400_000_000;
/** Keys that were never used, and sessions of browsers that were closed, are forgotten beyond these many. */
const MAX_KEYS = 16;
const MAX_SESSIONS = 32;

export function openPageSessions({ file, clock, log }: PageSessionsOptions): PageSessions {
  /** Ends by the hash of what opens it. */
  const keys = new Map<string, number>();
  const sessions = readSessions(file, log);

  const drop = (ends: Map<string, number>, most: number): void => {
    const nowUs = clock.nowUs();
    for (const [hash, expiresUs] of ends) {
      if (expiresUs <= nowUs || ends.size > most) ends.delete(hash);
    }
  };

  /** A session that cannot be kept is one until the daemon ends. */
  const keep = (): void => {
    try {
      if (sessions.size === 0) rmSync(file, { force: true });
      else writeWhole(file, JSON.stringify(Object.fromEntries(sessions)));
    } catch (error) {
      log.warn("cannot keep the sessions of the page", { reason: reasonForLog(error) });
    }
  };

  drop(sessions, MAX_SESSIONS);

  return {
    mint: () => {
      const key = newSecret();
      const expiresUs = clock.nowUs() + KEY_US;
      keys.set(hashOf(key), expiresUs);
      drop(keys, MAX_KEYS);
      return { key, expiresUs };
    },
    redeem: (key) => {
      drop(keys, MAX_KEYS);
      if (!keys.delete(hashOf(key))) return null;
      const secret = newSecret();
      sessions.set(hashOf(secret), clock.nowUs() + SESSION_US);
      drop(sessions, MAX_SESSIONS);
      keep();
      return secret;
    },
    isOpen: (secret) => (sessions.get(hashOf(secret)) ?? 0) > clock.nowUs(),
    end: (secret) => {
      if (sessions.delete(hashOf(secret))) keep();
    },
    endAll: () => {
      sessions.clear();
      keys.clear();
      keep();
    },
    count: () => {
      drop(sessions, MAX_SESSIONS);
      return sessions.size;
    },
  };
}

function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Looked up by its hash, so that the time of a comparison tells nothing. */
function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}

/** A file that cannot be read holds no session: the owner opens the page anew. */
function readSessions(file: string, log: Log): Map<string, number> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isAbsent)
      log.warn("cannot read the sessions of the page", { reason: reasonForLog(error) });
    return new Map();
  }
  return parseSessions(text);
}

function parseSessions(text: string): Map<string, number> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return new Map();
    return new Map(
      Object.entries(value).filter(
        (entry): entry is [string, number] => typeof entry[1] === "number",
      ),
    );
  } catch {
    // Half a file: nobody is let in by it.
    return new Map();
  }
}
