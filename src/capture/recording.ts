/**
 * Writes down what the sources tell, for tests, reports of faults and demonstrations. It promises that every
 * line passed the privacy gate first and that the file is readable by its owner alone.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import type { Clock } from "../clock.ts";
import { ActivityError, whyRefused } from "../errors.ts";
import type { MediaSample, NotificationSample, WindowSample } from "./events.ts";
import type { PrivacyGate } from "./privacy.ts";
import { encodeRecordedHeader, type RecordedLine } from "./sources/recorded.ts";
import type { SampleOf, SourceKind, SourceResult } from "./sources/source.ts";

export interface Recording {
  /** Takes what a source told, as it told it. A disk that refuses ends the recording, nothing else. */
  readonly note: <K extends SourceKind>(kind: K, result: SourceResult<SampleOf[K]>) => void;
  readonly close: () => void;
}

/** Begins a new file. Throws `config_invalid` when it exists already or cannot be written. */
export function openRecording(
  file: string,
  options: { readonly gate: PrivacyGate; readonly clock: Clock },
): Recording {
  const { gate, clock } = options;
  const startedUs = clock.monotonicUs();
  let descriptor: number | null = create(file);
  const write = (line: string): void => {
    if (descriptor === null) return;
    try {
      writeSync(descriptor, `${line}\n`);
    } catch {
      // A full disk: what is recorded so far stays readable, capture goes on.
      closeSync(descriptor);
      descriptor = null;
    }
  };
  write(encodeRecordedHeader(new Date(clock.nowUs() / 1000).toISOString()));

  return {
    note: (kind, result) => {
      const atMs = Math.round((clock.monotonicUs() - startedUs) / 1000);
      const line = { atMs, kind, result: gated(kind, result, gate, clock.nowUs()) };
      write(JSON.stringify(line satisfies Loose));
    },
    close: () => {
      if (descriptor !== null) closeSync(descriptor);
      descriptor = null;
    },
  };
}

/** A line whose kind and result are not yet known to belong together. */
type Loose = {
  readonly atMs: number;
  readonly kind: RecordedLine["kind"];
  readonly result: unknown;
};

function create(file: string): number {
  try {
    return openSync(file, "wx", 0o600);
  } catch (cause) {
    const exists = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    const reason = whyRefused(cause);
    throw new ActivityError(
      "config_invalid",
      exists
        ? `Cannot record to ${file}: the file exists already.`
        : `Cannot record to ${file}: ${reason}.`,
      "Set capture.record to a new file in a folder you can write to.",
      { cause },
    );
  }
}

const WITHHELD = {
  ok: false,
  reason: "A privacy rule withheld this when it was recorded.",
  remedy: "",
} as const;

/** What may be written of a result. Whatever a stranger wrote has been through the gate. */
function gated<K extends SourceKind>(
  kind: K,
  result: SourceResult<SampleOf[K]>,
  gate: PrivacyGate,
  nowUs: number,
): SourceResult<unknown> {
  if (!result.ok || result.value === null) return result;
  const told: Told = { kind, value: result.value } as Told;
  switch (told.kind) {
    case "window": {
      const answer = gate.window(told.value, nowUs);
      if (answer.verdict === "drop") return WITHHELD;
      const { app, title, place } = answer.facts;
      return {
        ok: true,
        value: {
          app,
          title,
          url: place,
          pid: null,
          executable: null,
          private: null,
          ...(told.value.window === undefined ? {} : { window: told.value.window }),
        },
      };
    }
    case "media":
      return { ok: true, value: told.value.flatMap((sample) => gatedMedia(sample, gate, nowUs)) };
    case "notification": {
      const answer = gate.notification(told.value, nowUs);
      if (answer.verdict === "drop") return WITHHELD;
      return { ok: true, value: { app: answer.facts.app, summary: answer.facts.summary } };
    }
    default:
      return result;
  }
}

/** The result of a source, told apart by its kind. */
type Told =
  | { readonly kind: "window"; readonly value: WindowSample }
  | { readonly kind: "media"; readonly value: readonly MediaSample[] }
  | { readonly kind: "notification"; readonly value: NotificationSample }
  | { readonly kind: "input" | "session" | "system"; readonly value: unknown };

function gatedMedia(sample: MediaSample, gate: PrivacyGate, nowUs: number): readonly MediaSample[] {
  const answer = gate.media(sample, nowUs);
  if (answer.verdict === "drop") return [];
  const { player, title, artist, playing } = answer.facts;
  return [{ player, title, artist, playing }];
}
