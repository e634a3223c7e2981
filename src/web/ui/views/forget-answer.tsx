/** What forgetting would take, and what it took, as the owner reads it: counts, examples, and the proof. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ForgetAnswer, ForgetExample } from "../../../api.ts";
import { usePage } from "../page.ts";
import { Foreign } from "../parts.tsx";
import { countWords, exampleTexts, isEmpty } from "./forget-wish.ts";
import { shortMoment } from "./ledger-words.ts";

/** What is to be typed before anything goes. */
const WORD = "forget";

/** What would go, and the word that does it. */
export function Preview(props: {
  readonly answer: ForgetAnswer;
  readonly isBusy: boolean;
  readonly onForget: () => Promise<void>;
}): JSX.Element {
  const { formats } = usePage();
  const { answer } = props;
  const typed = useSignal("");
  const heading = useFocusOnce();
  if (isEmpty(answer)) {
    return (
      <section class="forget-preview">
        <h3 ref={heading} tabIndex={-1}>
          Nothing would go
        </h3>
        <p class="muted">Nothing that is recorded meets what you chose.</p>
      </section>
    );
  }
  const { span, examples, documents } = answer;
  return (
    <section class="forget-preview">
      <h3 ref={heading} tabIndex={-1}>
        This would go
      </h3>
      <ul class="counts">
        {countWords(answer, formats.count).map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
      {span !== null && (
        <p class="muted small">
          From {formats.moment(span.fromUs)} to {formats.moment(span.toUs)}
        </p>
      )}
      {examples.length > 0 && <Examples examples={examples} all={documents} />}
      <form
        class="row forget-confirm"
        onSubmit={(event) => {
          event.preventDefault();
          if (isWord(typed.value)) void props.onForget();
        }}
      >
        <label class="field">
          Type “{WORD}” to do it; it cannot be undone
          <input
            class="input"
            type="text"
            autoComplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        </label>
        <button
          type="submit"
          class="button button-danger"
          disabled={!isWord(typed.value) || props.isBusy}
        >
          Forget it
        </button>
      </form>
    </section>
  );
}

/** What was done, and what the search of all files afterwards found. */
export function Proof(props: { readonly answer: ForgetAnswer }): JSX.Element {
  const { formats } = usePage();
  const { answer } = props;
  const { proof } = answer;
  const heading = useFocusOnce();
  const isGone = proof !== null && proof.foundIn.length === 0;
  return (
    <section class={isGone ? "proof proof-good" : "proof proof-bad"}>
      <h3 ref={heading} tabIndex={-1}>
        {isGone ? "Forgotten" : "Not gone everywhere"}
      </h3>
      <ul class="counts">
        {countWords(answer, formats.count).map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
      {proof !== null && (
        <p>
          {formats.count(proof.filesSearched)} files ({formats.bytes(proof.bytesSearched)}) were
          searched for{" "}
          {proof.texts === 0
            ? "it; no text went with it that could be looked for."
            : `${formats.count(proof.texts)} of its texts: ${isGone ? "none was found." : "one still stands in these:"}`}
        </p>
      )}
      {proof !== null && !isGone && (
        <ul>
          {proof.foundIn.map((file) => (
            <li key={file}>
              <code>{file}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function isWord(typed: string): boolean {
  return typed.trim().toLowerCase() === WORD;
}

const FATES = { removed: "", shortened: "cut", rewritten: "rewritten" } as const;

function Examples(props: {
  readonly examples: readonly ForgetExample[];
  readonly all: number;
}): JSX.Element {
  const { formats } = usePage();
  const { examples, all } = props;
  return (
    <div class="table-scroll">
      <table class="table">
        <caption class="small muted">
          {examples.length < all
            ? `${formats.count(examples.length)} of ${formats.count(all)}, those with the most time`
            : "All of them, those with the most time first"}
        </caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col" class="number">
              Time
            </th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {examples.map((example) => (
            <Example key={example.lastId} example={example} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Example(props: { readonly example: ForgetExample }): JSX.Element {
  const { formats } = usePage();
  const { example } = props;
  const { app, title, place } = exampleTexts(example);
  const fate = FATES[example.fate];
  return (
    <tr>
      <td>
        <Foreign text={app} maxGraphemes={40} />
        {title !== null && (
          <>
            : <Foreign text={title} maxGraphemes={120} />
          </>
        )}{" "}
        {place !== null && (
          <span class="muted small">
            <Foreign text={place} maxGraphemes={80} />
          </span>
        )}{" "}
        {fate !== "" && <span class="tag">{fate}</span>}
      </td>
      <td class="number">{formats.duration(example.durationUs)}</td>
      <td class="when">{shortMoment(example.lastUs, Date.now() * 1000, formats)}</td>
    </tr>
  );
}

/** Brings a reader by keyboard or voice to a heading that has just appeared. */
function useFocusOnce() {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return heading;
}
