/** The chat in a real terminal, through the built gateway and a real daemon, before an upstream of ours. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import stringWidth from "string-width";
import { describe, expect, it, onTestFinished } from "vitest";
import { VOICE_TURN_DIRECTIVE } from "../../src/gateway/voice-steering.ts";
import {
  chatChunk,
  openUpstreamStub,
  startStream,
  streamText,
  type Answer,
  type UpstreamStub,
} from "../helpers/openai-upstream.ts";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";
import { openTestTerminal, type TestTerminal } from "./terminal-rig.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

interface Rig {
  readonly daemon: DaemonRig;
  readonly upstream: UpstreamStub;
  /** The gateway's. */
  readonly address: string;
  readonly open: (
    columns: number,
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => TestTerminal;
}

async function openRig(answer: Answer): Promise<Rig> {
  const processes = createProcesses();
  const daemon = openDaemonRig(processes, {});
  onTestFinished(daemon.close);
  const upstream = await openUpstreamStub(answer);
  await daemon.start();
  const { home } = daemon;
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, ACTIVITYD_HOME: home };
  const args = ["gateway", "--upstream", upstream.url.href, "--port", "0", "--json"];
  const gateway = processes.start(process.execPath, [MAIN, ...args], { env, withOutput: true });
  const printed = await new Promise<string>((resolve, reject) => {
    gateway.stdout?.setEncoding("utf8").once("data", resolve);
    gateway.once("exit", () => reject(new Error("the gateway ended")));
  });
  const { address } = JSON.parse(printed) as { readonly address: string };
  return {
    daemon,
    upstream,
    address,
    open: (columns, more = [], extra = {}) =>
      openTestTerminal(
        ["chat", ...more],
        { ACTIVITYD_HOME: home, OPENAI_BASE_URL: address, ...extra },
        columns,
        30,
      ),
  };
}

/** Waits until the screen has all of it. */
async function shows(terminal: TestTerminal, ...texts: readonly string[]): Promise<string> {
  return until(`the screen shows ${texts.join(" and ")}`, () => {
    const screen = terminal.screen();
    return texts.every((text) => screen.includes(text)) ? screen : null;
  }).catch((cause: unknown) => {
    throw new Error(`The screen was:\n${terminal.screen()}`, { cause });
  });
}

/** Types a line and waits for what follows it, and for the next prompt. */
async function say(terminal: TestTerminal, line: string, ...texts: readonly string[]) {
  terminal.type(line, "Enter");
  await shows(terminal, ...texts);
  await until("the prompt is back", () => /\n> *\n*$/.test(terminal.screen()));
}

/** A turn of the present, to which the daemon has something to say. */
const NOW = "what am I doing right now?";

/** A model that repeats what stood before the turn, and what was asked of its voice. */
const echo: Answer = async (request, response) => {
  const said = /"content":"((?:[^"\\]|\\.)*)"\}\]/.exec(request.text)?.[1] ?? "";
  const turn: unknown = JSON.parse(`"${said}"`);
  const context = String(turn).slice(0, String(turn).lastIndexOf(NOW));
  await streamText(`${VOICE_TURN_DIRECTIVE}\n${context}You write a test.`)(request, response);
};

