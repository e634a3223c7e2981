/**
 * `activityd live`: the view of `live-view.ts` on a terminal. It hides the terminal's modes and promises to
 * leave them as they were, also when it is interrupted, and to write nothing while nothing changes.
 */
import type { ActivityApi } from "../api.ts";
import type { Clock } from "../clock.ts";
import { toErrorEnvelope } from "../errors.ts";
import { renderLive, startOfDay, type LiveState } from "./live-view.ts";

/** The totals and the strip move with the minutes; the block comes when it changes. */
const REFRESH_MS = 15_000;
const RECONNECT_MS = 2_000;

export interface LiveTerminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly colour: boolean;
}

/** Shows the view until `q`, Ctrl-C or a signal. On what is no terminal it prints the view once. */
export async function runLive(
  api: ActivityApi,
  clock: Clock,
  terminal: LiveTerminal,
): Promise<void> {
  const { input, output, colour } = terminal;
  let state: LiveState = {
    status: null,
    problem: null,
    block: "",
    today: [],
    nowUs: clock.nowUs(),
    timeZone: clock.timeZone(),
    showWhy: false,
    notice: null,
  };
  if (!output.isTTY || !input.isTTY) {
    state = { ...state, ...(await look(api, clock)) };
    const columns = output.columns ?? 80;
    output.write(`${renderLive(state, { columns, rows: 1_000, colour: false }).join("\n")}\n`);
    return;
  }

  let shown = "";
  const draw = (): void => {
    const frame = { columns: output.columns, rows: output.rows, colour };
    const text = renderLive(state, frame).join("\u001B[K\r\n");
    if (text === shown) return;
    shown = text;
    output.write(`\u001B[H${text}\u001B[K\u001B[J`);
  };
  const update = async (): Promise<void> => {
    const seen = await look(api, clock);
    // Keys may have been pressed meanwhile: what they changed stays.
    state = { ...state, ...seen };
    draw();
  };

  const ended = new AbortController();
  const end = (): void => ended.abort();
  const redraw = (): void => {
    shown = "";
    draw();
  };
  // Keys that were pressed quickly come together.
  const key = (text: string): void => {
    for (const each of text) void act(each);
  };
  const act = async (text: string): Promise<void> => {
    if (text === "q" || text === "\u0003") return end();
    if (text === "w") state = { ...state, showWhy: !state.showWhy };
    let notice: string | null = null;
    if (text === "p")
      notice = await outcome(() => api.pause({ minutes: 15 }), "Paused for 15 minutes.");
    if (text === "r") notice = await outcome(() => api.resume(), "Recording goes on.");
    if (notice !== null) state = { ...state, notice };
    await update();
  };

  // The other screen, without a cursor: what stood in the terminal is there again afterwards.
  output.write("\u001B[?1049h\u001B[?25l");
  input.setRawMode(true).setEncoding("utf8").on("data", key).resume();
  output.on("resize", redraw);
  process.once("SIGTERM", end);
  const timer = setInterval(() => void update(), REFRESH_MS);
  try {
    await update();
    await follow(api, ended.signal, update);
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

type Seen = Pick<LiveState, "status" | "problem" | "nowUs" | "timeZone"> &
  Partial<Pick<LiveState, "block" | "today">>;

/** What there is to see now; block and day stay as they were while the daemon is away. */
async function look(api: ActivityApi, clock: Clock): Promise<Seen> {
  const nowUs = clock.nowUs();
  const timeZone = clock.timeZone();
  try {
    const [status, { block }, { events }] = await Promise.all([
      api.status(),
      api.context({ form: "exact", client: "live" }),
      api.events({ fromUs: startOfDay(nowUs, timeZone), limit: 10_000 }),
    ]);
    return { status, problem: null, block: block ?? "", today: events, nowUs, timeZone };
  } catch (thrown) {
    const { error } = toErrorEnvelope(thrown);
    return { status: null, problem: `${error.message} ${error.hint}`, nowUs, timeZone };
  }
}

async function outcome(work: () => Promise<unknown>, done: string): Promise<string> {
  try {
    await work();
    return done;
  } catch (thrown) {
    const { error } = toErrorEnvelope(thrown);
    return `${error.message} ${error.hint}`;
  }
}
