/** Asks before something that others will feel. The browser keeps the focus in it, and Escape means no. */
import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

export function ConfirmDialog(props: {
  readonly title: string;
  readonly children: ComponentChildren;
  /** What the button that does it says. */
  readonly yes: string;
  readonly onYes: () => void;
  readonly onNo: () => void;
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        props.onNo();
      }}
    >
      <h2 id={titleId}>{props.title}</h2>
      {props.children}
      <div class="row dialog-choices">
        <button type="button" class="button" onClick={props.onNo}>
          Cancel
        </button>
        <button type="button" class="button button-danger" onClick={props.onYes}>
          {props.yes}
        </button>
      </div>
    </dialog>
  );
}
