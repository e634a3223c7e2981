/**
 * How the daemon stands, in one answer: what is captured, what cannot be seen and why, and what to do. It promises
 * that health is judged by what is wrong, each thing with its remedy.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { StatusAnswer } from "../api.ts";
import type { Recorder } from "../capture/recorder.ts";
import type { SourceKeeper } from "../capture/sources/keeper.ts";
import type { Blindness, SourceKind, SourceStatus } from "../capture/sources/source.ts";
import { counted } from "../counted.ts";
import { shellWord } from "../errors.ts";
import type { Paths } from "../paths.ts";
import type { EventStore } from "../store/events.ts";
import type { Recovering } from "../store/recovery/mending.ts";
import { VERSION } from "../version.ts";

/** What a status is made from. */
export interface StatusParts {
  readonly startedUs: number;
  readonly nowUs: number;
  readonly paths: Paths;
  readonly store: EventStore;
  /** One per kind of source; null: not asked for. */
  readonly keepers: Readonly<Record<string, Pick<SourceKeeper<SourceKind>, "status"> | null>>;
  readonly trouble: ReturnType<Recorder["trouble"]>;
  readonly paused: StatusAnswer["paused"];
  readonly notes: StatusAnswer["notes"];
  /** What other parts found wrong. */
  readonly problems: readonly Blindness[];
}

export function readStatus(parts: StatusParts): StatusAnswer {
  const { startedUs, nowUs, paths, store, trouble, paused, notes } = parts;
  const sources = statusOfSources(parts);
  const problems: Blindness[] = sources
    .filter(({ state, kind }) => state === "lost" || (state === "blind" && kind === "window"))
    .map(({ kind, why }) => ({
      reason: `${kind} cannot be seen: ${why?.reason ?? "unknown"}`,
      remedy: why?.remedy ?? "",
    }));
  problems.push(...parts.problems);
  const recovering = store.recovering();
  if (recovering !== null)
    problems.push(describeRecovery(recovering, trouble?.waiting ?? 0, paths));
  const recovery = store.recovery();
  const aside = recovery?.setAsidePath ?? null;
  // Who removed what was set aside knows of it, and wants nothing of it.
  if (recovery !== null && (aside === null || existsSync(aside))) {
    const { salvaged, fromBackup } = recovery;
    problems.push({
      reason: `The database was damaged: ${counted(salvaged, "event was", "events were")} read from it and ${fromBackup} more from a backup.`,
      remedy:
        aside === null
          ? "Nothing was left of the damaged file: what is in the record now is all there is."
          : `The damaged file was set aside; when you need it no more: rm -r ${shellWord(dirname(aside))}`,
    });
  }
  if (trouble !== null && recovering === null) {
    problems.push({
      reason: `The store cannot be written: ${trouble.reason} ${counted(trouble.waiting, "event is", "events are")} held in memory.`,
      remedy: `Close what else has it open, make room or give write access in ${paths.dataDirectory}; writing goes on by itself.`,
    });
  }
  return {
    version: VERSION,
    pid: process.pid,
    startedUs,
    nowUs,
    socket: paths.socketPath,
    health: problems.length === 0 ? "ok" : "degraded",
    problems,
    notes,
    paused,
    sources,
    store: { ...store.summary(), writable: trouble === null },
  };
}

function describeRecovery(
  { failure }: Recovering,
  waiting: number,
  { dataDirectory }: Paths,
): Blindness {
  const events = counted(waiting, "event waits", "events wait");
  const reason = `The database is damaged and is being recovered: what was recorded before is not known until then, and ${events} to be written.`;
  if (failure === null) {
    return { reason, remedy: "Let it go on: it takes some minutes for a record of years." };
  }
  return {
    reason: `${reason} It failed: ${failure}`,
    remedy: `It is tried again by itself; see that there is room and write access in ${dataDirectory}.`,
  };
}

function statusOfSources({ keepers, startedUs }: StatusParts): readonly SourceStatus[] {
  return Object.entries(keepers).map(
    ([kind, keeper]) =>
      keeper?.status() ?? {
        kind: kind as SourceKind,
        state: "off",
        backend: null,
        sinceUs: startedUs,
        why: null,
        rejected: [],
      },
  );
}
