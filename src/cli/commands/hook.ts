/**
 * `activityd hook HOST`: the context for hosts that run a command before each turn. It promises to answer in
 * time or with nothing, never to fail the host's turn, and to load nothing but the client.
 */
import type { ContextAnswer } from "../../api.ts";
import { bothEnds } from "../../context/long-turn.ts";
import { connectActivity } from "../../local-api/client.ts";
import type { CliIo, ExitCode } from "../io.ts";

/** What the host waits for us; past it the turn goes on without context. */
const DEADLINE_MS = 120;
/** Claude Code cuts what is longer. */
const MAX_CHARS = 9_900;

/** Claude Code's UserPromptSubmit: JSON with `prompt` and `session_id` on stdin; plain text on stdout, exit 0. */
export async function runHook(io: CliIo): Promise<ExitCode> {
  const input = parseInput(await readStdin());
  if (input === null) return 0;
  const api = connectActivity({ socketPath: io.paths().socketPath });
  const late = new Promise<null>((resolve) => setTimeout(resolve, DEADLINE_MS, null).unref());
  // A daemon that is away or slow must not be felt: the turn goes on as it is.
  const asked = api
    .context({
      form: "auto",
      turn: bothEnds(input.prompt),
      session: input.session,
      client: "claude-code",
    })
    .catch(() => null);
  const answer: ContextAnswer | null = await Promise.race([asked, late]);
  await api.close();
  if (answer !== null && answer.block !== null && answer.block.length <= MAX_CHARS)
    io.out(answer.block);
  return 0;
}

function parseInput(text: string): { readonly prompt: string; readonly session: string } | null {
  try {
    // Shells of Windows put a byte order mark before what they pass on.
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    if (typeof value !== "object" || value === null) return null;
    const prompt = "prompt" in value && typeof value.prompt === "string" ? value.prompt : "";
    const session =
      "session_id" in value && typeof value.session_id === "string" ? value.session_id : "";
    return prompt === "" ? null : { prompt, session: session.slice(0, 200) || "claude-code" };
  } catch {
    // Not our input: a hook that complains would only disturb the owner.
    return null;
  }
}

async function readStdin(): Promise<string> {
  process.stdin.setEncoding("utf8");
  let text = "";
  for await (const chunk of process.stdin) text += String(chunk);
  return text;
}
