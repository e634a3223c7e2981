/** Says that the daemon does not answer, is back or is another version, or that the link of this page has ended. */
import type { JSX } from "preact";
import { usePage } from "./page.ts";

export function ConnectionBanner(): JSX.Element {
  const { connection } = usePage();
  const { state, isOutdated } = connection;
  // Always there: a screen reader hears only what appears in a region that it knows.
  return (
    <div class="banner-place" role="status">
      {state.value === "lost" && (
        <p class="banner banner-bad">
          The daemon does not answer. What you see is from before. This page goes on by itself when
          the daemon is back: <code>activityd start --detach</code>
        </p>
      )}
      {state.value === "live" && isOutdated.value && (
        <p class="banner">
          activityd was updated, and this page is of the version before.{" "}
          <button type="button" class="button" onClick={() => location.reload()}>
            Load it anew
          </button>
        </p>
      )}
      {state.value === "back" && <p class="banner banner-good">The daemon is back.</p>}
      {state.value === "ended" && (
        <p class="banner banner-bad">
          The link of this page has ended. Open a new one: <code>activityd open</code>
        </p>
      )}
    </div>
  );
}
