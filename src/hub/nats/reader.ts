/**
 * Reads the logs of the other devices out of the stream: a consumer that is made anew at the reader's own cursor
 * whenever anything looks wrong, so that the server need remember nothing of a device that is away for weeks. Where no
 * consumer can be had, or the one there is passes over messages, they are read one by one from the stream's leader.
 */
import type { Consumer, JsMsg } from "@nats-io/jetstream";
import { reasonForLog, type Log } from "../../log.ts";
import type { HubDriver, SubscribeOptions, Subscription } from "../driver.ts";
import {
  createBatch,
  toMessage,
  toStoredMessage,
  type Batch,
  type Message,
  type Skipped,
} from "./batch.ts";
import { pause, type Link, type Session } from "./link.ts";
import { createPlaceFinder, type Place } from "./place.ts";
import { isConsumerDeleted, isConsumerNotFound, isRequestServed, TryAgain } from "./trouble.ts";
import { formatCursor, parseCursor, STREAM_NAME, subjectOfHub } from "./wire.ts";

export interface NatsReaderOptions {
  readonly hub: string;
  readonly device: string;
  readonly link: Link;
  readonly log: Log;
}

export interface NatsReader {
  readonly notes: HubDriver["notes"];
  readonly subscribe: (options: SubscribeOptions) => Subscription;
  readonly close: () => Promise<void>;
}

/** What one request brings at most: this is all that is ever read ahead. */
const FETCH_BYTES = 4 * 1024 * 1024;
const FETCH_MESSAGES = 100;
/** A delivery is made when so much has gathered, or when nothing more waits at the hub. */
const DELIVERY_BYTES = 1024 * 1024;
/**
 * How long one request waits for messages. When it brought none, the leader is asked whether there are any: soon after
 * the last that came, and less and less often when nothing moves.
 */
const FETCH_MS = { shortest: 4_000, longest: 30_000 } as const;
/** Two of these missed, and the consumer is made anew: its server may have fallen. The server wants two in a request. */
const HEARTBEAT_MS = 5_000;
/** The server forgets a consumer that nobody asked for so long. */
const INACTIVE_NS = 300_000_000_000;
const LONGEST_PAUSE_MS = 30_000;
/** A consumer is named after the key: somebody else who reads with it takes ours away, again and again. */
const THEFTS_WORTH_A_NOTE = 3;

export function openNatsReader(options: NatsReaderOptions): NatsReader {
  let open: Subscription | null = null;
  let thefts = 0;
  return {
    notes: () =>
      thefts < THEFTS_WORTH_A_NOTE
        ? []
        : [
            {
              reason: "Another device reads from the hub with this device's key.",
              remedy:
                "Give each device a key of its own, and name it under [hub] credentials_file.",
            },
          ],
    subscribe: (wanted) => {
      if (open !== null) throw new Error("One subscription is open already.");
      const subscription = startReading(options, wanted, () => void (thefts += 1));
      open = {
        close: async () => {
          await subscription.close();
          open = null;
        },
      };
      return open;
    },
    close: async () => open?.close(),
  };
}

