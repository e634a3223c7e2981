/** A chat through a real gateway before an upstream that speaks in splinters, in pipes or on a terminal of streams. */
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { onTestFinished } from "vitest";
import { openChatTerminal } from "../../src/tui/chat-terminal.ts";
import { runChat } from "../../src/tui/chat.ts";
import { openConversations, type Conversations } from "../../src/tui/conversations.ts";
import { openGatewayRig, TOKEN, type GatewayRig } from "./gateway-rig.ts";
import { createTempHome } from "./temp-home.ts";
import { until } from "./until.ts";

export interface ChatRunOptions {
  /** The conversation "c" unless given; null: a new one. */
  readonly conversation?: string | null;
  readonly speak?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
}

export interface TypedChat {
  /** Keys, as a terminal sends them. */
  readonly type: (keys: string) => void;
  /** Everything that was written to the terminal. */
  readonly written: () => string;
  /** Waits until `text` was written after the last such wait. */
  readonly sees: (text: string) => Promise<string>;
  readonly resize: (columns: number) => void;
  /** Presses Ctrl-D and gives whether everything went well. */
  readonly end: () => Promise<boolean>;
}

export interface ChatRig extends GatewayRig {
  readonly conversations: Conversations;
  readonly folder: string;
  /** Enters `lines` through a pipe and gives what came out, talk included. */
  readonly talk: (
    lines: readonly string[],
    options?: ChatRunOptions,
  ) => Promise<{ readonly out: string; readonly talk: string; readonly isFine: boolean }>;
  /** Begins a chat on a terminal. */
  readonly openTyped: (options?: ChatRunOptions) => TypedChat;
}

export async function openChatRig(): Promise<ChatRig> {
  const rig = await openGatewayRig();
  const folder = createTempHome();
  const conversations = openConversations(folder, join(folder, "model"));
  const common = ({ conversation = "c", speak }: ChatRunOptions) => ({
    api: { composeTurn: rig.daemon.composeTurn },
    conversations,
    clock: rig.clock,
    baseUrl: rig.gateway.address,
    apiKey: TOKEN,
    model: "m",
    conversation,
    speak: speak ?? null,
  });
  return {
    ...rig,
    conversations,
    folder,
    talk: async (lines, options = {}) => {
      const output = collect();
      let talk = "";
      const terminal = openChatTerminal({
        input: Readable.from([lines.map((line) => `${line}\n`).join("")]),
        output: output.stream,
        talk: (line) => (talk += `${line}\n`),
        env: {},
        history: () => [],
      });
      const isFine = await runChat({ ...common(options), terminal });
      return { out: output.text(), talk, isFine };
    },
    openTyped: (options = {}) => {
      const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
      const output = collect();
      const tty = Object.assign(output.stream, { isTTY: true, columns: options.columns ?? 80 });
      const terminal = openChatTerminal({
        input,
        output: tty,
        talk: () => {},
        env: { TERM: "xterm-256color", NO_COLOR: "1", ...options.env },
        history: () => conversations.saidBefore(100),
      });
      const running = runChat({ ...common(options), terminal });
      onTestFinished(async () => {
        // A reply that never ends is stopped.
        input.end("\u0003");
        await running;
      });
      let seen = 0;
      return {
        type: (keys) => void input.write(keys),
        written: output.text,
        sees: async (text) => {
          const at = await until(`the terminal shows ${JSON.stringify(text)}`, () => {
            const found = output.text().indexOf(text, seen);
            return found === -1 ? null : found;
          });
          const since = output.text().slice(seen, at + text.length);
          seen = at + text.length;
          return since;
        },
        resize: (columns) => {
          tty.columns = columns;
          tty.emit("resize");
        },
        end: async () => {
          input.write("\u0004");
          return running;
        },
      };
    },
  };
}

function collect() {
  let text = "";
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      done();
    },
  });
  return { stream, text: () => text };
}
