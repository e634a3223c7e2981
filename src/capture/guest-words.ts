/**
 * What watchers of others last said, for where our own sources cannot see. It promises that an own source that
 * sees is always believed, and that a word which is too old says nothing.
 */
import type { MediaSample, WindowSample } from "./events.ts";
import type { SampleOf, SourceResult } from "./sources/source.ts";

/** The kinds that a guest can stand in for. */
export type GuestKind = "window" | "input" | "media";

export interface GuestWords {
  readonly window: (sample: WindowSample) => void;
  /** When the owner last touched something; microseconds. */
  readonly input: (lastInputUs: number) => void;
  readonly media: (sample: MediaSample) => void;
  /** The result as it is, or a guest's word while it is fresh where the source itself cannot see. */
  readonly fill: <K extends GuestKind>(
    kind: K,
    result: SourceResult<SampleOf[K]>,
  ) => SourceResult<SampleOf[K]>;
}

/** Watchers repeat themselves each 1 to 5 s, some gather 10 s of it first. */
const FRESH_US = 30_000_000;

export function createGuestWords(nowUs: () => number): GuestWords {
  const said: { [K in GuestKind]?: { readonly atUs: number; readonly give: () => SampleOf[K] } } =
    {};
  return {
    window: (sample) => {
      said.window = { atUs: nowUs(), give: () => sample };
    },
    input: (lastInputUs) => {
      said.input = {
        atUs: nowUs(),
        give: () => ({ idleMs: Math.max(0, (nowUs() - lastInputUs) / 1000) }),
      };
    },
    media: (sample) => {
      said.media = { atUs: nowUs(), give: () => [sample] };
    },
    fill: (kind, result) => {
      const word = said[kind];
      if (result.ok || word === undefined || nowUs() - word.atUs > FRESH_US) return result;
      return { ok: true, value: word.give() };
    },
  };
}
