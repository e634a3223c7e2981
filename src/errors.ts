/**
 * The one error type of the program and the catalogue of its codes. It promises that every failure a
 * person or a client meets has a stable code, a sentence that says what happened, and a hint what to do.
 */
import { dirname } from "node:path";

/** Every code there is. Codes are API: they are added, never renamed. */
export const ERROR_CODES = [
  "bad_request",
  "body_too_large",
  "client_revoked",
  "config_invalid",
  "daemon_unreachable",
  "database_busy",
  "database_damaged",
  "database_key",
  "database_newer",
  "database_recovering",
  "database_unwritable",
  "forbidden_origin",
  "forbidden_peer",
  "hub_away",
  "hub_conflict",
  "hub_refused",
  "internal",
  "method_not_allowed",
  "not_found",
  "page_unavailable",
  "paused",
  "platform_unsupported",
  "port_in_use",
  "privacy_failed",
  "program_replaced",
  "rule_invalid",
  "socket_in_use",
  "socket_path_too_long",
  "socket_unsafe",
  "speech_failed",
  "timed_out",
  "unauthorized",
  "upstream_broken",
  "upstream_unreachable",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** The HTTP status that carries a code, the same at every server of ours; 500 for what only a command meets. */
export function httpStatusOf(
  code: ErrorCode,
): 400 | 401 | 403 | 404 | 405 | 409 | 413 | 500 | 502 | 503 | 504 {
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
    case "upstream_broken":
    case "upstream_unreachable":
      return 502;
    case "database_busy":
    case "database_recovering":
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

/** The error as it travels over the socket: the same fields on both ends. */
export interface ErrorEnvelope {
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly hint: string };
}

/**
 * What is thrown wherever a person or a client may see it.
 *
 * `message` says subject, what happened and the value, in one sentence; `hint` says what to do next, as a
 * command where there is one, and is the empty string when nothing can be done; `cause` is kept.
 */
export class ActivityError extends Error {
  override readonly name = "ActivityError";
  readonly code: ErrorCode;
  readonly hint: string;

  constructor(code: ErrorCode, message: string, hint = "", options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}

/** A path or a name as one word of a shell's command, so that a hint can be typed as it stands. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * The envelope of any thrown value. What is not an `ActivityError` becomes `internal`, without its stack. A value that is
 * named in it stays short enough for the sentence to be read.
 */
export function toErrorEnvelope(thrown: unknown): ErrorEnvelope {
  const { code, message, hint } = describe(thrown);
  return {
    error: { code, message: shortenValues(message), hint: shortenText(withoutControls(hint)) },
  };
}

/**
 * A sentence in which no value is longer than it takes to know which one is meant: its ends stay. Nor does one move the
 * cursor or colour the terminal in which it is read.
 */
export function shortenValues(sentence: string): string {
  return shortenText(withoutControls(sentence).replaceAll(/(\S{160})\S{100,}(\S{40})/gu, "$1…$2"));
}

/** Without the characters that a terminal obeys, but for the ends of lines and the tabs of a sentence of several lines. */
function withoutControls(text: string): string {
  return text.replaceAll(/(?![\n\t])\p{Cc}/gu, "\uFFFD");
}

function shortenText(text: string): string {
  return text.replace(/^(.{1500}).{200,}(.{300})$/su, "$1 … $2");
}

function describe(thrown: unknown): ErrorEnvelope["error"] {
  if (thrown instanceof ActivityError)
    return { code: thrown.code, message: thrown.message, hint: thrown.hint };
  const refusal = describeRefusal(thrown) ?? describeUnloadable(thrown);
  if (refusal !== null) return { code: "internal", ...refusal };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: "internal", message: `Internal error: ${message}`, hint: "" };
}

/** What of the machine stands in the way of a write or a read, and is no fault of the program. */
const REFUSALS: Readonly<Record<string, readonly [why: string, remedy: string]>> = {
  EACCES: ["this user may not", "See whose the folder is with: ls -ld"],
  EPERM: ["this user may not", "See whose the folder is with: ls -ld"],
  EROFS: ["the file system is read-only", "See how it is mounted with: findmnt --target"],
  ENOSPC: ["the disk is full", "See what room is left with: df -h"],
  EDQUOT: ["the user's share of the disk is full", "See what room is left with: df -h"],
};

/** What a path can be that is not what was meant. */
const MISTAKES: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "what should be a folder in it is a file",
  EEXIST: "a file, or a link that leads nowhere, is in its place",
  EISDIR: "it is a folder",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "the name is too long",
};

