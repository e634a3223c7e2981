/**
 * Facts that come from no source of ours through the gate: those of a file or of another device, and those that are stored
 * already, when there are new rules. It promises the very same gate: what would not be recorded here now is not taken from
 * elsewhere, and there is no second set of rules for the past.
 */
import { isSameFacts, type EventFacts, type RawFacts } from "../events.ts";
import type { GateResult, PrivacyGate } from "../privacy.ts";

/** What the gate lets by of facts; null: nothing. Facts that hold no text of anybody's stay as they are. */
export function admitFacts(gate: PrivacyGate, facts: RawFacts, atUs: number): EventFacts | null {
  switch (facts.kind) {
    case "window": {
      const { app, title, place } = facts;
      const unknown = { pid: null, executable: null, private: null };
      return kept(gate.window({ app, title, url: place, ...unknown }, atUs));
    }
    case "tab": {
      const { app, title, place, audible } = facts;
      return kept(gate.tab({ app, title, url: place, audible, private: null }, atUs));
    }
    case "media":
      return kept(gate.media(facts, atUs));
    case "notification":
      return kept(gate.notification(facts, atUs));
    case "editor":
      return kept(gate.editor(facts, atUs));
    default:
      return facts;
  }
}

/** The same for what was stored under other rules: the same object when nothing changes. */
export function judgeAgain(gate: PrivacyGate, facts: EventFacts, atUs: number): EventFacts | null {
  const admitted = admitFacts(gate, facts, atUs);
  return admitted !== null && isSameFacts(admitted, facts) ? facts : admitted;
}

function kept(result: GateResult<EventFacts>): EventFacts | null {
  return result.verdict === "store" ? result.facts : null;
}
