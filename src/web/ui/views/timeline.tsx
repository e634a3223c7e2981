/** A view that is not made yet: it says so. */
import type { JSX } from "preact";
import { EmptyState } from "../parts.tsx";

export function TimelineView(): JSX.Element {
  return <EmptyState title="Not made yet">The day will stand here.</EmptyState>;
}
