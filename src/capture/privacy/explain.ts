/**
 * Says in sentences what the gate does: all rules in the order in which they are tried, and what one sample
 * would become. Pure; what it prints of rules is the owner's own text.
 */
import type { WindowFacts } from "../events.ts";
import type { GateResult } from "../privacy.ts";
import { type PrivacyConfig, type PrivacyRule, ruleName } from "./rules.ts";
import { SEED_ENTRIES, type SeedCategory } from "./seed.ts";
import { readPrivateMarking } from "./windows.ts";

/** The whole policy as lines of text. */
export function explainPrivacy(config: PrivacyConfig): readonly string[] {
  return [
    "What is stored of a window is decided in this order; the first that drops it or keeps it decides.",
    "",
    "Your rules",
    ...(config.rules.length === 0
      ? ["  none. Add them to the config as [[privacy.rules]]."]
      : config.rules.map((rule, index) => `  ${index + 1}. ${describeRule(rule, index)}`)),
    "",
    "Private windows",
    "  dropped when the browser marks them in the title or a browser source says so; no rule can keep them.",
    "  Firefox, its relatives, Edge and GNOME Web set a mark. Chrome, Chromium and others set none on most desktops.",
    `  Of those ${config.unmarked_browsers === "keep" ? "every title is stored" : "only the name is stored"} (unmarked_browsers = "${config.unmarked_browsers}").`,
    "",
    config.seeded
      ? `Dropped by the seeded list (${SEED_ENTRIES.length} entries)`
      : "The seeded list is off (seeded = false)",
    ...(config.seeded
      ? [...seedByCategory()].map(([category, names]) => `  ${category}: ${names.join(", ")}`)
      : []),
    "",
    "Replaced in what is left",
    "  [secret] keys, tokens, passwords, private keys and credentials in addresses",
    "  [card] payment cards whose check digit is right    [iban] bank accounts whose check digits are right",
    "  [code] one-time codes in notifications",
    config.emails === "redact"
      ? "  [e-mail] e-mail addresses"
      : '  e-mail addresses are kept (emails = "keep")',
    "",
    "Addresses are stored as host and path: no query, no fragment, no user name. Titles end after 4 kB.",
  ];
}

/** What one window would become, as lines of text. */
export function describeResult(app: string, result: GateResult<WindowFacts>): readonly string[] {
  const by = result.rule === null ? "no rule" : result.rule;
  if (result.verdict === "drop") {
    return [`dropped by ${by}`, 'stored: nothing but a gap named "filtered"'];
  }
  const { facts } = result;
  const lines = [
    result.rule === null ? "stored; no rule acted" : `stored after ${by}`,
    `app: ${JSON.stringify(facts.app)}`,
    `title: ${facts.title === null ? "nothing" : JSON.stringify(facts.title)}`,
    `place: ${facts.place === null ? "nothing" : JSON.stringify(facts.place)}`,
  ];
  if (readPrivateMarking(app) === "unmarked" && facts.title !== null) {
    lines.push(
      "note: this browser sets no mark on private windows, so that they cannot be told from others",
    );
  }
  return lines;
}

function describeRule(rule: PrivacyRule, index: number): string {
  const conditions = [
    rule.app === undefined ? null : `application ${JSON.stringify(rule.app)}`,
    rule.title === undefined ? null : `title like /${rule.title}/`,
    rule.place === undefined ? null : `address at ${rule.place}`,
    rule.private === undefined ? null : rule.private ? "a private window" : "not a private window",
    rule.between === undefined ? null : `between ${rule.between}`,
    rule.every === true ? "everything" : null,
  ].filter((condition) => condition !== null);
  const name = rule.name === undefined ? "" : `${ruleName(rule, index)}: `;
  return `${name}${conditions.join(" and ")}: ${describeAction(rule)}`;
}

function describeAction(rule: PrivacyRule): string {
  switch (rule.action) {
    case "drop":
      return "dropped";
    case "app-only":
      return "the application's name alone";
    case "keep":
      return "kept (secrets are replaced, private windows dropped all the same)";
    default:
      return `${rule.title === undefined ? "the title" : "what matches"} becomes ${JSON.stringify(rule.replacement ?? "[redacted]")}`;
  }
}

function seedByCategory(): ReadonlyMap<SeedCategory, readonly string[]> {
  const names = new Map<SeedCategory, string[]>();
  for (const { category, name } of SEED_ENTRIES) {
    names.set(category, [...(names.get(category) ?? []), name]);
  }
  return names;
}
