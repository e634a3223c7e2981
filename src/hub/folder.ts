/**
 * The hub for people without a server: a folder that Syncthing or a cloud drive carries from device to device. Each
 * device appends to files of its own and reads those of others. It promises that whatever the carrier does to the
 * files (tears, copies, delays, brings them out of order), every whole record is given on, and no half one.
 */
import { mkdir, open, readFile, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ActivityError, whyRefused } from "../errors.ts";
import type {
  DriverState,
  HubDriver,
  HubDriverOptions,
  LogPosition,
  LogTail,
  SealedRecord,
} from "./driver.ts";
import {
  deviceFolders,
  openFolderReader,
  segmentNames,
  toRecord,
  type FolderReader,
} from "./folder/reader.ts";
import { createFolderLane, isNoAnswer, type FolderLane } from "./folder/lane.ts";
import { comparePositions, isNextInLog } from "./log-position.ts";
import { readSegmentName, scanFrames, segmentName, writeFrame, type Frame } from "./segments.ts";

/** A carrier moves a whole file when a part of it changed: small files travel fast. */
const MAX_SEGMENT_BYTES = 128 * 1024;
const DAY_MS = 86_400_000;
/** A disk is slow for moments; what takes longer is a folder of another machine that does not answer. */
const ANSWER_MS = 15_000;

