/**
 * Where a chat is typed and shown: a terminal, or pipes. It hides line editing, what a terminal can be asked
 * for, and the input line while a reply comes, and promises to leave the terminal as it was. What it writes is
 * taken as it is: text of others goes through `terminal-text.ts` before.
 */
import {
  clearScreenDown,
  createInterface,
  cursorTo,
  moveCursor,
  type Interface,
} from "node:readline";
import { Writable } from "node:stream";
import { createPaint, cut, wrap, type Paint } from "./cells.ts";
import { toTerminalText } from "./terminal-text.ts";
import {
  createTypedInput,
  fromEditorLine,
  PASTE_MARKS,
  showEditorOutput,
  toEditorLine,
} from "./typed-input.ts";

export interface ChatTerminalOptions {
  readonly input: NodeJS.ReadableStream & {
    readonly isTTY?: boolean;
    readonly setRawMode?: (raw: boolean) => unknown;
  };
  readonly output: NodeJS.WritableStream & {
    readonly isTTY?: boolean;
    readonly columns?: number;
  };
  /** Talk where stdout is for data: what is no terminal gets notices here. */
  readonly talk: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the owner said before, newest first: the up key calls it back. */
  readonly history: () => readonly string[];
}

export interface ChatTerminal {
  readonly isTerminal: boolean;
  readonly paint: Paint;
  /** Cells of a line, as they are now; null where there is no terminal: nothing is cut or broken. */
  readonly columns: () => number | null;
  /** The next line the owner enters, `prefill` standing in it already; null when there are no more. */
  readonly read: (prefill?: string) => Promise<string | null>;
  /** Writes below what stands there; while a line is being typed, above it. */
  readonly write: (text: string) => void;
  /** A sentence that is neither of the owner nor of the model; one that begins with `! ` tells what went wrong. */
  readonly notice: (line: string) => void;
  /** Calls `listener` when Ctrl-C is pressed and no typed line is to be cleared; it says whether it ended something. */
  readonly onInterrupt: (listener: () => boolean) => void;
  /** Names the terminal's window. */
  readonly setTitle: (title: string) => void;
  /** Tells the owner of something while another window may be in front: by the terminal's notification, or its bell. */
  readonly notify: (text: string) => void;
  /** Puts `text` into the clipboard; false where there is no terminal that could. */
  readonly copy: (text: string) => boolean;
  /** Takes no more lines, as when the input ended; nothing is written. */
  readonly end: () => void;
  /** Whether the terminal was closed while the chat went on. */
  readonly isGone: () => boolean;
  readonly close: () => void;
}

/** A terminal when both streams are one, else pipes: lines in, text out, and nothing in between. */
export function openChatTerminal(options: ChatTerminalOptions): ChatTerminal {
  const { input, output } = options;
  return input.isTTY === true && output.isTTY === true ? openTty(options) : openPipes(options);
}

const PROMPT = "> ";

function openPipes({ input, output, talk }: ChatTerminalOptions): ChatTerminal {
  const lines = createInterface({ input, terminal: false });
  const entered = createLineQueue(lines);
  return {
    isTerminal: false,
    paint: createPaint(false),
    columns: () => null,
    read: () => entered.next(),
    write: (text) => void output.write(text),
    notice: talk,
    onInterrupt: () => {},
    setTitle: () => {},
    notify: () => {},
    copy: () => false,
    end: () => {
      entered.drop();
      lines.close();
    },
    isGone: () => false,
    close: () => lines.close(),
  };
}

