/**
 * The gate of a daemon that goes on while its owner writes new rules. It promises that whoever holds the gate
 * judges by the newest rules that could be understood, and that rules which cannot be leave those in force.
 */
import type { Clock } from "../clock.ts";
import { checkPrivacyGate } from "./privacy-check.ts";
import type { PrivacyConfig } from "./privacy-rules.ts";
import { createPrivacyGate, type PrivacyGate } from "./privacy.ts";

export interface LivePrivacy {
  /** The same object for good; what it says follows the rules. */
  readonly gate: PrivacyGate;
  /** What the gate judges by now. */
  readonly rules: () => PrivacyConfig;
  /** Judges by `next` from now on. Throws `rule_invalid`, and then nothing changed. */
  readonly use: (next: PrivacyConfig) => void;
}

/** Throws `rule_invalid` when `first` cannot be used. */
export function createLivePrivacy(first: PrivacyConfig, clock: Clock): LivePrivacy {
  const open = (config: PrivacyConfig): PrivacyGate => {
    const gate = createPrivacyGate(config, { timeZone: clock.timeZone });
    checkPrivacyGate(gate, config, clock.nowUs());
    return gate;
  };
  let rules = first;
  let gate = open(first);
  /** What gates before this one failed at; it stays worth telling. */
  let earlier: ReturnType<PrivacyGate["faults"]> = { count: 0, last: null };
  return {
    gate: {
      window: (sample, nowUs) => gate.window(sample, nowUs),
      media: (sample, nowUs) => gate.media(sample, nowUs),
      notification: (sample, nowUs) => gate.notification(sample, nowUs),
      editor: (sample, nowUs) => gate.editor(sample, nowUs),
      tab: (sample, nowUs) => gate.tab(sample, nowUs),
      text: (raw) => gate.text(raw),
      unmarkedBrowsers: () => gate.unmarkedBrowsers(),
      faults: () => {
        const { count, last } = gate.faults();
        return { count: count + earlier.count, last: last ?? earlier.last };
      },
    },
    rules: () => rules,
    use: (next) => {
      const fresh = open(next);
      const { count, last } = gate.faults();
      earlier = { count: count + earlier.count, last: last ?? earlier.last };
      gate = fresh;
      rules = next;
    },
  };
}
