/**
 * The lines of the real-time block: what a snapshot says, in the words an assistant reads, and what each line is worth.
 * Pure. It promises that what is unknown is left out and a gap is named.
 */
import {
  bodyLine,
  field,
  fragment,
  joinFragments,
  quoted,
  type BodyLine,
  type Fragment,
} from "../context/block-lines.ts";
import { formatDuration, localTime, type LocalTime } from "../context/plain-text.ts";
import type {
  ElsewhereActivity,
  GapEvent,
  InputSummary,
  Snapshot,
  SystemEvent,
  WindowEvent,
} from "./events.ts";

const MAX_BEFORE_LINES = 3;
/** Who uses more devices within half an hour uses them for a show. */
const MAX_ALSO_LINES = 3;
const MAX_GAPS = 3;
/** A closed gap shorter than this explains nothing that a reader would miss. */
const MIN_GAP_US = 60_000_000;
const MINUTE_US = 60_000_000;

/** A line with what it is worth: the least are left out first when the budget is short. */
export interface WeighedLine {
  readonly line: BodyLine;
  readonly worth: number;
  /** Why it is told, for the ledger. */
  readonly why: string;
  readonly eventIds: readonly number[];
}

/** All that there is to say of a snapshot, in the order in which it is read. */
export function contextLines(snapshot: Snapshot): readonly WeighedLine[] {
  const local = localTime(snapshot.timeZone);
  return [
    nowLine(snapshot, local),
    focusedLine(snapshot, local),
    editingLine(snapshot),
    historyLine(snapshot, local),
    ...beforeLines(snapshot, local),
    ...alsoLines(snapshot, local),
    inputLine(snapshot, local),
    gapsLine(snapshot, local),
    systemLine(snapshot.system, snapshot.locked),
    mediaLine(snapshot),
  ].filter((line) => line !== null);
}

function nowLine({ nowUs }: Snapshot, local: LocalTime): WeighedLine {
  const line = bodyLine`Now: ${local.day(nowUs)} ${local.clock(nowUs)} ${local.zone(nowUs)}`;
  return { line, worth: 100, why: "Now: the time that the other lines count from", eventIds: [] };
}

function focusedLine(snapshot: Snapshot, local: LocalTime): WeighedLine | null {
  const { focused, blind, nowUs, gaps } = snapshot;
  if (focused === "unknown") {
    const lost = gaps.findLast(
      (gap) => gap.kind === "gap" && gap.reason === "source-lost" && gap.endUs === nowUs,
    );
    const since =
      lost === undefined ? fragment`` : fragment` since ${timeOf(lost.startUs, nowUs, local)}`;
    const why =
      blind === null ? fragment`` : fragment`: ${sentence(blind.reason)} ${sentence(blind.remedy)}`;
    return {
      line: bodyLine`Focused: unknown, windows cannot be seen${since}${why}`,
      worth: 95,
      why: "Focused: no source can see windows, and silence would look like none",
      eventIds: [],
    };
  }
  if (focused === null) {
    // While a named gap lasts (paused, locked, asleep) the gap says why nothing is focused.
    if (gaps.some(({ endUs }) => endUs === nowUs) || snapshot.input.state === "away") return null;
    return {
      line: bodyLine`Focused: nothing`,
      worth: 90,
      why: "Focused: no window has the focus",
      eventIds: [],
    };
  }
  const { startUs, endUs } = focused;
  const when =
    endUs >= nowUs
      ? fragment`since ${timeOf(startUs, nowUs, local)} (${age(startUs, nowUs)})`
      : fragment`${timeOf(startUs, nowUs, local)}–${local.clock(endUs)} (${formatDuration(endUs - startUs)}), left ${age(endUs, nowUs)} ago`;
  return {
    line: bodyLine`Focused: ${windowText(focused)}, ${when}`,
    worth: 95,
    why:
      endUs >= nowUs
        ? "Focused: it has the focus"
        : "Focused: it had the focus before the assistant, which is not told",
    eventIds: [focused.id],
  };
}

function editingLine({ editing }: Snapshot): WeighedLine | null {
  if (editing === null) return null;
  const project =
    editing.project === null ? fragment`` : fragment` in ${quoted("title", editing.project)}`;
  const branch =
    editing.branch === null ? fragment`` : fragment` on branch ${quoted("app", editing.branch)}`;
  return {
    line: bodyLine`Editing: ${field("app", editing.app)}: ${quoted("title", editing.file)}${project}${branch}`,
    worth: 75,
    why: "Editing: the editor's plugin says which file is worked on",
    eventIds: [editing.id],
  };
}

