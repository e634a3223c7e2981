/**
 * Judges what is stored already as if it came in now, so that a new rule can be applied backwards. It promises
 * the very same gate: there is no second set of rules for the past.
 */
import { type EventFacts, isSameFacts } from "../events.ts";
import type { GateResult, PrivacyGate } from "../privacy.ts";

/**
 * What the gate would store of facts at an instant: the same object when nothing changes, null when they would
 * be dropped. Facts that hold no text of anybody's stay as they are.
 */
export function judgeAgain(gate: PrivacyGate, facts: EventFacts, atUs: number): EventFacts | null {
  const result = judge(gate, facts, atUs);
  if (result === null) return facts;
  if (result.verdict === "drop") return null;
  return isSameFacts(result.facts, facts) ? facts : result.facts;
}

function judge(gate: PrivacyGate, facts: EventFacts, atUs: number): GateResult<EventFacts> | null {
  switch (facts.kind) {
    case "window": {
      const { app, title, place } = facts;
      const unknown = { pid: null, executable: null, private: null };
      return gate.window({ app, title, url: place, ...unknown }, atUs);
    }
    case "tab": {
      const { app, title, place, audible } = facts;
      return gate.tab({ app, title, url: place, audible, private: null }, atUs);
    }
    case "media":
      return gate.media(facts, atUs);
    case "notification":
      return gate.notification(facts, atUs);
    case "editor":
      return gate.editor(facts, atUs);
    default:
      return null;
  }
}
