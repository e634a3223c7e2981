/**
 * The port between a hub and what carries it: a server, a cluster, a folder. A driver moves sealed records and
 * knows nothing of what is in them; whatever it does, it changes no byte and tells what it cannot do.
 *
 * Every device has a log of its own: records with the numbers 1, 2, 3, … of one `epoch`. Nobody but the device
 * appends to it. The hub's guard against loss, doubling and forgery is in the records themselves (a chain, a
 * signature, the primary key of the reader's table): a driver need not be trusted, only be honest about what is
 * durable.
 */
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";

/** No record is larger. Records are small in steady state (under 1 KiB) and near this when a device catches up. */
export const MAX_RECORD_BYTES = 256 * 1024;

/** Where a record stands in the log of its device. Ordered by epoch, then by seq. */
export interface LogPosition {
  /** From 1; grows when a device begins its log anew, such as after it was restored from a backup. */
  readonly epoch: number;
  /** From 1 in each epoch, without holes. */
  readonly seq: number;
}

/** One record of a device's log, sealed: a driver reads nothing but these fields, and keeps `bytes` as they are. */
export interface SealedRecord extends LogPosition {
  /** Id of the device that wrote it: 32 hex digits, random, says nothing of its owner. */
  readonly device: string;
  /** At most `MAX_RECORD_BYTES`. Bytes differ between any two records, so equal bytes are the same record. */
  readonly bytes: Uint8Array;
}

/** A record as it comes out of the hub. */
export interface CarriedRecord extends SealedRecord {
  /**
   * Wall time when the hub took it in, by a clock that is not the sender's (that of a server), in microseconds; null
   * when no such clock is known, as in a folder.
   */
  readonly carriedUs: number | null;
}

/**
 * Whether records can move. `away`: the hub is out of reach and is tried again without an end (an aeroplane, a
 * restart). `refused`: trying again will not help until somebody does what `remedy` says (no permission, a wrong
 * certificate, a full disk, a folder that is gone). `reason` is a short clause and `remedy` a sentence, a command
 * where there is one; neither holds a secret.
 */
export type DriverState =
  | { readonly state: "connected"; readonly sinceUs: number }
  | {
      readonly state: "away" | "refused";
      readonly sinceUs: number;
      readonly reason: string;
      readonly remedy: string;
    };

/** How far a device's log reaches in the hub, as the hub knows it. */
export interface LogTail extends LogPosition {
  readonly device: string;
  /** When its newest record came in; see `CarriedRecord.carriedUs`. */
  readonly carriedUs: number | null;
}

/** A stream of other devices' records that goes on until it is closed. */
export interface Subscription {
  /** No delivery begins afterwards; resolves when the one that was going on has ended. */
  readonly close: () => Promise<void>;
}

export interface SubscribeOptions {
  /**
   * Where to go on: what the last `deliver` that resolved was given. Null: from the oldest record there is. A cursor
   * that no longer fits what the hub holds (a server made anew) is taken as null.
   */
  readonly cursor: string | null;
  /**
   * Takes records, some at a time: all devices but this one, at least once, those of one device in the order of its
   * log as far as they are there. Called once at a time: the next call waits until this one resolves, and nothing
   * piles up meanwhile (no more than some 4 MiB are read ahead). Where it rejects, the same records come again after
   * a pause of 1 to 30 s. `cursor` is opaque text of at most 4 KiB per device.
   */
  readonly deliver: (records: readonly CarriedRecord[], cursor: string) => Promise<void>;
}

/**
 * A way to the hub. Opening one never fails because the hub is away; it throws `config_invalid` where the settings
 * cannot be meant, and `platform_unsupported` where a package is not installed. A driver reconnects by itself.
 */
export interface HubDriver {
  /** Where it leads, for the owner's eyes: "folder /home/ada/Sync/hub", "nats://hub.example:4222". No secret in it. */
  readonly place: string;
  /** How it stands now. Costs nothing. */
  readonly state: () => DriverState;
  /** Calls back at every change of state until the returned function is called. */
  readonly onState: (changed: (state: DriverState) => void) => () => void;
  /** What the owner should know of the place beside the state, such as a server with published holes. */
  readonly notes: () => readonly { readonly reason: string; readonly remedy: string }[];
  /**
   * Appends records of this device, consecutive ones of one epoch, at most 64. Resolves when all are durable (with a
   * server: written by a majority; in a folder: synced to the disk), with the position of the last. What is there
   * already with the same bytes counts as appended, so the same call after a crash is safe, however long after.
   *
   * Rejects with `hub_away` when that cannot be had within `timeoutMs` (some or all may have arrived), also while the
   * log seems to end before the first of them: a server that lags says so too. Rejects with `hub_refused` when the hub
   * does not take them, and with `hub_conflict` when the log already goes on differently from what is appended: another
   * device, or this one before a restore, uses the same identity. One call at a time.
   */
  readonly append: (records: readonly SealedRecord[], timeoutMs: number) => Promise<LogPosition>;
  /** The newest record in the log of this device; null when it has none. Rejects like `append`. */
  readonly tail: (timeoutMs: number) => Promise<CarriedRecord | null>;
  /** How far every device's log reaches, for the lag that `status` shows. Rejects with `hub_away`. */
  readonly tails: (timeoutMs: number) => Promise<readonly LogTail[]>;
  /**
   * Lets go of what devices that take no part any more wrote longer ago than records are kept: nobody else does it for
   * them. Nothing to do for a hub that lets go of old records by itself. Rejects with `hub_away` or `hub_refused`.
   */
  readonly letGo: (devices: readonly string[]) => Promise<void>;
  /** Begins a stream; waits for the hub by itself while it is away. At most one is open. */
  readonly subscribe: (options: SubscribeOptions) => Subscription;
  /** Ends connections and subscription; what was acknowledged stays. */
  readonly close: () => Promise<void>;
}

export interface HubDriverOptions {
  /** Id of the hub: 32 hex digits. Several hubs may live on one server or in one folder beside each other. */
  readonly hub: string;
  /** Id of this device, whose log `append` writes. */
  readonly device: string;
  /** How to get there: the `[hub]` table of the settings. */
  readonly settings: HubSettings;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the settings say of the way to the hub. */
export interface HubSettings {
  /** `none`: there is no hub, and nothing of this folder is loaded. */
  readonly driver: "none" | "folder" | "nats";
  /** The folder that is carried between the devices. */
  readonly folder: string;
  /** Addresses of one server or one cluster, such as "tls://hub.example:4222". */
  readonly servers: readonly string[];
  /** A file with the NKey seed or the credentials of this device; empty: none. */
  readonly credentials_file: string;
  /** A file with the certificate of the authority that signed the server's; empty: those of the system. */
  readonly ca_file: string;
  /** Records are let go of by the hub after so many days: no longer than the record is kept. */
  readonly keep_days: number;
}

/** Opens a driver. `src/hub/nats.ts` exports `openNatsDriver`, `src/hub/folder.ts` `openFolderDriver`. */
export type OpenHubDriver = (options: HubDriverOptions) => Promise<HubDriver>;
