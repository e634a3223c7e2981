/**
 * Media players over MPRIS: every player on the session bus, as it comes, changes and goes. It promises one
 * entry for each player however many names it has, and that fields of a wrong type are unknown, not fatal.
 *
 * https://specifications.freedesktop.org/mpris-spec/latest/
 */
import type { MediaSample } from "../events.ts";
import type { Bus } from "./dbus.ts";
import { openBusSource } from "./dbus-source.ts";
import { readDictionary, readText, readTexts } from "./dbus-values.ts";
import type { SourceProvider } from "./source.ts";

const NAMESPACE = "org.mpris.MediaPlayer2";
const PATH = "/org/mpris/MediaPlayer2";
const PLAYER = "org.mpris.MediaPlayer2.Player";
const PROPERTIES = "org.freedesktop.DBus.Properties";

/** Repeats whatever player was used last under a name of its own: each song would be there twice. */
const PROXY = `${NAMESPACE}.playerctld`;

/** A player that hangs says nothing any more: its song would be told as playing for as long as it hangs. */
const READ_AGAIN_MS = 45_000;

/** `kind: "media"`. Players that are stopped play nothing and are left out; paused ones are told. */
export const mpris = createMpris(READ_AGAIN_MS);

/** As `mpris`, asking the players that there are again after so long. */
export function createMpris(readAgainMs: number): SourceProvider<"media"> {
  return {
    id: "mpris",
    kind: "media",
    open: (context) =>
      openBusSource<"media">("session", context, async ({ bus, report }) => {
        const players = createPlayers(bus, (samples) => report({ ok: true, value: samples }));
        await bus.onNameOwner(NAMESPACE, players.nameChanged, { namespace: true });
        await bus.onSignal(
          { path: PATH, interface: PROPERTIES, member: "PropertiesChanged" },
          (signal) => {
            if (signal.body[0] === PLAYER && isOfInterest(signal.body))
              players.changed(signal.sender);
          },
        );
        const names = await bus.call({
          destination: "org.freedesktop.DBus",
          path: "/org/freedesktop/DBus",
          interface: "org.freedesktop.DBus",
          member: "ListNames",
        });
        if (!names.ok) {
          return { rejected: { reason: "The session bus does not list its names.", remedy: "" } };
        }
        const present = (readTexts(names.body[0]) ?? []).filter((name) =>
          name.startsWith(`${NAMESPACE}.`),
        );
        await Promise.all(
          present.map(async (name) => players.nameChanged(name, await bus.nameOwner(name))),
        );
        await players.settled();
        // No word to anybody while there is no player.
        const again = setInterval(() => void players.readAll(), readAgainMs);
        again.unref();
        return {
          snapshot: async () => {
            await players.readAll();
            return { ok: true, value: players.samples() };
          },
          close: () => clearInterval(again),
        };
      }),
  };
}

interface Player {
  readonly names: Set<string>;
  /** What it calls itself, once it was asked. */
  identity: string | null;
  sample: MediaSample | null;
  /** Grows with each change, to tell which changed last. */
  changedAt: number;
  reading: Promise<void> | null;
  /** Something changed while it was being read, so what comes back may be old. */
  stale: boolean;
}

interface Players {
  readonly nameChanged: (name: string, owner: string | null) => void;
  readonly changed: (owner: string) => void;
  readonly readAll: () => Promise<void>;
  /** Resolves when no player is being read any more. */
  readonly settled: () => Promise<void>;
  readonly samples: () => readonly MediaSample[];
}