function openTty({ input, output, env, history }: ChatTerminalOptions): ChatTerminal {
  // https://no-color.org
  const paint = createPaint((env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb");
  const asks = createTerminalRequests(env, (text) => void output.write(text));
  const prompt = paint.strong(PROMPT);
  const columns = (): number => Math.max(1, output.columns ?? 80);
  let isReading = false;
  let isOver = false;
  let isEnded = false;
  let isGone = false;
  let isClosed = false;
  let interrupt: () => boolean = () => false;

  // The editor writes while a line is read alone: what is typed during a reply waits unseen in its line.
  const shown = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      if (isReading) output.write(showEditorOutput(String(chunk)));
      done();
    },
  });
  let drawnColumns = columns();
  Object.defineProperty(shown, "columns", { get: () => drawnColumns });
  const typed = Object.assign(createTypedInput(), {
    setRawMode: (raw: boolean) => input.setRawMode?.(raw),
  });
  const editor = createInterface({
    input: input.pipe(typed),
    output: shown,
    terminal: true,
    prompt,
    history: history().map(toEditorLine),
    historySize: 500,
    removeHistoryDuplicates: true,
    // A lone Esc is told from the start of a sequence by what follows within this time.
    escapeCodeTimeout: 50,
  });
  // At once: keys behind the line may have come with it, and belong to the next.
  editor.on("line", () => (isReading = false));
  // From then on the editor may be asked for nothing: newer versions of Node throw.
  editor.once("close", () => {
    isReading = false;
    isOver = true;
  });
  const entered = createLineQueue(editor);

  const erase = (): void => {
    moveCursor(output, 0, -editor.getCursorPos().rows);
    cursorTo(output, 0);
    clearScreenDown(output);
  };
  const drawLine = (): void => {
    // The editor would go up by the rows it believes to stand above the cursor.
    Reflect.set(editor, "prevRows", 0);
    editor.prompt(true);
  };
  // Terminals break the typed line anew by themselves, so that its rows are to be counted as they are now; xterm
  // leaves them as they were drawn.
  const isBrokenAnew = env["XTERM_VERSION"] === undefined || env["TMUX"] !== undefined;
  const resized = (): void => {
    if (isBrokenAnew || !isReading) drawnColumns = columns();
    if (!isReading) return;
    erase();
    drawnColumns = columns();
    drawLine();
  };
  const notice = (line: string): void => {
    const look = line.startsWith("! ") ? paint.bad : paint.faint;
    write(
      wrap(line, columns())
        .map((part) => `${look(part)}\n`)
        .join(""),
    );
  };
  function write(text: string): void {
    if (!isReading) {
      output.write(text);
      return;
    }
    erase();
    output.write(text);
    drawLine();
  }
  editor.on("SIGINT", () => {
    if (isReading && editor.line !== "") {
      editor.write(null, { ctrl: true, name: "e" });
      editor.write(null, { ctrl: true, name: "u" });
    } else if (!interrupt() && isReading) notice("Ctrl-D ends the chat.");
  });
  editor.on("SIGCONT", () => {
    if (isOver) return;
    // The editor comes back paused, and the shell has asked for other things meanwhile.
    output.write(PASTE_MARKS.on);
    Reflect.set(editor, "prevRows", 0);
    editor.resume();
  });
  const end = (): void => {
    // Closing sets the terminal's mode, and where that fails ends here again.
    if (isEnded) return;
    isEnded = true;
    isReading = false;
    entered.drop();
    editor.close();
  };
  // A terminal that is gone cannot be read.
  input.on("error", () => {
    isGone = true;
    interrupt();
    end();
  });
  output.on("resize", resized);
  output.write(PASTE_MARKS.on);

  return {
    isTerminal: true,
    paint,
    columns,
    read: async (prefill = "") => {
      if (entered.hasLine()) {
        // Typed while the reply came: it was not seen then.
        const line = await entered.next();
        if (line !== null) output.write(`${prompt}${showEditorOutput(line)}\n`);
        return line === null ? null : fromEditorLine(line);
      }
      if (isOver) return null;
      isReading = true;
      drawLine();
      if (prefill !== "") {
        // What was typed meanwhile goes on behind it.
        editor.write(null, { ctrl: true, name: "a" });
        editor.write(toEditorLine(prefill));
        editor.write(null, { ctrl: true, name: "e" });
      }
      const line = await entered.next();
      return line === null ? null : fromEditorLine(line);
    },
    write,
    notice,
    onInterrupt: (next) => (interrupt = next),
    ...asks,
    end,
    isGone: () => isGone,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      end();
      input.unpipe(typed);
      input.pause();
      output.off("resize", resized);
      output.write(PASTE_MARKS.off);
      asks.close();
    },
  };
}

