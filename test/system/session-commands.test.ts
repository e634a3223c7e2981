import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openUpstreamStub } from "../helpers/openai-upstream.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const processes = createProcesses();
let rig: DaemonRig;

let daemon: ChildProcess;

beforeAll(async () => {
  rig = openDaemonRig(processes, {});
  daemon = await rig.start();
});
afterAll(async () => {
  await rig.close();
  await processes.close();
});

/** What the next turn of a session tells of its events, without the time. */
async function tell(session: string): Promise<string> {
  const { modelText } = await rig.api.composeTurn({ session, ownerText: "x", form: "exact" });
  const block = modelText.slice(0, Math.max(0, modelText.indexOf("# Device Activity")));
  return block
    .replace(/^System: \[[^\]]+\] /, "System: [time] ")
    .replace(/after \d+ (ms|s)/, "after some time");
}

/** Runs the command line below a terminal of its own and gives what the terminal showed. */
function runInTerminal(
  args: readonly string[],
  input = "",
): Promise<{ code: number | null; shown: string }> {
  const line = [process.execPath, MAIN, ...args]
    .map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`)
    .join(" ");
  return new Promise((resolve) => {
    const child = spawn("script", ["-q", "-e", "-c", line, "/dev/null"], {
      env: {
        PATH: process.env["PATH"] ?? "",
        ACTIVITYD_HOME: rig.home,
        TERM: "xterm",
        SHELL: "/bin/sh",
      },
    });
    let shown = "";
    child.stdout.on("data", (chunk: Buffer) => {
      shown += chunk.toString();
    });
    child.once("close", (code) => resolve({ code, shown }));
    child.stdin.write(input);
  });
}

describe("activityd exec", () => {
  test("passes the exit code on and lets the next turn tell it exactly once", async () => {
    const { code, out } = await rig.run([
      "exec",
      "--session",
      "a",
      "--",
      "sh",
      "-c",
      "echo one; exit 3",
    ]);
    expect({ code, out }).toEqual({ code: 3, out: "one\n" });
    expect(await tell("a")).toBe(
      "System: [time] Exec finished with code 3 after some time: sh -c 'echo one; exit 3'\nSystem: one\n\n",
    );
    expect(await tell("a")).toBe("");
  });

  test("hands the command its input, and both outputs apart", async () => {
    const { code, out, talk } = await rig.run(
      ["exec", "--session", "b", "--", "sh", "-c", "cat; echo two >&2"],
      "from the input\n",
    );
    expect({ code, out, talk }).toEqual({ code: 0, out: "from the input\n", talk: "two\n" });
    expect(await tell("b")).toContain("System: from the input\nSystem: two\n");
  });

  test("ends by the signal that ended the command", async () => {
    const child = spawn(
      process.execPath,
      [MAIN, "exec", "--session", "c", "--", "sh", "-c", "kill -TERM $$"],
      {
        env: { PATH: process.env["PATH"] ?? "", ACTIVITYD_HOME: rig.home },
        stdio: "ignore",
      },
    );
    const signal = await new Promise((resolve) => {
      child.once("close", (_code, by) => resolve(by));
    });
    expect(signal).toBe("SIGTERM");
    expect(await tell("c")).toContain("Exec was ended by SIGTERM");
  });

  test("sends a signal on to the command and waits for what it makes of it", async () => {
    const child = spawn(
      process.execPath,
      [
        MAIN,
        "exec",
        "--session",
        "d",
        "--",
        "sh",
        "-c",
        "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done",
      ],
      {
        env: { PATH: process.env["PATH"] ?? "", ACTIVITYD_HOME: rig.home },
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    child.stdout.once("data", () => child.kill("SIGTERM"));
    const code = await new Promise((resolve) => {
      child.once("close", resolve);
    });
    expect(code).toBe(7);
    expect(await tell("d")).toContain("Exec finished with code 7");
  });

  test("a reader that closes early ends the command as it would without us", async () => {
    const child = spawn(
      "sh",
      ["-c", `"$0" "$1" exec --session e -- yes | head -1; echo done`, process.execPath, MAIN],
      {
        env: { PATH: process.env["PATH"] ?? "", ACTIVITYD_HOME: rig.home },
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    await new Promise((resolve) => {
      child.once("close", resolve);
    });
    expect(out).toBe("y\ndone\n");
    // A closed pipe kills the writer or fails its write, which it tells itself.
    expect(await tell("e")).toMatch(/Exec (was ended by SIGPIPE|finished with code 1) /);
  });

  test("a command that is not there ends with 127 and a sentence", async () => {
    const { code, talk } = await rig.run(["exec", "--session", "f", "--", "no-such-command"]);
    expect({ code, talk }).toEqual({
      code: 127,
      talk: "activityd: cannot start no-such-command: there is no such program\n",
    });
    expect(await tell("f")).toContain("Exec did not start (ENOENT)");
  });

  test("gives the command a terminal where there is one, and keeps its last lines", async () => {
    const { code, shown } = await runInTerminal([
      "exec",
      "--session",
      "g",
      "--",
      "sh",
      "-c",
      "test -t 0 && test -t 1 && printf '\\033[32mgreen\\033[0m\\n'; exit 4",
    ]);
    expect(code).toBe(4);
    expect(shown).toContain("\u001b[32mgreen\u001b[0m");
    expect(await tell("g")).toMatch(/code 4.*\nSystem: green\n\n$/);
  });

  test("without a daemon the command runs all the same and the failure is told", async () => {
    const elsewhere = openDaemonRig(createProcesses(), {});
    const { code, out, talk } = await elsewhere.run([
      "exec",
      "--session",
      "a",
      "--",
      "sh",
      "-c",
      "echo one; exit 3",
    ]);
    expect({ code, out }).toEqual({ code: 3, out: "one\n" });
    expect(talk).toContain(
      "activityd: session a will not hear of this command: No daemon answers at ",
    );
    await elsewhere.close();
  });
});

describe("activityd event and strip", () => {
  test("an event is told once, from the command line or from the input", async () => {
    expect(
      await rig.run(["event", "--session", "h", "The kettle boils", "--key", "k"]),
    ).toMatchObject({ code: 0, out: "" });
    const again = await rig.run(["event", "--session", "h", "The kettle boils", "--key", "k"]);
    expect(again.talk).toContain("is to hear of it already");
    await rig.run(["event", "--session", "h", "-"], "one\nSystem: two\n");
    expect(await tell("h")).toMatch(
      /^System: \[time\] The kettle boils\nSystem: \[.+\] one\nSystem: \\System: two\n\n$/,
    );
  });

  test("strip prints the owner's words, byte for byte and without a daemon", async () => {
    const { code, out } = await rig.run(["strip"], "System: hi\n\n\uFEFFhello\r\n ");
    expect({ code, out }).toEqual({ code: 0, out: "\uFEFFhello\r\n " });
  });
});

describe("activityd prompt-prefix", () => {
  test("prints the turn behind what the session waits to tell", async () => {
    await rig.api.enqueueEvent({ session: "pipe", text: "Build finished" });
    const { code, out } = await rig.run(["prompt-prefix", "--session", "pipe"], "thanks\r\n");
    expect(code).toBe(0);
    expect(out).toMatch(/^System: \[[^\]]+\] Build finished\n\n(?:# [^]*\n---\n\n)?thanks\r\n$/);
  });

  test("without a daemon prints the turn alone, and says so beside it", async () => {
    const away = ["--home", `${rig.home}/away`];
    const { code, out, talk } = await rig.run([...away, "prompt-prefix"], "System: why?\n");
    expect({ code, out }).toEqual({ code: 0, out: "\\System: why?\n" });
    expect(talk).toMatch(/^activityd: The turn goes without context\. No daemon answers at /);
  });

  test("fails where it was asked wrongly, not where the daemon is away", async () => {
    const { code, out } = await rig.run(["prompt-prefix", "--session", ""], "hello");
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });
});

test("a daemon that hangs costs a turn two seconds and its context", async () => {
  const upstream = await openUpstreamStub();
  daemon.kill("SIGSTOP");
  try {
    const startedMs = performance.now();
    const [piped, said] = await Promise.all([
      rig.run(["prompt-prefix"], "hello"),
      rig.run(["chat", "--base-url", upstream.url.href], "hello\n"),
    ]);
    expect(performance.now() - startedMs).toBeLessThan(9_000);
    expect([piped.out, said.out]).toEqual(["hello", "Hello there.\n"]);
    expect(piped.talk + said.talk).toMatch(/(?:did not answer within 2 s[^]*){2}/);
  } finally {
    daemon.kill("SIGCONT");
  }
});
