/**
 * What a failure of NATS means to the owner: whether waiting helps, why, and what to do. It knows the codes of the
 * client and of the server, so that nobody else looks at one.
 */
import { STREAM_NAME } from "./wire.ts";
import type { DriverState } from "../driver.ts";

/** Why records cannot move; see `DriverState`. */
export interface Trouble {
  readonly state: Exclude<DriverState["state"], "connected">;
  readonly reason: string;
  readonly remedy: string;
}

/** A trouble that is known where it is met. */
export class TroubleError extends Error {
  readonly trouble: Trouble;

  constructor(trouble: Trouble, cause?: unknown) {
    super(trouble.reason, { cause });
    this.trouble = trouble;
  }
}

/** A trouble of the moment: another try soon, on the same connection, is right. */
export class TryAgain extends TroubleError {
  constructor(reason: string, cause?: unknown) {
    super(away(reason), cause);
  }
}

/** What is known of the connection a failure came from. */
interface TroubleContext {
  /** Where it leads, for the owner's eyes. */
  readonly place: string;
  /** Public half of the device's key, or null when it has none. */
  readonly key: string | null;
}

/** Servers older than this lack what a reader needs. */
const OLDEST = [2, 9, 0] as const;

/** JetStream's own error codes (server/errors.json of nats-server). */
const CODES = {
  accountFull: 10_002,
  noSuitablePeers: 10_005,
  consumerNotFound: 10_014,
  insufficientResources: 10_023,
  notEnabledForAccount: 10_039,
  storageFull: 10_047,
  streamNotFound: 10_059,
  wrongLastSequence: 10_071,
  replicasNotSupported: 10_074,
  notEnabled: 10_076,
  storeFailed: 10_077,
} as const;

/** Whether the server refused a message because the subject's last one is not the expected one. */
export function isWrongLastSequence(thrown: unknown): boolean {
  return codeOf(thrown) === CODES.wrongLastSequence;
}

/** Whether the server has no such stream. */
export function isStreamNotFound(thrown: unknown): boolean {
  return codeOf(thrown) === CODES.streamNotFound;
}

/** Whether the server has no such consumer. */
export function isConsumerNotFound(thrown: unknown): boolean {
  return codeOf(thrown) === CODES.consumerNotFound;
}

/** Whether a request for messages ended because the next one would not fit in what was asked for. */
export function isRequestServed(thrown: unknown): boolean {
  return codeOf(thrown) === 409 && thrown instanceof Error && thrown.message.includes("maxbytes");
}

/** Whether a consumer was deleted under its reader. */
export function isConsumerDeleted(thrown: unknown): boolean {
  return (
    codeOf(thrown) === 409 && thrown instanceof Error && thrown.message.includes("consumer deleted")
  );
}

/** Whether the server is alone and can keep no copies. */
export function isSingleServer(thrown: unknown): boolean {
  return codeOf(thrown) === CODES.replicasNotSupported;
}

/** Whether nobody answered for a subject: for a stream's, it has no leader at the moment or is gone. */
export function isUnanswered(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    thrown.name === "JetStreamNotEnabled" &&
    codeOf(thrown.cause) === null
  );
}

/** Whether the server lets this key not do what was asked. */
export function isDenied(thrown: unknown): boolean {
  return chain(thrown).some(({ name }) => name === "PermissionViolationError");
}

/** What went wrong, whatever was thrown. */
export function explainTrouble(thrown: unknown, { place, key }: TroubleContext): Trouble {
  if (thrown instanceof TroubleError) return thrown.trouble;
  const errors = chain(thrown);
  const has = (name: string): boolean => errors.some((error) => error.name === name);
  const denied = errors.find(({ name }) => name === "PermissionViolationError");
  if (has("AuthorizationError")) {
    return {
      state: "refused",
      reason:
        key === null
          ? `${place} lets nobody in without a key`
          : `${place} does not know this device's key ${key}`,
      remedy:
        key === null
          ? "Name the file of this device's key under [hub] credentials_file."
          : "Have the server let this key in, or name another file under [hub] credentials_file.",
    };
  }
  if (has("UserAuthenticationExpiredError")) {
    return {
      state: "refused",
      reason: "this device's credentials have run out",
      remedy: "Get new ones from who runs the server, into the file of [hub] credentials_file.",
    };
  }
  if (denied !== undefined) {
    return {
      state: "refused",
      reason: `the server does not permit this device ${deniedWhat(denied)}`,
      remedy: "Give its key the permissions of docs/devices.md.",
    };
  }
  if (has("JetStreamNotEnabled") || codeOf(thrown) === CODES.notEnabled) {
    return {
      state: "refused",
      reason: `${place} answers, and JetStream is not switched on there for this device's account`,
      remedy:
        'Add "jetstream {}" to the settings of nats-server, and "jetstream: enabled" to the account.',
    };
  }
  return explainCode(thrown) ?? explainTls(errors) ?? explainReach(errors, place);
}

