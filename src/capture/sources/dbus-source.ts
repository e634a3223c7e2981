/**
 * What every source on a message bus shares: the life of its connection. It promises that a source reports
 * nothing before `start` (the newest report waits for it) and nothing after its loss or `close`, and that
 * the connection is let go with it.
 */
import { type Bus, openBus } from "./dbus.ts";
import type { BusKind } from "./dbus-address.ts";
import type {
  Blindness,
  Rejection,
  SampleOf,
  Source,
  SourceContext,
  SourceKind,
  SourceResult,
} from "./source.ts";

/** What a backend may do with its bus while it is open. */
export interface BusSession<K extends SourceKind> {
  readonly bus: Bus;
  readonly report: (result: SourceResult<SampleOf[K]>) => void;
  /** Gives the source up, for instance when the program it watches left the bus. */
  readonly lose: (why: Blindness) => void;
}

/** What a backend gives once it answered. */
export interface BusBackend<K extends SourceKind> {
  readonly snapshot: () => Promise<SourceResult<SampleOf[K]>>;
  /** Called before the connection is closed, also when the bus is already gone. */
  readonly close?: () => void;
}

/** Connects, lets `begin` subscribe and read the first state, and makes a source of it. */
export async function openBusSource<K extends SourceKind>(
  which: BusKind,
  context: SourceContext,
  begin: (session: BusSession<K>) => Promise<BusBackend<K> | { readonly rejected: Rejection }>,
): Promise<{ readonly source: Source<K> } | { readonly rejected: Rejection }> {
  const relay = createRelay<K>();
  const opened = await openBus(which, context.env, relay.lose);
  if ("rejected" in opened) return opened;
  const { bus } = opened;
  const backend = await begin({ bus, report: relay.report, lose: relay.lose });
  if ("rejected" in backend) {
    bus.close();
    return backend;
  }
  const close = (): void => {
    if (!relay.end()) return;
    backend.close?.();
    bus.close();
  };
  const snapshot = async (): Promise<SourceResult<SampleOf[K]>> => {
    const result = await backend.snapshot();
    // What was known before the loss is not the present state.
    const lost = relay.lost();
    return lost === null ? result : { ok: false, ...lost };
  };
  return { source: { start: relay.start, snapshot, close } };
}

/** Wakes whenever `name` gets an owner on the bus. Returns how to stop. */
export function watchForName(
  which: BusKind,
  context: SourceContext,
  name: string,
  onWake: () => void,
): () => void {
  let bus: Bus | null = null;
  let stopped = false;
  const begin = async (): Promise<void> => {
    // A bus that is lost or absent ends the watch: the next round of probing begins another.
    const opened = await openBus(which, context.env, () => {});
    if ("rejected" in opened) return;
    bus = opened.bus;
    if (stopped) return bus.close();
    await bus.onNameOwner(name, (_, owner) => {
      if (owner !== null) onWake();
    });
    return undefined;
  };
  void begin();
  return () => {
    stopped = true;
    bus?.close();
  };
}

interface Relay<K extends SourceKind> {
  readonly start: Source<K>["start"];
  readonly report: (result: SourceResult<SampleOf[K]>) => void;
  readonly lose: (why: Blindness) => void;
  readonly lost: () => Blindness | null;
  /** False when it had ended before. */
  readonly end: () => boolean;
}

function createRelay<K extends SourceKind>(): Relay<K> {
  let listeners: {
    readonly onSample: (result: SourceResult<SampleOf[K]>) => void;
    readonly onLost: (why: Blindness) => void;
  } | null = null;
  let newest: SourceResult<SampleOf[K]> | null = null;
  let lost: Blindness | null = null;
  let ended = false;
  return {
    start: (onSample, onLost) => {
      if (ended) return;
      if (lost !== null) return onLost(lost);
      listeners = { onSample, onLost };
      if (newest !== null) onSample(newest);
      newest = null;
      return undefined;
    },
    report: (result) => {
      if (ended || lost !== null) return;
      if (listeners === null) newest = result;
      else listeners.onSample(result);
    },
    lose: (why) => {
      if (ended || lost !== null) return;
      lost = why;
      listeners?.onLost(why);
    },
    lost: () => lost,
    end: () => {
      const first = !ended;
      ended = true;
      listeners = null;
      return first;
    },
  };
}
