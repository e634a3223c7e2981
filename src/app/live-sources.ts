/**
 * All sources of a running daemon. It hides how they are kept open, what guests say where ours cannot see, the
 * recording of a session and the watchdog, and promises that one failing source leaves the others running.
 */
import { createGuestWords, type GuestKind, type GuestWords } from "../capture/guest-words.ts";
import type { NotificationFacts, SystemSample } from "../capture/events.ts";
import type { PrivacyGate } from "../capture/privacy.ts";
import { openRecording } from "../capture/recording.ts";
import type { Sampler } from "../capture/sampler.ts";
import { createSourceKeeper, type SourceKeeper } from "../capture/sources/keeper.ts";
import {
  createReplayRegistry,
  createSourceRegistry,
  type SourceRegistry,
} from "../capture/sources/registry.ts";
import type {
  Blindness,
  SampleOf,
  SourceKind,
  SourceResult,
  SourceStatus,
} from "../capture/sources/source.ts";
import { createWatchdog, type Watched } from "../capture/watchdog.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import type { EventStore } from "../store/events.ts";

/** A little longer than a guest's word stands. */
const PLAYER_SILENCE_MS = 31_000;

export interface LiveSources {
  /** Begins to capture. Resolves after every kind of source was sought once. */
  readonly start: () => Promise<void>;
  /** Null: the owner does not want that kind. */
  readonly keepers: { readonly [K in SourceKind]: SourceKeeper<K> | null };
  /** What programs of others say they see. */
  readonly take: Pick<Sampler["take"], "page" | "editor"> & Omit<GuestWords, "fill">;
  /** What stalls now. */
  readonly problems: () => readonly Blindness[];
  readonly close: () => void;
}

export interface LiveSourcesOptions {
  readonly capture: Config["capture"];
  /** The backends; all of this platform's, or a replay, unless given. */
  readonly registry: SourceRegistry | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly sampler: Sampler;
  readonly gate: PrivacyGate;
  readonly store: Pick<EventStore, "latest" | "readIfThere">;
  readonly isPaused: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly onNotification: (facts: NotificationFacts) => void;
  readonly onState: (status: SourceStatus) => void;
  readonly onSystem: (sample: SystemSample) => void;
  /** Called when `problems` or a state became others. */
  readonly onChange: () => void;
}

/** Makes everything ready; nothing is sought before `start`. */
export function createLiveSources(options: LiveSourcesOptions): LiveSources {
  const { capture, env, sampler, gate, store, isPaused, clock, log } = options;
  const registry = options.registry ?? chooseRegistry(capture);
  const recording = capture.record === "" ? null : openRecording(capture.record, { gate, clock });
  const words = createGuestWords(clock.nowUs);
  let playerSilence: NodeJS.Timeout | null = null;

  const keepers: LiveSources["keepers"] = {
    window: keep("window", (result) => {
      watchdog.told("window", result);
      sampler.take.window(words.fill("window", result));
    }),
    input: keep("input", () => {}),
    session: keep("session", sampler.take.session),
    system: keep("system", () => {}),
    media: keep("media", (result) => sampler.take.media(words.fill("media", result))),
    notification: keep("notification", (result) => {
      const facts = sampler.take.notification(result);
      if (facts !== null) options.onNotification(facts);
    }),
  };

  const watchdog = createWatchdog({
    keepers: [
      watched("window", keepers.window, false),
      watched("input", keepers.input, true),
    ].flat(),
    committedEndUs: () => {
      const running = sampler.present().open("window");
      // A disk that refuses and a recovery are told of already; an event that was just forgotten is not missing.
      if (sampler.trouble() !== null || running === null) return null;
      const [last] = store.readIfThere(() => store.latest("window", 1)) ?? [];
      if (last?.id !== running.id) return null;
      return last.endUs;
    },
    clock,
    log,
    onChange: options.onChange,
  });

  return {
    start: async () => {
      sampler.start({
        input: filled(
          "input",
          polled(keepers.input, (result) => {
            watchdog.answered("input", result);
            note("input", result);
          }),
        ),
        system: polled(keepers.system, (result) => {
          note("system", result);
          if (result.ok && result.value !== null) options.onSystem(result.value);
        }),
        window: filled("window", polled(keepers.window)),
      });
      await Promise.all(Object.values(keepers).map(async (keeper) => keeper?.start()));
      sampler.refresh();
      watchdog.start();
    },
    keepers,
    take: {
      page: sampler.take.page,
      editor: sampler.take.editor,
      window: (sample) => {
        words.window(sample);
        hear("window", sampler.take.window);
      },
      input: (lastInputUs) => {
        words.input(lastInputUs);
        hear("input", sampler.take.input);
      },
      media: (sample) => {
        words.media(sample);
        hear("media", sampler.take.media);
        if (playerSilence !== null) clearTimeout(playerSilence);
        // A player's watcher falls silent when nothing plays any more.
        playerSilence = setTimeout(() => hear("media", sampler.take.media), PLAYER_SILENCE_MS);
        playerSilence.unref();
      },
    },
    problems: watchdog.problems,
    close: () => {
      watchdog.close();
      for (const keeper of Object.values(keepers)) keeper?.close();
      recording?.close();
    },
  };

  function keep<K extends SourceKind & keyof Config["capture"]>(
    kind: K,
    onSample: (result: SourceResult<SampleOf[K]>) => void,
  ): SourceKeeper<K> | null {
    if (!capture[kind]) return null;
    return createSourceKeeper<K>({
      kind,
      providers: registry.providersFor(kind),
      context: { env, clock, log },
      onSample: (result) => {
        note(kind, result);
        onSample(result);
      },
      onState: (status) => {
        options.onState(status);
        options.onChange();
      },
    });
  }

  /** A guest said something: it counts where the owner wants the kind and our own source cannot see it. */
  function hear<K extends GuestKind>(
    kind: K,
    take: (result: SourceResult<SampleOf[K]>) => void,
  ): void {
    const why = keepers[kind]?.status().why;
    if (why === undefined || why === null) return;
    take(words.fill(kind, { ok: false, ...why }));
  }

  function filled<K extends GuestKind>(
    kind: K,
    ask: (() => Promise<SourceResult<SampleOf[K]>>) | null,
  ): (() => Promise<SourceResult<SampleOf[K]>>) | null {
    return ask === null ? null : async () => words.fill(kind, await ask());
  }

  /** Into the recording, if one is being made; what is paused is recorded nowhere. */
  function note<K extends SourceKind>(kind: K, result: SourceResult<SampleOf[K]>): void {
    if (!isPaused()) recording?.note(kind, result);
  }
}

function chooseRegistry(capture: Config["capture"]): SourceRegistry {
  const { replay, replay_speed: speed } = capture;
  return replay === "" ? createSourceRegistry() : createReplayRegistry({ file: replay, speed });
}

function watched<K extends SourceKind>(
  kind: K,
  keeper: SourceKeeper<K> | null,
  isPolled: boolean,
): Watched[] {
  return keeper === null ? [] : [{ kind, isPolled, ...keeper }];
}

function polled<K extends SourceKind>(
  keeper: SourceKeeper<K> | null,
  onAnswer: (result: SourceResult<SampleOf[K]>) => void = () => {},
): (() => Promise<SourceResult<SampleOf[K]>>) | null {
  if (keeper === null) return null;
  return async () => {
    const result = await keeper.snapshot();
    onAnswer(result);
    return result;
  };
}
