/** KWin of KDE Plasma under Wayland without a screen, with windows that can be focused by their process. */
import type { ChildProcess } from "node:child_process";
import { chmodSync, copyFileSync } from "node:fs";
import path from "node:path";
import { kwin } from "../../src/capture/sources/kde.ts";
import { until } from "../helpers/until.ts";
import { type DesktopSession, openDesktopSession } from "./desktop-session.ts";
import type { DesktopRig } from "./desktop-rig.ts";

const DISPLAY = "wl-kwin";

export async function openKwinRig(): Promise<DesktopRig> {
  const session = await openDesktopSession(DISPLAY);
  // The installed file has capabilities, which a container refuses; a copy has none. The name must stay.
  const program = path.join(session.home, "kwin_wayland");
  copyFileSync("/usr/bin/kwin_wayland", program);
  chmodSync(program, 0o755);
  const script = createScripts(session);
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    server = session.start(
      program,
      ["--virtual", "--width", "1280", "--height", "800", "--socket", DISPLAY],
      { QT_QPA_PLATFORM_PLUGIN_PATH: "", KWIN_COMPOSE: "Q" },
    );
    // It takes its name before it offers anything under it.
    await until(
      "KWin runs scripts",
      () => {
        if (server.exitCode !== null) throw new Error(`KWin ended with ${server.exitCode}`);
        return script.ask("1").catch(() => null);
      },
      60_000,
    );
  };
  try {
    await start();
  } catch (error) {
    await session.close();
    throw error;
  }
  return {
    session,
    provider: kwin,
    env: session.env,
    open: async (title) => {
      const window = session.openWindow(title);
      await until("the window is on screen", async () =>
        (await script.ask("workspace.clientList().map((one) => one.pid).join(' ')"))
          .split(" ")
          .includes(String(window.pid)),
      );
      return {
        ...window,
        app: "fixture",
        focus: async () => {
          await script.ask(
            `workspace.activeClient = workspace.clientList().find((one) => one.pid === ${window.pid})`,
          );
        },
      };
    },
    kill: () => session.processes.stop(server, "SIGKILL"),
    restart: start,
    close: session.close,
  };
}

/** Runs an expression in KWin and gives its value as text. */
function createScripts(session: DesktopSession): {
  readonly ask: (expression: string) => Promise<string>;
} {
  const answers = new Map<string, string>();
  let count = 0;
  session.service.answer("org.test.Rig.Answer", "", ([id, value]) => {
    answers.set(String(id), String(value));
    return [];
  });
  const scripting = (member: string, signature: string, ...args: string[]): Promise<unknown[]> =>
    session.service.call(
      "org.kde.KWin",
      "/Scripting",
      "org.kde.kwin.Scripting",
      member,
      signature,
      args,
    );
  return {
    ask: async (expression) => {
      const id = `rig-${(count += 1)}`;
      const sink = [session.service.uniqueName, "/rig", "org.test.Rig", "Answer", id];
      const file = session.write(
        `${id}.js`,
        `callDBus(...${JSON.stringify(sink)}, String(${expression}));`,
      );
      await scripting("loadScript", "ss", file, id);
      await scripting("start", "");
      const answer = await until("the answer of KWin", () => answers.get(id));
      await scripting("unloadScript", "s", id);
      return answer;
    },
  };
}
