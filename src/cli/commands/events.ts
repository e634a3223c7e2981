/** `activityd events`: what was recorded, as lines for a person or as JSON for a program. */
import type { DeviceEvent } from "../../api.ts";
import type { ActivityEvent } from "../../capture/events.ts";
import { ActivityError } from "../../errors.ts";
import { EVENT_KINDS, type EventKind } from "../../capture/events.ts";
import { cleanField } from "../../context/plain-text.ts";
import { parseInstant, parseRange } from "../../instant.ts";
import { optionOf } from "../command-tree.ts";
import { askDaemon } from "../ask-daemon.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";
import { parseCount } from "../typed-values.ts";

interface EventsOptions {
  readonly since: string;
  readonly until?: string;
  readonly kind?: readonly string[];
  readonly limit: string;
  readonly json?: boolean;
}

export const registerEventsCommand: RegisterCommands = (program, io, finish) => {
  program
    .command("events")
    .description("print recorded events, oldest first")
    .option("--since <instant>", "an age (1h, 7d), a time of today (14:00) or a date", "1h")
    .option("--until <instant>", "the end of the range; now unless given")
    .addOption(optionOf("--kind <kind...>", "only these kinds", EVENT_KINDS))
    .option("--limit <count>", "at most so many, the newest", "1000")
    .option("--json", "print one JSON object a line")
    .action((options: EventsOptions) => finish(runEvents(io, options)));
};

async function runEvents(io: CliIo, options: EventsOptions): Promise<ExitCode> {
  const nowUs = Date.now() * 1000;
  const request = {
    fromUs: parseInstant(options.since, "--since", nowUs),
    ...parseRange(["--since", options.since], ["--until", options.until], nowUs),
    ...(options.kind === undefined ? {} : { kinds: options.kind.map(parseKind) }),
    limit: parseCount(options.limit, "--limit", "events"),
    allDevices: true,
  };
  const { events, truncated } = await askDaemon(io, (api) => api.events(request));
  for (const event of events)
    io.out(`${options.json === true ? JSON.stringify(event) : formatEvent(event)}\n`);
  if (truncated)
    io.talk(`activityd: older events were left out; --limit takes more than ${options.limit}.`);
  if (events.length === 0) io.talk("activityd: no events in that range.");
  return 0;
}

function parseKind(text: string): EventKind {
  const kind = EVENT_KINDS.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw new ActivityError(
    "bad_request",
    `There is no event kind "${text}".`,
    `Kinds: ${EVENT_KINDS.join(", ")}.`,
  );
}

function formatEvent(event: DeviceEvent): string {
  const local = (us: number): string =>
    new Date(us / 1000 + event.utcOffsetMinutes * 60_000)
      .toISOString()
      .slice(0, 19)
      .replace("T", " ");
  const span = `${local(event.startUs)}–${local(event.endUs).slice(11)}`;
  const on = event.device === undefined ? "" : `, on ${cleanField("device", event.device)}`;
  return `${span}  ${event.kind.padEnd(12)} ${describe(event)}${on}`;
}

function describe(event: ActivityEvent): string {
  switch (event.kind) {
    case "window":
    case "tab": {
      const title =
        event.title === null ? "(title not kept)" : `"${cleanField("title", event.title)}"`;
      return `${cleanField("app", event.app)}: ${title}${event.place === null ? "" : ` ${cleanField("place", event.place)}`}`;
    }
    case "idle":
      return event.state;
    case "lock":
    case "sleep":
      return "";
    case "gap":
      return event.reason;
    case "media":
      return `${cleanField("app", event.player)}: "${cleanField("title", event.title ?? "")}" ${event.playing ? "playing" : "paused"}`;
    case "notification":
      return `${cleanField("app", event.app)}: "${cleanField("title", event.summary)}"`;
    case "editor":
      return `${cleanField("app", event.app)}: ${cleanField("title", event.file)}`;
    case "system":
      return [
        event.power ?? "",
        event.batteryPercent === null ? "" : `battery ${event.batteryPercent} %`,
        event.online === null ? "" : event.online ? "online" : "offline",
        event.cpuLoad === null ? "" : `CPU ${Math.round(event.cpuLoad * 100)} %`,
        event.memoryUsed === null ? "" : `memory ${Math.round(event.memoryUsed * 100)} %`,
      ]
        .filter((part) => part !== "")
        .join(", ");
  }
}
