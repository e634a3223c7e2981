/** A view that is not made yet: it says so. */
import type { JSX } from "preact";
import { EmptyState } from "../parts.tsx";

export function TotalsView(): JSX.Element {
  return <EmptyState title="Not made yet">Totals will stand here.</EmptyState>;
}