/** Throws when a server of this version will not do. */
export function mustBeNewEnough(version: string, place: string): void {
  if (compareVersions(version, OLDEST) >= 0) return;
  throw new TroubleError({
    state: "refused",
    reason: `${place} runs nats-server ${version}, which is too old`,
    remedy: "Install nats-server 2.12.7 or newer.",
  });
}

/** The trouble that a stream is not there and cannot be made by this device. */
export function streamMissing(): Trouble {
  return {
    state: "refused",
    reason: `the stream "${STREAM_NAME}" is not there, and this device may not make it`,
    remedy: "Make it as docs/devices.md says, or permit this device to.",
  };
}

/**
 * What the owner should know of a server of this version, or null. Published holes: CVE-2023-47090, GHSA-9983-vrx2-fg9c
 * and the advisories 2026-16 and 2026-18, the last of which are closed in 2.12.7 and 2.14.0.
 */
export function noteOnVersion(version: string): Pick<Trouble, "reason" | "remedy"> | null {
  const isSafe =
    compareVersions(version, [2, 14, 0]) >= 0 ||
    (compareVersions(version, [2, 12, 7]) >= 0 && compareVersions(version, [2, 13, 0]) < 0);
  if (isSafe) return null;
  return {
    reason: `The hub's nats-server ${version} has published holes.`,
    remedy: "Where others can reach it, run 2.12.7 or newer of 2.12, or 2.14.",
  };
}

function compareVersions(version: string, than: readonly [number, number, number]): number {
  const parts = version.split(/[.-]/, 3).map(Number);
  for (const [index, wanted] of than.entries()) {
    // What is no number is a build of nobody's: taken for old.
    const part = Number.isFinite(parts[index]) ? (parts[index] ?? 0) : -1;
    if (part !== wanted) return part - wanted;
  }
  return 0;
}

function explainCode(thrown: unknown): Trouble | null {
  switch (codeOf(thrown)) {
    case CODES.streamNotFound:
      return streamMissing();
    case CODES.accountFull:
    case CODES.insufficientResources:
    case CODES.storageFull:
    case CODES.storeFailed:
      return {
        state: "refused",
        reason: "it has no room left",
        remedy:
          "Give JetStream more (max_file_store), or keep records there for fewer days ([hub] keep_days).",
      };
    case CODES.noSuitablePeers:
      return {
        state: "refused",
        reason: "the cluster has too few servers with JetStream for three copies",
        remedy: "Start all three of them; a hub has one server or three.",
      };
    default:
      // Any other answer of JetStream: most are a cluster that is finding itself. Its words hold nothing of the owner's.
      return codeOf(thrown) === null || !(thrown instanceof Error)
        ? null
        : away(`JetStream answers "${thrown.message}"`);
  }
}

function explainTls(errors: readonly Error[]): Trouble | null {
  const code = errors.map((error) => ("code" in error ? String(error.code) : "")).find(isTlsCode);
  const saysNoTls = errors.some(({ message }) => message.includes("does not support 'tls'"));
  if (code === undefined && !saysNoTls) return null;
  return {
    state: "refused",
    reason: saysNoTls
      ? "the server does not speak TLS"
      : `the server's certificate cannot be trusted (${code})`,
    remedy: saysNoTls
      ? 'Switch TLS on at the server; or, on this machine only, write the address as "nats://…".'
      : (TLS_REMEDIES[code ?? ""] ??
        "Name the authority that signed it under [hub] ca_file, and the host as the certificate does."),
  };
}

/** What has to do with time has nothing to do with trust. */
const TLS_REMEDIES: Readonly<Record<string, string>> = {
  CERT_NOT_YET_VALID: "It is valid from later on: set the clock of this device, if that is behind.",
  CERT_HAS_EXPIRED:
    "Give the server a new certificate; or set the clock of this device, if that is ahead.",
};

/** Codes of OpenSSL's verification and of Node's own check of the host (node:tls). */
function isTlsCode(code: string): boolean {
  return /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY|DECODE))/.test(
    code,
  );
}

function explainReach(errors: readonly Error[], place: string): Trouble {
  const code = errors
    .map((error) => ("code" in error ? String(error.code) : ""))
    .find((each) => /^E[A-Z]+$/.test(each));
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return away(`${place} has no address here`);
  if (errors.some(({ name }) => name === "TimeoutError")) return away(`${place} does not answer`);
  return away(`${place} cannot be reached${code === undefined ? "" : ` (${code})`}`);
}

function away(reason: string): Trouble {
  return { state: "away", reason, remedy: "Nothing is lost: it is tried again until it answers." };
}

function deniedWhat(error: Error): string {
  const operation = "operation" in error ? String(error.operation) : "publish";
  const subject = "subject" in error ? String(error.subject) : "";
  return operation === "publish" ? `to publish "${subject}"` : `to hear "${subject}"`;
}

function codeOf(thrown: unknown): number | null {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "number"
    ? thrown.code
    : null;
}

/** An error and what caused it. */
function chain(thrown: unknown): readonly Error[] {
  const errors: Error[] = [];
  for (let each = thrown; each instanceof Error && errors.length < 8; each = each.cause) {
    errors.push(each);
  }
  return errors;
}
