/**
 * `activityd live`: the view of `live-view.ts` on a terminal. It hides the terminal's modes and promises to
 * leave them as they were, also when it is interrupted, and to write nothing while nothing changes.
 */
import type { ActivityApi } from "../api.ts";
import type { Clock } from "../clock.ts";
import { createLiveModel } from "./live-model.ts";
import { renderLive } from "./live-view.ts";

/** The totals and the strip move with the minutes; the block comes when it changes. */
const REFRESH_MS = 15_000;
const RECONNECT_MS = 2_000;

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
  const draw = (): void => {
    if (!isScreen) return;
    const frame = { columns: output.columns, rows: output.rows, colour };
    const text = renderLive(model.state(), frame).join("\u001B[K\r\n");
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
  // Keys that were pressed quickly come together.
  const key = (text: string): void => {
    for (const each of text) {
      if (each === "q" || each === "\u0003") return end();
      model.press(each);
    }
  };

  // The other screen, without a cursor: what stood in the terminal is there again afterwards.
  output.write("\u001B[?1049h\u001B[?25l");
  input.setRawMode(true).setEncoding("utf8").on("data", key).resume();
  output.on("resize", redraw);
  process.once("SIGTERM", end);
  const timer = setInterval(() => void model.update(), REFRESH_MS);
  try {
    await model.update();
    await follow(api, ended.signal, model.update);
  } finally {
    clearInterval(timer);
    output.off("resize", redraw);
    process.off("SIGTERM", end);
    input.off("data", key).setRawMode(false).pause();
    output.write("\u001B[?25h\u001B[?1049l");
  }
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
