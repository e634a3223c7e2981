/**
 * Making a hub, joining one and leaving it: the files of a device's part in it, changed while no daemon needs to
 * run. It promises that the identity and the settings say the same, and that nothing is half joined.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { setKeys } from "../config-edit.ts";
import { readConfig, type Config } from "../config.ts";
import { cleanField } from "../context/plain-text.ts";
import { ActivityError, whyRefused } from "../errors.ts";
import { hubFolder, isHubFolder } from "../hub/folder.ts";
import {
  createIdentity,
  IDENTITY_FILE,
  readIdentity,
  readJoinCode,
  removeIdentity,
  writeIdentity,
  writeJoinCode,
  type JoinCode,
} from "../hub/identity.ts";
import { takeRing } from "../hub/keys.ts";
import { inNoHub } from "../owner/hub.ts";
import { makeFolder } from "../make-folder.ts";
import type { Paths } from "../paths.ts";
import type { DeviceKind } from "../store/devices.ts";
import { placeOfServers } from "../hub/nats/servers.ts";

/** How a device gets to the hub, as it was typed. */
export interface HubPlace {
  readonly folder?: string;
  readonly servers?: readonly string[];
  readonly credentials?: string;
  readonly ca?: string;
}

export interface JoinOptions extends HubPlace {
  /** The machine's own name unless given. */
  readonly name?: string;
  /** Whether what was recorded before stays here. */
  readonly newOnly?: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What a folder holds that is to carry the hub, where that is not what is to be expected. */
export interface FolderHint {
  readonly folder: string;
  readonly says: "another hub is in it" | "nothing of the hub is in it";
}

/** Makes a hub with this device in it and returns its code. @throws ActivityError `bad_request` */
export function createHub(
  paths: Paths,
  env: Environment,
  options: JoinOptions,
): { readonly code: string; readonly hint: FolderHint | null } {
  refuseIfJoined(paths);
  const hub = toSettings(options, null);
  const identity = createIdentity(describe(options));
  takePart(paths, env, hub, () => writeIdentity(paths.dataDirectory, identity));
  return {
    code: writeJoinCode(identity, { driver: hub.driver, servers: hub.servers }),
    hint: hintOf(hub, identity.hub),
  };
}

/**
 * Takes part in a hub by its code. Says whether this device was in it already: then it takes the keys of the code
 * that it did not have, and what the options say of the way to the hub.
 *
 * @throws ActivityError `bad_request`
 */
export function joinHub(
  paths: Paths,
  env: Environment,
  code: string,
  options: JoinOptions,
): { readonly isKnown: boolean; readonly hint: FolderHint | null } {
  const parsed = readJoinCode(code);
  const known = readIdentity(paths.dataDirectory);
  if (known !== null) {
    if (known.hub !== parsed.hub) refuseIfJoined(paths);
    const changes = changesOf(options, parsed, readConfig(paths.configFile, env));
    const name = options.name === undefined ? known.name : describe(options).name;
    writeIdentity(paths.dataDirectory, { ...takeRing(known, parsed.ring), name });
    if (Object.keys(changes).length > 0) setKeys(paths.configFile, "hub", changes, env);
    return { isKnown: true, hint: hintOf(changes, known.hub) };
  }
  const hub = toSettings(options, parsed);
  const identity = createIdentity({ ...describe(options), code: parsed });
  takePart(paths, env, hub, () => writeIdentity(paths.dataDirectory, identity));
  return { isKnown: false, hint: hintOf(hub, identity.hub) };
}

/** What of the settings is to be otherwise: what was typed, and all of it where they name no hub. */
function changesOf(place: HubPlace, code: JoinCode, { hub }: Config): Partial<HubKeys> {
  const { folder, servers = [], credentials, ca } = place;
  const isMoved = folder !== undefined || servers.length > 0 || hub.driver === "none";
  const {
    credentials_file: _file,
    ca_file: _ca,
    ...where
  } = isMoved ? toSettings(place, code) : {};
  return {
    ...where,
    ...(credentials === undefined ? {} : { credentials_file: toFile(credentials) }),
    ...(ca === undefined ? {} : { ca_file: toFile(ca) }),
  };
}

/** A hub that was made twice, or a folder that is not carried, keeps silent otherwise. */
function hintOf({ folder = "" }: Partial<HubKeys>, hub: string): FolderHint | null {
  if (folder === "" || existsSync(hubFolder(folder, hub))) return null;
  const says = readdirSync(folder).some(isHubFolder)
    ? "another hub is in it"
    : "nothing of the hub is in it";
  return { folder, says };
}

/** The code with which another device joins. @throws ActivityError `not_found` */
export function inviteToHub(paths: Paths, env: Environment): string {
  const identity = readIdentity(paths.dataDirectory);
  const { driver, servers } = readConfig(paths.configFile, env).hub;
  if (identity === null || driver === "none") throw inNoHub();
  return writeJoinCode(identity, { driver, servers });
}

/** Refuses where neither the settings name a hub nor an identity in one is there. @throws ActivityError `not_found` */
export function requireHub(paths: Paths, env: Environment): void {
  const isNamed = readConfig(paths.configFile, env).hub.driver !== "none";
  if (!isNamed && !existsSync(join(paths.dataDirectory, IDENTITY_FILE))) throw inNoHub();
}

/** Takes the hub out of the settings, and the identity away. What others recorded goes with the daemon's own leave. */
export function forgetHub(paths: Paths, env: Environment): void {
  setKeys(paths.configFile, "hub", { driver: "none" }, env);
  removeIdentity(paths.dataDirectory);
}

function takePart(paths: Paths, env: Environment, hub: HubKeys, writeKeys: () => void): void {
  process.umask(0o077);
  makeFolder(paths.dataDirectory);
  writeKeys();
  try {
    setKeys(paths.configFile, "hub", { ...hub }, env);
  } catch (thrown) {
    removeIdentity(paths.dataDirectory);
    throw thrown;
  }
}

function refuseIfJoined({ dataDirectory }: Paths): void {
  if (readIdentity(dataDirectory) === null) return;
  throw new ActivityError(
    "bad_request",
    "This device is in a hub already.",
    "See it with: activityd hub status. Leave it with: activityd hub leave",
  );
}

type HubKeys = Pick<Config["hub"], "folder" | "servers" | "credentials_file" | "ca_file"> & {
  readonly driver: "folder" | "nats";
};

function toSettings(place: HubPlace, code: JoinCode | null): HubKeys {
  const { folder, servers = [], credentials, ca } = place;
  const all = servers.length > 0 ? servers : (code?.servers ?? []);
  const files = { credentials_file: toFile(credentials), ca_file: toFile(ca) };
  if (folder !== undefined && servers.length > 0) {
    throw new ActivityError(
      "bad_request",
      "A hub is a folder or a server, not both.",
      "Give --folder PATH or --server URL.",
    );
  }
  if (folder !== undefined) {
    if (code?.driver === "nats") {
      throw new ActivityError(
        "bad_request",
        "The hub of this code is a server, not a folder.",
        "Leave --folder out.",
      );
    }
    return { driver: "folder", folder: toFolder(folder), servers: [], ...files };
  }
  if (code?.driver === "folder") {
    throw new ActivityError(
      "bad_request",
      "The hub of this code is a folder, and nobody knows where it lies on this device.",
      "Say so: activityd hub join CODE --folder PATH",
    );
  }
  if (all.length > 0) {
    placeOfServers(all);
    return { driver: "nats", folder: "", servers: [...all], ...files };
  }
  throw new ActivityError(
    "bad_request",
    "Nothing says where the hub is.",
    "Give --folder PATH, of a folder that is synced between your devices, or --server URL of a NATS server.",
  );
}

function toFolder(path: string): string {
  const folder = resolve(path);
  try {
    if (statSync(folder).isDirectory()) return folder;
  } catch {
    // Said below: whatever it is, it is no folder.
  }
  throw new ActivityError(
    "bad_request",
    `There is no folder ${folder}.`,
    "Make it, and let Syncthing or your cloud drive carry it to your other devices.",
  );
}

function toFile(path: string | undefined): string {
  if (path === undefined) return "";
  const file = resolve(path);
  try {
    readFileSync(file);
    return file;
  } catch (cause) {
    const reason = whyRefused(cause);
    throw new ActivityError("bad_request", `Cannot read ${file}: ${reason}.`, "Name a file.", {
      cause,
    });
  }
}

function describe({ name = hostname(), newOnly = false }: JoinOptions) {
  const plain = cleanField("device", name);
  return { name: plain === "" ? "device" : plain, kind: readKind(), withHistory: !newOnly };
}

/** What sort of machine this is, by its case (SMBIOS specification, system enclosure types); null: unknown. */
function readKind(): DeviceKind | null {
  try {
    const number = Number(readFileSync("/sys/class/dmi/id/chassis_type", "utf8"));
    const found = Object.entries(CHASSIS).find(([, numbers]) => numbers.includes(number));
    return DEVICE_KINDS.find((kind) => kind === found?.[0]) ?? null;
  } catch {
    // Another system, or a machine that does not say.
    return null;
  }
}

const DEVICE_KINDS = ["desktop", "laptop", "server", "tablet"] as const;
const CHASSIS: Readonly<Record<(typeof DEVICE_KINDS)[number], readonly number[]>> = {
  desktop: [3, 4, 5, 6, 7, 13, 15, 16, 24, 35],
  laptop: [8, 9, 10, 14, 31, 32],
  server: [17, 23, 28, 29],
  tablet: [30],
};
