/** Health: what is seen and what is not, holes in the record, the store, and what doctor found with what to do. */
import type { JSX } from "preact";
import { FindingsPanel } from "./health-findings.tsx";
import { GapsPanel } from "./health-gaps.tsx";
import { SourcesPanel } from "./health-sources.tsx";
import { StorePanel } from "./health-store.tsx";

export function HealthView(): JSX.Element {
  return (
    <div class="health">
      <div class="column">
        <FindingsPanel />
        <GapsPanel />
      </div>
      <div class="column">
        <SourcesPanel />
        <StorePanel />
      </div>
    </div>
  );
}
