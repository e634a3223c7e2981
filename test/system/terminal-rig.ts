/** The built command in a real terminal: a tmux server of its own, which types the keys and reads the screen. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

export interface TestTerminal {
  /** What stands on the screen. */
  readonly screen: () => string;
  /** The screen once a line of it is this and nothing else, such as what the shell said; the command may say the same word. */
  readonly screenWith: (line: string) => string | null;
  /** What stands there with its colours, as sequences. */
  readonly coloured: () => string;
  /** What stands there and what went out at its top. */
  readonly scrollback: () => string;
  /** Keys by tmux's names (`Enter`, `C-c`, `Up`), or text. */
  readonly type: (...keys: readonly string[]) => void;
  /** Pastes as a terminal does that marks what is pasted. */
  readonly paste: (text: string) => void;
  readonly resize: (columns: number) => void;
  /** What the window is called. */
  readonly title: () => string;
  /** What the command has written since it began, sequences included. */
  readonly written: () => string;
  /** What was put into the clipboard last. */
  readonly clipboard: () => string;
  /** Closes the window, as one does with a mouse. */
  readonly close: () => void;
}

/**
 * Runs `activityd ARGS`, prints "ended" when it has, and keeps the screen. `around` is what a shell makes of the command;
 * it is told how to have it.
 */
export function openTestTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  columns: number,
  rows: number,
  around = (command: string): string => command,
): TestTerminal {
  const folder = mkdtempSync(join(tmpdir(), "activityd-tmux-"));
  const tmux = (...words: readonly string[]): string =>
    execFileSync("tmux", ["-S", join(folder, "socket"), "-f", "/dev/null", ...words], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        TERM: "xterm-256color",
        LANG: "C.UTF-8",
      },
    });
  const settings = Object.entries(env).map(([name, value]) => `${name}=${quote(value)}`);
  const command = [...settings, ...[process.execPath, MAIN, ...args].map(quote)].join(" ");
  tmux(
    "new-session",
    "-d",
    "-x",
    String(columns),
    "-y",
    String(rows),
    `${around(command)}; echo ended; exec cat`,
  );
  tmux("set-option", "-s", "set-clipboard", "on");
  const output = join(folder, "output");
  writeFileSync(output, "");
  tmux("pipe-pane", "-O", `cat >> ${quote(output)}`);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) tmux("kill-server");
    isOpen = false;
  };
  onTestFinished(() => {
    close();
    rmSync(folder, { recursive: true, force: true });
  });
  const screen = (): string => tmux("capture-pane", "-p");
  return {
    screen,
    screenWith: (line) => {
      const shown = screen();
      return shown.split("\n").includes(line) ? shown : null;
    },
    coloured: () => tmux("capture-pane", "-p", "-e"),
    scrollback: () => tmux("capture-pane", "-p", "-S", "-"),
    type: (...keys) => void tmux("send-keys", ...keys),
    paste: (text) => {
      tmux("set-buffer", text);
      tmux("paste-buffer", "-p");
    },
    resize: (width) => void tmux("resize-window", "-x", String(width), "-y", String(rows)),
    title: () => tmux("display-message", "-p", "#{pane_title}").trimEnd(),
    written: () => readFileSync(output, "utf8"),
    clipboard: () => tmux("show-buffer"),
    close,
  };
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
