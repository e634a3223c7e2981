/**
 * `activityd chat`: a small chat through the gateway. It hides the commands and promises that the screen shows
 * what the owner wrote and what the model answered, never what was injected, and that whatever goes wrong is
 * told in one sentence and ends nothing.
 */
import { writeFileSync } from "node:fs";
import { ActivityError, toErrorEnvelope } from "../errors.ts";
import { renderHits, renderTable, renderText, renderTitles } from "./chat-screen.ts";
import { createTalk, type SaidTurn, type Talk, type TalkOptions } from "./chat-talk.ts";
import { shownText } from "./conversations.ts";
import { toTerminalText } from "./terminal-text.ts";

export interface ChatOptions extends TalkOptions {
  /** Which conversation to go on with; a new one unless given. */
  readonly conversation: string | null;
}

/** Talks until `/quit` or the end of the input. Resolves to whether nothing went wrong. */
export async function runChat(options: ChatOptions): Promise<boolean> {
  const { conversations, terminal } = options;
  const talk = createTalk(options);
  const commands = createCommands(options, talk);
  let isHungUp = false;
  const end = (signal: NodeJS.Signals): void => {
    isHungUp = signal === "SIGHUP";
    talk.stop();
    terminal.end();
  };
  for (const signal of SIGNALS) process.once(signal, end);
  terminal.onInterrupt(talk.stop);
  const watch = conversations.watch(talk.showNews);
  let isFine = true;
  try {
    if (options.conversation === null) talk.begin();
    else talk.open(options.conversation);
    for (;;) {
      const line = await terminal.read(commands.takePrefill());
      if (line === null || line.trim() === "/quit") break;
      try {
        await commands.enter(line);
      } catch (thrown) {
        isFine = false;
        const { error } = toErrorEnvelope(thrown);
        const sentence = toTerminalText(`${error.message} ${error.hint}`).replaceAll(/\s+/g, " ");
        terminal.notice(`! ${sentence.trim()}`);
      }
    }
    await talk.close();
    return isFine;
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    watch.close();
    terminal.close();
    // Everything is kept. Node would fail on its way out, where it resets a terminal that is not there any more.
    if (isHungUp || terminal.isGone()) process.kill(process.pid, "SIGHUP");
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Conversations or hits of a list on a terminal. */
const SHOWN_ENTRIES = 20;

const HELP: readonly (readonly [string, string])[] = [
  ["/titles", "your conversations"],
  ["/open N", "go on with one of the last list, or by its id"],
  ["/new", "begin another"],
  ["/search WORDS", "find where something was said"],
  ["/edit", "say your last words differently, in place of what follows"],
  ["/resend", "ask for another reply to your last words"],
  ["/copy [mine]", "put the last reply, or your last words, into the clipboard"],
  ["/export [FILE]", "this conversation as Markdown"],
  ["/quit", "end, as Ctrl-D does"],
];
const KEYS = "Ctrl-C stops a reply, Alt-Enter begins a new line, Up calls back what you said.";

interface Commands {
  /** One line of the owner: a command or a turn. */
  readonly enter: (line: string) => Promise<void>;
  /** What is to stand in the next input line. */
  readonly takePrefill: () => string;
}

function createCommands({ conversations, clock, terminal }: ChatOptions, talk: Talk): Commands {
  /** Ids of the last list, so that they can be called by number; before the first, as it would be. */
  let listed: readonly string[] | null = null;
  let prefill = "";
  /** Where the turn that is being edited stands; null when none is. */
  let edited: number | null = null;

  async function obey(command: string, argument: string): Promise<void> {
    switch (command) {
      case "/titles":
        return listTitles();
      case "/open":
        return talk.open(pick(argument));
      case "/new":
        return talk.begin();
      case "/search":
        return search(argument);
      case "/edit":
        return edit(argument);
      case "/resend":
        return talk.askAgain(lastSaid());
      case "/copy":
        return copy(argument);
      case "/export":
        return exportTo(argument);
      case "/help":
        terminal.write(renderTable(HELP, terminal));
        if (terminal.isTerminal) terminal.write(renderText(`${KEYS}\n`, terminal));
        return;
      default:
        throw wrong(
          `There is no command ${command}.`,
          "/help lists them; a space in front says it to the model.",
        );
    }
  }

  function listTitles(): void {
    const all = conversations.list();
    listed = all.map(({ id }) => id);
    const shown = terminal.isTerminal ? all.slice(0, SHOWN_ENTRIES) : all;
    terminal.write(renderTitles(shown, clock.timeZone(), terminal));
    if (all.length === 0) terminal.notice("There are no conversations yet.");
    if (all.length > shown.length)
      terminal.notice(`${all.length - shown.length} older ones: /search finds them.`);
  }

  function pick(argument: string): string {
    if (/^\d{1,3}$/.test(argument)) {
      const ids = listed ?? conversations.list().map(({ id }) => id);
      const numbered = ids[Number(argument) - 1];
      if (numbered !== undefined) return numbered;
    }
    if (argument === "") throw wrong("/open wants a number of the last list, or an id.", LISTS);
    if (conversations.read(argument).length > 0) return argument;
    throw wrong(`There is no conversation ${JSON.stringify(argument)}.`, LISTS);
  }

  function search(words: string): void {
    if (words === "") throw wrong("/search wants the words to look for.");
    const all = conversations.search(words);
    const hits = terminal.isTerminal ? all.slice(0, SHOWN_ENTRIES) : all;
    listed = hits.map(({ id }) => id);
    terminal.write(renderHits(hits, words, clock.timeZone(), terminal));
    if (all.length === 0) terminal.notice("Nobody said that.");
    if (all.length > hits.length)
      terminal.notice(`${all.length - hits.length} more: more words find fewer.`);
  }

  async function edit(words: string): Promise<void> {
    const { index, turn } = lastSaid();
    if (words !== "") return talk.say(words, index);
    if (!terminal.isTerminal) throw wrong("Without a terminal /edit wants the new words.");
    terminal.notice("(Say it anew: it replaces what follows. An empty line leaves all as it is.)");
    edited = index;
    prefill = shownText(turn);
  }

  function copy(what: string): void {
    const role = what === "mine" ? "user" : "assistant";
    const turn = conversations.read(talk.id()).findLast((each) => each.role === role);
    if (turn === undefined) throw wrong("There is nothing to copy yet.");
    if (!terminal.copy(shownText(turn)))
      throw wrong("There is no terminal whose clipboard could be set.", "/export prints the text.");
    terminal.notice(role === "user" ? "Your last words are copied." : "The last reply is copied.");
  }

  function exportTo(file: string): void {
    const text = conversations.exportText(talk.id());
    if (file === "") {
      terminal.write(renderText(text, terminal));
      return;
    }
    try {
      writeFileSync(file, text, { flag: "wx", mode: 0o600 });
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
      const reason = code === "EEXIST" ? "it is there already" : code;
      throw new ActivityError("bad_request", `Cannot write ${file}: ${reason}.`, "", { cause });
    }
    terminal.notice(`Written to ${file}.`);
  }

  function lastSaid(): SaidTurn {
    const said = talk.lastSaid();
    if (said === null) throw wrong("You have said nothing in this conversation yet.");
    return said;
  }

  return {
    takePrefill: () => {
      const text = prefill;
      prefill = "";
      return text;
    },
    enter: async (line) => {
      const [, command, argument = ""] = /^(\/[a-z]+)(?:\s+(.*))?$/s.exec(line) ?? [];
      const instead = edited ?? undefined;
      edited = null;
      if (command !== undefined) return obey(command, argument.trim());
      if (line.trim() !== "") await talk.say(line, instead);
    },
  };
}

const LISTS = "/titles lists them.";

function wrong(message: string, hint = ""): ActivityError {
  return new ActivityError("bad_request", message, hint);
}
