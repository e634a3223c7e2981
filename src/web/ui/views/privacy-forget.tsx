/**
 * Taking things out of the record, in three steps: what, a look at what would go, and the word that does it. It
 * promises that what was looked at is what is carried out, and shows the proof afterwards.
 */
import { useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { ForgetAnswer, ForgetExample, ForgetRequest, HubAnswer } from "../../../api.ts";
import { useAction } from "../action.ts";
import { useLoad } from "../load.ts";
import { usePage } from "../page.ts";
import { Foreign, Panel, Refusal } from "../parts.tsx";
import {
  countWords,
  EMPTY_FORM,
  exampleTexts,
  type ForgetForm,
  type ForgetSpan,
  isEmpty,
  readForgetForm,
} from "./forget-wish.ts";
import { shortMoment } from "./ledger-words.ts";

const SPANS: readonly { readonly span: ForgetSpan; readonly label: string }[] = [
  { span: "15min", label: "Last 15 minutes" },
  { span: "1h", label: "Last hour" },
  { span: "today", label: "Today" },
  { span: "range", label: "From – to" },
  { span: "all", label: "Any time" },
  { span: "rules", label: "What the rules forbid" },
];

const EXAMPLES = 12;
/** What is to be typed before anything goes. */
const WORD = "forget";

interface Looked {
  readonly request: ForgetRequest;
  readonly answer: ForgetAnswer;
}

export function ForgetPanel(): JSX.Element {
  const { api, connection } = usePage();
  const form = useSignal<ForgetForm>(EMPTY_FORM);
  const wrong = useSignal<string | null>(null);
  const looked = useSignal<Looked | null>(null);
  const done = useSignal<ForgetAnswer | null>(null);
  const looking = useAction();
  const hub = useLoad("hub", (signal) => api.get<HubAnswer>("/api/v1/hub", {}, signal)).value;
  const hasOtherDevices = (hub.answer?.place ?? null) !== null;
  const forgetting = useAction();
  useSignalEffect(() => {
    // Something else may be gone, or this: what was looked at is so no more.
    if (connection.forgotten.value > 0) looked.value = null;
  });

  const edit = (change: Partial<ForgetForm>): void => {
    form.value = { ...form.value, ...change };
    // What was looked at is no longer what is asked for.
    looked.value = null;
    done.value = null;
    wrong.value = null;
  };
  const look = async (): Promise<void> => {
    const read = readForgetForm(form.value, Date.now() * 1000);
    done.value = null;
    looked.value = null;
    wrong.value = read.ok ? null : read.why;
    if (!read.ok) return;
    const { request } = read;
    await looking.run(async () => {
      const answer = await api.forget({ ...request, dryRun: true, examples: EXAMPLES });
      looked.value = { request, answer };
    });
  };
  const forget = (request: ForgetRequest): Promise<void> =>
    forgetting.run(async () => {
      done.value = await api.forget(request);
      looked.value = null;
      await connection.refresh();
    });

  return (
    <Panel title="Forget" class="forget">
      <p class="muted">
        What you choose goes from every file: events, search, totals, what was told of it, backups.
        Then every file is searched for it.
        {hasOtherDevices && " It goes from your other devices too, as soon as they hear of it."}
      </p>
      <form
        class="forget-form"
        onSubmit={(event) => {
          event.preventDefault();
          void look();
        }}
      >
        <Choice form={form.value} onEdit={edit} />
        <div class="row">
          <button
            type="submit"
            class="button"
            disabled={looking.busy.value || forgetting.busy.value}
          >
            {looking.busy.value ? "Looking…" : "Show what would go"}
          </button>
          {wrong.value !== null && (
            <p class="wrong" role="alert">
              {wrong.value}
            </p>
          )}
        </div>
      </form>
      {looking.refused.value !== null && <Refusal error={looking.refused.value} />}
      {looked.value !== null && (
        <Preview looked={looked.value} isBusy={forgetting.busy.value} onForget={forget} />
      )}
      {forgetting.refused.value !== null && <Refusal error={forgetting.refused.value} />}
      <div role="status">
        {forgetting.busy.value && <p>Removing it, and searching every file for it…</p>}
      </div>
      {done.value !== null && <Proof answer={done.value} />}
    </Panel>
  );
}

function Choice(props: {
  readonly form: ForgetForm;
  readonly onEdit: (change: Partial<ForgetForm>) => void;
}): JSX.Element {
  const { form, onEdit } = props;
  const name = useId();
  return (
    <>
      <fieldset class="choices">
        <legend>When</legend>
        {SPANS.map(({ span, label }) => (
          <label key={span} class="choice">
            <input
              type="radio"
              name={name}
              checked={form.span === span}
              onChange={() => onEdit({ span })}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {form.span === "range" && (
        <div class="row">
          <label class="field">
            From
            <input
              class="input"
              type="datetime-local"
              value={form.from}
              onInput={(event) => onEdit({ from: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            To (empty: until now)
            <input
              class="input"
              type="datetime-local"
              value={form.to}
              onInput={(event) => onEdit({ to: event.currentTarget.value })}
            />
          </label>
        </div>
      )}
      {form.span !== "rules" && (
        <div class="row forget-what">
          <label class="field">
            Only of the application
            <input
              class="input"
              type="text"
              dir="auto"
              maxLength={200}
              placeholder="any; * stands for any letters"
              value={form.app}
              onInput={(event) => onEdit({ app: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            Only what holds the text
            <input
              class="input"
              type="text"
              dir="auto"
              maxLength={1000}
              placeholder="anything"
              value={form.match}
              onInput={(event) => onEdit({ match: event.currentTarget.value })}
            />
          </label>
        </div>
      )}
    </>
  );
}

function Preview(props: {
  readonly looked: Looked;
  readonly isBusy: boolean;
  readonly onForget: (request: ForgetRequest) => Promise<void>;
}): JSX.Element {
  const { formats } = usePage();
  const { request, answer } = props.looked;
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
          if (isWord(typed.value)) void props.onForget(request);
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

/** What was done, and what the search of all files afterwards found. */
function Proof(props: { readonly answer: ForgetAnswer }): JSX.Element {
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

/** Brings a reader by keyboard or voice to a heading that has just appeared. */
function useFocusOnce() {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return heading;
}
