/** `activityd chat`: a small chat through the gateway. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";
import { parseWebAddress } from "../typed-values.ts";

interface ChatFlags {
  readonly baseUrl?: string;
  readonly model: string;
  readonly conversation?: string;
  readonly speak?: string;
}

export const registerChatCommand: RegisterCommands = (program, io, finish) => {
  program
    .command("chat")
    .description("talk to a model through the gateway, with stored conversations")
    .option("--base-url <url>", "the gateway; $OPENAI_BASE_URL, else http://127.0.0.1:7117/v1")
    .option("--model <name>", "the model", "default")
    .option("--conversation <id>", "go on with this conversation")
    .option(
      "--speak <command>",
      'speak the replies: "activityd speak", or a command that reads sentences',
    )
    .action((flags: ChatFlags) => finish(runChatCommand(io, flags)));
};

async function runChatCommand(io: CliIo, flags: ChatFlags): Promise<ExitCode> {
  const [{ runChat }, { openChatTerminal }, { openConversations }, client, clocks] =
    await Promise.all([
      import("../../tui/chat.ts"),
      import("../../tui/chat-terminal.ts"),
      import("../../tui/conversations.ts"),
      import("../../local-api/client.ts"),
      import("../../clock.ts"),
    ]);
  const baseUrl = flags.baseUrl ?? io.env["OPENAI_BASE_URL"] ?? "http://127.0.0.1:7117/v1";
  parseWebAddress(
    baseUrl,
    "The gateway",
    "Give --base-url or OPENAI_BASE_URL as activityd gateway prints it, such as http://127.0.0.1:7117/v1",
  );
  const paths = io.paths();
  const api = client.connectActivity({
    socketPath: paths.socketPath,
    answerTimeoutMs: client.TURN_TIMEOUT_MS,
  });
  const conversations = openConversations(paths.chatFolder, paths.chatModelFolder);
  try {
    const isFine = await runChat({
      api,
      conversations,
      clock: clocks.systemClock,
      baseUrl: baseUrl.replace(/\/$/, ""),
      apiKey: io.env["OPENAI_API_KEY"] ?? readToken(join(paths.dataDirectory, "gateway", "token")),
      model: flags.model,
      terminal: openChatTerminal({
        input: process.stdin,
        output: process.stdout,
        talk: io.talk,
        env: io.env,
        history: () => conversations.saidBefore(HISTORY_TURNS),
      }),
      conversation: flags.conversation ?? null,
      speak: flags.speak ?? null,
    });
    return isFine ? 0 : 1;
  } finally {
    await api.close();
  }
}

/** How far back the up key goes. */
const HISTORY_TURNS = 200;

/** The token of this machine's gateway; empty when it was never started. */
function readToken(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}
