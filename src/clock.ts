/**
 * The only reader of time. It promises wall time, monotonic time and the time zone from one place, so that everything
 * else takes time as an argument and any answer can be replayed.
 */
import { lstatSync } from "node:fs";

/** A source of time. Wall time may jump; monotonic time never goes back. */
export interface Clock {
  /** Wall time, integer microseconds since 1970 UTC. */
  readonly nowUs: () => number;
  /** Monotonic time in microseconds from an arbitrary start; it may stand still while the machine sleeps. */
  readonly monotonicUs: () => number;
  /** IANA name of the zone in force now, such as "Europe/Berlin". */
  readonly timeZone: () => string;
}

export const systemClock: Clock = {
  // Date has millisecond resolution; two events of one millisecond are told apart by the store, not here.
  nowUs: () => Date.now() * 1000,
  monotonicUs: () => Number(process.hrtime.bigint() / 1000n),
  timeZone: createZoneReader({
    // localtime(5): whoever sets the zone of a machine puts another link here, also on macOS.
    file: "/etc/localtime",
    ask: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
  }),
};

/**
 * Tells the zone of this machine, and notices when the machine was given another: V8 looks at a process's start and then
 * never again, while an owner travels. `file` is what the system changes with the zone; `ask` is asked anew after that.
 */
export function createZoneReader(zone: {
  readonly file: string;
  readonly ask: () => string;
}): () => string {
  let held: { readonly mark: string; readonly name: string } | null = null;
  return () => {
    const fixed = process.env["TZ"];
    const mark = fixed === undefined ? `file ${markOf(zone.file)}` : `TZ ${fixed}`;
    if (held?.mark !== mark) {
      // Where this variable is touched, even taken away when it is not there, Node has V8 look again.
      if (fixed === undefined) delete process.env["TZ"];
      held = { mark, name: zone.ask() };
    }
    return held.name;
  };
}

/** Another link or file is another mark. Null on systems that keep the zone elsewhere. */
function markOf(file: string): string | null {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
}
