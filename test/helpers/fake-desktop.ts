/** A desktop whose windows, players and notices are what a test says, as a registry of sources. */
import type { MediaSample, WindowSample } from "../../src/capture/events.ts";
import type { SourceRegistry } from "../../src/capture/sources/registry.ts";
import type {
  SampleOf,
  Source,
  SourceKind,
  SourceProvider,
  SourceResult,
} from "../../src/capture/sources/source.ts";

export interface FakeDesktop {
  readonly registry: SourceRegistry;
  /** Gives a window the focus; null: none has it. */
  readonly focus: (window: Partial<WindowSample> | null) => void;
  readonly play: (media: Partial<MediaSample> | null) => void;
  /** Reports the focused window once more, as a poll does. */
  readonly poll: () => void;
}

export function createFakeDesktop(): FakeDesktop {
  const window = createFakeSource("window");
  const media = createFakeSource("media");
  const input = createFakeSource("input");
  input.report({ idleMs: 0 });
  const byKind = new Map<SourceKind, SourceProvider<never>>();
  const offer = <K extends SourceKind>(provider: SourceProvider<K>) => {
    // The map forgets which kind an entry is of; `providersFor` asks for it by that very kind.
    byKind.set(provider.kind, provider as unknown as SourceProvider<never>);
  };
  offer(window.provider);
  offer(media.provider);
  offer(input.provider);
  return {
    registry: {
      providersFor: (kind) => {
        const provider = byKind.get(kind);
        return [provider ?? refuse(kind)];
      },
    },
    focus: (next) =>
      window.report(
        next === null
          ? null
          : {
              app: "Code",
              title: "x",
              url: null,
              pid: null,
              executable: null,
              private: null,
              ...next,
            },
      ),
    poll: window.again,
    play: (next) =>
      media.report(
        next === null ? [] : [{ player: "vlc", title: null, artist: null, playing: true, ...next }],
      ),
  };
}

/** What a desktop does not tell, a real backend was tried for as well. */
function refuse<K extends SourceKind>(kind: K): SourceProvider<K> {
  const rejected = { reason: "This desktop does not tell.", remedy: "Use another." };
  return { id: "fake", kind, open: async () => ({ rejected }) };
}

function createFakeSource<K extends SourceKind>(kind: K) {
  let result: SourceResult<SampleOf[K]> = { ok: true, value: null };
  let tell: (result: SourceResult<SampleOf[K]>) => void = () => {};
  const source: Source<K> = {
    start: (onSample) => {
      tell = onSample;
    },
    snapshot: async () => result,
    close: () => {
      tell = () => {};
    },
  };
  const provider: SourceProvider<K> = { id: "fake", kind, open: async () => ({ source }) };
  return {
    provider,
    again: () => tell(result),
    report: (value: SampleOf[K] | null) => {
      result = { ok: true, value };
      tell(result);
    },
  };
}
