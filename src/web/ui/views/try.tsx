/** Try it: a turn as one would say it to an assistant, and what the assistant would be given with it, and why. */
import { useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { ContextAnswer, ContextForm } from "../../../api.ts";
import { useAction } from "../action.ts";
import { GivenBlock, GivenLineText } from "../given-block.tsx";
import { usePage } from "../page.ts";
import { Panel, Refusal } from "../parts.tsx";
import { intentWords, sourceWords } from "./ledger-words.ts";

/** Under this name the page stands in the ledger: what it was told is told. */
const CLIENT = "page";

const EXAMPLES = [
  "What was I doing before lunch?",
  "How long did I work on this today?",
  "Where did I leave off?",
  "Thanks, that was great!",
] as const;

const FORMS: readonly { readonly form: ContextForm; readonly label: string }[] = [
  { form: "auto", label: "Automatic" },
  { form: "digest", label: "Digest" },
  { form: "exact", label: "Real-time" },
];

interface Tried {
  readonly turn: string;
  readonly answer: ContextAnswer;
  readonly budgetTokens: number;
}

export function TryView(): JSX.Element {
  const { api, connection } = usePage();
  const turn = useSignal("");
  const form = useSignal<ContextForm>("auto");
  const budget = useSignal("");
  const tried = useSignal<Tried | null>(null);
  const action = useAction();
  const turnId = useId();
  useSignalEffect(() => {
    // What is shown may tell of it.
    if (connection.forgotten.value > 0) tried.value = null;
  });

  const ask = (): Promise<void> =>
    action.run(async () => {
      const asked = turn.value.trim();
      if (asked === "") return;
      const budgetTokens = readBudget(budget.value);
      const answer = await api.context({
        form: form.value,
        turn: asked,
        client: CLIENT,
        withLeftOut: true,
        ...(budgetTokens === null ? {} : { budgetTokens }),
      });
      const most = budgetTokens ?? (answer.form === "exact" ? 170 : 400);
      tried.value = { turn: asked, answer, budgetTokens: most };
    });

  return (
    <div class="try">
      <Panel title="Say something as you would to your assistant">
        <form
          class="try-form"
          onSubmit={(event) => {
            event.preventDefault();
            void ask();
          }}
        >
          <label class="visually-hidden" for={turnId}>
            Your turn
          </label>
          <textarea
            id={turnId}
            class="input try-turn"
            rows={2}
            maxLength={8000}
            dir="auto"
            placeholder="What was I doing before the call?"
            value={turn.value}
            onInput={(event) => {
              turn.value = event.currentTarget.value;
            }}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
              event.preventDefault();
              void ask();
            }}
          />
          <div class="row">
            <fieldset class="segments">
              <legend class="visually-hidden">Form</legend>
              {FORMS.map(({ form: choice, label }) => (
                <button
                  key={choice}
                  type="button"
                  class="button"
                  aria-pressed={form.value === choice}
                  onClick={() => {
                    form.value = choice;
                  }}
                >
                  {label}
                </button>
              ))}
            </fieldset>
            <label class="try-budget">
              at most{" "}
              <input
                class="input"
                type="number"
                min={1}
                max={100000}
                inputMode="numeric"
                placeholder={form.value === "exact" ? "170" : "400"}
                value={budget.value}
                onInput={(event) => {
                  budget.value = event.currentTarget.value;
                }}
              />{" "}
              tokens
            </label>
            <button
              type="submit"
              class="button button-main"
              disabled={action.busy.value || turn.value.trim() === ""}
            >
              Try it
            </button>
          </div>
        </form>
        <div class="row try-examples">
          <span class="muted small">For example</span>
          {EXAMPLES.map((example) => (
            <button
              key={example}
              type="button"
              class="button button-quiet"
              onClick={() => {
                turn.value = example;
                void ask();
              }}
            >
              {example}
            </button>
          ))}
        </div>
        <p class="muted small">
          Nothing is sent anywhere. What you are shown here stands in the ledger under the name “
          {CLIENT}”, like everything that is told.
        </p>
      </Panel>
      {action.refused.value !== null && <Refusal error={action.refused.value} />}
      <div role="status" class="visually-hidden">
        {tried.value !== null && summaryOf(tried.value.answer)}
      </div>
      {tried.value !== null && <Answer tried={tried.value} />}
    </div>
  );
}

