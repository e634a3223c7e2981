/** A hub in memory: logs that any number of drivers share, and the faults that a real one has. */
import type {
  CarriedRecord,
  DriverState,
  HubDriver,
  SealedRecord,
  Subscription,
} from "../../src/hub/driver.ts";
import { ActivityError } from "../../src/errors.ts";
import { comparePositions, isNextInLog } from "../../src/hub/log-position.ts";
import type { Clock } from "../../src/clock.ts";

export interface MemoryHub {
  /** Everything that was taken in, oldest first. */
  readonly records: CarriedRecord[];
  readonly open: (device: string) => MemoryDriver;
  /** Gives a record to its readers once more, as a carrier may. */
  readonly repeat: (record: CarriedRecord) => void;
  /** Each time something was to be let go of, of which devices. */
  readonly letGo: (readonly string[])[];
  /** Gives again what could not be taken. */
  readonly wake: () => void;
}

export interface MemoryDriver extends HubDriver {
  /** Takes the way to the hub away, or gives it back. */
  readonly setAway: (away: boolean) => void;
  /** The next append arrives, and its acknowledgement does not. */
  readonly loseNextAck: () => void;
}

export function createMemoryHub(clock: Clock): MemoryHub {
  const records: CarriedRecord[] = [];
  const letGo: (readonly string[])[] = [];
  /** The place of each record among all that ever came in. */
  const places = new Map<CarriedRecord, number>();
  let arrived = 0;
  const repeats = new Set<CarriedRecord>();
  const after = (place: number): CarriedRecord[] =>
    records.filter((each) => (places.get(each) ?? 0) > place);
  const wakers = new Set<() => void>();
  const wake = (): void => {
    for (const waker of wakers) waker();
  };

  const open = (device: string): MemoryDriver => {
    let state: DriverState = { state: "connected", sinceUs: clock.nowUs() };
    let losesAck = false;
    const listeners = new Set<(state: DriverState) => void>();
    const mustBeThere = (): void => {
      if (state.state !== "connected")
        throw new ActivityError("hub_away", "The hub is away.", "Wait for it.");
    };
    const own = (): CarriedRecord[] =>
      records.filter((each) => each.device === device && !repeats.has(each));

    const append = async (given: readonly SealedRecord[]) => {
      mustBeThere();
      for (const record of given) {
        const there = own().find(({ epoch, seq }) => epoch === record.epoch && seq === record.seq);
        const last = own().at(-1);
        if (there !== undefined) {
          if (Buffer.compare(there.bytes, record.bytes) !== 0) throw conflict();
          continue;
        }
        const end = last ?? null;
        if (!isNextInLog(end, record))
          throw end !== null && comparePositions(record, end) <= 0
            ? conflict()
            : new ActivityError("hub_away", "The log ends before.", "Wait for it.");
        const carried = { ...record, carriedUs: clock.nowUs() };
        places.set(carried, ++arrived);
        records.push(carried);
      }
      wake();
      const last = given.at(-1);
      if (last === undefined) throw new Error("nothing to append");
      if (losesAck) {
        losesAck = false;
        throw new ActivityError("hub_away", "The answer was lost.", "Try again.");
      }
      return { epoch: last.epoch, seq: last.seq };
    };

    const subscribe: HubDriver["subscribe"] = ({ cursor, deliver }) => {
      let next = Number(cursor ?? "0");
      const closing = new AbortController();
      let going: Promise<void> | null = null;
      const pump = async (): Promise<void> => {
        while (!closing.signal.aborted && state.state === "connected" && after(next).length > 0) {
          const taken = after(next).slice(0, 16);
          const others = taken.filter((each) => each.device !== device);
          const last = Math.max(next, ...taken.map((each) => places.get(each) ?? 0));
          try {
            await deliver(others, String(last));
          } catch {
            return;
          }
          next = last;
        }
      };
      const start = (): void => {
        if (closing.signal.aborted || going !== null) return;
        going = pump().finally(() => {
          going = null;
          if (!closing.signal.aborted && state.state === "connected" && after(next).length > 0)
            setImmediate(start);
        });
      };
      wakers.add(start);
      setImmediate(start);
      const subscription: Subscription = {
        close: async () => {
          closing.abort();
          wakers.delete(start);
          await going;
        },
      };
      return subscription;
    };

    return {
      place: "memory",
      state: () => state,
      notes: () => [],
      onState: (changed) => {
        listeners.add(changed);
        return () => listeners.delete(changed);
      },
      append,
      tail: async () => {
        mustBeThere();
        return own().at(-1) ?? null;
      },
      letGo: async (devices) => {
        mustBeThere();
        letGo.push(devices);
      },
      tails: async () => {
        mustBeThere();
        const newest = new Map(records.map((each) => [each.device, each]));
        return [...newest.values()];
      },
      subscribe,
      close: async () => {
        listeners.clear();
      },
      setAway: (away) => {
        const sinceUs = clock.nowUs();
        state = away
          ? { state: "away", sinceUs, reason: "it is gone", remedy: "Bring it back." }
          : { state: "connected", sinceUs };
        for (const changed of listeners) changed(state);
        wake();
      },
      loseNextAck: () => {
        losesAck = true;
      },
    };
  };

  const repeat = (record: CarriedRecord): void => {
    const copy = { ...record };
    places.set(copy, ++arrived);
    repeats.add(copy);
    records.push(copy);
    wake();
  };

  return { records, open, repeat, letGo, wake };
}

function conflict(): ActivityError {
  return new ActivityError("hub_conflict", "The log goes on differently.", "Use another identity.");
}
