/**
 * The port between a desktop and the sampler. A backend hides one way of seeing something and promises to
 * say "unknown" with a reason where it cannot see, never "nothing" and never "idle 0".
 */
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import type {
  InputSample,
  MediaSample,
  NotificationSample,
  SessionSample,
  SystemSample,
  WindowSample,
} from "../events.ts";

/** What each kind of source gives. */
export interface SampleOf {
  readonly window: WindowSample;
  readonly input: InputSample;
  readonly session: SessionSample;
  readonly system: SystemSample;
  /** All players that are known, the newest to change first. */
  readonly media: readonly MediaSample[];
  readonly notification: NotificationSample;
}

export type SourceKind = keyof SampleOf;

/** Why something cannot be seen, and what the owner can do about it. */
export interface Blindness {
  readonly reason: string;
  readonly remedy: string;
}

/**
 * `value: null` means known to be nothing: no window has the focus; of input, that none was heard of since the source was
 * opened, which says nothing of the owner yet. `ok: false` means unknown, and that something is wrong.
 */
export type SourceResult<S> =
  | { readonly ok: true; readonly value: S | null }
  | ({ readonly ok: false } & Blindness);

/** What a provider may use to open its source. All fields are required, so that tests can replace each. */
export interface SourceContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** An open backend. After `onLost` or `close` it gives nothing more. */
export interface Source<K extends SourceKind> {
  /**
   * Begins to report. `onSample` is called on every change (sources that can only be asked may never call
   * it); `onLost` at most once, when the backend is gone: the keeper then opens a new one.
   */
  readonly start: (
    onSample: (result: SourceResult<SampleOf[K]>) => void,
    onLost: (why: Blindness) => void,
  ) => void;
  /** Reads the present state afresh. It resolves, with `ok: false`, also when the backend fails. */
  readonly snapshot: () => Promise<SourceResult<SampleOf[K]>>;
  /** Lets go of every handle. Safe to call twice. */
  readonly close: () => void;
}

/**
 * Why a provider was passed over. `applies`: this machine shows signs of the backend (a variable, a socket),
 * so that its reason is worth more to the owner than that of a desktop which is not there.
 */
export interface Rejection extends Blindness {
  readonly applies?: boolean;
}

/** How one kind of capture stands. */
export interface SourceStatus {
  readonly kind: SourceKind;
  /** `live`: reporting. `lost`: was live, being sought again. `blind`: nothing can see it here. `off`: not asked for. */
  readonly state: "live" | "lost" | "blind" | "off";
  /** The backend in use, or null. */
  readonly backend: string | null;
  readonly sinceUs: number;
  /** Why it is not live, and what to do; null when it is live or off. */
  readonly why: Blindness | null;
  /** Every backend that was passed over, in the order of policy, with its reason and remedy. */
  readonly rejected: readonly ({ readonly backend: string } & Blindness)[];
}

/** One way to open a source. Its order in the registry is policy. */
export interface SourceProvider<K extends SourceKind> {
  /** Short name of the protocol: `x11`, `sway`, `mpris`. Shown by `status`. */
  readonly id: string;
  readonly kind: K;
  /**
   * Probes and opens. It resolves to a source only after the backend answered once, else to the reason and
   * the remedy; it never rejects for an absent backend.
   */
  readonly open: (
    context: SourceContext,
  ) => Promise<{ readonly source: Source<K> } | { readonly rejected: Rejection }>;
  /**
   * Calls `onWake` when something happened that makes another `open` worth while (a socket appeared, a bus
   * name got an owner), so that a return is noticed before the next retry. Returns how to stop.
   */
  readonly watchForReturn?: (context: SourceContext, onWake: () => void) => () => void;
}
