/**
 * The hub that is one NATS server or a cluster of three. Each device's log is a subject of one stream; a message is a
 * batch of its records, appended only where the log ends as this device believes, so that nothing is written twice
 * however often it is sent, and a second device with the same identity is found out by the server itself.
 */
import type { JetStreamManager, StoredMsg } from "@nats-io/jetstream";
import { ActivityError } from "../errors.ts";
import type {
  CarriedRecord,
  HubDriver,
  HubDriverOptions,
  LogTail,
  SealedRecord,
} from "./driver.ts";
import { openLink, type Session } from "./nats/link.ts";
import { openNatsReader } from "./nats/reader.ts";
import { placeOfServers } from "./nats/servers.ts";
import { comparePositions, isNextInLog } from "./log-position.ts";
import { isUnanswered, isWrongLastSequence, TryAgain } from "./nats/trouble.ts";
import {
  decodeBatch,
  deviceOfSubject,
  encodeBatch,
  splitBatches,
  STREAM_NAME,
  subjectOfHub,
  subjectOfLog,
} from "./nats/wire.ts";

/** The newest message of this device's log. */
interface Tail {
  readonly writer: string;
  readonly sequence: number;
  readonly records: readonly CarriedRecord[];
}

/** No answer is waited for longer than this before the log is looked at and the message sent again. */
const ACK_TIMEOUT_MS = 2_000;
/** How many questions for tails are in flight at once. */
const QUESTIONS_AT_ONCE = 16;

/**
 * Opens the driver. Throws `config_invalid` where the addresses cannot be meant and `platform_unsupported` where the
 * packages of NATS are not installed; a hub that is away is tried until it answers.
 */
export async function openNatsDriver(options: HubDriverOptions): Promise<HubDriver> {
  const { hub, device, log } = options;
  const place = placeOfServers(options.settings.servers);
  const link = await openLink(options, place);
  const reader = openNatsReader({ hub, device, link, log });
  /** Null: to be read from the hub before the next append. */
  let known: Tail | null = null;

  async function append(session: Session, records: readonly SealedRecord[], deadline: number) {
    const subject = subjectOfLog(hub, session.writer, device);
    if (known?.writer !== session.writer) known = await readTail(session, subject, device);
    const rest = await withoutStored(session, subject, known, records);
    for (const batch of splitBatches(rest)) {
      const before = known;
      // Until the hub has answered, nobody knows whether the message is there.
      known = null;
      try {
        const ack = await session.js.publish(subject, encodeBatch(batch), {
          expect: { lastSubjectSequence: before?.sequence ?? 0 },
          timeout: Math.max(1, Math.min(ACK_TIMEOUT_MS, deadline - performance.now())),
        });
        const carried = batch.map((record) => ({ ...record, carriedUs: null }));
        known = { writer: session.writer, sequence: ack.seq, records: carried };
      } catch (thrown) {
        if (isUnanswered(thrown)) throw new TryAgain("the stream has no leader yet", thrown);
        // An earlier send of ours came in after all, or one of a twin: the log is looked at again.
        if (isWrongLastSequence(thrown)) throw new TryAgain("the log ends elsewhere", thrown);
        throw thrown;
      }
    }
  }

  return {
    place,
    state: link.state,
    onState: link.onState,
    notes: () => [...link.notes(), ...reader.notes()],
    append: async (records, timeoutMs) => {
      const last = records.at(-1);
      if (last === undefined) throw new Error("There is nothing to append.");
      await link.use(timeoutMs, async (session, deadline) => append(session, records, deadline));
      return { epoch: last.epoch, seq: last.seq };
    },
    tail: async (timeoutMs) =>
      link.use(timeoutMs, async (session) => {
        const tail = await readTail(session, subjectOfLog(hub, session.writer, device), device);
        return tail?.records.at(-1) ?? null;
      }),
    // The stream has an age for all that it holds.
    letGo: async () => {},
    tails: async (timeoutMs) => link.use(timeoutMs, async ({ jsm }) => readTails(jsm, hub)),
    subscribe: reader.subscribe,
    // The permission to purge is one for the whole stream, and no device is given it: the stream's greatest age lets go.
    close: async () => {
      await reader.close();
      await link.close();
    },
  };
}

async function readTail(
  { jsm, writer }: Session,
  subject: string,
  device: string,
): Promise<Tail | null> {
  const message = await jsm.streams.getMessage(STREAM_NAME, { last_by_subj: subject });
  return message === null ? null : toTail(message, writer, device);
}

