/** A view that is not made yet: it says so. */
import type { JSX } from "preact";
import { EmptyState } from "../parts.tsx";

export function HealthView(): JSX.Element {
  return <EmptyState title="Not made yet">How sources and store stand will stand here.</EmptyState>;
}
