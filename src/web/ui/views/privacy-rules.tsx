/** What the privacy rules make of a window, as one types it; and the rules themselves. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { RulesAnswer, RuleTestAnswer, RuleTestRequest } from "../../../api.ts";
import { Command } from "../copy-button.tsx";
import { useLoad } from "../load.ts";
import { usePage } from "../page.ts";
import { Foreign, Panel, Refusal } from "../parts.tsx";
import { readRuleLines } from "./rule-lines.ts";

interface TestedWindow {
  readonly app: string;
  readonly title: string;
  readonly url: string;
  readonly private: boolean;
}

const NO_WINDOW: TestedWindow = { app: "", title: "", url: "", private: false };

const EXAMPLES: readonly { readonly label: string; readonly window: Partial<TestedWindow> }[] = [
  { label: "a password manager", window: { app: "1Password", title: "Vault — 1Password" } },
  { label: "a private window", window: { app: "Firefox", title: "Inbox (Private Browsing)" } },
  {
    label: "an address with a secret",
    window: {
      app: "Firefox",
      title: "Docs — Mozilla Firefox",
      url: "https://me:pw@example.com/a?token=1",
    },
  },
];

/** A pause in typing after which the rules are asked. */
const TYPING_MS = 60;

export function RulesPanel(): JSX.Element {
  const { api } = usePage();
  const tested = useSignal(NO_WINDOW);
  const asked = useSignal(NO_WINDOW);
  const edit = (change: Partial<TestedWindow>): void => {
    tested.value = { ...tested.value, ...change };
  };
  useEffect(() => {
    const timer = setTimeout(() => {
      asked.value = tested.value;
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [tested.value, asked, tested]);
  const key = JSON.stringify(asked.value);
  const { answer, refused } = useLoad(
    key,
    async (signal) =>
      asked.value.app.trim() === ""
        ? null
        : api.post<RuleTestAnswer>("/api/v1/rules/test", toRequest(asked.value), signal),
    { keepAcrossKeys: true },
  ).value;
  return (
    <Panel title="Rules" class="rules">
      <p class="muted">
        What would be stored of a window, and which rule says so. Nothing of it is kept.
      </p>
      <div class="rules-form">
        <label class="field">
          Application
          <input
            class="input"
            type="text"
            dir="auto"
            maxLength={1000}
            value={tested.value.app}
            onInput={(event) => edit({ app: event.currentTarget.value })}
          />
        </label>
        <label class="field">
          Title
          <input
            class="input"
            type="text"
            dir="auto"
            maxLength={10000}
            value={tested.value.title}
            onInput={(event) => edit({ title: event.currentTarget.value })}
          />
        </label>
        <label class="field">
          Address
          <input
            class="input"
            type="text"
            dir="ltr"
            maxLength={10000}
            value={tested.value.url}
            onInput={(event) => edit({ url: event.currentTarget.value })}
          />
        </label>
        <label class="choice">
          <input
            type="checkbox"
            checked={tested.value.private}
            onChange={(event) => edit({ private: event.currentTarget.checked })}
          />
          A browser calls it private
        </label>
      </div>
      <div class="row try-examples">
        <span class="muted small">For example</span>
        {EXAMPLES.map(({ label, window }) => (
          <button
            key={label}
            type="button"
            class="button button-quiet"
            onClick={() => {
              tested.value = { ...NO_WINDOW, ...window };
            }}
          >
            {label}
          </button>
        ))}
      </div>
      <div class="rule-verdict" role="status">
        {refused !== null && <Refusal error={refused} />}
        {answer !== null && refused === null && <Verdict answer={answer} />}
      </div>
      <RulesInForce />
    </Panel>
  );
}

function toRequest({ app, title, url, private: isPrivate }: TestedWindow): RuleTestRequest {
  return {
    app,
    ...(title === "" ? {} : { title }),
    ...(url === "" ? {} : { url }),
    ...(isPrivate ? { private: true } : {}),
  };
}

function Verdict(props: { readonly answer: RuleTestAnswer }): JSX.Element {
  const { rule, stored, lines } = props.answer;
  const notes = lines.filter((line) => line.startsWith("note: "));
  return (
    <>
      <p>
        <span class={stored === null ? "chip chip-bad" : "chip chip-on"}>
          {stored === null ? "Dropped" : "Stored"}
        </span>{" "}
        {rule === null ? (
          <span class="muted">and no rule acted</span>
        ) : (
          <>
            by <bdi>{rule}</bdi>
          </>
        )}
      </p>
      {stored === null ? (
        <p class="muted">Nothing is kept but a gap named “filtered”.</p>
      ) : (
        <dl class="facts">
          <div>
            <dt>Application</dt>
            <dd>
              <Foreign text={stored.app} />
            </dd>
          </div>
          <div>
            <dt>Title</dt>
            <dd>
              <Foreign text={stored.title} absent="nothing" maxGraphemes={400} />
            </dd>
          </div>
          <div>
            <dt>Address</dt>
            <dd>
              <Foreign text={stored.place} absent="nothing" maxGraphemes={400} />
            </dd>
          </div>
        </dl>
      )}
      {notes.map((note) => (
        <p key={note} class="muted small">
          {note}
        </p>
      ))}
    </>
  );
}

function RulesInForce(): JSX.Element {
  const { api } = usePage();
  const { answer, refused } = useLoad("rules", (signal) =>
    api.get<RulesAnswer>("/api/v1/rules", {}, signal),
  ).value;
  return (
    <details class="rules-in-force">
      <summary>The rules in force</summary>
      {refused !== null && <Refusal error={refused} />}
      {readRuleLines(answer?.lines ?? []).map(({ title, lines }) =>
        lines.length === 0 ? (
          <p key={title} class="rule-sentence">
            {title}
          </p>
        ) : (
          <section key={title}>
            <h3>{title}</h3>
            <ul>
              {lines.map((line) => (
                <li key={line}>
                  <bdi>{line}</bdi>
                </li>
              ))}
            </ul>
          </section>
        ),
      )}
      <p class="muted small">Add one, and apply it backwards once it is in force:</p>
      <Command text="activityd privacy add --action drop --title payroll" />
    </details>
  );
}