/** Why a file cannot be read or written, in words that go on a sentence: `Cannot read x: it is a folder.` */
export function whyRefused(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const code = "code" in thrown ? String(thrown.code) : "";
  const [refusal] = REFUSALS[code] ?? [];
  return refusal ?? MISTAKES[code] ?? thrown.message;
}

/** What to do about a file that cannot be read or written, as far as the system says; else `otherwise`. */
export function howToMend(thrown: unknown, otherwise: string): string {
  return describeRefusal(thrown)?.hint || otherwise;
}

/** A failure of the system that its user can mend, or null for every other. */
function describeRefusal(
  thrown: unknown,
): { readonly message: string; readonly hint: string } | null {
  if (!(thrown instanceof Error) || !("code" in thrown) || !("syscall" in thrown)) return null;
  const code = String(thrown.code);
  const path = "path" in thrown && typeof thrown.path === "string" ? thrown.path : "";
  const [why, remedy] = REFUSALS[code] ?? inTheWay(thrown.syscall, code, path) ?? [];
  if (why === undefined) return null;
  const at =
    "address" in thrown && "port" in thrown
      ? `${String(thrown.address)}:${String(thrown.port)}`
      : path;
  const what = [thrown.syscall, at].filter((word) => word !== "").join(" ");
  return {
    message: `The system refuses «${what}»: ${why} (${code}).`,
    hint: path === "" ? "" : `${remedy} '${dirname(path)}'`,
  };
}

/** A native part that an installation did not build, or that was built for another Node.js, such as before its update. */
function describeUnloadable(
  thrown: unknown,
): { readonly message: string; readonly hint: string } | null {
  if (!(thrown instanceof Error) || !("code" in thrown)) return null;
  const isMissing = thrown.code === "MODULE_NOT_FOUND";
  if (!isMissing && thrown.code !== "ERR_DLOPEN_FAILED") return null;
  const name = /([\w.-]+)\/build\/[^\s'"]*\.node\b/.exec(thrown.message)?.[1];
  if (name === undefined) return null;
  const why = isMissing ? "was not built" : "is damaged, or was built for another version";
  return {
    message: `Node.js ${process.versions.node} cannot load the package ${name}: its native part ${why}.`,
    // npm runs no script of a package any more that nobody allowed: from its 12th version on this would build nothing.
    hint: `Build it anew: npm rebuild -g --allow-scripts=${name} ${name}; in a checkout, there: npm rebuild ${name}`,
  };
}

/** What a path can be whatever is done with it. */
const ALWAYS_IN_THE_WAY: ReadonlySet<string> = new Set(["ENOTDIR", "ELOOP", "ENAMETOOLONG"]);

/**
 * A folder is made with all above it: what is missing then is behind a link, such as to a disk that is not there. That a
 * file is missing where it is read is a fault of the program's.
 */
function inTheWay(
  syscall: unknown,
  code: string,
  path: string,
): readonly [why: string, remedy: string] | null {
  const isOwners = syscall === "mkdir" || ALWAYS_IN_THE_WAY.has(code);
  const why = isOwners ? MISTAKES[code] : undefined;
  return why === undefined ? null : [why, `See what is in its way with: ls -ld '${path}'`];
}

/** The error that an envelope describes, or null when the value is no envelope. */
export function fromErrorEnvelope(value: unknown): ActivityError | null {
  if (typeof value !== "object" || value === null || !("error" in value)) return null;
  const { error } = value;
  if (typeof error !== "object" || error === null) return null;
  const code = "code" in error ? ERROR_CODES.find((known) => known === error.code) : undefined;
  const message = "message" in error && typeof error.message === "string" ? error.message : null;
  const hint = "hint" in error && typeof error.hint === "string" ? error.hint : "";
  if (message === null) return null;
  return new ActivityError(code ?? "internal", message, hint);
}