function Answer(props: { readonly tried: Tried }): JSX.Element {
  const { turn, answer, budgetTokens } = props.tried;
  return (
    <>
      <Panel title="What the assistant would be given" class="try-answer">
        <p class="try-turn-said" dir="auto">
          “<bdi>{turn}</bdi>”
        </p>
        <Facts answer={answer} budgetTokens={budgetTokens} />
        {answer.block === null ? (
          <>
            <p class="try-nothing">Nothing: your words would go alone, not a byte with them.</p>
            {answer.reasons.map((reason) => (
              <p key={reason} class="muted">
                {reason}
              </p>
            ))}
          </>
        ) : (
          <>
            <GivenBlock
              text={answer.block}
              spans={answer.untrustedSpans}
              reasons={answer.reasons}
              label="What the assistant would be given, line by line"
            />
            <p class="muted small">
              Then come your words, unchanged. Underlined is what others wrote, such as titles of
              windows: it is told as data and commands nothing.
            </p>
          </>
        )}
      </Panel>
      <LeftOut answer={answer} />
    </>
  );
}

function Facts(props: {
  readonly answer: ContextAnswer;
  readonly budgetTokens: number;
}): JSX.Element {
  const { formats } = usePage();
  const { answer, budgetTokens } = props;
  const { intent, source, tokens, ms, form, eventIds } = answer;
  return (
    <dl class="facts">
      <div>
        <dt>Taken as a question about</dt>
        <dd>{intentWords(intent)}</dd>
      </div>
      <div>
        <dt>Answered by</dt>
        <dd>
          {form === "exact" ? "the real-time block" : "a digest"}, {sourceWords(source)}
        </dd>
      </div>
      <div>
        <dt>Tokens</dt>
        <dd>
          {formats.count(tokens)} of {formats.count(budgetTokens)}
        </dd>
      </div>
      <div>
        <dt>Made of</dt>
        <dd>
          {formats.count(eventIds.length)} {eventIds.length === 1 ? "event" : "events"}
        </dd>
      </div>
      <div>
        <dt>Took</dt>
        <dd>{formats.milliseconds(ms)}</dd>
      </div>
    </dl>
  );
}

function LeftOut(props: { readonly answer: ContextAnswer }): JSX.Element | null {
  const { formats } = usePage();
  const { leftOut, form } = props.answer;
  if (leftOut === undefined) {
    return form === "exact" ? (
      <Panel title="What was left out">
        <p class="muted">
          The real-time block tells the present. It looks at nothing that it could leave out but
          lines that find no room, which it counts.
        </p>
      </Panel>
    ) : null;
  }
  if (leftOut.length === 0) {
    return (
      <Panel title="What was left out">
        <p class="muted">Nothing that came near the question.</p>
      </Panel>
    );
  }
  return (
    <Panel
      title="What was left out"
      aside={<span class="muted small">{formats.count(leftOut.length)} lines that came near</span>}
    >
      <ul class="left-out">
        {leftOut.map((line, index) => (
          <li key={index}>
            <GivenLineText text={line.text} spans={line.untrustedSpans} />
            <span class="muted small">
              {line.startUs !== null && `${formats.shortDay(line.startUs)}, `}
              {line.reason}, {formats.count(line.tokens)} tokens
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** What a screen reader says when the answer is there. */
function summaryOf({ block, tokens }: ContextAnswer): string {
  return block === null ? "Nothing would be given." : `${tokens} tokens would be given.`;
}

/** A whole number above 0; null for anything else, which is the usual budget. */
function readBudget(text: string): number | null {
  const tokens = Number(text);
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : null;
}
