/** Privacy: stop recording, take things out of the record, try the rules, and see what is recorded and where it lies. */
import type { JSX } from "preact";
import { ForgetPanel } from "./privacy-forget.tsx";
import { PausePanel } from "./privacy-pause.tsx";
import { RecordPanel } from "./privacy-record.tsx";
import { RulesPanel } from "./privacy-rules.tsx";
import { SessionsPanel } from "./privacy-sessions.tsx";

export function PrivacyView(): JSX.Element {
  return (
    <div class="privacy">
      <div class="column">
        <PausePanel />
        <ForgetPanel />
      </div>
      <div class="column">
        <RulesPanel />
        <RecordPanel />
        <SessionsPanel />
      </div>
    </div>
  );
}
