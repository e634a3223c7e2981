/**
 * Hyprland: its event socket says that something changed, its request socket says what has the focus. Asking
 * is needed because events give class and title joined by a comma, which titles contain, and no process.
 * Written to its documentation, not run against Hyprland itself.
 *
 * https://wiki.hypr.land/IPC/
 */
import { readdir, stat } from "node:fs/promises";
import net from "node:net";
import path from "node:path";
import type { WindowSample } from "../events.ts";
import { readExecutable } from "./process-executable.ts";
import type { Blindness, Source, SourceContext, SourceProvider } from "./source.ts";
import { watchFolder } from "./watch-folder.ts";
import { createWindowReporter, TITLE_PACE_MS, type WindowReporter } from "./window-reporter.ts";

const EVENT_SOCKET = ".socket2.sock";
const REQUEST_SOCKET = ".socket.sock";
const REQUEST = "j/activewindow";
const REQUEST_TIMEOUT_MS = 2_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
/** A line longer than this is no event. */
const MAX_LINE_BYTES = 64 * 1024;

/** After these something else may have the focus. */
const FOCUS_EVENTS = new Set([
  "activewindow",
  "activewindowv2",
  "closewindow",
  "focusedmon",
  "movewindow",
  "workspace",
]);
const TITLE_EVENTS = new Set(["windowtitle", "windowtitlev2"]);

export const hyprland: SourceProvider<"window"> = {
  id: "hyprland",
  kind: "window",
  open: async (context) => {
    const folders = await findInstances(context.env);
    for (const folder of folders) {
      const source = await openSource(folder, context);
      if (source !== null) return { source };
    }
    const [first] = folders;
    const signature = context.env["HYPRLAND_INSTANCE_SIGNATURE"] ?? "";
    return {
      rejected:
        first === undefined
          ? {
              reason:
                "No Hyprland is running: HYPRLAND_INSTANCE_SIGNATURE is not set and no socket was found.",
              remedy: "",
            }
          : {
              reason: `No Hyprland answers in ${first}.`,
              remedy:
                "Start activityd inside the session; a service learns of it from a terminal there: systemctl --user import-environment HYPRLAND_INSTANCE_SIGNATURE && activityd service restart",
              applies: signature !== "",
            },
    };
  },
  watchForReturn: (context, onWake) => {
    const runtime = context.env["XDG_RUNTIME_DIR"] ?? "";
    if (runtime === "") return () => {};
    return watchFolder(path.join(runtime, "hypr"), () => true, onWake);
  },
};

/** Folders of running instances: the one the session names, then the newest; before 0.40 they were in /tmp. */
async function findInstances(env: SourceContext["env"]): Promise<readonly string[]> {
  const signature = env["HYPRLAND_INSTANCE_SIGNATURE"] ?? "";
  const runtime = env["XDG_RUNTIME_DIR"] ?? "";
  const roots = runtime === "" ? [] : [path.join(runtime, "hypr")];
  const named =
    signature === "" ? [] : [...roots, "/tmp/hypr"].map((root) => path.join(root, signature));
  const found: { readonly folder: string; readonly changedMs: number }[] = [];
  for (const root of roots) {
    try {
      for (const name of await readdir(root)) {
        const folder = path.join(root, name);
        found.push({ folder, changedMs: (await stat(folder)).mtimeMs });
      }
    } catch {
      // No such folder: then no instance is there.
    }
  }
  found.sort((a, b) => b.changedMs - a.changedMs);
  return [...new Set([...named, ...found.map((each) => each.folder)])];
}

