/**
 * The conversation that is going on in a chat: what was said, what is being answered, and what others add to it.
 * It promises that what is stored and what stands on the screen are the same words, that nothing said is lost
 * when a reply is stopped or breaks off, and that the model gets the bytes of a turn again as it had them.
 */
import { randomUUID } from "node:crypto";
import type { ActivityApi } from "../api.ts";
import type { Clock } from "../clock.ts";
import { ownerTextStart } from "../context/markers.ts";
import { composeTurn, displayText, type OwnerText } from "../context/turn.ts";
import { ActivityError } from "../errors.ts";
import { askModel, type ChatModel, type ModelMessage } from "./chat-model.ts";
import { createReplyText, endOfReply, renderRule, renderTurns } from "./chat-screen.ts";
import type { ChatTerminal } from "./chat-terminal.ts";
import { openReplyVoice, type ReplyVoice } from "./chat-voice.ts";
import { shownText, titleOf, type Conversations, type StoredTurn } from "./conversations.ts";
import { toTerminalText } from "./terminal-text.ts";

export interface TalkOptions extends ChatModel {
  readonly api: Pick<ActivityApi, "composeTurn">;
  readonly conversations: Conversations;
  readonly clock: Clock;
  readonly terminal: ChatTerminal;
  /** A command that speaks the replies; null: they are read. */
  readonly speak: string | null;
}

/** A turn of the owner where it stands in the conversation. */
export interface SaidTurn {
  readonly index: number;
  readonly turn: StoredTurn;
}

export interface Talk {
  readonly id: () => string;
  /** Begins a conversation that has no turn yet. */
  readonly begin: () => void;
  /** Goes on with a conversation and shows what was said last. */
  readonly open: (id: string) => void;
  /** Says something new; in place of everything from the turn `instead` on, when that is given. */
  readonly say: (text: string, instead?: number) => Promise<void>;
  /** Asks for another reply to a turn; it takes the place of what follows. */
  readonly askAgain: (said: SaidTurn) => Promise<void>;
  /** The last turn of the owner; null when there is none. */
  readonly lastSaid: () => SaidTurn | null;
  /** Ends the reply that is coming, and what is being spoken; false when there was neither. */
  readonly stop: () => boolean;
  /** Shows what others added to the conversation. */
  readonly showNews: () => void;
  /** Waits for what is being spoken, and says how to go on. */
  readonly close: () => Promise<void>;
}

/** A reply that took longer than this is told of: its owner is looking elsewhere by now. */
const LONG_REPLY_MS = 10_000;
/** Turns shown of a conversation that is opened. */
const SHOWN_TURNS = 20;

