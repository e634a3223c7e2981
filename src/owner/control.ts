/**
 * The owner's hand on the record: pausing it, taking things out of it, and seeing what was given away. It
 * promises that a pause is obeyed at once, and that what is forgotten is looked for afterwards in every file.
 */
import { join } from "node:path";
import type { ForgetAnswer, ForgetRequest, PauseAnswer, PauseRequest } from "../api.ts";
import type { LivePrivacy } from "../capture/privacy/live.ts";
import { openPause, PAUSE_FILE, type PauseState } from "../capture/privacy/pause.ts";
import type { Sampler } from "../capture/sampler.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { createClientAccess, type ClientAccessList } from "./clients.ts";
import { createForgetting, type ForgettingOptions } from "./forget.ts";
import { createOwnerLedger, type OwnerLedger } from "./ledger.ts";
import { createOwnerRules, type OwnerRules } from "./rules.ts";
import { readPauseEnd } from "./wishes.ts";
import type { Paths } from "../paths.ts";
import type { WishOrigin } from "../store/event-walk.ts";
import type { EventStore } from "../store/events.ts";
import { openLedger } from "../store/ledger.ts";
import { peekMeta } from "../store/recovery/peek.ts";

export interface OwnerControl
  extends Omit<OwnerLedger, "noteExamples">, Omit<OwnerRules, "judging" | "remember"> {
  readonly pause: (request: PauseRequest) => PauseAnswer;
  readonly resume: () => PauseAnswer;
  /** The pause in force, or null. */
  readonly paused: () => PauseState | null;
  /** `origin`: the other device on which the wish was made, and told. */
  readonly forget: (request: ForgetRequest, origin?: WishOrigin) => Promise<ForgetAnswer>;
  /** Who is refused. */
  readonly clients: ClientAccessList;
  readonly close: () => void;
}

export interface OwnerControlOptions {
  readonly store: EventStore;
  readonly privacy: LivePrivacy;
  /** Whether the ledger keeps what the owner wrote. */
  readonly keepTurns: boolean;
  readonly sampler: Pick<Sampler, "setPaused" | "cut">;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when what may be answered changed. */
  readonly onChange: () => void;
  /** Called when the owner's wish to forget was carried out; see `createForgetting`. */
  readonly onForgotten: ForgettingOptions["onForgotten"];
}

export function createOwnerControl(options: OwnerControlOptions): OwnerControl {
  const { store, privacy, keepTurns, sampler, paths, clock, log, onChange, onForgotten } = options;
  const ledger = openLedger({ database: store.database, clock, log });
  const { gate } = privacy;
  const pause = openPause({
    file: join(paths.dataDirectory, PAUSE_FILE),
    clock,
    log,
    onChange: (state) => {
      sampler.setPaused(state !== null);
      log.info(state === null ? "recording goes on" : "recording is paused");
      onChange();
    },
  });
  const { judging, remember, ...rules } = createOwnerRules({
    store,
    privacy,
    clock,
    log,
    onChange,
  });
  const { noteExamples, ...notes } = createOwnerLedger({
    ledger,
    gate,
    keepTurns,
    isPaused: () => pause.state() !== null,
  });
  const forget = createForgetting({
    store,
    ledger,
    sampler,
    ...judging,
    paths,
    clock,
    log,
    onChange,
    onForgotten,
  });
  sampler.setPaused(pause.state() !== null);
  const clients = createClientAccess({
    database: store.database,
    readIfThere: store.readIfThere,
    peek: (prefix) => peekMeta(paths.dataDirectory, store.database.path, prefix),
    used: ledger.clients,
    clean: gate.text,
    clock,
  });

  return {
    ...rules,
    ...notes,
    clients,
    pause: (request) => ({ paused: pause.pause(readPauseEnd(request, clock.nowUs())) }),
    resume: () => {
      pause.resume();
      return { paused: pause.state() };
    },
    paused: pause.state,
    forget: async (request, origin) => {
      const answer = await forget(request, origin);
      if (request.byRules === true && !answer.dryRun) remember();
      noteExamples(request.client, answer.examples);
      return answer;
    },
    close: () => {
      pause.close();
      ledger.close();
    },
  };
}