/** Opens the folder driver. @throws ActivityError `config_invalid` when no folder is named */
export async function openFolderDriver(options: HubDriverOptions): Promise<HubDriver> {
  const { hub, device, settings, clock, log } = options;
  if (settings.folder === "") {
    throw new ActivityError(
      "config_invalid",
      "The settings name no folder for the hub.",
      'Set folder = "/path/to/it" in [hub], or: activityd hub join CODE --folder PATH',
    );
  }
  const root = hubFolder(settings.folder, hub);
  const own = join(root, device);
  const listeners = new Set<(state: DriverState) => void>();
  let state: DriverState = { state: "connected", sinceUs: clock.nowUs() };
  let reader: FolderReader | null = null;
  let expiredMs = 0;

  const setState = (next: "connected" | ActivityError): void => {
    const isSame =
      next === "connected"
        ? state.state === "connected"
        : state.state !== "connected" && state.reason === next.message;
    if (isSame) return;
    const sinceUs = clock.nowUs();
    state =
      next === "connected"
        ? { state: "connected", sinceUs }
        : {
            state: isNoAnswer(next) ? "away" : "refused",
            sinceUs,
            reason: next.message,
            remedy: next.hint,
          };
    for (const changed of listeners) changed(state);
  };

  /** What reads and what writes does not wait for the other. */
  const reading = createFolderLane(settings.folder, ANSWER_MS);
  const writing = createFolderLane(settings.folder, ANSWER_MS);

  /** Does something with the folder; what goes wrong becomes the state, and an error with a sentence and a remedy. */
  const inFolder = async <T>(lane: FolderLane, work: () => Promise<T>): Promise<T> => {
    try {
      const result = await lane.run(async () => {
        if (!(await isThere(settings.folder))) throw gone(settings.folder);
        return work();
      });
      setState("connected");
      return result;
    } catch (thrown) {
      const error = thrown instanceof ActivityError ? thrown : refusal(settings.folder, thrown);
      if (error.code !== "hub_refused" && !isNoAnswer(error)) throw error;
      setState(error);
      const verb = error.code === "hub_refused" ? "refuses" : "is away";
      throw new ActivityError(error.code, `The hub ${verb}: ${error.message}.`, error.hint, {
        cause: error.cause,
      });
    }
  };

  /** A step of reading whose failure says nothing of the folder as a whole, unless it does not answer. */
  const inTime = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await reading.run(work);
    } catch (thrown) {
      if (thrown instanceof ActivityError && isNoAnswer(thrown)) setState(thrown);
      throw thrown;
    }
  };

  const tailOfOwn = async (): Promise<Frame | null> => lastFrame(await readOwnFrames());

  /** The newest frames of our own log: those of the last two files, and of all copies that a carrier made. */
  async function readOwnFrames(): Promise<readonly Frame[]> {
    const names = await segmentNames(own);
    const copies = names.filter((name) => readSegmentName(name)?.isCopy === true);
    const files = names.filter((name) => readSegmentName(name)?.isCopy === false);
    const seen = new Map<string, Frame>();
    for (const name of [...files.slice(-2), ...copies]) {
      for (const frame of scanFrames(await readFile(join(own, name))).frames) {
        const place = `${frame.epoch}/${frame.seq}`;
        const other = seen.get(place);
        if (other !== undefined && Buffer.compare(other.bytes, frame.bytes) !== 0) throw conflict();
        seen.set(place, frame);
      }
    }
    return [...seen.values()];
  }

  const append = async (records: readonly SealedRecord[]): Promise<LogPosition> => {
    await mkdir(own, { recursive: true, mode: 0o700 });
    const frames = await readOwnFrames();
    let tail = lastFrame(frames);
    const fresh: SealedRecord[] = [];
    for (const record of records) {
      const there = frames.find(({ epoch, seq }) => epoch === record.epoch && seq === record.seq);
      if (there !== undefined && Buffer.compare(there.bytes, record.bytes) !== 0) throw conflict();
      if (there !== undefined) continue;
      if (!isNextInLog(tail, record))
        throw tail !== null && comparePositions(record, tail) <= 0 ? conflict() : endsEarly();
      fresh.push(record);
      tail = { ...record, endByte: 0 };
    }
    await appendFrames(own, fresh);
    const last = records.at(-1);
    if (last === undefined) throw new ActivityError("internal", "Nothing was to be appended.");
    return { epoch: last.epoch, seq: last.seq };
  };

  /** What nobody fetched for so long goes; the newest file stays, since it says how far the log goes. */
  const expire = async (): Promise<void> => {
    const nowMs = clock.nowUs() / 1000;
    if (nowMs - expiredMs < DAY_MS && nowMs >= expiredMs) return;
    expiredMs = nowMs;
    await removeOld(own, (await segmentNames(own)).slice(0, -1));
  };

  const removeOld = async (from: string, names: readonly string[]): Promise<void> => {
    const oldestMs = clock.nowUs() / 1000 - settings.keep_days * DAY_MS;
    for (const name of names) {
      const path = join(from, name);
      // What the carrier took away meanwhile is no failure.
      const writtenMs = (await stat(path).catch(() => null))?.mtimeMs ?? oldestMs;
      if (writtenMs < oldestMs) await rm(path, { force: true });
    }
  };

  return {
    place: `folder ${settings.folder}`,
    state: () => state,
    notes: () => reader?.notes() ?? [],
    onState: (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    append: async (records) =>
      inFolder(writing, async () => {
        const position = await append(records);
        await expire();
        return position;
      }),
    letGo: async (devices) =>
      inFolder(writing, async () => {
        for (const id of devices) {
          const folder = join(root, id);
          await removeOld(folder, await segmentNames(folder));
          // Not while anything is left in it.
          await rmdir(folder).catch(() => {});
        }
      }),
    tail: async () =>
      inFolder(writing, async () => {
        const frame = await tailOfOwn();
        return frame === null ? null : toRecord(device, frame);
      }),
    tails: async () =>
      inFolder(reading, async () => {
        const tails: LogTail[] = [];
        for (const id of await deviceFolders(root)) {
          const folder = join(root, id);
          const name = (await segmentNames(folder)).at(-1);
          const frame =
            name === undefined
              ? null
              : lastFrame(scanFrames(await readFile(join(folder, name))).frames);
          if (frame !== null)
            tails.push({ device: id, epoch: frame.epoch, seq: frame.seq, carriedUs: null });
        }
        return tails;
      }),
    subscribe: (subscribing) => {
      const { folder } = settings;
      reader = openFolderReader({
        folder,
        root,
        device,
        subscribing,
        inFolder: (work) => inFolder(reading, work),
        inTime,
        stop: reading.close,
        log,
      });
      return reader;
    },
    close: async () => {
      listeners.clear();
      writing.close();
      await reader?.close();
    },
  };
}