/** Players by the unique name of their connection, which is what signals carry. */
function createPlayers(bus: Bus, onChange: (samples: readonly MediaSample[]) => void): Players {
  const byOwner = new Map<string, Player>();
  let changes = 0;
  let told = "[]";

  const samples = (): readonly MediaSample[] =>
    [...byOwner.values()]
      .toSorted((a, b) => b.changedAt - a.changedAt)
      .map(({ sample }) => sample)
      .filter((sample) => sample !== null);

  const tell = (): void => {
    const now = samples();
    const text = JSON.stringify(now);
    if (text === told) return;
    told = text;
    onChange(now);
  };

  const readOnce = async (owner: string, player: Player): Promise<void> => {
    player.identity ??= await readIdentity(bus, owner, player.names);
    do {
      player.stale = false;
      const properties = await readProperties(bus, owner, PLAYER);
      const sample = properties === null ? null : parsePlayer(player.identity, properties);
      if (JSON.stringify(sample) !== JSON.stringify(player.sample)) {
        player.sample = sample;
        player.changedAt = ++changes;
      }
    } while (player.stale);
    player.reading = null;
    // It may have left the bus meanwhile.
    if (byOwner.get(owner) === player) tell();
  };

  const read = (owner: string, player: Player): Promise<void> => {
    player.stale = true;
    player.reading ??= readOnce(owner, player);
    return player.reading;
  };

  const forget = (name: string): void => {
    for (const [owner, player] of byOwner) {
      player.names.delete(name);
      if (player.names.size === 0) byOwner.delete(owner);
    }
  };

  return {
    samples,
    nameChanged: (name, owner) => {
      if (name === PROXY) return;
      forget(name);
      if (owner !== null) {
        const known = byOwner.get(owner);
        const player: Player = known ?? {
          names: new Set(),
          identity: null,
          sample: null,
          changedAt: 0,
          reading: null,
          stale: false,
        };
        player.names.add(name);
        byOwner.set(owner, player);
        void read(owner, player);
      }
      tell();
    },
    changed: (owner) => {
      const player = byOwner.get(owner);
      if (player !== undefined) void read(owner, player);
    },
    readAll: async () => {
      await Promise.all([...byOwner].map(([owner, player]) => read(owner, player)));
    },
    settled: async () => {
      await Promise.all([...byOwner.values()].map(({ reading }) => reading ?? Promise.resolve()));
    },
  };
}

/** Positions and volumes change all the time and are of no interest. */
function isOfInterest(body: readonly unknown[]): boolean {
  const names = [...(readDictionary(body[1])?.keys() ?? []), ...(readTexts(body[2]) ?? [])];
  return names.includes("PlaybackStatus") || names.includes("Metadata");
}

async function readIdentity(bus: Bus, owner: string, names: ReadonlySet<string>): Promise<string> {
  const properties = await readProperties(bus, owner, NAMESPACE);
  const identity = readText(properties?.get("Identity"));
  if (identity !== null && identity.trim() !== "") return identity;
  const [name = NAMESPACE] = names;
  // A second instance of a player appends ".instance123" to its name.
  return name.slice(NAMESPACE.length + 1).replace(/\.instance.*$/, "");
}

/** Null when it plays nothing, or when its status is not one of the specification's. */
function parsePlayer(player: string, properties: ReadonlyMap<string, unknown>): MediaSample | null {
  const status = readText(properties.get("PlaybackStatus"));
  if (status !== "Playing" && status !== "Paused") return null;
  const metadata = readDictionary(properties.get("Metadata"));
  // Some players send one text where the specification asks for a list of artists.
  const artists = readTexts(metadata?.get("xesam:artist")) ?? [];
  return {
    player,
    title: presentText(readText(metadata?.get("xesam:title"))),
    artist: presentText(artists.filter((artist) => artist.trim() !== "").join(", ")),
    playing: status === "Playing",
  };
}

function presentText(text: string | null): string | null {
  return text === null || text.trim() === "" ? null : text;
}

async function readProperties(
  bus: Bus,
  owner: string,
  iface: string,
): Promise<ReadonlyMap<string, unknown> | null> {
  const target = { destination: owner, path: PATH, interface: PROPERTIES, member: "GetAll" };
  const reply = await bus.call(target, "s", [iface]);
  return reply.ok ? readDictionary(reply.body[0]) : null;
}
