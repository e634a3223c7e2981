/**
 * sway and i3: the focused window from their IPC socket, by events. It hides where the socket is (it moves
 * when the compositor restarts) and which of the two answers.
 */
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import type { WindowSample } from "../events.ts";
import { createExecutableReader } from "./process-executable.ts";
import { connectI3, type I3Connection } from "./sway-ipc.ts";
import type {
  Blindness,
  Rejection,
  SampleOf,
  Source,
  SourceContext,
  SourceProvider,
  SourceResult,
} from "./source.ts";
import { watchFolder } from "./watch-folder.ts";
import { createWindowReporter, type WindowReporter } from "./window-reporter.ts";

const READ_TIMEOUT_MS = 2_000;

export const sway = createProvider({
  id: "sway",
  variable: "SWAYSOCK",
  folder: (runtime) => runtime,
  isSocket: (name) => /^sway-ipc\..*\.sock$/.test(name),
});

/** i3 is an X11 window manager: the X server tells more of its windows, so this comes after it. */
export const i3 = createProvider({
  id: "i3",
  variable: "I3SOCK",
  folder: (runtime) => path.join(runtime, "i3"),
  isSocket: (name) => name.startsWith("ipc-socket."),
});

interface Flavour {
  readonly id: string;
  readonly variable: string;
  readonly folder: (runtimeFolder: string) => string;
  readonly isSocket: (fileName: string) => boolean;
}

function createProvider(flavour: Flavour): SourceProvider<"window"> {
  return {
    id: flavour.id,
    kind: "window",
    open: async (context) => {
      const candidates = await findSockets(flavour, context.env);
      for (const socketPath of candidates) {
        const source = await openSource(flavour, socketPath, context);
        if (source !== null) return { source };
      }
      return { rejected: explain(flavour, candidates, context.env) };
    },
    watchForReturn: (context, onWake) => {
      const runtime = context.env["XDG_RUNTIME_DIR"];
      if (runtime === undefined || runtime === "") return () => {};
      return watchFolder(flavour.folder(runtime), flavour.isSocket, onWake);
    },
  };
}

/** The socket the session names first, then the newest: after a restart the variable names a dead one. */
async function findSockets(
  flavour: Flavour,
  env: SourceContext["env"],
): Promise<readonly string[]> {
  const named = env[flavour.variable] ?? "";
  const runtime = env["XDG_RUNTIME_DIR"] ?? "";
  const found: { readonly path: string; readonly changedMs: number }[] = [];
  if (runtime !== "") {
    const folder = flavour.folder(runtime);
    try {
      for (const name of await readdir(folder)) {
        if (!flavour.isSocket(name)) continue;
        const socketPath = path.join(folder, name);
        found.push({ path: socketPath, changedMs: (await stat(socketPath)).mtimeMs });
      }
    } catch {
      // No folder, or the compositor just took its socket away: what was found is tried.
    }
  }
  found.sort((a, b) => b.changedMs - a.changedMs);
  return [...new Set([named, ...found.map((each) => each.path)])].filter((each) => each !== "");
}

function explain(
  flavour: Flavour,
  candidates: readonly string[],
  env: SourceContext["env"],
): Rejection {
  const [first] = candidates;
  return first === undefined
    ? {
        reason: `No ${flavour.id} is running: ${flavour.variable} is not set and no socket was found.`,
        remedy: "",
      }
    : {
        reason: `No ${flavour.id} answers on ${first}.`,
        remedy: `Start ${flavour.id}; a service learns of it from a terminal there: systemctl --user import-environment ${flavour.variable} && activityd service restart`,
        // A file that a dead compositor left behind is no sign of a desktop, a variable is.
        applies: (env[flavour.variable] ?? "") !== "",
      };
}