/**
 * What of `records` is not in the log yet. Throws `hub_conflict` where the log holds something else at one of their
 * places or has begun anew since, and `TryAgain` where it ends before the first: a server that was frozen or parted from
 * its cluster answers for a while as if it still led it.
 */
async function withoutStored(
  session: Session,
  subject: string,
  tail: Tail | null,
  records: readonly SealedRecord[],
): Promise<readonly SealedRecord[]> {
  const [first] = records;
  const end = tail?.records.at(-1);
  if (first === undefined || isNextInLog(end ?? null, first)) return records;
  if (tail === null || end === undefined || comparePositions(first, end) > 0)
    throw new TryAgain("it holds less of this device's log than it acknowledged");
  let stored = new Map(tail.records.map((each) => [toKey(each), each]));
  if (!stored.has(toKey(first))) stored = await readFrom(session, subject, first, tail);
  return records.filter((record) => {
    const there = stored.get(toKey(record));
    if (there !== undefined && Buffer.compare(there.bytes, record.bytes) === 0) return false;
    if (there !== undefined || comparePositions(record, end) <= 0) throw conflict(record);
    return true;
  });
}

/** The records of this device's log from `from` on, by place. Halves the stream until it finds the message with it. */
async function readFrom(
  { jsm, writer }: Session,
  subject: string,
  from: SealedRecord,
  tail: Tail,
): Promise<Map<string, CarriedRecord>> {
  const next = async (sequence: number): Promise<Tail | null> => {
    // The server takes both since 2.9 (JSApiMsgGetRequest); the client's type knows the first alone.
    const query = { seq: sequence, next_by_subj: subject };
    const message = await jsm.streams.getMessage(STREAM_NAME, query);
    return message === null ? null : toTail(message, writer, from.device);
  };
  let [low, high] = [1, tail.sequence];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await next(middle);
    const end = found?.records.at(-1);
    if (found === null || end === undefined || comparePositions(end, from) >= 0) high = middle;
    else low = found.sequence + 1;
  }
  const stored = new Map<string, CarriedRecord>();
  // An append has 64 records at most, and each message at least one.
  for (let read = 0; read < 64 && low <= tail.sequence; read += 1) {
    const found = await next(low);
    if (found === null) break;
    for (const record of found.records) stored.set(toKey(record), record);
    low = found.sequence + 1;
  }
  return stored;
}

async function readTails(jsm: JetStreamManager, hub: string): Promise<readonly LogTail[]> {
  const info = await jsm.streams.info(STREAM_NAME, { subjects_filter: subjectOfHub(hub) });
  const subjects = Object.keys(info.state.subjects ?? {});
  const newest = new Map<string, LogTail & { readonly sequence: number }>();
  for (let at = 0; at < subjects.length; at += QUESTIONS_AT_ONCE) {
    const asked = subjects.slice(at, at + QUESTIONS_AT_ONCE);
    const answers = await Promise.all(
      asked.map(async (subject) => jsm.streams.getMessage(STREAM_NAME, { last_by_subj: subject })),
    );
    for (const message of answers) {
      const device = message === null ? null : deviceOfSubject(message.subject);
      if (message === null || device === null) continue;
      const end = toTail(message, "", device).records.at(-1);
      if (end === undefined || (newest.get(device)?.sequence ?? 0) > message.seq) continue;
      const { epoch, seq, carriedUs } = end;
      newest.set(device, { device, epoch, seq, carriedUs, sequence: message.seq });
    }
  }
  return [...newest.values()].map(({ sequence: _sequence, ...tail }) => tail);
}

/** A message that is no batch of ours has no records. */
function toTail(message: StoredMsg, writer: string, device: string): Tail {
  const carriedUs = message.time.getTime() * 1000;
  const records = decodeBatch(device, message.data) ?? [];
  return {
    writer,
    sequence: message.seq,
    records: records.map((record) => ({ ...record, carriedUs })),
  };
}

function toKey({ epoch, seq }: SealedRecord): string {
  return `${epoch}:${seq}`;
}

function conflict({ epoch, seq }: SealedRecord): ActivityError {
  return new ActivityError(
    "hub_conflict",
    `The hub holds another record ${seq} of this device (epoch ${epoch}) than the one that was to be written.`,
    "This happens after a restore from a backup, or when two devices share one home: see activityd hub status.",
  );
}
