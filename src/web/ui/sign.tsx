/** A small drawing on a button, for the eye alone: the button has a name of its own. */
import type { JSX } from "preact";

/** `path` is drawn in a box of 16. */
export function Sign(props: { readonly path: string }): JSX.Element {
  return (
    <svg class="sign" viewBox="0 0 16 16" aria-hidden="true">
      <path d={props.path} />
    </svg>
  );
}
