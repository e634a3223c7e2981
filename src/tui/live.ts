/**
 * `activityd live`: the view of `live-view.ts` on a terminal. It hides the terminal's modes and promises to
 * leave them as they were, also when it is interrupted or put to sleep, and to write nothing while nothing changes.
 */
import type { ActivityApi } from "../api.ts";
import type { Clock } from "../clock.ts";
import { createLiveModel } from "./live-model.ts";
import { renderLive } from "./live-view.ts";

/** The totals and the strip move with the minutes; the block comes when it changes. */
const REFRESH_MS = 15_000;
const RECONNECT_MS = 2_000;
/** A process that is stopped is so before this. */
const NOT_STOPPED_MS = 100;
const END_SIGNALS = ["SIGINT", "SIGTERM"] as const;

export interface LiveTerminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly colour: boolean;
  /** Whether it can be drawn over, as that of a shell in an editor cannot. */
  readonly isScreen: boolean;
}

/** Shows the view until `q`, Ctrl-C or a signal. On what is no terminal, or none to draw on, it prints the view once. */
export async function runLive(
  api: ActivityApi,
  clock: Clock,
  terminal: LiveTerminal,
): Promise<void> {
  const { input, output, colour } = terminal;
  const isScreen = terminal.isScreen && output.isTTY && input.isTTY;
  let shown = "";
  /** Whether the terminal is ours. What is asked for may be answered when it is not. */
  let isOn = false;
  const draw = (): void => {
    if (!isOn) return;
    const text = renderLive(model.state(), { ...sizeOf(output), colour }).join("\u001B[K\r\n");
    if (text === shown) return;
    shown = text;
    output.write(`\u001B[H${text}\u001B[K\u001B[J`);
  };
  const model = createLiveModel(api, clock, draw);
  if (!isScreen) {
    await model.update();
    const frame = { columns: output.columns ?? 80, rows: 1_000, colour: false };
    output.write(`${renderLive(model.state(), frame).join("\n")}\n`);
    return;
  }

  const ended = new AbortController();
  const end = (): void => ended.abort();
  const redraw = (): void => {
    shown = "";
    draw();
  };
  /** Takes the terminal, also one that somebody else had meanwhile: what the other left is not asked. */
  const enter = (): void => {
    // The other screen, without a cursor: what stood in the terminal is there again afterwards.
    output.write("\u001B[?1049h\u001B[?25l");
    input.setRawMode(false).setRawMode(true);
    isOn = true;
    redraw();
  };
  const leave = (): void => {
    if (!isOn) return;
    isOn = false;
    input.setRawMode(false);
    output.write("\u001B[?25h\u001B[?1049l");
  };
  let resumeTimer: NodeJS.Timeout | undefined;
  const resume = (): void => {
    clearTimeout(resumeTimer);
    process.off("SIGTSTP", suspend).on("SIGTSTP", suspend);
    enter();
  };
  /** Gives the terminal back and stops, until the shell says to go on. */
  const suspend = (): void => {
    leave();
    process.off("SIGTSTP", suspend);
    // All of the job, as the terminal does it: a shell waits for whoever started us.
    process.kill(0, "SIGTSTP");
    // Where nobody could have us go on, the system stops nobody.
    resumeTimer = setTimeout(resume, NOT_STOPPED_MS);
  };
  // Keys that were pressed quickly come together.
  const key = (text: string): void => {
    for (const each of text) {
      if (each === "q" || each === "\u0003") return end();
      if (each === "\u001A" && process.platform !== "win32") suspend();
      else model.press(each);
    }
  };

  input.setEncoding("utf8").on("data", key).resume();
  resume();
  output.on("resize", redraw);
  for (const signal of END_SIGNALS) process.once(signal, end);
  process.on("SIGCONT", resume);
  const timer = setInterval(() => void model.update(), REFRESH_MS);
  try {
    await model.update();
    await follow(api, ended.signal, model.update);
  } finally {
    clearInterval(timer);
    clearTimeout(resumeTimer);
    output.off("resize", redraw);
    for (const signal of END_SIGNALS) process.off(signal, end);
    process.off("SIGTSTP", suspend).off("SIGCONT", resume);
    input.off("data", key).pause();
    leave();
  }
}

/** One that does not know its size, such as a serial line, says 0. */
function sizeOf(output: NodeJS.WriteStream): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = output;
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
}

/** Updates at every change of the block until `signal` aborts, and comes back when the daemon does. */
async function follow(
  api: ActivityApi,
  signal: AbortSignal,
  update: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const changes = api.watch({ signal })[Symbol.asyncIterator]();
      while ((await changes.next()).done !== true) await update();
    } catch {
      // The daemon is away; the view says so after the next update.
    }
    if (signal.aborted) return;
    await update();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, RECONNECT_MS);
      signal.addEventListener(
        "abort",
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
  }
}
