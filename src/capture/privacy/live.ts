/**
 * The gate of a daemon that goes on while its owner writes new rules. It promises that whoever holds the gate
 * judges by the newest rules that could be understood, and that rules which cannot be leave those in force.
 */
import type { Clock } from "../../clock.ts";
import { checkPrivacyGate } from "./check.ts";
import type { PrivacyConfig } from "./rules.ts";
import { createPrivacyGate, type PrivacyGate } from "../privacy.ts";

export interface LivePrivacy {
  /** The same object for good; what it says follows the rules. */
  readonly gate: PrivacyGate;
  /**
   * Sends the canary through the gate, unless that was done: before the capture begins, or before the first thing that
   * the gate is asked of. Throws `privacy_failed`, as whoever asks the gate then does.
   */
  readonly check: () => void;
  /** What the gate judges by now. */
  readonly rules: () => PrivacyConfig;
  /** Judges by `next` from now on. Throws `rule_invalid`, and then nothing changed. */
  readonly use: (next: PrivacyConfig) => void;
}

/** Throws `rule_invalid` when `first` cannot be used. Sends no canary yet: that is as long as the rest of a start. */
export function createLivePrivacy(first: PrivacyConfig, clock: Clock): LivePrivacy {
  const open = (config: PrivacyConfig): PrivacyGate =>
    createPrivacyGate(config, { timeZone: clock.timeZone });
  let rules = first;
  let gate = open(first);
  /** What gates before this one failed at; it stays worth telling. */
  let earlier: ReturnType<PrivacyGate["faults"]> = { count: 0, last: null };
  let isChecked = false;
  const check = (): void => {
    if (isChecked) return;
    checkPrivacyGate(gate, rules, clock.nowUs());
    isChecked = true;
  };
  const checked = (): PrivacyGate => {
    check();
    return gate;
  };
  return {
    check,
    gate: {
      window: (sample, nowUs) => checked().window(sample, nowUs),
      media: (sample, nowUs) => checked().media(sample, nowUs),
      notification: (sample, nowUs) => checked().notification(sample, nowUs),
      editor: (sample, nowUs) => checked().editor(sample, nowUs),
      tab: (sample, nowUs) => checked().tab(sample, nowUs),
      foreign: (sample, nowUs) => checked().foreign(sample, nowUs),
      text: (raw) => checked().text(raw),
      unmarkedBrowsers: () => gate.unmarkedBrowsers(),
      faults: () => {
        const { count, last } = gate.faults();
        return { count: count + earlier.count, last: last ?? earlier.last };
      },
    },
    rules: () => rules,
    use: (next) => {
      const fresh = open(next);
      checkPrivacyGate(fresh, next, clock.nowUs());
      const { count, last } = gate.faults();
      earlier = { count: count + earlier.count, last: last ?? earlier.last };
      gate = fresh;
      rules = next;
      isChecked = true;
    },
  };
}