async function openSource(
  flavour: Flavour,
  socketPath: string,
  context: SourceContext,
): Promise<Source<"window"> | null> {
  let reporter: WindowReporter | null = null;
  let onLost: ((why: Blindness) => void) | null = null;
  let lost: Blindness | null = null;
  let newest = 0;
  let isNothingTold = false;
  const executableOf = createExecutableReader();

  function lose(reason: string): void {
    lost = {
      reason: `${flavour.id} went away: ${reason}.`,
      remedy: "It is used again when it returns.",
    };
    reporter?.close();
    onLost?.(lost);
  }

  /** Tells what has the focus unless something newer was seen while this was being read. */
  async function tell(read: () => Promise<Seen | null>): Promise<void> {
    newest += 1;
    const mine = newest;
    const seen = await read();
    if (mine === newest) tellSeen(seen);
  }

  function tellSeen(seen: Seen | null): void {
    isNothingTold = seen === null;
    reporter?.tell(seen?.key ?? 0, seen?.sample ?? null);
  }

  let connection: I3Connection;
  try {
    connection = await connectI3(socketPath, {
      onEvent: (name, payload) => {
        if (name === "shutdown") return;
        const change = get(payload, "change");
        const container = get(payload, "container");
        const isFocused = get(container, "focused") === true;
        // The title of a window that is not in focus changes nothing here; all but focus and title need the whole
        // tree, because they do not say what has the focus afterwards. Nor does a window that gets the focus back
        // from what lay above all windows: it is told before its container has it.
        if (name === "window" && isFocused && (change === "title" || change === "focus")) {
          quietly(tell(() => toSeen(container, executableOf)));
        } else if (change === "close" || change === "move" || change === "focus") {
          quietly(tell(readTree));
        }
      },
      onClose: lose,
    });
  } catch {
    return null;
  }
  const { getTree } = connection;

  async function readTree(): Promise<Seen | null> {
    const focused = findFocused(await inTime(getTree()));
    return focused === null ? null : toSeen(focused, executableOf);
  }

  try {
    const answer = await inTime(connection.subscribe(["window", "workspace", "shutdown"]));
    if (get(answer, "success") !== true) throw new Error("it refused the subscription");
    await readTree();
  } catch {
    connection.close();
    return null;
  }

  return {
    start: (onSample, whenLost) => {
      if (lost !== null) {
        whenLost(lost);
        return;
      }
      reporter = createWindowReporter(context.clock, onSample);
      onLost = whenLost;
      quietly(tell(readTree));
    },
    snapshot: async (): Promise<SourceResult<SampleOf["window"]>> => {
      try {
        const before = newest;
        const seen = await readTree();
        // Lockers, launchers and menus lie above the windows: no event tells that one of them has the focus.
        if (before === newest && (seen === null) !== isNothingTold) tellSeen(seen);
        return { ok: true, value: seen?.sample ?? null };
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return { ok: false, reason: `${flavour.id} cannot be read: ${why}.`, remedy: "" };
      }
    },
    close: () => {
      onLost = null;
      reporter?.close();
      connection.close();
    },
  };
}

// ---------------------------------------------------------------- containers

interface Seen {
  readonly key: number;
  readonly sample: WindowSample;
}

/** The innermost container that has the focus, or null. */
function findFocused(node: unknown): unknown {
  if (get(node, "focused") === true) return node;
  for (const list of [get(node, "nodes"), get(node, "floating_nodes")]) {
    if (!Array.isArray(list)) continue;
    for (const child of list) {
      const found = findFocused(child);
      if (found !== null) return found;
    }
  }
  return null;
}

/** The window in a container; null for a workspace or a split, which hold the focus when they are empty. */
async function toSeen(
  container: unknown,
  executableOf: ReturnType<typeof createExecutableReader>,
): Promise<Seen | null> {
  const key = get(container, "id");
  const appId = get(container, "app_id");
  const properties = get(container, "window_properties");
  const isWindow =
    typeof appId === "string" ||
    (typeof properties === "object" && properties !== null) ||
    typeof get(container, "window") === "number";
  if (!isWindow || typeof key !== "number") return null;

  const reportedPid = get(container, "pid");
  const pid = typeof reportedPid === "number" && reportedPid > 0 ? reportedPid : null;
  const executable = await executableOf(pid, key);
  const app = [appId, get(properties, "class"), get(properties, "instance")].find(isName);
  const title = get(container, "name");
  return {
    key,
    sample: {
      app: app ?? (executable === null ? "unknown" : path.basename(executable)),
      // A window that has not named itself yet has no title.
      title: typeof title === "string" ? title : "",
      url: null,
      pid,
      executable,
      private: null,
      window: String(key),
    },
  };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function get(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  const field: unknown = Reflect.get(value, key);
  return field;
}

// ---------------------------------------------------------------- waiting

/** For reads whose failure is told in another way: the loss of the connection, or the next event. */
function quietly(work: Promise<void>): void {
  work.catch(() => {});
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no answer within ${READ_TIMEOUT_MS / 1000} s`)),
      READ_TIMEOUT_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
