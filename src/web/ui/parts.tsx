/**
 * The small parts that views are made of: a panel, an empty state, a refusal and a stranger's text. They
 * promise that text of strangers is text, kept apart from the direction of its neighbours, and of bounded length.
 */
import type { ComponentChildren, JSX } from "preact";
import type { RequestError } from "./api-client.ts";
import { cutText, withoutTurns } from "./text.ts";

/** A titled section. `aside` stands right of the title. */
export function Panel(props: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}): JSX.Element {
  return (
    <section class={`panel ${props.class ?? ""}`}>
      <header class="panel-head">
        <h2>{props.title}</h2>
        {props.aside}
      </header>
      {props.children}
    </section>
  );
}

/** Why there is nothing to see, and what to do about it. `command` is shown as it is to be typed. */
export function EmptyState(props: {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly command?: string;
}): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children !== undefined && <p>{props.children}</p>}
      {props.command !== undefined && <code class="command">{props.command}</code>}
    </div>
  );
}

/** What the daemon refused and how to go on. */
export function Refusal(props: { readonly error: RequestError }): JSX.Element {
  return (
    <div class="refusal" role="alert">
      <p>{props.error.message}</p>
      {props.error.hint !== "" && <p class="muted">{props.error.hint}</p>}
    </div>
  );
}

/** Text that somebody else wrote, such as a window title. Null: it is not known or was withheld. */
export function Foreign(props: {
  readonly text: string | null;
  readonly maxGraphemes?: number;
  readonly absent?: string;
}): JSX.Element {
  if (props.text === null) return <span class="muted">{props.absent ?? "no title"}</span>;
  return <bdi>{withoutTurns(cutText(props.text, props.maxGraphemes ?? 200))}</bdi>;
}

/** A share of the longest as a bar: decoration, since its number stands beside it. `tone` is a colour of CSS. */
export function Bar(props: { readonly share: number; readonly tone?: string }): JSX.Element {
  const width = `${Math.max(0, Math.min(1, props.share)) * 100}%`;
  return (
    <span class="bar" aria-hidden="true">
      <span
        class="bar-fill"
        style={props.tone === undefined ? { width } : { width, background: props.tone }}
      />
    </span>
  );
}
