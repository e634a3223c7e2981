/** The live view in a real terminal: tmux types the keys and reads the screen. */
import { existsSync } from "node:fs";
import stringWidth from "string-width";
import { describe, expect, it, onTestFinished } from "vitest";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";
import { openTestTerminal, type TestTerminal } from "./terminal-rig.ts";

async function openDaemon(): Promise<DaemonRig> {
  const daemon = openDaemonRig(createProcesses(), {});
  onTestFinished(daemon.close);
  await daemon.start();
  return daemon;
}

/** `activityd live` of the rig's home in a terminal. */
function openLive({ home }: DaemonRig, columns: number, rows: number): TestTerminal {
  return openTestTerminal(["live"], { ACTIVITYD_HOME: home }, columns, rows);
}

describe("activityd live in a terminal", () => {
  it.each([120, 72, 34])(
    "fits into %i columns, and into others when the terminal is resized",
    async (columns) => {
      const terminal = openLive(await openDaemon(), columns, 30);
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

  it("prints the view once, without a sequence, where a terminal cannot be drawn on", async () => {
    const { home } = await openDaemon();
    const terminal = openTestTerminal(["live"], { ACTIVITYD_HOME: home, TERM: "dumb" }, 80, 60);
    await until("it ended", () => terminal.screenWith("ended"));
    expect(terminal.screen()).toContain("● recording");
    expect(terminal.written()).not.toContain("\u001B");
  });

  it("pauses, resumes, says why and leaves the terminal as it was", async () => {
    const daemon = await openDaemon();
    const terminal = openLive(daemon, 100, 40);
    await until("the view is there", () => terminal.screen().includes("● recording"));
    terminal.type("p");
    await until("it is paused", () => terminal.screen().includes("● paused"));
    expect((await daemon.api.status()).paused).not.toBeNull();
    terminal.type("r");
    await until("it goes on", () => terminal.screen().includes("● recording"));
    terminal.type("w");
    await until("it says why", () => terminal.screen().includes("not x11: DISPLAY is not set."));
    terminal.type("q");
    const after = await until("it ended", () => terminal.screenWith("ended"));
    expect(after.trim()).toBe("ended");
  });

  it("takes keys that come together, and loses none to a view that is being fetched", async () => {
    const terminal = openLive(await openDaemon(), 100, 40);
    await until("the view is there", () => terminal.screen().includes("● recording"));
    terminal.type("pw");
    await until("both were heard", () => /● paused[^]*── why /.test(terminal.screen()));
    terminal.type("rwwwww");
    await until("all were heard", () => /── today [^]*Recording goes on/.test(terminal.screen()));
    expect(terminal.screen()).toContain("● recording");
  });

  it("goes to sleep by Ctrl-Z with the terminal as it was, and goes on where it stood", async () => {
    const daemon = await openDaemon();
    const terminal = openTestTerminal(
      ["live"],
      { ACTIVITYD_HOME: daemon.home },
      80,
      24,
      (command) => `set -m; ${command}; echo asleep; read _; fg`,
    );
    await until("the view is there", () => terminal.screen().includes("● recording"));
    terminal.type("C-z");
    const asleep = await until("it sleeps", () => terminal.screenWith("asleep"));
    expect(asleep).not.toContain("recording");
    // The shell reads whole lines again, and shows what is typed.
    terminal.type("word", "Enter");
    await until("it is back", () => terminal.screen().includes("● recording"));
    terminal.type("p");
    await until("it hears keys", () => terminal.screen().includes("● paused"));
    terminal.type("q");
    const after = await until("it ended", () => terminal.screenWith("ended"));
    expect(after).toMatch(/asleep\nword\n/);
    expect(after).not.toContain("paused");
  });

  it("goes on after Ctrl-Z where no shell could have it go on", async () => {
    const terminal = openLive(await openDaemon(), 80, 24);
    await until("the view is there", () => terminal.screen().includes("● recording"));
    terminal.type("C-z");
    terminal.type("p");
    const screen = await until("it goes on", () =>
      terminal.screen().includes("● paused") ? terminal.screen() : null,
    );
    expect(screen).not.toContain("ended");
  });

  it("leaves the terminal as it was when it is interrupted from elsewhere", async () => {
    const daemon = await openDaemon();
    const terminal = openTestTerminal(
      ["live"],
      { ACTIVITYD_HOME: daemon.home },
      80,
      24,
      (command) => `timeout --foreground --signal=INT 4 env ${command}; stty -a | grep -o ' echo '`,
    );
    await until("the view is there", () => terminal.screen().includes("● recording"));
    const after = await until("it ended", () => terminal.screenWith("ended"));
    expect(after.trim()).toMatch(/^echo\s+ended$/);
  });

  it("says that the daemon went away, and comes back with it", async () => {
    const daemon = await openDaemon();
    const terminal = openLive(daemon, 100, 40);
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
