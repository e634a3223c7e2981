/** Says that what stands below is from before, while the daemon does not answer. Nothing otherwise. */
import type { JSX } from "preact";
import { usePage } from "../page.ts";

export function StaleNote(): JSX.Element | null {
  const { connection, formats } = usePage();
  const status = connection.status.value;
  const state = connection.state.value;
  if (status === null || state === "live" || state === "back") return null;
  return <p class="stale">As of {formats.moment(status.nowUs)}: the daemon does not answer now.</p>;
}
