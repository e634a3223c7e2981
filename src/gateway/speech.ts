/**
 * Says text aloud, sentence by sentence, as it comes. It hides which voice the system has, and promises that
 * text is never read as anything but text: not as a command line, not as markup, not as phonemes.
 */
import { spawn } from "node:child_process";
import { accessSync, constants, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ActivityError } from "../errors.ts";

/** A program that speaks what it reads from its input. */
export interface Speaker {
  /** The program, for telling. */
  readonly program: string;
  /** Says one sentence; resolves when it was said. Rejects with `speech_failed`. */
  readonly say: (sentence: string) => Promise<void>;
  /** Finishes what has to be finished, such as the file. */
  readonly close: () => void;
}

export interface SpeakerOptions {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A WAV file to speak into, instead of into the room. */
  readonly outFile: string | null;
  /** Name of a voice as the program knows it; its own choice when null. */
  readonly voice: string | null;
}

/**
 * The voice of this system: Speech Dispatcher or eSpeak NG on Linux, `say` on macOS, SAPI on Windows.
 *
 * @throws ActivityError `platform_unsupported` when there is none, with what to install
 */
export function openSpeaker(options: SpeakerOptions): Speaker {
  const { outFile, voice } = options;
  if (outFile !== null) {
    const program = findProgram(["espeak-ng", "espeak"], options);
    if (program === null)
      throw noVoice("Speaking into a file needs eSpeak NG, which is not installed.");
    return speakInto(outFile, program, voice);
  }
  const engine = ENGINES.find(
    ({ program, platforms }) =>
      platforms.includes(options.platform) && findProgram([program], options) !== null,
  );
  if (engine === undefined) throw noVoice("No program that can speak is installed.");
  const { program, args } = engine;
  return {
    program,
    say: async (sentence) => {
      await run(program, args(voice), sentence);
    },
    close: () => {},
  };
}

interface Engine {
  readonly program: string;
  readonly platforms: readonly NodeJS.Platform[];
  /** They all read the text from their input, so that it stands in no process list. */
  readonly args: (voice: string | null) => readonly string[];
}

const POWERSHELL_SPEAK =
  "Add-Type -AssemblyName System.Speech; [Console]::InputEncoding = [Text.Encoding]::UTF8; " +
  "$s = New-Object System.Speech.Synthesis.SpeechSynthesizer; $s.Speak([Console]::In.ReadToEnd())";

const ENGINES: readonly Engine[] = [
  {
    program: "spd-say",
    platforms: ["linux", "freebsd"],
    args: (voice) => [
      "--wait",
      "--pipe-mode",
      ...(voice === null ? [] : ["--synthesis-voice", voice]),
    ],
  },
  { program: "espeak-ng", platforms: ["linux", "freebsd"], args: espeakArguments },
  { program: "espeak", platforms: ["linux", "freebsd"], args: espeakArguments },
  {
    program: "say",
    platforms: ["darwin"],
    args: (voice) => ["-f", "-", ...(voice === null ? [] : ["-v", voice])],
  },
  {
    program: "powershell.exe",
    platforms: ["win32"],
    args: () => ["-NoProfile", "-NonInteractive", "-Command", POWERSHELL_SPEAK],
  },
];

function espeakArguments(voice: string | null): readonly string[] {
  return ["--stdin", ...(voice === null ? [] : ["-v", voice])];
}

/** Collects the sound of all sentences and writes one file at the end. */
function speakInto(outFile: string, program: string, voice: string | null): Speaker {
  const sound: Buffer[] = [];
  let format: Buffer | null = null;
  return {
    program,
    say: async (sentence) => {
      const wav = await run(program, [...espeakArguments(voice), "--stdout"], sentence);
      const start = wav.indexOf("data", 12, "latin1") + 8;
      if (start < 44) return;
      format ??= Buffer.from(wav.subarray(0, start));
      sound.push(wav.subarray(start));
    },
    close: () => {
      if (format === null) return;
      const length = sound.reduce((sum, { byteLength }) => sum + byteLength, 0);
      // RIFF: the length of the file behind these eight bytes, and of the sound behind "data".
      format.writeUInt32LE(format.byteLength - 8 + length, 4);
      format.writeUInt32LE(length, format.byteLength - 4);
      writeFileSync(outFile, Buffer.concat([format, ...sound]));
    },
  };
}

/**
 * What a voice reads out as written: one line, without control characters and without the double brackets
 * that eSpeak NG and `say` take for phonemes and commands. Empty when nothing is left to say.
 */
export function toSpokenText(text: string): string {
  return (
    text
      .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
      // Of three brackets, too, no two may be left side by side.
      .replaceAll(/([[\]])(?=\1)/g, "$1 ")
      .trim()
  );
}

export interface SentenceSplitter {
  /** The sentences that are whole now. */
  readonly push: (text: string) => readonly string[];
  /** What is left at the end. */
  readonly flush: () => readonly string[];
}

/** Cuts text into sentences as it streams in, by the rules of Unicode (UAX #29). */
export function createSentenceSplitter(): SentenceSplitter {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "sentence" });
  let pending = "";
  const cut = (text: string): string[] =>
    [...segmenter.segment(text)].map(({ segment }) => segment);
  return {
    push: (text) => {
      const sentences = cut(pending + text);
      // Whatever comes next may still belong to the last one.
      pending = sentences.pop() ?? "";
      return sentences;
    },
    flush: () => {
      const rest = pending;
      pending = "";
      return cut(rest);
    },
  };
}

/** A sentence that takes longer is not being spoken. */
const SENTENCE_TIMEOUT_MS = 120_000;

function run(program: string, args: readonly string[], input: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["pipe", "pipe", "pipe"],
      timeout: SENTENCE_TIMEOUT_MS,
    });
    const out: Buffer[] = [];
    let said = "";
    const fail = (why: string, cause?: unknown): void =>
      reject(
        new ActivityError(
          "speech_failed",
          `${program} could not speak: ${why}`,
          `Try: ${program} --help`,
          {
            cause,
          },
        ),
      );
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr
      .setEncoding("utf8")
      .on("data", (text: string) => (said = (said + text).slice(-500)));
    child.once("error", (cause) => fail(cause.message, cause));
    child.once("close", (code) => {
      if (code === 0) resolve(Buffer.concat(out));
      else fail(said.trim().split("\n").at(-1) || `exit code ${code ?? "none"}`);
    });
    // A voice that ends before it has read everything says why by its exit code.
    child.stdin.on("error", () => {});
    child.stdin.end(`${input}\n`);
  });
}

function findProgram(names: readonly string[], { env }: SpeakerOptions): string | null {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return names.find((name) => folders.some((folder) => isExecutable(join(folder, name)))) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function noVoice(message: string): ActivityError {
  return new ActivityError(
    "platform_unsupported",
    message,
    "Install one, such as: sudo apt install espeak-ng",
  );
}