interface LineQueue {
  readonly hasLine: () => boolean;
  readonly next: () => Promise<string | null>;
  /** Forgets what was entered and not taken yet. */
  readonly drop: () => void;
}

/** Lines in the order they were entered, also when nobody waits for one. */
function createLineQueue(lines: Interface): LineQueue {
  const queue: string[] = [];
  let isOver = false;
  let waiting: ((line: string | null) => void) | null = null;
  const settle = (): void => {
    if (waiting === null || (queue.length === 0 && !isOver)) return;
    const resolve = waiting;
    waiting = null;
    resolve(queue.shift() ?? null);
  };
  lines.on("line", (line) => {
    queue.push(line);
    settle();
  });
  lines.once("close", () => {
    isOver = true;
    settle();
  });
  return {
    hasLine: () => queue.length > 0,
    drop: () => void queue.splice(0),
    next: () =>
      new Promise((resolve) => {
        waiting = resolve;
        settle();
      }),
  };
}

type Requests = Pick<ChatTerminal, "setTitle" | "notify" | "copy" | "close">;

/** Titles of windows are as long as there is room for in a list of them. */
const TITLE_CELLS = 60;

/**
 * What terminals can be asked for by operating system commands: 2 names the window (ECMA-48 leaves them to the
 * terminal, xterm's ctlseqs lists them), 52 sets the clipboard, 9 (iTerm2) and 777 (urxvt) notify. 22 and 23 put
 * the name on a stack and take it off.
 */
function createTerminalRequests(
  env: Readonly<Record<string, string | undefined>>,
  write: (text: string) => void,
): Requests {
  const term = env["TERM"] ?? "";
  // The console of Linux and a dumb terminal would show the command as text.
  const canBeAsked = term !== "" && term !== "dumb" && term !== "linux";
  const notification = notificationOf(env);
  let isNamed = false;
  // A command ends at the first control character: a text with one would end it early and be typed on.
  const oneLine = (text: string): string =>
    cut(toTerminalText(text).replaceAll(/\s+/g, " "), TITLE_CELLS);
  return {
    setTitle: (title) => {
      if (!canBeAsked) return;
      write(`${isNamed ? "" : "\u001B[22;2t"}\u001B]2;${oneLine(title)}\u0007`);
      isNamed = true;
    },
    notify: (text) => write(canBeAsked ? notification(oneLine(text)) : "\u0007"),
    copy: (text) => {
      if (canBeAsked) write(`\u001B]52;c;${Buffer.from(text).toString("base64")}\u0007`);
      return canBeAsked;
    },
    // Terminals without the stack are left without a name of ours, which their shell replaces.
    close: () => {
      if (isNamed) write("\u001B]2;\u0007\u001B[23;2t");
    },
  };
}

/** How this terminal notifies; those not known to, and tmux, which passes no such command on, ring their bell. */
function notificationOf(
  env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  const program = env["TERM_PROGRAM"] ?? "";
  const term = env["TERM"] ?? "";
  if (env["TMUX"] !== undefined || /^(screen|tmux)/.test(term)) return () => "\u0007";
  if (/^(iTerm\.app|WezTerm|ghostty)$/.test(program) || term === "xterm-kitty")
    return (text) => `\u001B]9;${text}\u0007`;
  if (/^(rxvt|foot)/.test(term) || env["VTE_VERSION"] !== undefined)
    return (text) => `\u001B]777;notify;activityd chat;${text}\u0007`;
  return () => "\u0007";
}