export function createTalk(options: TalkOptions): Talk {
  const { conversations, clock, terminal, speak } = options;
  const compose = createComposer(options);
  let id = newId(clock.nowUs());
  /** The rows of the conversation that stand on the screen. */
  let known: readonly StoredTurn[] = [];
  /** Rows that were stored here since: they stand on the screen too, others may stand between them in the file. */
  let own: StoredTurn[] = [];
  let reply: AbortController | null = null;
  let voice: ReplyVoice | null = null;
  /** Resolves when the last voice is silent. */
  let saying: Promise<void> = Promise.resolve();

  const nameWindow = (): void => terminal.setTitle(titleOf(known) || "activityd chat");

  function open(next: string): void {
    id = next;
    known = conversations.read(id);
    terminal.write(renderRule(titleOf(known) || `new conversation ${id}`, terminal));
    const earlier = known.length - SHOWN_TURNS;
    if (earlier > 0 && terminal.isTerminal)
      terminal.notice(`${earlier} earlier turns: /export shows all.`);
    const shown = terminal.isTerminal ? known.slice(-SHOWN_TURNS) : known;
    terminal.write(renderTurns(shown, terminal));
    nameWindow();
  }

  function begin(): void {
    id = newId(clock.nowUs());
    known = [];
    nameWindow();
    if (terminal.isTerminal)
      terminal.notice("A new conversation. /help lists the commands, Ctrl-D ends.");
  }

  function append(turn: StoredTurn): void {
    conversations.append(id, turn);
    own.push(turn);
  }

  function showNews(): void {
    if (reply !== null) return;
    const now = conversations.read(id);
    const same = now.findIndex((turn, index) => !isSame(turn, known[index]));
    const from = same === -1 ? now.length : same;
    const news = now.slice(from).filter((turn) => !own.some((mine) => isSame(mine, turn)));
    const isRewound = from < known.length;
    known = now;
    own = [];
    if (isRewound) terminal.notice("(The conversation was changed elsewhere.)");
    if (news.length > 0) terminal.write(renderTurns(news, terminal));
    if (news.length > 0 || isRewound) nameWindow();
  }

  /** Stores the turn in place of everything from `from` on, gives it to the model and stores what comes back. */
  async function send(words: Words, from: number | null): Promise<void> {
    if (from !== null) {
      conversations.rewind(id, from);
      known = conversations.read(id);
    }
    const { ownerText, modelText } = words;
    const turn: StoredTurn = { role: "user", ownerText, modelText, atUs: clock.nowUs() };
    const history = conversations.read(id);
    reply = new AbortController();
    append(turn);
    terminal.setTitle(titleOf([...history, turn]));
    try {
      await hear([...history, turn], reply.signal);
    } finally {
      reply = null;
      showNews();
    }
  }

  async function hear(turns: readonly StoredTurn[], signal: AbortSignal): Promise<void> {
    const startedUs = clock.monotonicUs();
    const screen = createReplyText(terminal);
    const wiped = terminal.isTerminal ? "\r\u001B[K" : "";
    const spoken = await openVoice();
    let text = "";
    terminal.write(terminal.isTerminal ? terminal.paint.faint("…") : "");
    let ended: "whole" | "stopped" | "broken" = "broken";
    try {
      ended = await askModel(options, {
        messages: turns.map(toMessage),
        injected: turns.flatMap(injectedBefore).reverse(),
        isVoice: speak !== null,
        signal,
        onText: (piece) => {
          if (piece === "") return;
          terminal.write((text === "" ? wiped : "") + screen.push(piece));
          text += piece;
          spoken?.push(piece);
        },
      });
    } finally {
      // Stored before anything is written: the terminal may be gone, and that is why it ended.
      if (text.trim() !== "") {
        const said = displayText({ role: "assistant", text });
        append({ role: "assistant", ownerText: said, modelText: null, atUs: clock.nowUs() });
      }
      // Of a stopped reply the line may stand anywhere; that it was stopped is told right below it.
      const after = ended === "stopped" ? "\n" : endOfReply(text, terminal);
      terminal.write(text === "" ? wiped : screen.flush() + after);
      if (spoken !== null) saying = endVoice(spoken, ended === "whole");
    }
    if (ended === "stopped") {
      terminal.notice(text === "" ? "(stopped)" : "(stopped; what came is kept)");
      terminal.write(endOfReply("\n", terminal));
    } else if (text.trim() === "") terminal.notice("(The model said nothing: /resend asks again.)");
    if (clock.monotonicUs() - startedUs > LONG_REPLY_MS * 1000)
      terminal.notify(`Answered: ${titleOf(conversations.read(id))}`);
  }

  /** The voice of a reply. On a terminal it cuts the one before short, in pipes it waits for it. */
  async function openVoice(): Promise<ReplyVoice | null> {
    if (speak === null) return null;
    if (terminal.isTerminal) voice?.stop();
    await saying;
    const opened = openReplyVoice(speak);
    voice = opened;
    return opened;
  }

  /** Told below the reply and not within, whenever it failed. */
  async function endVoice(spoken: ReplyVoice, isWhole: boolean): Promise<void> {
    if (isWhole) spoken.finish();
    else spoken.stop();
    const problem = await spoken.said;
    if (problem !== null) terminal.notice(`! Nothing was spoken: ${toTerminalText(problem)}`);
    if (voice === spoken) voice = null;
  }

  return {
    id: () => id,
    begin,
    open,
    showNews,
    say: async (text, instead) => send(await compose(id, text), instead ?? null),
    askAgain: async ({ index, turn }) => {
      const ownerText = shownText(turn);
      // The turn as it was: what waited to be told was told with it, and waits no more.
      const words =
        turn.modelText === null
          ? await compose(id, ownerText)
          : { ownerText, modelText: turn.modelText };
      await send(words, index);
    },
    lastSaid: () => {
      const turns = conversations.read(id);
      const index = turns.findLastIndex((turn) => turn.role === "user" && shownText(turn) !== "");
      const turn = turns[index];
      return turn === undefined ? null : { index, turn };
    },
    stop: () => {
      const isBusy = reply !== null || voice !== null;
      reply?.abort();
      voice?.stop();
      return isBusy;
    },
    close: async () => {
      if (terminal.isTerminal) terminal.write("\n");
      await saying;
      if (terminal.isTerminal && known.length > 0)
        terminal.notice(`Go on with: activityd chat --conversation ${id}`);
    },
  };
}

/** What a turn is to the owner and to the model. */
interface Words {
  readonly ownerText: OwnerText;
  readonly modelText: string;
}

/**
 * Puts the context before a turn. Where the daemon cannot, the turn goes as it is, and that is said once: a chat
 * that stops because nothing is recorded helps nobody.
 */
function createComposer({
  api,
  terminal,
}: TalkOptions): (id: string, ownerText: string) => Promise<Words> {
  let isTold = false;
  /** By conversation: the request whose answer never came. What it may have been told comes with the next turn. */
  const unanswered = new Map<string, string>();
  return async (id, ownerText) => {
    const requestId = unanswered.get(id) ?? randomUUID();
    unanswered.set(id, requestId);
    try {
      const session = `chat-${id}`;
      const answer = await api.composeTurn({ session, ownerText, requestId, client: "chat" });
      unanswered.delete(id);
      return answer;
    } catch (thrown) {
      if (!(thrown instanceof ActivityError)) throw thrown;
      if (!isTold) terminal.notice(`(Turns go without context. ${thrown.message} ${thrown.hint})`);
      isTold = true;
      const { composed, visible } = composeTurn({ events: [], activity: [], ownerText });
      return { modelText: composed, ownerText: visible };
    }
  };
}

function isSame(one: StoredTurn, other: StoredTurn | undefined): boolean {
  return (
    other !== undefined &&
    one.role === other.role &&
    one.atUs === other.atUs &&
    shownText(one) === shownText(other)
  );
}

function toMessage(turn: StoredTurn): ModelMessage {
  return { role: turn.role, content: turn.modelText ?? shownText(turn) };
}

/** What the model was given before the owner's words of a turn. */
function injectedBefore({ modelText }: StoredTurn): readonly string[] {
  const end = ownerTextStart(modelText ?? "");
  return modelText === null || end === 0 ? [] : [modelText.slice(0, end)];
}

/** Sorts by time: `20261127-161200-123`. */
function newId(nowUs: number): string {
  const [date = "", time = ""] = new Date(nowUs / 1000).toISOString().split("T");
  return `${date.replaceAll("-", "")}-${time.slice(0, 8).replaceAll(":", "")}-${time.slice(9, 12)}`;
}
