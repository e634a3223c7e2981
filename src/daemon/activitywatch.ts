/**
 * Joins ActivityWatch's protocol to this daemon: its buckets to the store, what strangers wrote to the privacy
 * gate, tabs and editors to the capture, queries to a thread of their own.
 */
import { hostname } from "node:os";
import { createBuckets } from "../activitywatch/buckets.ts";
import { editorOf, mediaOf } from "../activitywatch/facts.ts";
import type { BucketKeeper, StoredBucket } from "../activitywatch/port.ts";
import { serveActivityWatch, type ActivityWatchServer } from "../activitywatch/server.ts";
import type { JsonObject } from "../activitywatch/wire.ts";
import type { ActivityApp } from "../app.ts";
import { gateBucketData } from "../capture/privacy/buckets.ts";
import { readPrivateMarking } from "../capture/privacy/windows.ts";
import { watcherPort, type Config } from "../config.ts";
import type { Clock } from "../clock.ts";
import { createTcpPeerGuard } from "../local-api/peer.ts";
import type { Log } from "../log.ts";
import { VERSION } from "../version.ts";
import { openQueries } from "./queries.ts";

/** What the event must not be older than, to say something of now. */
const FRESH_US = 120_000_000;

/** Serves the protocol as the settings say. Throws `socket_in_use` when the port is taken. */
export async function openActivityWatch(options: {
  readonly app: ActivityApp;
  readonly config: Config["activitywatch"];
  readonly clock: Clock;
  readonly log: Log;
  /** The listening socket that the service manager holds over restarts; null: the port is opened here. */
  readonly fd: number | null;
}): Promise<ActivityWatchServer> {
  const { app, config, clock, log, fd } = options;
  const queries = openQueries(app.guests.databasePath);
  const buckets = createBuckets({
    keeper: createKeeper(app, clock),
    hostname: hostname(),
    version: `v${VERSION} (activityd)`,
    testing: config.testing,
    nowUs: clock.nowUs,
  });
  const server = await serveActivityWatch({
    buckets,
    query: async (body) => {
      app.guests.requireRecord();
      return queries.run(body);
    },
    at: fd === null ? { port: watcherPort(config) } : { fd },
    testing: config.testing,
    apiKey: config.api_key === "" ? null : config.api_key,
    allowedOrigins: config.allowed_origins,
    log,
    admits: createTcpPeerGuard("activitywatch", log).admits,
  });
  return {
    port: server.port,
    close: async () => {
      await server.close();
      queries.close();
    },
  };
}

function createKeeper(app: ActivityApp, clock: Clock): BucketKeeper {
  const { guests } = app;
  /** When a browser last said that a private tab is in front; null once it said otherwise. */
  let privateSinceUs: number | null = null;
  const isHidden = (bucket: StoredBucket, data: JsonObject): boolean =>
    bucket.type === "currentwindow" &&
    privateSinceUs !== null &&
    guests.nowUs() - privateSinceUs < FRESH_US &&
    readPrivateMarking(textOf(data, "app") ?? "") !== null;
  return {
    store: guests.buckets,
    gate: (bucket, data, atUs) => {
      if (guests.isPaused()) return null;
      // A private tab is not kept, and hides the window it is in.
      if (bucket.type === "web.tab.current" && data["incognito"] === true) {
        privateSinceUs = guests.nowUs();
        guests.take.page({ title: "", url: null, private: true, atUs: privateSinceUs });
      }
      const gated = isHidden(bucket, data) ? null : gateBucketData(guests.gate, bucket, data, atUs);
      // The window before is in front no more, whatever may be told of the one that is.
      if (gated === null && bucket.type === "currentwindow" && guests.nowUs() - atUs < FRESH_US)
        tellWindow(guests, data);
      return gated;
    },
    onEvent: (bucket, { startUs, durationUs, data }) => {
      const nowUs = clock.nowUs();
      if (nowUs - (startUs + durationUs) > FRESH_US) return;
      switch (bucket.type) {
        case "web.tab.current": {
          const [title, url] = [textOf(data, "title") ?? "", textOf(data, "url")];
          privateSinceUs = null;
          return guests.take.page({ title, url, private: false, atUs: nowUs });
        }
        case "app.editor.activity":
          return guests.take.editor(editorOf(bucket, data));
        case "currently-playing": {
          const sample = mediaOf(data);
          return sample === null ? undefined : guests.take.media(sample);
        }
        case "afkstatus":
          // Away since the event began; here until it ended.
          return guests.take.input(data["status"] === "afk" ? startUs : startUs + durationUs);
        case "currentwindow":
          return tellWindow(guests, data);
      }
    },
  };
}

/** For where our own source sees no windows; the capture has its own gate. */
function tellWindow({ take }: ActivityApp["guests"], data: JsonObject): void {
  const app = textOf(data, "app");
  if (app === null) return;
  const [title, url] = [textOf(data, "title"), textOf(data, "url")];
  take.window({ app, title, url, pid: null, executable: null, private: null });
}

function textOf(data: JsonObject, key: string): string | null {
  const value = data[key];
  return typeof value === "string" ? value : null;
}
