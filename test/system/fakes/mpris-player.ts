/** A media player on a private bus. */
import { type BusService, openBusService, Variant } from "./bus-service.ts";

const PATH = "/org/mpris/MediaPlayer2";
const PLAYER = "org.mpris.MediaPlayer2.Player";

export interface FakePlayer {
  readonly service: BusService;
  readonly set: (changed: Record<string, Variant | undefined>) => void;
  readonly setMetadata: (metadata: Record<string, Variant>) => void;
  readonly close: () => void;
}

/** `name` is the last part of its bus name; `identity: null` serves no identity. */
export async function openFakePlayer(
  address: string,
  name: string,
  identity: string | null,
): Promise<FakePlayer> {
  const service = await openBusService(address);
  const properties = identity === null ? {} : { Identity: new Variant("s", identity) };
  service.serve(PATH, "org.mpris.MediaPlayer2", properties);
  service.serve(PATH, PLAYER, {
    PlaybackStatus: new Variant("s", "Stopped"),
    Metadata: new Variant("a{sv}", {}),
    Position: new Variant("x", 0n),
  });
  await service.own(`org.mpris.MediaPlayer2.${name}`);
  const set: FakePlayer["set"] = (changed) => service.change(PATH, PLAYER, changed);
  return {
    service,
    set,
    setMetadata: (metadata) => set({ Metadata: new Variant("a{sv}", metadata) }),
    close: service.close,
  };
}

export function playback(status: "Playing" | "Paused" | "Stopped"): Variant {
  return new Variant("s", status);
}

/** Metadata as the specification wants it. */
export function song(title: string, ...artists: string[]): Record<string, Variant> {
  return {
    "mpris:trackid": new Variant("o", "/track/1"),
    "mpris:length": new Variant("x", 215_000_000n),
    "xesam:title": new Variant("s", title),
    "xesam:artist": new Variant("as", artists),
  };
}
