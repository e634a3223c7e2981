/**
 * `activityd chat`: a small chat through the gateway. It hides the protocol and promises that the screen shows
 * what the owner wrote and what the model answered, never what was injected, and that a conversation opened
 * again sends the model the very bytes it had before.
 */
import { createInterface } from "node:readline";
import type { ActivityApi } from "../api.ts";
import type { Clock } from "../clock.ts";
import { ActivityError, toErrorEnvelope } from "../errors.ts";
import { createEventSplitter, readEvent } from "../gateway/event-stream.ts";
import { makeLeakStripper } from "../gateway/voice-steering.ts";
import { shownText, type Conversations, type StoredTurn } from "./conversations.ts";

export interface ChatOptions {
  readonly api: Pick<ActivityApi, "composeTurn">;
  readonly conversations: Conversations;
  readonly clock: Clock;
  /** The gateway's address, such as `http://127.0.0.1:7117/v1`, and its token. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  readonly input: NodeJS.ReadableStream;
  readonly write: (text: string) => void;
  /** Which conversation to go on with; a new one unless given. */
  readonly conversation: string | null;
}

const HELP = `/titles          your conversations
/open ID         go on with one
/search WORDS    find where something was said
/export          print this conversation
/resend          ask the last turn again
/quit            end
`;

/** Talks until `/quit` or the end of the input. */
export async function runChat(options: ChatOptions): Promise<void> {
  const { conversations, clock, input, write } = options;
  let id = options.conversation ?? newId(clock.nowUs());
  if (options.conversation !== null) showHistory(conversations.read(id), write);
  write("> ");
  for await (const line of createInterface({ input, terminal: false })) {
    const [command = "", ...rest] = line.startsWith("/") ? line.split(" ") : [""];
    const argument = rest.join(" ");
    if (command === "/quit") return;
    try {
      if (command === "/titles") {
        for (const each of conversations.list())
          write(`${each.id}  ${each.title} (${each.turns})\n`);
      } else if (command === "/open") {
        id = argument;
        showHistory(conversations.read(id), write);
      } else if (command === "/search") {
        for (const hit of conversations.search(argument)) write(`${hit.id}  ${hit.line}\n`);
      } else if (command === "/export") {
        write(conversations.exportText(id));
      } else if (command === "/resend") {
        const last = conversations.read(id).findLast(({ role }) => role === "user");
        if (last !== undefined) await say(options, id, shownText(last));
      } else if (
        command === "/help" ||
        (command !== "" && !line.includes("\n") && /^\/[a-z]+$/.test(command))
      ) {
        write(HELP);
      } else if (line !== "") {
        await say(options, id, line);
      }
    } catch (thrown) {
      const { error } = toErrorEnvelope(thrown);
      write(`! ${error.message} ${error.hint}\n`);
    }
    write("> ");
  }
}

async function say(options: ChatOptions, id: string, ownerText: string): Promise<void> {
  const { conversations, clock, write } = options;
  const history = conversations.read(id);
  const modelText = await compose(options, id, ownerText);
  conversations.append(id, { role: "user", ownerText, modelText, atUs: clock.nowUs() });
  const reply = await ask(
    options,
    [...history, { role: "user", ownerText, modelText, atUs: 0 }],
    write,
  );
  conversations.append(id, {
    role: "assistant",
    ownerText: reply,
    modelText: null,
    atUs: clock.nowUs(),
  });
}

/** Without a daemon the turn goes as it is: a chat that stops because nothing is recorded helps nobody. */
async function compose({ api }: ChatOptions, session: string, ownerText: string): Promise<string> {
  try {
    const { modelText } = await api.composeTurn({
      session: `chat-${session}`,
      ownerText,
      client: "chat",
    });
    return modelText;
  } catch (thrown) {
    if (thrown instanceof ActivityError && thrown.code === "daemon_unreachable") return ownerText;
    throw thrown;
  }
}

/** Sends the conversation and shows the reply as it comes, without an echo of a directive. Gives what was shown. */
async function ask(
  { baseUrl, apiKey, model }: ChatOptions,
  turns: readonly StoredTurn[],
  write: (text: string) => void,
): Promise<string> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${apiKey}`,
      // The turn is composed here, so that its owner's half can be kept beside it.
      "activityd-context": "off",
    },
    body: JSON.stringify({
      model,
      stream: true,
      messages: turns.map((turn) => ({
        role: turn.role,
        content: turn.modelText ?? turn.ownerText ?? "",
      })),
    }),
  }).catch((cause: unknown) => {
    throw new ActivityError(
      "upstream_unreachable",
      `Nobody answers at ${baseUrl}.`,
      "Start it with: activityd gateway --upstream URL",
      { cause },
    );
  });
  if (!response.ok || response.body === null) {
    const said = (await response.text()).slice(0, 300);
    throw new ActivityError(
      "upstream_broken",
      `The model answered with ${response.status}: ${said}`,
      "",
    );
  }
  const splitter = createEventSplitter();
  const stripper = makeLeakStripper();
  let reply = "";
  const show = (text: string): void => {
    reply += text;
    write(text);
  };
  for await (const chunk of response.body) {
    for (const raw of splitter.push(Buffer.from(chunk)))
      show(stripper.push(deltaOf(readEvent(raw)?.data)));
  }
  show(stripper.flush());
  write("\n");
  if (stripper.empty && stripper.removed)
    write("(The model only repeated its instructions: ask again.)\n");
  return reply;
}

/** The text of one piece of a streamed chat completion; empty for any other event. */
function deltaOf(data: unknown): string {
  if (
    typeof data !== "object" ||
    data === null ||
    !("choices" in data) ||
    !Array.isArray(data.choices)
  )
    return "";
  const choice: unknown = data.choices[0];
  if (typeof choice !== "object" || choice === null || !("delta" in choice)) return "";
  const { delta } = choice;
  if (typeof delta !== "object" || delta === null || !("content" in delta)) return "";
  return typeof delta.content === "string" ? delta.content : "";
}

function showHistory(turns: readonly StoredTurn[], write: (text: string) => void): void {
  for (const turn of turns) write(`${turn.role === "user" ? "> " : ""}${shownText(turn)}\n`);
}

/** Sorts by time: `20261127-161200-123`. */
function newId(nowUs: number): string {
  const [date = "", time = ""] = new Date(nowUs / 1000).toISOString().split("T");
  return `${date.replaceAll("-", "")}-${time.slice(0, 8).replaceAll(":", "")}-${time.slice(9, 12)}`;
}