describe("activityd chat in a terminal", () => {
  it.each([140, 80, 40])(
    "shows the owner's words alone on %i columns, live, after a reload, in titles, search and export",
    async (columns) => {
      const rig = await openRig(echo);
      const terminal = rig.open(columns);
      await shows(terminal, "A new conversation.");
      await say(terminal, NOW, "You write a test.");
      expect(rig.upstream.seen[0]?.text).toContain("# Device Activity");
      await say(terminal, "/titles", "1  what am I doing", "2 turns");
      await say(terminal, "/search device", "Nobody said that.");
      await say(terminal, "/search doing", "/search doing");
      // What stands below it, and not the words that were looked for.
      expect(terminal.screen().split("/search doing").at(-1)).toMatch(/1  what am I doing/);
      await say(terminal, "/export", "**You**", "**Assistant**");
      expect(terminal.title()).toBe(NOW);
      const live = terminal.scrollback();
      terminal.type("C-d");
      const left = await shows(terminal, "--conversation");
      const id = /\d{8}-\d{6}-\d{3}/.exec(left)?.[0] ?? "";
      const again = rig.open(columns, ["--conversation", id]);
      const reload = await shows(again, "> what am I doing", "You write a test.");
      for (const screen of [live, reload]) {
        expect(screen).not.toMatch(/Device Activity|Focused|owner hears|---\n/);
        for (const line of screen.split("\n"))
          expect(stringWidth(line)).toBeLessThanOrEqual(columns);
      }
    },
  );

  it("keeps a line that is being typed through resizes, with wide characters", async () => {
    const rig = await openRig(streamText("Yes."));
    const terminal = rig.open(80);
    await shows(terminal, "A new conversation.");
    await say(terminal, "before", "Yes.");
    const words = "is 漢字とひらがな what I have been reading about since this morning, you think?";
    terminal.type(words);
    for (const columns of [40, 120, 50]) {
      const before = terminal.written().length;
      terminal.resize(columns);
      await until("the line is drawn anew", () =>
        terminal.written().slice(before).includes("you think?"),
      );
      await until("the line is there", () => unbroken(terminal).includes(words));
      terminal.type("!");
      await until("and goes on", () => unbroken(terminal).endsWith("!"));
      terminal.type("BSpace");
      await until("it is whole", () => unbroken(terminal).endsWith("think?"));
    }
    // What stood above is there once, and so is the line.
    expect(terminal.scrollback().match(/Yes\./g)).toHaveLength(1);
    expect(unbroken(terminal).split("what I have been")).toHaveLength(2);
    terminal.type("Enter");
    await until("it was said", () => rig.upstream.seen[1]?.text.includes(words));
  });

  it("stops a reply by Ctrl-C, asks again, edits, pastes, copies and calls back what was said", async () => {
    const rig = await openRig((_request, response) => {
      startStream(response);
      response.write(chatChunk({ content: "It takes its time to" }));
    });
    const terminal = rig.open(80);
    await shows(terminal, "A new conversation.");
    terminal.type("first", "Enter");
    await shows(terminal, "It takes its time");
    terminal.type("C-c");
    await shows(terminal, "(stopped; what came is kept)");
    rig.upstream.answerWith(streamText("漢字 — done."));
    await say(terminal, "/resend", "漢字 — done.");
    terminal.type("/edit", "Enter");
    await shows(terminal, "leaves all as it is.)\n> first");
    terminal.type(" and last");
    terminal.paste("\n\tpasted");
    await shows(terminal, "> first and last⏎⇥pasted");
    terminal.type("Enter");
    await until("it was said", () => rig.upstream.seen[2]?.text.includes("last\\n\\tpasted"));
    await say(terminal, "/copy", "The last reply is copied.");
    expect(terminal.clipboard()).toBe("漢字 — done.");
    terminal.type("Up", "Up");
    await until("it is called back", () => terminal.screen().trimEnd().endsWith("⇥pasted"));
  });

  it("lets nothing of a reply act: no colour, no title, no clearing, no clipboard", async () => {
    const evil =
      "\u001B[31mred \u001B]2;evil\u0007 \u001B[2J\u001B[H \u009B2J \u001B]52;c;ZXZpbA==\u0007 end";
    const rig = await openRig(streamText(evil));
    const terminal = rig.open(100, [], { NO_COLOR: "1" });
    await shows(terminal, "A new conversation.");
    await say(terminal, "hi", "␛[31mred ␛]2;evil␇ ␛[2J␛[H <9b>2J ␛]52;c;ZXZpbA==␇ end");
    expect(terminal.screen()).toContain("> hi");
    expect(terminal.coloured()).not.toContain("\u001B[");
    expect(terminal.title()).toBe("hi");
    expect(() => terminal.clipboard()).toThrow("no buffers");
  });

  it("shows in a second terminal what is said in the first", async () => {
    const rig = await openRig(echo);
    const [one, other] = [
      rig.open(80, ["--conversation", "both"]),
      rig.open(60, ["--conversation", "both"]),
    ];
    await shows(one, "new conversation both");
    await shows(other, "new conversation both");
    other.type("half typed");
    await shows(other, "> half typed");
    await say(one, NOW, "You write a test.");
    await shows(other, `> ${NOW}`, "You write a test.", "> half typed");
    expect(other.scrollback()).not.toContain("Device Activity");
    await until("it is named", () => other.title() === NOW);
  });

  it("keeps what came of a reply when its window is closed", async () => {
    const rig = await openRig((_request, response) => {
      startStream(response);
      response.write(chatChunk({ content: "It takes its time to" }));
    });
    const terminal = rig.open(80, ["--conversation", "closed"]);
    await shows(terminal, "new conversation closed");
    terminal.type("first", "Enter");
    await shows(terminal, "It takes its time");
    terminal.close();
    const file = join(rig.daemon.home, "data", "chat", "closed.jsonl");
    await until("the upstream is let go", () => rig.upstream.cut() === 1);
    await expect.poll(() => readFileSync(file, "utf8")).toContain('"It takes its time to"');
  });

  it("ends with the terminal as it was when it is told to end", async () => {
    const rig = await openRig(streamText("Yes."));
    const terminal = rig.open(80);
    await shows(terminal, "A new conversation.");
    await say(terminal, "hi", "Yes.");
    terminal.type("/quit", "Enter");
    await shows(terminal, "ended");
    terminal.type("typed", "Enter");
    // The terminal echoes again what is typed, and `cat` repeats it.
    await until("it echoes", () => terminal.screen().match(/^typed$/gm)?.length === 2);
    expect(terminal.title()).not.toBe("hi");
  });
});

describe("activityd chat in pipes", () => {
  it("prints the replies, speaks them by a command, and fails when the model cannot be reached", async () => {
    const rig = await openRig(echo);
    const spoken = join(rig.daemon.home, "spoken");
    const speak = ["--speak", `cat > '${spoken}'`];
    const fine = await rig.daemon.run(["chat", "--base-url", rig.address, ...speak], `${NOW}\n`);
    expect(fine).toEqual({ code: 0, out: "You write a test.\n", talk: "" });
    expect(readFileSync(spoken, "utf8")).toBe("You write a test.\n");
    expect(rig.upstream.seen[0]?.text).toContain(VOICE_TURN_DIRECTIVE);

    const away = ["chat", "--base-url", "http://127.0.0.1:9/v1"];
    const { code, out, talk } = await rig.daemon.run(away, `${NOW}\n`);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(talk).toBe(
      "! Nobody answers at http://127.0.0.1:9/v1. Start it with: activityd gateway --upstream URL\n",
    );
  });
});

/** The screen without the line breaks that the terminal made. */
function unbroken(terminal: TestTerminal): string {
  return terminal.screen().trimEnd().replaceAll("\n", "");
}