/** Without it, nothing before would look like nothing done. */
function historyLine({ unknownBeforeUs, nowUs }: Snapshot, local: LocalTime): WeighedLine | null {
  if (unknownBeforeUs === null) return null;
  return {
    line: bodyLine`History: unknown before ${timeOf(unknownBeforeUs, nowUs, local)}, the record was damaged and is being recovered`,
    worth: 85,
    why: "History: the record is being recovered, and silence would look like nothing done",
    eventIds: [],
  };
}

function beforeLines({ recent, nowUs }: Snapshot, local: LocalTime): readonly WeighedLine[] {
  return recent.slice(0, MAX_BEFORE_LINES).map((event, index) => {
    const { startUs, endUs } = event;
    const span = fragment`${timeOf(startUs, nowUs, local)}–${local.clock(endUs)} (${formatDuration(endUs - startUs)})`;
    return {
      line: bodyLine`Before: ${windowText(event)}, ${span}`,
      worth: [70, 40, 30][index] ?? 20,
      why: `Before: number ${index + 1} of the windows looked at before, newest first`,
      eventIds: [event.id],
    };
  });
}

/** What other devices show comes after what this one shows, and goes before it when the budget is short. */
function alsoLines({ elsewhere, nowUs }: Snapshot, local: LocalTime): readonly WeighedLine[] {
  return elsewhere.slice(0, MAX_ALSO_LINES).map((activity, index) => {
    const { event, isNow } = activity;
    return {
      line: bodyLine`Also: ${deviceText(activity)}: ${windowText(event)}, ${whenElsewhere(activity, nowUs, local)}`,
      worth: index === 0 ? (isNow ? 65 : 42) : index === 1 ? 38 : 28,
      why: isNow
        ? "Also: another device of the owner is in use"
        : "Also: another device of the owner was in use within half an hour",
      eventIds: [event.id],
    };
  });
}

function deviceText({ device, kind }: ElsewhereActivity): Fragment {
  const name = field("device", device);
  switch (kind) {
    case null:
      return name;
    case "desktop":
      return fragment`${name} (desktop)`;
    case "laptop":
      return fragment`${name} (laptop)`;
    case "phone":
      return fragment`${name} (phone)`;
    case "server":
      return fragment`${name} (server)`;
    case "tablet":
      return fragment`${name} (tablet)`;
  }
}

function whenElsewhere(
  { event, lastUs, isNow }: ElsewhereActivity,
  nowUs: number,
  local: LocalTime,
): Fragment {
  if (lastUs === null)
    return fragment`${timeOf(event.endUs, nowUs, local)} by its clock (age unknown)`;
  return isNow ? fragment`now` : fragment`${age(lastUs, nowUs)} ago`;
}

function inputLine({ input, nowUs }: Snapshot, local: LocalTime): WeighedLine | null {
  const facts: Fragment[] = [];
  if (input.state !== "unknown") {
    const since =
      input.state === "active" || input.sinceUs === null
        ? fragment``
        : fragment` since ${timeOf(input.sinceUs, nowUs, local)}`;
    facts.push(fragment`${presenceWord(input.state)}${since}`);
  }
  const idle = input.lastIdle;
  if (idle !== null) {
    facts.push(
      fragment`last idle ${timeOf(idle.startUs, nowUs, local)}–${local.clock(idle.endUs)} (${formatDuration(idle.endUs - idle.startUs)})`,
    );
  }
  const today = input.activeToday;
  if (today !== null && today.activeUs >= MINUTE_US) {
    facts.push(
      fragment`${formatDuration(today.activeUs)} active today since ${local.clock(today.firstUs)}`,
    );
  }
  if (facts.length === 0) return null;
  return {
    line: bodyLine`Input: ${joinFragments(facts, "; ")}`,
    worth: 60,
    why: "Input: whether the owner is at the machine, and since when today",
    eventIds: idle === null ? [] : [idle.id],
  };
}

function presenceWord(state: InputSummary["state"]): Fragment {
  switch (state) {
    case "active":
      return fragment`active`;
    case "away":
      return fragment`idle`;
    case "passive":
      return fragment`still, while something plays,`;
    case "unknown":
      return fragment`unknown`;
  }
}

