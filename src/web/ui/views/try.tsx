/** A view that is not made yet: it says so. */
import type { JSX } from "preact";
import { EmptyState } from "../parts.tsx";

export function TryView(): JSX.Element {
  return <EmptyState title="Not made yet">A question can be tried here.</EmptyState>;
}
