/**
 * Reading what other devices wrote into the hub's folder, as it comes. It promises that each whole record is given on
 * at least once, whatever its file is called or when it arrives, and that nothing is polled where the system tells.
 */
import { existsSync, readdirSync, readFileSync, statSync, watch, type FSWatcher } from "node:fs";
import { join } from "node:path";
import { ActivityError } from "../errors.ts";
import { reasonForLog, type Log } from "../log.ts";
import type { CarriedRecord, HubDriver, SubscribeOptions, Subscription } from "./driver.ts";
import { readMarks } from "./read-marks.ts";
import { readSegmentName, scanFrames, type Frame } from "./segments.ts";

export interface FolderReaderOptions {
  readonly folder: string;
  readonly root: string;
  readonly device: string;
  readonly subscribing: SubscribeOptions;
  readonly inFolder: <T>(work: () => T) => T;
  readonly log: Log;
}

export interface FolderReader extends Subscription {
  readonly notes: HubDriver["notes"];
}

/** Gives on what other devices' files hold, as it comes. What of them cannot be read keeps nothing else back. */
export function openFolderReader({
  folder: carried,
  root,
  device,
  subscribing,
  inFolder,
  log,
}: FolderReaderOptions): FolderReader {
  const marks = readMarks(subscribing.cursor);
  /** What a file was when it was last read to its end. */
  const known = new Map<string, string>();
  const spoilt = new Set<string>();
  /** Files and folders that were not to be read at the last look, with the system's word for why. */
  let unreadable: ReadonlyMap<string, string> = new Map();
  const watchers = new Map<string, FSWatcher>();
  const closing = new AbortController();
  let looking: Promise<void> | null = null;
  let isAsked = false;
  let retryMs = FIRST_RETRY_MS;
  let timer: NodeJS.Timeout | null = null;

  const schedule = (ms: number): void => {
    if (closing.signal.aborted) return;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(look, ms);
  };

  /** Where the system tells of changes nobody has to wait for the next poll. */
  const watchFolder = (folder: string): void => {
    if (watchers.has(folder)) return;
    try {
      const watcher = watch(folder, () => schedule(SETTLE_MS));
      const forget = (): void => {
        watcher.close();
        watchers.delete(folder);
      };
      watcher.on("error", forget);
      watchers.set(folder, watcher);
    } catch {
      // Too many watched already, or a folder that cannot be: then it is polled.
    }
  };

  const readFile = (folder: string, id: string, name: string): readonly CarriedRecord[] => {
    const path = join(folder, name);
    const scan = scanFrames(readFileSync(path));
    if (scan.isSpoilt && !spoilt.has(path)) {
      spoilt.add(path);
      log.warn("a file of the hub's folder is spoilt: its whole records were taken", {
        file: name,
      });
    }
    return scan.frames.filter((frame) => !marks.has(id, frame)).map((frame) => toRecord(id, frame));
  };

  /** The files of a device that may hold something new, in the order of its log. */
  const filesToRead = (folder: string, id: string): readonly string[] => {
    const names = segmentNames(folder);
    return names.filter((name, index) => {
      const first = readSegmentName(name);
      const next = names
        .slice(index + 1)
        .map(readSegmentName)
        .find((each) => each?.isCopy === false);
      if (first === null) return false;
      const isClosed = next != null && next.epoch === first.epoch && next.seq > first.seq;
      if (!first.isCopy && isClosed && marks.hasAll(id, first.epoch, first.seq, next.seq - 1))
        return false;
      return known.get(join(folder, name)) !== stampOf(join(folder, name));
    });
  };

  const deliverFolder = async (id: string, failures: Map<string, string>): Promise<void> => {
    const folder = join(root, id);
    watchFolder(folder);
    const names = unlessUnreadable(folder, failures, () => filesToRead(folder, id)) ?? [];
    for (const name of names) {
      const path = join(folder, name);
      const stamp = stampOf(path);
      const records = unlessUnreadable(path, failures, () => readFile(folder, id, name));
      if (records === null) continue;
      for (let from = 0; from < records.length; from += RECORDS_PER_DELIVERY) {
        if (closing.signal.aborted) return;
        const some = records.slice(from, from + RECORDS_PER_DELIVERY);
        // The marks are given on with the records: they count when those are taken.
        const next = readMarks(marks.write());
        for (const record of some) next.add(id, record);
        await subscribing.deliver(some, next.write());
        for (const record of some) marks.add(id, record);
      }
      if (stamp !== null) known.set(path, stamp);
    }
  };

  const lookOnce = async (): Promise<void> => {
    const ids = inFolder(() => deviceFolders(root).filter((id) => id !== device));
    watchFolder(existsSync(root) ? root : carried);
    const failures = new Map<string, string>();
    for (const id of ids.toSorted((a, b) => lastWrittenMs(root, a) - lastWrittenMs(root, b))) {
      if (closing.signal.aborted) return;
      await deliverFolder(id, failures);
    }
    if (failures.size > 0 && unreadable.size === 0)
      log.warn("files of the hub's folder cannot be read", { count: failures.size });
    unreadable = failures;
  };

  function look(): void {
    if (closing.signal.aborted) return;
    if (looking !== null) {
      isAsked = true;
      return;
    }
    isAsked = false;
    looking = lookOnce()
      .then(() => {
        retryMs = FIRST_RETRY_MS;
        return isAsked ? SETTLE_MS : POLL_MS;
      })
      .catch((thrown: unknown) => {
        const ms = retryMs;
        retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
        if (ms === FIRST_RETRY_MS && !(thrown instanceof ActivityError))
          log.warn("records could not be taken and come again", { reason: reasonForLog(thrown) });
        return ms;
      })
      .then((ms) => {
        looking = null;
        schedule(ms);
      });
  }

  look();
  return {
    notes: () => {
      const [first] = unreadable;
      if (first === undefined) return [];
      const [path, code] = first;
      const more = unreadable.size === 1 ? "" : `, nor ${unreadable.size - 1} more`;
      return [
        {
          reason: `${path} cannot be read (${code})${more}: what is in there of another device is missing here.`,
          remedy: "Make it readable for you; it is read by itself then.",
        },
      ];
    },
    close: async () => {
      closing.abort();
      if (timer !== null) clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
      await looking;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** For folders that tell nothing of changes, such as those of other machines. */
const POLL_MS = 2_000;
/** Changes come in bursts. */
const SETTLE_MS = 50;
const RECORDS_PER_DELIVERY = 64;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** The files of records in a folder, in the order of the log. */
export function segmentNames(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => readSegmentName(name) !== null)
    .sort();
}

/** The devices that have a folder. */
export function deviceFolders(root: string): readonly string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root).filter((name) => /^[0-9a-f]{32}$/.test(name));
}

export function toRecord(device: string, { epoch, seq, bytes }: Frame): CarriedRecord {
  return { device, epoch, seq, bytes: new Uint8Array(bytes), carriedUs: null };
}

/** What `read` gives, or null where the system does not let it; what the carrier took away meanwhile is no failure. */
function unlessUnreadable<T>(path: string, failures: Map<string, string>, read: () => T): T | null {
  try {
    return read();
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : null;
    if (code === null) throw thrown;
    if (code !== "ENOENT") failures.set(path, code);
    return null;
  }
}

/** A device that left and joined anew wrote in its former folder first: its goodbye is to be read before what it tells again. */
function lastWrittenMs(root: string, id: string): number {
  try {
    const newest = segmentNames(join(root, id)).at(-1);
    return newest === undefined ? 0 : statSync(join(root, id, newest)).mtimeMs;
  } catch {
    // Said when it is read.
    return 0;
  }
}

/** Changes whenever a file does; null when it is gone. */
function stampOf(path: string): string | null {
  try {
    const { size, mtimeMs, ino } = statSync(path);
    return `${size} ${mtimeMs} ${ino}`;
  } catch {
    // A carrier may take a file away at any moment.
    return null;
  }
}
