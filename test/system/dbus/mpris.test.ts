import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMpris, mpris } from "../../../src/capture/sources/mpris.ts";
import { openRecorded, type SourceRecorder } from "../../helpers/source-recorder.ts";
import { until } from "../../helpers/until.ts";
import { openBusService, Variant } from "../fakes/bus-service.ts";
import { type FakePlayer, openFakePlayer, playback, song } from "../fakes/mpris-player.ts";
import { openPrivateBus, type PrivateBus } from "../fakes/private-bus.ts";

let daemon: PrivateBus;
const players: FakePlayer[] = [];
const recordings: SourceRecorder<"media">[] = [];

beforeEach(async () => {
  daemon = await openPrivateBus();
});

afterEach(async () => {
  for (const { source } of recordings.splice(0)) source.close();
  for (const player of players.splice(0)) player.close();
  await daemon.close();
});

async function play(name: string, identity: string | null = null): Promise<FakePlayer> {
  const player = await openFakePlayer(daemon.address, name, identity);
  players.push(player);
  return player;
}

async function listen(): Promise<SourceRecorder<"media">> {
  const recording = await openRecorded(mpris, daemon.env);
  recordings.push(recording);
  return recording;
}

describe("media players", () => {
  it("are known as soon as the source is open", async () => {
    const player = await play("vlc", "VLC media player");
    player.setMetadata(song("漢字 👩‍💻", "A", "B"));
    player.set({ PlaybackStatus: playback("Playing") });
    const { source } = await listen();
    expect(await source.snapshot()).toEqual({
      ok: true,
      value: [{ player: "VLC media player", title: "漢字 👩‍💻", artist: "A, B", playing: true }],
    });
  });

  it("are an empty list, not unknown, when there are none or all are stopped", async () => {
    await play("vlc");
    const { source, told } = await listen();
    expect(await source.snapshot()).toEqual({ ok: true, value: [] });
    expect(told).toEqual([]);
  });

  it("are reported as they come, play, pause and go, the last to change first", async () => {
    const { latest } = await listen();
    const vlc = await play("vlc", "VLC");
    vlc.setMetadata(song("One"));
    vlc.set({ PlaybackStatus: playback("Playing") });
    const one = { player: "VLC", title: "One", artist: null, playing: true };
    await expect.poll(latest).toEqual([one]);

    const spotify = await play("spotify", "Spotify");
    spotify.setMetadata(song("Two", "Band"));
    spotify.set({ PlaybackStatus: playback("Paused") });
    const two = { player: "Spotify", title: "Two", artist: "Band", playing: false };
    await expect.poll(latest).toEqual([two, one]);

    vlc.set({ PlaybackStatus: playback("Paused") });
    await expect.poll(latest).toEqual([{ ...one, playing: false }, two]);
    vlc.close();
    await expect.poll(latest).toEqual([two]);
    spotify.set({ PlaybackStatus: playback("Stopped") });
    await expect.poll(latest).toEqual([]);
  });

  it("without an identity are called by their bus name", async () => {
    const player = await play("firefox.instance_1_42");
    player.set({ PlaybackStatus: playback("Playing") });
    const { source } = await listen();
    expect(await source.snapshot()).toMatchObject({ value: [{ player: "firefox" }] });
  });

  it("with several names are one player, until the last name goes", async () => {
    const player = await play("vlc", "VLC");
    await player.service.own("org.mpris.MediaPlayer2.vlc.instance99");
    player.set({ PlaybackStatus: playback("Playing") });
    const { source, latest } = await listen();
    expect(await source.snapshot()).toMatchObject({ value: [{ player: "VLC" }] });
    await player.service.release("org.mpris.MediaPlayer2.vlc");
    expect(await source.snapshot()).toMatchObject({ value: [{ player: "VLC" }] });
    await player.service.release("org.mpris.MediaPlayer2.vlc.instance99");
    await expect.poll(latest).toEqual([]);
  });

  it("repeated by playerctld are not told twice", async () => {
    const player = await play("playerctld", "playerctld");
    player.set({ PlaybackStatus: playback("Playing") });
    const { source } = await listen();
    expect(await source.snapshot()).toEqual({ ok: true, value: [] });
  });

  it.each([
    ["a number as title", { "xesam:title": new Variant("i", 7) }, { title: null, artist: null }],
    ["a blank title", { "xesam:title": new Variant("s", " ") }, { title: null, artist: null }],
    [
      "one text as artist",
      { "xesam:artist": new Variant("s", "Solo") },
      { title: null, artist: "Solo" },
    ],
    [
      "numbers as artists",
      { "xesam:artist": new Variant("ai", [1, 2]) },
      { title: null, artist: null },
    ],
    [
      "an entry named __proto__",
      { ["__proto__"]: new Variant("s", "x") },
      { title: null, artist: null },
    ],
  ])("with %s play something unknown", async (_, metadata, expected) => {
    const player = await play("odd", "Odd");
    player.setMetadata(metadata);
    player.set({ PlaybackStatus: playback("Playing") });
    const { source } = await listen();
    expect(await source.snapshot()).toEqual({
      ok: true,
      value: [{ player: "Odd", playing: true, ...expected }],
    });
  });

  it("whose metadata is no dictionary, or whose status is odd, harm nobody else", async () => {
    const odd = await play("odd");
    odd.set({ Metadata: new Variant("s", "none"), PlaybackStatus: playback("Playing") });
    const broken = await play("broken");
    broken.set({ PlaybackStatus: new Variant("i", 1) });
    const good = await play("good", "Good");
    good.setMetadata(song("Fine"));
    good.set({ PlaybackStatus: playback("Playing") });
    const { source } = await listen();
    const result = await source.snapshot();
    expect(result.ok && result.value?.map(({ player, title }) => [player, title])).toEqual(
      expect.arrayContaining([
        ["odd", null],
        ["Good", "Fine"],
      ]),
    );
    expect(result.ok && result.value).toHaveLength(2);
  });

  it("that refuse to answer are left out", async () => {
    const player = await play("silent");
    player.service.refuse("org.freedesktop.DBus.Properties.GetAll", "org.test.No");
    const { source } = await listen();
    expect(await source.snapshot()).toEqual({ ok: true, value: [] });
  });

  it("that hang, and say nothing of it, are not told as playing any more", async () => {
    const player = await play("vlc", "VLC");
    player.setMetadata(song("One"));
    player.set({ PlaybackStatus: playback("Playing") });
    const recording = await openRecorded(createMpris(50), daemon.env);
    recordings.push(recording);
    expect(await recording.source.snapshot()).toMatchObject({ value: [{ title: "One" }] });
    player.service.refuse("org.freedesktop.DBus.Properties.GetAll", "org.test.NoReply");
    await recording.untilTold("nothing plays", (value) => value?.length === 0);
    expect(recording.lost()).toBeNull();
  });

  it("that only name their metadata as changed are asked again", async () => {
    const player = await play("vlc", "VLC");
    player.setMetadata(song("One"));
    player.set({ PlaybackStatus: playback("Playing") });
    const { source, latest } = await listen();
    await source.snapshot();
    player.service.serve("/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2.Player", {
      PlaybackStatus: playback("Playing"),
      Metadata: new Variant("a{sv}", song("Two")),
    });
    player.service.emit(
      "/org/mpris/MediaPlayer2",
      "org.freedesktop.DBus.Properties",
      "PropertiesChanged",
      "sa{sv}as",
      ["org.mpris.MediaPlayer2.Player", {}, ["Metadata"]],
    );
    await expect.poll(() => latest()?.[0]?.title).toBe("Two");
  });

  it("whose position runs are not asked again", async () => {
    const player = await play("vlc", "VLC");
    const { source } = await listen();
    await source.snapshot();
    let asked = 0;
    player.service.answer("org.freedesktop.DBus.Properties.GetAll", "a{sv}", () => {
      asked += 1;
      return [{ PlaybackStatus: playback("Playing") }];
    });
    for (let n = 0; n < 20; n++) player.set({ Position: new Variant("x", BigInt(n)) });
    player.set({ PlaybackStatus: playback("Playing") });
    await until("the question", () => asked > 0);
    expect(asked).toBe(1);
  });

  it("cannot be spoken for by a connection that owns no player name", async () => {
    const { source, told } = await listen();
    const stranger = await openBusService(daemon.address);
    stranger.emit(
      "/org/mpris/MediaPlayer2",
      "org.freedesktop.DBus.Properties",
      "PropertiesChanged",
      "sa{sv}as",
      ["org.mpris.MediaPlayer2.Player", { PlaybackStatus: playback("Playing") }, []],
    );
    await stranger.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId");
    await source.snapshot();
    expect(told).toEqual([]);
    stranger.close();
  });

  it("are lost with the bus, once", async () => {
    const { lost, lossCount, source } = await listen();
    await daemon.kill();
    await until("the loss", lost);
    expect(await source.snapshot()).toMatchObject({ ok: false });
    expect(lossCount()).toBe(1);
  });
});
