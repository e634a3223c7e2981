/**
 * What the live view holds and what its keys do, without a terminal. It hides the order of answers: one look at a time,
 * one key obeyed after the other, so that an old answer never stands over a newer one and no two signs of the view
 * contradict each other.
 */
import type { ActivityApi } from "../api.ts";
import type { Clock } from "../clock.ts";
import { ActivityError, toErrorEnvelope } from "../errors.ts";
import { startOfDay, type LiveState } from "./live-view.ts";

export interface LiveModel {
  readonly state: () => LiveState;
  /** Looks once more; resolves when what was seen after this call is in the state. Never rejects. */
  readonly update: () => Promise<void>;
  /** Obeys `p`, `r` and `w`; other keys mean nothing. */
  readonly press: (key: string) => void;
}

/** `changed` is called after every change of the state. */
export function createLiveModel(api: ActivityApi, clock: Clock, changed: () => void): LiveModel {
  let state: LiveState = {
    status: null,
    problem: null,
    block: "",
    today: [],
    nowUs: clock.nowUs(),
    timeZone: clock.timeZone(),
    showWhy: false,
    notice: null,
  };
  let looks: Promise<void> = Promise.resolve();
  /** The look that has not begun: whoever wants one meanwhile shares it. */
  let next: Promise<void> | null = null;
  let obeyed: Promise<void> = Promise.resolve();

  function change(changes: Partial<LiveState>): void {
    state = { ...state, ...changes };
    changed();
  }

  async function lookAfter(before: Promise<void>): Promise<void> {
    await before;
    next = null;
    change(await look(api, clock));
  }

  function update(): Promise<void> {
    if (next !== null) return next;
    next = looks = lookAfter(looks);
    return looks;
  }

  async function obeyAfter(
    before: Promise<void>,
    ask: () => Promise<unknown>,
    done: string,
  ): Promise<void> {
    await before;
    // The last key's notice would stand beside what this one is about to change.
    change({ notice: null });
    const notice = await outcome(ask, done);
    await update();
    change({ notice });
  }

  return {
    state: () => state,
    update,
    press: (key) => {
      if (key === "w") change({ showWhy: !state.showWhy });
      if (key === "p") {
        const ask = async () => api.pause({ minutes: 15 });
        obeyed = obeyAfter(obeyed, ask, "Paused for 15 minutes.");
      }
      if (key === "r") obeyed = obeyAfter(obeyed, async () => api.resume(), "Recording goes on.");
    },
  };
}

type Seen = Pick<LiveState, "status" | "problem" | "nowUs" | "timeZone"> &
  Partial<Pick<LiveState, "block" | "today">>;

/** What there is to see now; block and day stay as they were while the daemon is away. */
async function look(api: ActivityApi, clock: Clock): Promise<Seen> {
  const nowUs = clock.nowUs();
  const timeZone = clock.timeZone();
  try {
    const [status, { block }, today] = await Promise.all([
      api.status(),
      api.context({ form: "exact", client: "live" }),
      eventsSince(api, startOfDay(nowUs, timeZone)),
    ]);
    return { status, problem: null, block: block ?? "", today, nowUs, timeZone };
  } catch (thrown) {
    const { error } = toErrorEnvelope(thrown);
    return { status: null, problem: `${error.message} ${error.hint}`, nowUs, timeZone };
  }
}

/** Null while the record is being recovered: the rest is known all the same. */
async function eventsSince(api: ActivityApi, fromUs: number): Promise<LiveState["today"]> {
  try {
    return (await api.events({ fromUs, limit: 10_000 })).events;
  } catch (thrown) {
    if (thrown instanceof ActivityError && thrown.code === "database_recovering") return null;
    throw thrown;
  }
}

async function outcome(work: () => Promise<unknown>, done: string): Promise<string> {
  try {
    await work();
    return done;
  } catch (thrown) {
    const { error } = toErrorEnvelope(thrown);
    return `${error.message} ${error.hint}`;
  }
}
