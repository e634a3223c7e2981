/**
 * The canary of every start: secrets made up on the spot are sent through the gate before it is used,
 * and none may come out. It promises that a gate which leaks is not run.
 */
import { randomBytes } from "node:crypto";

import { ActivityError } from "../../errors.ts";
import type { PrivacyGate } from "../privacy.ts";
import type { PrivacyConfig } from "./rules.ts";

/**
 * Sends planted secrets through every way into the record. Throws `privacy_failed` that names the way, never
 * the secret's text.
 */
export function checkPrivacyGate(gate: PrivacyGate, config: PrivacyConfig, nowUs: number): void {
  const canary = `Canary${randomBytes(12).toString("hex")}7`;
  for (const [way, outcome] of plant(gate, config, nowUs, canary)) {
    const isHeld = !JSON.stringify(outcome).toLowerCase().includes(canary.toLowerCase());
    if (isHeld) continue;
    throw new ActivityError(
      "privacy_failed",
      `The privacy gate let a planted secret through: ${way}. Nothing is recorded.`,
      "This is a fault of the program or of its installation: reinstall it, and report it with this sentence.",
    );
  }
  const { count, last } = gate.faults();
  if (count === 0) return;
  throw new ActivityError(
    "privacy_failed",
    `The privacy gate fails on ordinary input (${last}). Nothing is recorded.`,
    "Try the rules one by one with: activityd privacy test APP TITLE",
  );
}

/** Ways in, each with what came out of it. */
function* plant(
  gate: PrivacyGate,
  config: PrivacyConfig,
  nowUs: number,
  canary: string,
): Generator<readonly [string, unknown]> {
  const window = {
    app: "Canary",
    title: null,
    url: null,
    pid: null,
    executable: null,
    private: null,
  };
  const secrets: readonly (readonly [string, string])[] = [
    ["a password", `password=${canary}`],
    ["an access token", `ghp_${canary}`],
    ["an API key", `sk-${canary}`],
    ["credentials in an address", `https://user:${canary}@example.com/`],
    ["a JSON Web Token", `eyJhbGciOiJub25lIn0.${canary}.${canary}`],
    ["a private key", `-----BEGIN PRIVATE KEY----- ${canary}`],
    ["a token cut by a zero-width space", `ghp_\u200b${canary}`],
  ];
  for (const [what, text] of secrets) {
    const title = `made at each start ${text}`;
    yield [`${what} in a window title`, gate.window({ ...window, title }, nowUs)];
    yield [`${what} in an application name`, gate.window({ ...window, app: text }, nowUs)];
    yield [
      `${what} in a song`,
      gate.media({ player: "Canary", title, artist: title, playing: true }, nowUs),
    ];
    yield [
      `${what} in a notification`,
      gate.notification({ app: "Canary", summary: title }, nowUs),
    ];
    yield [
      `${what} in an editor`,
      gate.editor(
        { app: "Canary", file: title, project: title, branch: title, language: title },
        nowUs,
      ),
    ];
    yield [
      `${what} in a tab`,
      gate.tab({ app: "Canary", title, url: null, audible: null, private: null }, nowUs),
    ];
    yield [`${what} from a client`, gate.text(title)];
  }
  const url = `https://user:${canary}@example.com/?q=${canary}#${canary}`;
  yield ["query, fragment or user info of an address", gate.window({ ...window, url }, nowUs)];
  const marked = `${canary} (Private Browsing)`;
  yield ["a private window", gate.window({ ...window, app: "firefox", title: marked }, nowUs)];
  yield [
    "a window that its source calls private",
    gate.window({ ...window, title: canary, private: true }, nowUs),
  ];
  const { rules, seeded } = config;
  // A rule of the owner's may keep what the list would drop; that is theirs to say.
  if (seeded && !rules.some((rule) => rule.action === "keep")) {
    yield [
      "a password manager",
      gate.window({ ...window, app: "KeePassXC", title: canary }, nowUs),
    ];
  }
}
