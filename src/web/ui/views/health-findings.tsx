/** What `activityd doctor` finds: what is wrong first, each with its fix, and what was looked at and is well. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { PageFinding, PageFindings } from "../../page-api.ts";
import { useLoad } from "../load.ts";
import { usePage } from "../page.ts";
import { Panel, Refusal } from "../parts.tsx";
import { RemedyText } from "./remedy.tsx";

export function FindingsPanel(): JSX.Element {
  const { api } = usePage();
  const round = useSignal(0);
  // Looking takes a while and starts programs: once, and when the owner asks again.
  const { answer, refused, loading } = useLoad(
    String(round.value),
    (signal) => api.get<PageFindings>("/api/page/findings", {}, signal),
    { live: false, keepAcrossKeys: true },
  ).value;
  const findings = answer?.findings ?? [];
  const of = (state: PageFinding["state"]) => findings.filter((finding) => finding.state === state);
  const [problems, notes, sound] = [of("problem"), of("note"), of("ok")];
  return (
    <Panel
      title={titleOf(answer, problems.length)}
      class="findings"
      aside={
        <button
          type="button"
          class="button button-quiet"
          disabled={loading}
          onClick={() => {
            round.value += 1;
          }}
        >
          {loading ? "Looking…" : "Look again"}
        </button>
      }
    >
      {refused !== null && <Refusal error={refused} />}
      <div role="status">
        {answer === null && refused === null && (
          <p class="muted">Looking at everything that can be wrong…</p>
        )}
      </div>
      <ul class="finding-list">
        {problems.map((finding, index) => (
          <Finding key={index} finding={finding} word="Problem" chip="chip-bad" />
        ))}
        {notes.map((finding, index) => (
          <Finding key={index} finding={finding} word="Note" chip="chip-warn" />
        ))}
      </ul>
      {sound.length > 0 && (
        <details>
          <summary>{sound.length} things are as they should be</summary>
          <ul class="finding-list">
            {sound.map((finding, index) => (
              <Finding key={index} finding={finding} word="Well" chip="chip-on" />
            ))}
          </ul>
        </details>
      )}
    </Panel>
  );
}

function titleOf(answer: PageFindings | null, problems: number): string {
  if (answer === null) return "What doctor finds";
  if (problems === 0) return "Nothing is wrong";
  return problems === 1 ? "One thing is wrong" : `${problems} things are wrong`;
}

function Finding(props: {
  readonly finding: PageFinding;
  readonly word: string;
  readonly chip: string;
}): JSX.Element {
  const { what, remedy, id, state } = props.finding;
  return (
    <li class="finding">
      <span class={`chip ${props.chip}`}>{props.word}</span>
      <div>
        <p>
          <bdi>{what}</bdi> {state !== "ok" && <span class="tag">{id}</span>}
        </p>
        <RemedyText remedy={remedy} />
      </div>
    </li>
  );
}
