/**
 * Reading what other devices wrote into the hub's folder, as it comes. It promises that each whole record is given on
 * at least once, whatever its file is called or when it arrives, and that nothing is polled where the system tells.
 */
import { watch, type FSWatcher } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { ActivityError } from "../../errors.ts";
import { reasonForLog, type Log } from "../../log.ts";
import type { CarriedRecord, HubDriver, SubscribeOptions, Subscription } from "../driver.ts";
import { readMarks } from "../read-marks.ts";
import { readSegmentName, scanFrames, type Frame } from "../segments.ts";

export interface FolderReaderOptions {
  readonly folder: string;
  readonly root: string;
  readonly device: string;
  readonly subscribing: SubscribeOptions;
  /** Does a step of reading, whose failure is that of the folder. */
  readonly inFolder: <T>(work: () => Promise<T>) => Promise<T>;
  /** Does one that rejects as it does, and with `hub_away` where the folder does not answer. */
  readonly inTime: <T>(work: () => Promise<T>) => Promise<T>;
  /** Ends the waiting for such a step. */
  readonly stop: () => void;
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
  inTime,
  stop,
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

  const readRecords = async (
    folder: string,
    id: string,
    name: string,
  ): Promise<readonly CarriedRecord[]> => {
    const path = join(folder, name);
    const scan = scanFrames(await readFile(path));
    if (scan.isSpoilt && !spoilt.has(path)) {
      spoilt.add(path);
      log.warn("a file of the hub's folder is spoilt: its whole records were taken", {
        file: name,
      });
    }
    return scan.frames.filter((frame) => !marks.has(id, frame)).map((frame) => toRecord(id, frame));
  };

  /** The files of a device that may hold something new, in the order of its log. */
  const filesToRead = async (folder: string, id: string): Promise<readonly UnreadFile[]> => {
    const names = await segmentNames(folder);
    const unread: UnreadFile[] = [];
    for (const [index, name] of names.entries()) {
      const first = readSegmentName(name);
      const next = names
        .slice(index + 1)
        .map(readSegmentName)
        .find((each) => each?.isCopy === false);
      if (first === null) continue;
      const isClosed = next != null && next.epoch === first.epoch && next.seq > first.seq;
      if (!first.isCopy && isClosed && marks.hasAll(id, first.epoch, first.seq, next.seq - 1))
        continue;
      const stamp = await stampOf(join(folder, name));
      if (known.get(join(folder, name)) !== stamp) unread.push({ name, stamp });
    }
    return unread;
  };

  const deliverFolder = async (id: string, failures: Map<string, string>): Promise<void> => {
    const folder = join(root, id);
    watchFolder(folder);
    const files = await unlessUnreadable(folder, failures, () =>
      inTime(async () => filesToRead(folder, id)),
    );
    for (const { name, stamp } of files ?? []) {
      const path = join(folder, name);
      const records = await unlessUnreadable(path, failures, () =>
        inTime(async () => readRecords(folder, id, name)),
      );
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
    const { ids, place } = await inFolder(async () => ({
      ids: await othersByAge(),
      place: (await stampOf(root)) === null ? carried : root,
    }));
    watchFolder(place);
    const failures = new Map<string, string>();
    for (const id of ids) {
      if (closing.signal.aborted) return;
      await deliverFolder(id, failures);
    }
    if (failures.size > 0 && unreadable.size === 0)
      log.warn("files of the hub's folder cannot be read", { count: failures.size });
    unreadable = failures;
  };

  /** Who wrote last comes last. */
  async function othersByAge(): Promise<readonly string[]> {
    const ages: { readonly id: string; readonly writtenMs: number }[] = [];
    for (const id of await deviceFolders(root))
      if (id !== device) ages.push({ id, writtenMs: await lastWrittenMs(root, id) });
    return ages.sort((a, b) => a.writtenMs - b.writtenMs).map(({ id }) => id);
  }

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
      stop();
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

interface UnreadFile {
  readonly name: string;
  /** As it was before it is read; null: the carrier took it away. */
  readonly stamp: string | null;
}

/** The files of records in a folder, in the order of the log. */
export async function segmentNames(folder: string): Promise<readonly string[]> {
  return (await namesIn(folder)).filter((name) => readSegmentName(name) !== null).sort();
}

/** The devices that have a folder. */
export async function deviceFolders(root: string): Promise<readonly string[]> {
  return (await namesIn(root)).filter((name) => /^[0-9a-f]{32}$/.test(name));
}

/** None where there is no folder. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return [];
    throw thrown;
  }
}

export function toRecord(device: string, { epoch, seq, bytes }: Frame): CarriedRecord {
  return { device, epoch, seq, bytes: new Uint8Array(bytes), carriedUs: null };
}

/** What `read` gives, or null where the system does not let it; what the carrier took away meanwhile is no failure. */
async function unlessUnreadable<T>(
  path: string,
  failures: Map<string, string>,
  read: () => Promise<T>,
): Promise<T | null> {
  try {
    return await read();
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === null) throw thrown;
    if (code !== "ENOENT") failures.set(path, code);
    return null;
  }
}

/** The system's word for what went wrong; null for anything else. */
function codeOf(thrown: unknown): string | null {
  return thrown instanceof Error && "syscall" in thrown && "code" in thrown
    ? String(thrown.code)
    : null;
}

/** A device that left and joined anew wrote in its former folder first: its goodbye is to be read before what it tells again. */
async function lastWrittenMs(root: string, id: string): Promise<number> {
  try {
    const newest = (await segmentNames(join(root, id))).at(-1);
    return newest === undefined ? 0 : (await stat(join(root, id, newest))).mtimeMs;
  } catch {
    // Said when it is read.
    return 0;
  }
}

/** Changes whenever a file does; null when it is gone. */
async function stampOf(path: string): Promise<string | null> {
  try {
    const { size, mtimeMs, ino } = await stat(path);
    return `${size} ${mtimeMs} ${ino}`;
  } catch {
    // A carrier may take a file away at any moment.
    return null;
  }
}
