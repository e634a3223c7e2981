/** Health: what is seen and what is not, holes in the record, other devices, the store, and what doctor found. */
import type { JSX } from "preact";
import { DevicesPanel } from "./health-devices.tsx";
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
        <DevicesPanel />
        <StorePanel />
      </div>
    </div>
  );
}
