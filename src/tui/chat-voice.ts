/**
 * What of a reply is spoken, sentence by sentence as it comes, by a command of the owner's choice. It promises
 * that the command reads plain lines of the reply and nothing else, and that it is silent when it is told to be.
 */
import { spawn } from "node:child_process";
import { createSentenceSplitter, toSpokenText } from "../gateway/speech.ts";

/** The voice of one reply. */
export interface ReplyVoice {
  /** Goes on with the reply. */
  readonly push: (text: string) => void;
  /** The reply has ended; what is left of it is spoken too. */
  readonly finish: () => void;
  /** Silent at once. */
  readonly stop: () => void;
  /** Resolves when everything was said or the voice was stopped: to why it could not speak, or null. */
  readonly said: Promise<string | null>;
}

/** Starts `command` in a shell; it reads one sentence a line. */
export function openReplyVoice(command: string): ReplyVoice {
  const splitter = createSentenceSplitter();
  // A group of its own: what the shell started is ended with it.
  const hasGroup = process.platform !== "win32";
  const child = spawn(command, {
    shell: true,
    detached: hasGroup,
    stdio: ["pipe", "ignore", "pipe"],
  });
  let isStopped = false;
  let told = "";
  const said = new Promise<string | null>((resolve) => {
    child.stderr
      .setEncoding("utf8")
      .on("data", (text: string) => (told = (told + text).slice(-500)));
    child.once("error", (cause) => resolve(cause.message));
    child.once("close", (code) => {
      const reason = told.trim().split("\n").at(-1) ?? "";
      resolve(isStopped || code === 0 ? null : reason || `exit code ${code ?? "none"}`);
    });
  });
  // A voice that ends early says why by its exit code.
  child.stdin.on("error", () => {});
  const speak = (sentences: readonly string[]): void => {
    for (const sentence of sentences) {
      const text = toSpokenText(sentence);
      if (text !== "") child.stdin.write(`${text}\n`);
    }
  };
  return {
    push: (text) => speak(splitter.push(text)),
    finish: () => {
      speak(splitter.flush());
      child.stdin.end();
    },
    stop: () => {
      isStopped = true;
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      try {
        process.kill(hasGroup ? -child.pid : child.pid, "SIGTERM");
      } catch {
        // It ended by itself just now.
      }
    },
    said,
  };
}