function startReading(
  options: NatsReaderOptions,
  wanted: SubscribeOptions,
  onTheft: () => void,
): Subscription {
  const { link, log } = options;
  const closing = new AbortController();
  const places = createPlaceFinder(log, () => performance.now());
  let cursor = wanted.cursor === null ? null : parseCursor(wanted.cursor);

  async function findPlace({ jsm }: Session): Promise<Place> {
    const { created, state } = await jsm.streams.info(STREAM_NAME);
    return places.find({ created, ...state }, cursor);
  }

  /** Reads until something fails, the reader takes no more, or the subscription is closed. */
  async function readOn(session: Session): Promise<void> {
    const place = await findPlace(session);
    const consumer = await makeConsumer(options.hub, session, place.start);
    link.isRead();
    const batch = createBatch(options, place);
    let delivered = 0;
    let waitMs: number = FETCH_MS.shortest;
    while (!closing.signal.aborted) {
      let isEmpty = true;
      for await (const given of fetchMessages(consumer, waitMs, closing.signal)) {
        isEmpty = false;
        delivered += 1;
        if (given.info.deliverySequence !== delivered)
          throw new MessageTaken("a message is missing");
        const message = toMessage(given);
        // A server whose copy ends before the place begins its consumer where the copy ends.
        if (message.sequence < place.start) continue;
        if (batch.isFresh()) await mustBeFirst(options.hub, session, place, message);
        const skipped = batch.add(message);
        if (skipped !== null) await mustBeGone(session, skipped, message);
        if (given.info.pending > 0 && batch.bytes() < DELIVERY_BYTES) continue;
        if (!(await deliver(batch))) return;
      }
      if (!(await deliver(batch))) return;
      waitMs = isEmpty ? Math.min(FETCH_MS.longest, waitMs * 2) : FETCH_MS.shortest;
      if (isEmpty && !closing.signal.aborted) await mustBeAtEnd(options.hub, session, batch);
    }
  }

  /** Reads what there is without a consumer, one message a question. */
  async function readFromLeader(session: Session): Promise<void> {
    const batch = createBatch(options, await findPlace(session));
    while (!closing.signal.aborted) {
      const query = { seq: batch.sequence() + 1, next_by_subj: subjectOfHub(options.hub) };
      const stored = await session.jsm.streams.getMessage(STREAM_NAME, query);
      if (stored !== null) batch.add(toStoredMessage(stored));
      if (stored !== null && batch.bytes() < DELIVERY_BYTES) continue;
      if (!(await deliver(batch)) || stored === null) return;
    }
  }

  /** False when the reader takes nothing now: then the same records are fetched again later. */
  async function deliver(batch: Batch): Promise<boolean> {
    const taken = batch.take();
    if (taken === null) return true;
    try {
      await wanted.deliver(taken.records, formatCursor(taken.cursor));
    } catch (thrown) {
      log.warn("hub: what came was not taken", { why: reasonForLog(thrown) });
      return false;
    }
    cursor = taken.cursor;
    return true;
  }

  /**
   * The server that leads a cluster's consumers may be the one whose disk is full: then none can be made for as long as
   * it is, and the stream's own leader answers all the same.
   */
  async function goOnWithout(session: Session, thrown: unknown): Promise<void> {
    try {
      await readFromLeader(session);
      link.isNotRead(session, new TryAgain("no consumer reads the stream", thrown));
    } catch {
      link.isNotRead(session, thrown);
    }
  }

  async function run(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; failures += 1) {
      const session = await link.nextSession(closing.signal);
      if (session === null) continue;
      const before = cursor?.sequence;
      try {
        await readOn(session);
      } catch (thrown) {
        if (isConsumerDeleted(thrown) || thrown instanceof MessageTaken) onTheft();
        else if (!closing.signal.aborted) await goOnWithout(session, thrown);
      }
      if (cursor?.sequence !== before) failures = 0;
      await pause(Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** Math.min(failures, 5)), closing.signal);
    }
  }

  const running = run();
  return {
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

async function makeConsumer(
  hub: string,
  { js, jsm, writer }: Session,
  start: number,
): Promise<Consumer> {
  try {
    await jsm.consumers.delete(STREAM_NAME, writer);
  } catch (thrown) {
    if (!isConsumerNotFound(thrown)) throw thrown;
  }
  await jsm.consumers.add(STREAM_NAME, {
    name: writer,
    filter_subject: subjectOfHub(hub),
    ack_policy: "none",
    deliver_policy: "by_start_sequence",
    opt_start_seq: start,
    inactive_threshold: INACTIVE_NS,
    // It can be made anew at any time: nothing of it is written to a disk or agreed on by a cluster.
    mem_storage: true,
    num_replicas: 1,
  });
  return js.consumers.get(STREAM_NAME, writer);
}

/** What one request brings. Ends when it is served, has run out or is stopped; throws when the consumer is gone. */
async function* fetchMessages(
  consumer: Consumer,
  waitMs: number,
  signal: AbortSignal,
): AsyncGenerator<JsMsg> {
  const messages = await consumer.fetch({
    max_bytes: FETCH_BYTES,
    expires: waitMs,
    idle_heartbeat: Math.min(HEARTBEAT_MS, waitMs / 2),
  });
  const stop = (): void => messages.stop();
  signal.addEventListener("abort", stop);
  try {
    let count = 0;
    for await (const message of messages) {
      yield message;
      count += 1;
      // The client asks for 100 at most beside the bytes, and waits in vain for more once they are there.
      if (count === FETCH_MESSAGES || signal.aborted) return;
    }
  } catch (thrown) {
    if (!isRequestServed(thrown)) throw thrown;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * A consumer reads from the copy of one server, and a server whose disk was full may lack messages of its copy without
 * knowing: it passes over them. The leader is asked whether they are gone; where they are not, another consumer reads.
 */
async function mustBeGone({ jsm }: Session, skipped: Skipped, message: Message): Promise<void> {
  const query = { seq: skipped.after + 1, next_by_subj: message.subject };
  const next = await jsm.streams.getMessage(STREAM_NAME, query);
  if (next !== null && next.seq < message.sequence) throw incomplete();
}

/** The same for the first message, which must be the first there is. */
async function mustBeFirst(
  hub: string,
  { jsm }: Session,
  { start }: Place,
  message: Message,
): Promise<void> {
  const query = { seq: start, next_by_subj: subjectOfHub(hub) };
  const first = await jsm.streams.getMessage(STREAM_NAME, query);
  if (first !== null && first.seq < message.sequence) throw incomplete();
}

/** The same for a consumer that has nothing more to give. */
async function mustBeAtEnd(hub: string, { jsm }: Session, batch: Batch): Promise<void> {
  const { state } = await jsm.streams.info(STREAM_NAME);
  if (state.last_seq <= batch.sequence()) return;
  const last = await jsm.streams.getMessage(STREAM_NAME, { last_by_subj: subjectOfHub(hub) });
  if (last !== null && last.seq > batch.sequence()) throw incomplete();
}

function incomplete(): TryAgain {
  return new TryAgain("a server of the cluster lacks messages that the others have");
}

/** A message of our consumer went to somebody else: on the way none is lost. */
class MessageTaken extends TryAgain {}