/** Where a hub lies in the folder that carries it: several may lie beside each other. */
export function hubFolder(carried: string, hub: string): string {
  return join(carried, `activityd-${hub}`);
}

/** Whether a name in the folder that is carried is that of a hub. */
export function isHubFolder(name: string): boolean {
  return /^activityd-[0-9a-f]{32}$/.test(name);
}

/** Appends to the newest file, after taking off what a crash left of a frame, and to new ones when it is full. */
async function appendFrames(folder: string, records: readonly SealedRecord[]): Promise<void> {
  let rest = [...records];
  while (rest.length > 0) {
    const [first] = rest;
    if (first === undefined) return;
    const newest = (await segmentNames(folder))
      .filter((name) => readSegmentName(name)?.isCopy === false)
      .at(-1);
    const written = newest === undefined ? null : scanFrames(await readFile(join(folder, newest)));
    const goesOn =
      newest !== undefined &&
      readSegmentName(newest)?.epoch === first.epoch &&
      written !== null &&
      written.goodBytes + first.bytes.length <= MAX_SEGMENT_BYTES;
    const startByte = goesOn ? written.goodBytes : 0;
    const frames: Uint8Array[] = [];
    let size = startByte;
    for (const record of rest) {
      const frame = writeFrame(record);
      const isFull = frames.length > 0 && size + frame.length > MAX_SEGMENT_BYTES;
      if (record.epoch !== first.epoch || isFull) break;
      frames.push(frame);
      size += frame.length;
    }
    const path = join(folder, goesOn ? newest : segmentName(first));
    await writeAt(path, goesOn, startByte, Buffer.concat(frames));
    rest = rest.slice(frames.length);
  }
}

/** Resolves when the bytes are on the disk. */
async function writeAt(
  path: string,
  isOld: boolean,
  startByte: number,
  bytes: Uint8Array,
): Promise<void> {
  const file = await open(path, isOld ? "r+" : "wx", 0o600);
  try {
    if (isOld) await file.truncate(startByte);
    // A disk that fills up takes a part first, and says so only the next time.
    for (let done = 0; done < bytes.length;) {
      const left = bytes.length - done;
      done += (await file.write(bytes, done, left, startByte + done)).bytesWritten;
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function lastFrame(frames: readonly Frame[]): Frame | null {
  return frames.reduce<Frame | null>(
    (last, frame) => (last === null || comparePositions(last, frame) < 0 ? frame : last),
    null,
  );
}

function gone(folder: string): ActivityError {
  return new ActivityError(
    "hub_refused",
    `the folder ${folder} is not there`,
    "Mount it, make it, or start what carries it; it goes on by itself.",
  );
}

function refusal(folder: string, cause: unknown): ActivityError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new ActivityError("hub_refused", `there is no room in ${folder}`, "Make room there.", {
      cause,
    });
  }
  return new ActivityError(
    "hub_refused",
    `${folder} cannot be used (${whyRefused(cause)})`,
    "Make it readable and writable for you.",
    { cause },
  );
}

/** A carrier may be on its way to bring the rest back; the sender begins its log anew where it does not come. */
function endsEarly(): ActivityError {
  return new ActivityError(
    "hub_away",
    "The folder holds less of this device's log than was written to it.",
    "It is looked at again, and written anew if it stays so.",
  );
}

function conflict(): ActivityError {
  return new ActivityError(
    "hub_conflict",
    "The log of this device in the folder goes on differently.",
    "See what to do with: activityd hub status",
  );
}
