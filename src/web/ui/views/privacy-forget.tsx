/**
 * Taking things out of the record, in three steps: what, a look at what would go, and the word that does it. It
 * promises that what was looked at is what is carried out, and shows the proof afterwards.
 */
import { useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { ForgetAnswer, ForgetRequest, HubAnswer } from "../../../api.ts";
import { useAction } from "../action.ts";
import { useLoad } from "../load.ts";
import { usePage } from "../page.ts";
import { Panel, Refusal } from "../parts.tsx";
import { Preview, Proof } from "./forget-answer.tsx";
import { EMPTY_FORM, type ForgetForm, type ForgetSpan, readForgetForm } from "./forget-wish.ts";

const SPANS: readonly { readonly span: ForgetSpan; readonly label: string }[] = [
  { span: "15min", label: "Last 15 minutes" },
  { span: "1h", label: "Last hour" },
  { span: "today", label: "Today" },
  { span: "range", label: "From – to" },
  { span: "all", label: "Any time" },
  { span: "rules", label: "What the rules forbid" },
];

const EXAMPLES = 12;

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
  const forget = (request: ForgetRequest) => (): Promise<void> =>
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
        <Preview
          answer={looked.value.answer}
          isBusy={forgetting.busy.value}
          onForget={forget(looked.value.request)}
        />
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
