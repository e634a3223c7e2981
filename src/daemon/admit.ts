/**
 * Facts that come from a file or from another device, through this device's gate. It promises the very same gate:
 * what would not be recorded here is not taken from elsewhere either.
 */
import type { EventFacts } from "../capture/events.ts";
import type { GateResult, PrivacyGate } from "../capture/privacy.ts";
import type { RawFacts } from "../store/exchange.ts";

/** What the gate lets by of facts, or null. */
export function admit(gate: PrivacyGate, facts: RawFacts, atUs: number): EventFacts | null {
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
    case "editor":
      return kept(gate.editor(facts, atUs));
    case "media":
      return kept(gate.media(facts, atUs));
    case "notification":
      return kept(gate.notification(facts, atUs));
    default:
      return facts;
  }
}

function kept(result: GateResult<EventFacts>): EventFacts | null {
  return result.verdict === "store" ? result.facts : null;
}