function gapsLine({ gaps, nowUs }: Snapshot, local: LocalTime): WeighedLine | null {
  const told = gaps
    .filter((gap) => gap.endUs >= nowUs || gap.endUs - gap.startUs >= MIN_GAP_US)
    .slice(-MAX_GAPS);
  if (told.length === 0) return null;
  const texts = told.map((gap) => {
    const from = timeOf(gap.startUs, nowUs, local);
    return gap.endUs >= nowUs
      ? fragment`${gapWord(gap)} since ${from}`
      : fragment`${gapWord(gap)} ${from}–${local.clock(gap.endUs)}`;
  });
  return {
    line: bodyLine`Gaps: ${joinFragments(texts, "; ")}`,
    worth: 80,
    why: "Gaps: what the record of the last 12 hours lacks, and why",
    eventIds: told.map(({ id }) => id),
  };
}

function gapWord(gap: GapEvent): Fragment {
  if (gap.kind === "lock") return fragment`screen locked`;
  if (gap.kind === "sleep") return fragment`asleep`;
  switch (gap.reason) {
    case "paused":
      return fragment`paused`;
    case "source-lost":
      return fragment`window source lost`;
    case "filtered":
      return fragment`withheld by a privacy rule`;
    case "stalled":
      return fragment`capture stalled`;
    case "not-running":
      return fragment`not recording`;
  }
}

function systemLine(system: SystemEvent | null, locked: boolean | null): WeighedLine | null {
  const facts: Fragment[] = [];
  if (system !== null && system.power !== null) {
    const power = system.power === "ac" ? fragment`on AC` : fragment`on battery`;
    const charge = system.batteryPercent;
    facts.push(charge === null ? power : fragment`${power}, battery ${Math.round(charge)} %`);
  }
  if (locked !== null) facts.push(locked ? fragment`locked` : fragment`unlocked`);
  if (system !== null) {
    if (system.online !== null) facts.push(system.online ? fragment`online` : fragment`offline`);
    if (system.cpuLoad !== null) facts.push(fragment`CPU ${Math.round(system.cpuLoad * 100)} %`);
    if (system.memoryUsed !== null)
      facts.push(fragment`memory ${Math.round(system.memoryUsed * 100)} %`);
  }
  if (facts.length === 0) return null;
  return {
    line: bodyLine`System: ${joinFragments(facts, "; ")}`,
    worth: 50,
    why: "System: the state of the machine",
    eventIds: system === null ? [] : [system.id],
  };
}

function mediaLine({ media }: Snapshot): WeighedLine | null {
  const playing = media.findLast((event) => event.playing);
  if (playing === undefined) return null;
  const title = playing.title === null ? fragment`` : fragment`: ${quoted("title", playing.title)}`;
  const artist =
    playing.artist === null ? fragment`` : fragment` by ${quoted("app", playing.artist)}`;
  return {
    line: bodyLine`Playing: ${field("app", playing.player)}${title}${artist}`,
    worth: 45,
    why: "Playing: a player plays now",
    eventIds: [playing.id],
  };
}

function windowText({ app, title, place }: WindowEvent): Fragment {
  const name = field("app", app);
  const quotedTitle = title === null ? fragment`` : fragment`: ${quoted("title", title)}`;
  const at = place === null ? fragment`` : fragment` ${field("place", place)}`;
  return fragment`${name}${quotedTitle}${at}`;
}

/** A reason or remedy may carry words of an error that others wrote: a field like any other. */
function sentence(text: string): Fragment {
  return field("title", text);
}

/** Age in whole minutes of the clock, so that it changes with the minute and not with the second. */
function age(sinceUs: number, nowUs: number): Fragment {
  const minutes = Math.floor(nowUs / MINUTE_US) - Math.floor(sinceUs / MINUTE_US);
  return minutes < 1 ? fragment`under 1 min` : fragment`${formatDuration(minutes * MINUTE_US)}`;
}

/** A time of day, with the day where it is not the present one: without it, old would look like current. */
function timeOf(atUs: number, nowUs: number, local: LocalTime): Fragment {
  return local.isoDay(atUs) === local.isoDay(nowUs)
    ? fragment`${local.clock(atUs)}`
    : fragment`${local.shortDay(atUs)} ${local.clock(atUs)}`;
}
