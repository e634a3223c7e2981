/** What doctor says: the catalogue of everything that it can find, each with an id that is never renamed. */

/** Every broken or noteworthy state, in the order of the alphabet; docs/troubleshooting.md tells each. */
export const FINDING_IDS = [
  "clock-behind",
  "config-open",
  "daemon-beside-service",
  "daemon-elsewhere",
  "daemon-notes",
  "daemon-problem",
  "daemon-silent",
  "daemon-starting",
  "daemon-stopped",
  "daemon-version",
  "data-open",
  "data-unwritable",
  "database-damaged",
  "database-newer",
  "database-set-aside",
  "database-unreadable",
  "digest-model",
  "disk-nearly-full",
  "display-unknown",
  "encryption-key-missing",
  "encryption-package-missing",
  "koffi-absent",
  "log-unwritable",
  "node-old",
  "not-examined",
  "nothing-recorded",
  "page-port-taken",
  "paused",
  "peers-unchecked",
  "permission-lost",
  "port-taken",
  "run-with-sudo",
  "runtime-folder-unset",
  "second-daemon",
  "service-absent",
  "service-crash-loop",
  "service-drop-ins",
  "service-elsewhere",
  "service-failed",
  "service-linger",
  "service-masked",
  "service-not-enabled",
  "service-not-reloaded",
  "service-program-missing",
  "service-restarts",
  "service-stale",
  "service-stopped",
  "service-watchdog",
  "settings-invalid",
  "socket-dead",
  "socket-folder-closed",
  "socket-folder-foreign",
  "socket-folder-no-folder",
  "socket-folder-open",
  "socket-folder-unmade",
  "socket-foreign",
  "socket-path-too-long",
  "source-blind",
  "source-lost",
  "sqlite-old",
  "window-blind",
  "window-lost",
] as const;

export type FindingId = (typeof FINDING_IDS)[number];

/** What was looked at and found as it should be. */
export type SoundPart =
  | "daemon"
  | "data"
  | "database"
  | "digest"
  | "disk"
  | "peers"
  | "privacy"
  | "program"
  | "repair"
  | "service"
  | "settings"
  | "socket"
  | "sources";

/** One thing that was looked at. `remedy` says what to do, as a command where there is one; empty: nothing. */
export type Finding =
  | { readonly state: "ok"; readonly id: SoundPart; readonly what: string; readonly remedy: "" }
  | {
      /** `note`: good to know, and no reason to worry. */
      readonly state: "note" | "problem";
      readonly id: FindingId;
      readonly what: string;
      readonly remedy: string;
    };

export function sound(id: SoundPart, what: string): Finding {
  return { state: "ok", id, what, remedy: "" };
}

export function note(id: FindingId, what: string, remedy = ""): Finding {
  return { state: "note", id, what, remedy };
}

export function problem(id: FindingId, what: string, remedy: string): Finding {
  return { state: "problem", id, what, remedy };
}
