/** A view that is not made yet: it says so. */
import type { JSX } from "preact";
import { EmptyState } from "../parts.tsx";

export function PrivacyView(): JSX.Element {
  return (
    <EmptyState title="Not made yet">Pausing, forgetting and the rules will stand here.</EmptyState>
  );
}