async function openSource(
  folder: string,
  context: SourceContext,
): Promise<Source<"window"> | null> {
  const ask = (): Promise<Seen | null> => readActiveWindow(path.join(folder, REQUEST_SOCKET));
  try {
    await ask();
  } catch {
    return null;
  }
  const events = net.createConnection(path.join(folder, EVENT_SOCKET));
  try {
    await new Promise<void>((resolve, reject) => {
      events.once("connect", resolve);
      events.once("error", reject);
    });
  } catch {
    return null;
  }

  let reporter: WindowReporter | null = null;
  let onLost: ((why: Blindness) => void) | null = null;
  let lost: Blindness | null = null;
  let closed = false;
  let reading = false;
  let readAgain = false;
  let paceTimer: NodeJS.Timeout | null = null;
  let titleWaits = false;

  function lose(): void {
    if (lost !== null || closed) return;
    lost = { reason: "Hyprland went away.", remedy: "It is used again when it returns." };
    stopPace();
    reporter?.close();
    events.destroy();
    onLost?.(lost);
  }

  function stopPace(): void {
    if (paceTimer !== null) clearTimeout(paceTimer);
    paceTimer = null;
  }

  /** One question at a time; what happened meanwhile makes one more. */
  async function refresh(): Promise<void> {
    if (reading) {
      readAgain = true;
      return;
    }
    reading = true;
    try {
      do {
        readAgain = false;
        const seen = await ask();
        reporter?.tell(seen?.key ?? "", seen?.sample ?? null);
      } while (readAgain);
    } catch {
      // An answer that failed is followed by another event or by the end of the event socket.
    } finally {
      reading = false;
    }
  }

  /** The first change of a title is asked for at once, the following ones once in a while. */
  function refreshPaced(): void {
    titleWaits = paceTimer !== null;
    if (titleWaits) return;
    void refresh();
    paceTimer = setTimeout(() => {
      paceTimer = null;
      if (titleWaits) refreshPaced();
    }, TITLE_PACE_MS);
  }

  const feed = createLineSplitter((line) => {
    const name = line.slice(0, line.indexOf(">>"));
    if (FOCUS_EVENTS.has(name)) void refresh();
    else if (TITLE_EVENTS.has(name)) refreshPaced();
  });
  events.on("data", (chunk) => {
    if (!feed(chunk)) lose();
  });
  events.on("error", lose);
  events.on("close", lose);

  return {
    start: (onSample, whenLost) => {
      if (lost !== null) {
        whenLost(lost);
        return;
      }
      reporter = createWindowReporter(context.clock, onSample);
      onLost = whenLost;
      void refresh();
    },
    snapshot: async () => {
      try {
        return { ok: true, value: (await ask())?.sample ?? null };
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return { ok: false, reason: `Hyprland cannot be asked: ${why}.`, remedy: "" };
      }
    },
    close: () => {
      closed = true;
      readAgain = false;
      stopPace();
      reporter?.close();
      events.destroy();
    },
  };
}

interface Seen {
  readonly key: string;
  readonly sample: WindowSample;
}

/** The parser's own message would quote the answer, and with it a title. */
function parseJson(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    throw new Error("its answer was not JSON");
  }
}

/** Asks on a connection of its own, as the protocol wants. `{}` is the answer when nothing has the focus. */
async function readActiveWindow(socketPath: string): Promise<Seen | null> {
  const answer = await request(socketPath);
  const window = parseJson(answer);
  const key = get(window, "address");
  if (typeof key !== "string" || key === "") {
    if (typeof window === "object" && window !== null) return null;
    throw new Error("it did not answer with an object");
  }
  const reported = get(window, "pid");
  const pid = typeof reported === "number" && reported > 0 ? reported : null;
  const executable = await readExecutable(pid);
  const app = [get(window, "class"), get(window, "initialClass")].find(
    (name): name is string => typeof name === "string" && name !== "",
  );
  const title = get(window, "title");
  return {
    key,
    sample: {
      app: app ?? (executable === null ? "unknown" : path.basename(executable)),
      title: typeof title === "string" ? title : null,
      url: null,
      pid,
      executable,
      private: null,
      window: key,
    },
  };
}

function request(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.createConnection(socketPath);
    const chunks: Buffer[] = [];
    let size = 0;
    socket.setTimeout(REQUEST_TIMEOUT_MS, () => socket.destroy(new Error("no answer in time")));
    socket.once("connect", () => socket.write(REQUEST));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_ANSWER_BYTES) socket.destroy(new Error("an answer without end"));
    });
    socket.once("error", reject);
    socket.once("end", () => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString("utf8"));
    });
  });
}

/** Cuts a stream into lines, however it is chunked. Answers false when a line has no end. */
function createLineSplitter(onLine: (line: string) => void): (chunk: Buffer) => boolean {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    for (let end = held.indexOf(10); end >= 0; end = held.indexOf(10)) {
      onLine(held.toString("utf8", 0, end));
      held = held.subarray(end + 1);
    }
    return held.length <= MAX_LINE_BYTES;
  };
}

function get(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  const field: unknown = Reflect.get(value, key);
  return field;
}
