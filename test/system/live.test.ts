/** The live view in a real terminal: tmux types the keys and reads the screen. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import stringWidth from "string-width";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

const open: { readonly close: () => Promise<void> | void }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

/** A terminal of its own: a tmux server on a private socket. */
function openTerminal(daemon: DaemonRig, columns: number, rows: number) {
  const folder = mkdtempSync(join(tmpdir(), "activityd-tmux-"));
  const tmux = (...args: readonly string[]): string =>
    execFileSync("tmux", ["-S", join(folder, "socket"), "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        TERM: "xterm-256color",
        LANG: "C.UTF-8",
      },
    });
  const command = `ACTIVITYD_HOME='${daemon.home}' '${process.execPath}' '${MAIN}' live; echo ended; exec cat`;
  tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), command);
  open.push({
    close: () => {
      tmux("kill-server");
      rmSync(folder, { recursive: true, force: true });
    },
  });
  return {
    screen: () => tmux("capture-pane", "-p"),
    type: (key: string) => tmux("send-keys", key),
    resize: (width: number) => tmux("resize-window", "-x", String(width), "-y", String(rows)),
  };
}

async function openDaemon(): Promise<DaemonRig> {
  const daemon = openDaemonRig(createProcesses(), {});
  open.push(daemon);
  await daemon.start();
  return daemon;
}

describe("activityd live in a terminal", () => {
  it.each([120, 72, 34])(
    "fits into %i columns, and into others when the terminal is resized",
    async (columns) => {
      const terminal = openTerminal(await openDaemon(), columns, 30);
      const screen = await until("the view is there", () => {
        const text = terminal.screen();
        return text.includes("# Device Activity") && text.includes("health")
          ? text
          : text.includes("! window")
            ? text
            : null;
      });
      expect(screen).toContain("● recording");
      terminal.resize(50);
      const resized = await until("the view is drawn anew", () => {
        const lines = terminal.screen().split("\n");
        const rule = lines.find((line) => line.startsWith("── what the assistant is told"));
        return rule !== undefined && stringWidth(rule) === 50 ? lines : null;
      });
      expect(Math.max(...resized.map((line) => stringWidth(line)))).toBeLessThanOrEqual(50);
    },
  );

  it("pauses, resumes, says why and leaves the terminal as it was", async () => {
    const daemon = await openDaemon();
    const terminal = openTerminal(daemon, 100, 40);
    await until("the view is there", () => terminal.screen().includes("● recording"));
    terminal.type("p");
    await until("it is paused", () => terminal.screen().includes("● paused"));
    expect((await daemon.api.status()).paused).not.toBeNull();
    terminal.type("r");
    await until("it goes on", () => terminal.screen().includes("● recording"));
    terminal.type("w");
    await until("it says why", () => terminal.screen().includes("not x11: DISPLAY is not set."));
    terminal.type("q");
    const after = await until("it ended", () =>
      terminal.screen().includes("ended") ? terminal.screen() : null,
    );
    expect(after.trim()).toBe("ended");
  });

  it("says that the daemon went away, and comes back with it", async () => {
    const daemon = await openDaemon();
    const terminal = openTerminal(daemon, 100, 40);
    await until("the view is there", () => terminal.screen().includes("● recording"));
    const { pid } = await daemon.api.status();
    process.kill(pid, "SIGTERM");
    await until("it says so", () => terminal.screen().includes("● not connected"));
    // The record is let go of last: a daemon that comes sooner is told that another is at it.
    await until("it is gone", () => !existsSync(`/proc/${pid}`));
    await daemon.start();
    const back = await until("it is back", () => {
      const text = terminal.screen();
      return text.includes("● recording") ? text : null;
    });
    expect(back).not.toContain("not connected");
  });
});

describe("activityd live without a terminal", () => {
  it("prints the view once, without colour", async () => {
    const daemon = await openDaemon();
    const { code, out } = await daemon.run(["live"]);
    expect(code).toBe(0);
    expect(out).toContain("# Device Activity (exact, real-time)");
    expect(out).not.toContain("\u001B");
  });
});
