/** Puts a text on the clipboard and says so, or why not. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

type Outcome = "idle" | "done" | "failed";

const WORDS: Readonly<Record<Outcome, string>> = { idle: "", done: "Copied", failed: "Not copied" };

export function CopyButton(props: { readonly text: string; readonly label: string }): JSX.Element {
  const outcome = useSignal<Outcome>("idle");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(props.text);
      outcome.value = "done";
    } catch {
      // The browser may forbid it; the text stands on the page to be selected.
      outcome.value = "failed";
    }
  };
  return (
    <span class="copy">
      <button
        type="button"
        class="button button-quiet"
        aria-label={props.label}
        onClick={() => void copy()}
        onBlur={() => {
          outcome.value = "idle";
        }}
      >
        Copy
      </button>
      <span class="small muted" role="status">
        {WORDS[outcome.value]}
      </span>
    </span>
  );
}

/** A command as it is to be typed, with a button that copies it. */
export function Command(props: { readonly text: string }): JSX.Element {
  return (
    <span class="command-line">
      <code class="command">{props.text}</code>
      <CopyButton text={props.text} label={`Copy the command ${props.text}`} />
    </span>
  );
}
