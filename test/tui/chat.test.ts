/** The chat through a real gateway before an upstream that speaks in splinters: what the owner sees of it. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { VOICE_TURN_DIRECTIVE } from "../../src/gateway/voice-steering.ts";
import { runChat } from "../../src/tui/chat.ts";
import { openConversations, shownText } from "../../src/tui/conversations.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { openGatewayRig, TOKEN } from "../helpers/gateway-rig.ts";
import { streamText } from "../helpers/openai-upstream.ts";
import { createTempHome } from "../helpers/temp-home.ts";

async function openChat() {
  const rig = await openGatewayRig();
  const folder = createTempHome();
  const conversations = openConversations(folder, join(folder, "model"));
  const clock = createFakeClock("2026-11-27T16:12:00Z");
  /** Types `lines` and gives the screen. */
  const talk = async (
    lines: readonly string[],
    conversation: string | null = "c",
  ): Promise<string> => {
    let screen = "";
    await runChat({
      api: { composeTurn: async (request) => rig.daemon.composeTurn(request) },
      conversations,
      clock,
      baseUrl: rig.gateway.address,
      apiKey: TOKEN,
      model: "m",
      input: Readable.from([lines.map((line) => `${line}\n`).join("")]),
      write: (text) => {
        screen += text;
      },
      conversation,
    });
    return screen;
  };
  return { ...rig, conversations, folder, talk };
}

describe("what the owner sees of a chat", () => {
  it("live: the reply and none of what was injected", async () => {
    const chat = await openChat();
    const screen = await chat.talk(["what was I doing?"]);
    expect(screen).toBe("> Hello there.\n> ");
    expect(chat.upstream.seen[0]?.text).toContain("# Device Activity");
  });

  it("after a reload, in titles, search and export: the owner's words alone", async () => {
    const chat = await openChat();
    await chat.talk(["# Plan\\nwhat was I doing?"]);
    expect(await chat.talk([])).toBe("> # Plan\\nwhat was I doing?\nHello there.\n> ");
    const rest = await chat.talk([
      "/titles",
      "/search what",
      "/export",
      "/search Activity",
      "/quit",
    ]);
    expect(rest).toContain("c  # Plan\\nwhat was I doing? (2)\n");
    expect(rest).toContain("**You**\n\n# Plan\\nwhat was I doing?\n");
    expect(rest).not.toContain("Device Activity");
  });

  it("of a row that holds the composed string alone: what is left of it after one strip", () => {
    const folder = createTempHome();
    const conversations = openConversations(folder, join(folder, "model"));
    const modelText =
      "System: [now] Exec finished\n\n# Device Activity (exact, real-time)\n- Focused: Code\n---\n\nwhy?";
    conversations.append("old", { role: "user", ownerText: null, modelText, atUs: 1 });
    expect(conversations.read("old").map(shownText)).toEqual(["why?"]);
    expect(conversations.list()).toMatchObject([{ id: "old", title: "why?" }]);
    expect(conversations.exportText("old")).toBe("**You**\n\nwhy?\n");
    expect(conversations.search("Focused")).toEqual([]);
  });

  it("of a reply that says the directive back: the rest of it, on the screen and in the store", async () => {
    const chat = await openChat();
    chat.upstream.answerWith(streamText(`${VOICE_TURN_DIRECTIVE} Good morning.`));
    expect(await chat.talk(["hi"])).toBe("> Good morning.\n> ");
    expect(chat.conversations.read("c").at(-1)?.ownerText).toBe("Good morning.");
  });
});

describe("what the model gets of a chat", () => {
  it("is byte for byte what it had before, turn after turn, also after a restart", async () => {
    const chat = await openChat();
    await chat.talk(["first"]);
    await chat.talk(["second"]);
    const [first, second] = chat.upstream.seen.map(({ body }) => JSON.stringify(body));
    const turn = /"messages":\[(\{[^}]*\})/;
    expect(turn.exec(second ?? "")?.[1]).toBe(turn.exec(first ?? "")?.[1]);
    expect(second).toContain("Hello there.");
  });

  it("is the owner's words again when what it was given was forgotten", async () => {
    const chat = await openChat();
    await chat.talk(["first"]);
    rmSync(join(chat.folder, "model"), { recursive: true });
    chat.daemon.setAway(true);
    await chat.talk(["/resend"]);
    expect(chat.upstream.seen[1]?.text).not.toContain("Device Activity");
    expect(chat.conversations.read("c").map(shownText)).toEqual([
      "first",
      "Hello there.",
      "first",
      "Hello there.",
    ]);
  });
});

describe("a chat whose model cannot be reached", () => {
  it("says so in one sentence, keeps the owner's words and goes on", async () => {
    const chat = await openChat();
    await chat.upstream.close();
    const screen = await chat.talk(["hello", "/titles"]);
    expect(screen).toMatch(/^> ! The model answered with 502: /);
    expect(screen).toContain("c  hello (1)\n");
  });
});
