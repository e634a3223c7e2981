/** `activityd search`: what was looked at, by words, last seen first. */
import { cleanField, formatDuration } from "../../context/plain-text.ts";
import type { SearchAnswer, SearchHit, SearchRequest } from "../../api.ts";
import { ActivityError } from "../../errors.ts";
import { parseRange } from "../../instant.ts";
import { askDaemon } from "../ask-daemon.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";
import { parseCount } from "../typed-values.ts";

interface SearchOptions {
  readonly since?: string;
  readonly until?: string;
  readonly limit: string;
  readonly json?: boolean;
}

/** As many as the daemon takes; see `SearchRequest`. */
const MOST_CHARACTERS = 400;

export const registerSearchCommand: RegisterCommands = (program, io, finish) => {
  program
    .command("search")
    .description("find what was looked at by words of its title, application or address")
    .argument("<words...>", "words that must all be there")
    .option("--since <instant>", "only what was seen since: an age (30d), a time or a date")
    .option("--until <instant>", "only what was seen before")
    .option("--limit <count>", "at most so many, the last seen", "20")
    .option("--json", "print one JSON object a line")
    .action((words: string[], options: SearchOptions) => finish(runSearch(io, words, options)));
};

async function runSearch(
  io: CliIo,
  words: readonly string[],
  { since, until, limit, json = false }: SearchOptions,
): Promise<ExitCode> {
  const nowUs = Date.now() * 1000;
  if (words.every((word) => word.trim() === "")) {
    throw new ActivityError(
      "bad_request",
      "There is no word to search for.",
      "Give one or more words of a title, an application or a page's address.",
    );
  }
  const q = words.join(" ");
  if (q.length > MOST_CHARACTERS) {
    throw new ActivityError(
      "bad_request",
      `The words to search for have ${q.length} characters; ${MOST_CHARACTERS} are taken.`,
      "Give some of them: all must be there.",
    );
  }
  const request = {
    q,
    ...parseRange(["--since", since], ["--until", until], nowUs),
    limit: parseCount(limit, "--limit", "hits"),
  };
  const answer = await search(io, request);
  for (const hit of answer.hits) io.out(`${json ? JSON.stringify(hit) : formatHit(hit)}\n`);
  const remark = remarkOn(answer, request.limit);
  if (remark !== null) io.talk(`activityd: ${remark}`);
  return 0;
}

/** What is said of an answer beside its hits; null: nothing. */
function remarkOn({ hits, truncated }: SearchAnswer, limit: number): string | null {
  if (truncated && hits.length >= limit) return "there may be more; --limit takes more than these.";
  // The words stand nearly everywhere, each for itself.
  if (truncated)
    return `${hits.length === 0 ? "nothing found" : "this is"} among what is newest; --since and --until find older.`;
  return hits.length === 0 ? "nothing found." : null;
}

/** Asks the daemon; without one, such as while an import runs, the database itself. */
async function search(io: CliIo, request: SearchRequest): Promise<SearchAnswer> {
  try {
    return await askDaemon(io, (api) => api.search(request));
  } catch (error) {
    if (!(error instanceof ActivityError) || error.code !== "daemon_unreachable") throw error;
    const { searchOffline } = await import("../../daemon/offline-reader.ts");
    return searchOffline(io.paths(), request);
  }
}

function formatHit({ app, title, place, lastUs, activeUs, device }: SearchHit): string {
  const last = new Date(lastUs / 1000);
  const local = new Date(last.getTime() - last.getTimezoneOffset() * 60_000).toISOString();
  const when = local.slice(0, 16).replace("T", " ");
  const shown = title === null ? "(title not kept)" : `"${cleanField("title", title)}"`;
  const where = place === null ? "" : ` ${cleanField("place", place)}`;
  const on = device === undefined ? "" : `, on ${cleanField("device", device)}`;
  return `${when}  ${cleanField("app", app)}: ${shown}${where} (${formatDuration(activeUs)})${on}`;
}
