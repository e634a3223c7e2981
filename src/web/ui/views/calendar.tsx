/** A view that is not made yet: it says so. */
import type { JSX } from "preact";
import { EmptyState } from "../parts.tsx";

export function CalendarView(): JSX.Element {
  return <EmptyState title="Not made yet">Weeks and months will stand here.</EmptyState>;
}
