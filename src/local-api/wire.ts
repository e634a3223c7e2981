/**
 * The names that both ends of the socket use. It promises to import no library, so that the client starts
 * as fast as bare Node.
 */
import type { ErrorCode } from "../errors.ts";

/** Both sides send their version here, so that either can say that the other is older or newer. */
export const VERSION_HEADER = "activityd-version";

/** The two names a client may call the daemon by. Anything else is a web page that found a way in. */
export const ALLOWED_HOSTS: readonly string[] = ["localhost", "activityd"];

/** A comment line goes out this often on a quiet stream, so that a dead connection is noticed. */
export const HEARTBEAT_MS = 15_000;

/** The HTTP status that carries an error code. */
export function httpStatusOf(
  code: ErrorCode,
): 400 | 401 | 403 | 404 | 405 | 409 | 413 | 500 | 503 | 504 {
  switch (code) {
    case "bad_request":
    case "rule_invalid":
    case "config_invalid":
      return 400;
    case "unauthorized":
      return 401;
    case "client_revoked":
    case "forbidden_origin":
    case "forbidden_peer":
    case "hub_refused":
      return 403;
    case "not_found":
      return 404;
    case "method_not_allowed":
      return 405;
    case "hub_conflict":
      return 409;
    case "body_too_large":
      return 413;
    case "database_busy":
    case "database_unwritable":
    case "hub_away":
    case "page_unavailable":
    case "paused":
    case "program_replaced":
      return 503;
    case "timed_out":
      return 504;
    default:
      return 500;
  }
}
