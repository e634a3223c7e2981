/** What to do about something: words, with the commands among them ready to be copied. */
import type { JSX } from "preact";
import { Command } from "../copy-button.tsx";
import { readRemedy } from "./health-words.ts";

export function RemedyText(props: { readonly remedy: string }): JSX.Element | null {
  if (props.remedy === "") return null;
  return (
    <p class="remedy">
      {readRemedy(props.remedy).map(({ kind, text }, index) =>
        kind === "command" ? <Command key={index} text={text} /> : <span key={index}>{text}</span>,
      )}
    </p>
  );
}
