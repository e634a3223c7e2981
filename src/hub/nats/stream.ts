/**
 * The stream that holds the logs of all devices: how it is made, and how long it may keep them. Whoever comes first
 * makes it, and nobody lets it keep longer than its owner wants.
 */
import type * as JetStream from "@nats-io/jetstream";
import {
  isDenied,
  isSingleServer,
  isStreamNotFound,
  streamMissing,
  TroubleError,
} from "./trouble.ts";
import { STREAM_NAME, STREAM_SUBJECTS } from "./wire.ts";

const DAY_NS = 86_400_000_000_000;

/**
 * Makes the stream where there is none: with three copies in a cluster, one on a server alone. A stream that keeps
 * longer than the owner's settings is shortened, or refused where that is not permitted: else the hub would still
 * hold what the owner let go of.
 */
export async function holdStream(
  jetstream: typeof JetStream,
  jsm: JetStream.JetStreamManager,
  keepDays: number,
): Promise<void> {
  const maxAge = keepDays * DAY_NS;
  const info = await findStream(jsm);
  if (info === null) {
    const config = {
      name: STREAM_NAME,
      subjects: [STREAM_SUBJECTS],
      storage: jetstream.StorageType.File,
      // A full hub refuses, and the devices wait: to drop the oldest would lose what somebody has not read yet.
      discard: jetstream.DiscardPolicy.New,
      max_age: maxAge,
    };
    try {
      await jsm.streams.add({ ...config, num_replicas: 3 });
    } catch (thrown) {
      if (isDenied(thrown)) throw new TroubleError(streamMissing(), thrown);
      if (!isSingleServer(thrown)) throw thrown;
      await jsm.streams.add({ ...config, num_replicas: 1 });
    }
    return;
  }
  if (info.config.max_age > 0 && info.config.max_age <= maxAge) return;
  try {
    // The server wants the window for duplicates, which nothing here relies on, to be no longer.
    const duplicate_window = Math.min(info.config.duplicate_window, maxAge);
    await jsm.streams.update(STREAM_NAME, { ...info.config, max_age: maxAge, duplicate_window });
  } catch (thrown) {
    if (!isDenied(thrown)) throw thrown;
    const keeps = info.config.max_age === 0 ? "for ever" : `${info.config.max_age / DAY_NS} days`;
    throw new TroubleError(
      {
        state: "refused",
        reason: `it keeps records ${keeps}, longer than the ${keepDays} days of [hub] keep_days`,
        remedy: `Have the server keep them shorter: nats stream edit ${STREAM_NAME} --max-age ${keepDays}d`,
      },
      thrown,
    );
  }
}

async function findStream(jsm: JetStream.JetStreamManager): Promise<JetStream.StreamInfo | null> {
  try {
    return await jsm.streams.info(STREAM_NAME);
  } catch (thrown) {
    if (isStreamNotFound(thrown)) return null;
    throw thrown;
  }
}
