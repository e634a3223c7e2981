/**
 * Every place that shows or speaks a turn: the owner's words, and nothing that was put before them. Each is
 * tried on the chat of the product, with turns stored beside their words and with rows that hold the composed
 * string alone.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { composeTurn, stripUserContent } from "../../src/context/turn.ts";
import { VOICE_TURN_DIRECTIVE } from "../../src/gateway/voice-steering.ts";
import { shownText } from "../../src/tui/conversations.ts";
import { openChatRig, type ChatRig, type TypedChat } from "../helpers/chat-rig.ts";
import { blockNumber } from "../helpers/gateway-rig.ts";
import { streamText } from "../helpers/openai-upstream.ts";

const ENTER = "\r";
/** The prompt as the line editor draws it, below everything. */
const INPUT_LINE = "\u001B[0J> ";

/** Words of every part of what is put before a turn here. */
const INJECTED = /Device Activity|Focused|Exec finished|number \d/;

/** A turn as a host stores it that keeps the composed string alone. */
function composed(ownerText: string, lines: readonly string[] = ["- Focused: Code"]): string {
  return composeTurn({
    events: [{ text: "Exec finished with code 3", ts: "now" }],
    activity: [{ kind: "realtime", lines }],
    ownerText,
  }).composed;
}

/** Stores a row that holds the composed string alone. */
function storeRaw(chat: ChatRig, id: string, modelText: string): void {
  chat.conversations.append(id, { role: "user", ownerText: null, modelText, atUs: 1_000_000 });
}

async function openOn(chat: ChatRig, id: string, env: Record<string, string> = {}) {
  const typed = chat.openTyped({ conversation: id, env });
  await typed.sees(INPUT_LINE);
  return typed;
}

/** Says `line` on the terminal and waits for the reply's end. */
async function say(typed: TypedChat, line: string): Promise<void> {
  typed.type(`${line}${ENTER}`);
  await typed.sees("Hello there.");
  await typed.sees(INPUT_LINE);
}

describe("the owner's words alone stand in", () => {
  it("live echo", async () => {
    const chat = await openChatRig();
    const typed = chat.openTyped();
    await say(typed, "what was I doing?");
    await say(typed, "System: is what I typed");
    expect(chat.upstream.seen.map(({ text }) => text).join("")).toContain("number 2");
    expect(typed.written()).toContain("System: is what I typed");
    expect(typed.written()).not.toMatch(INJECTED);
  });

  it("history load", async () => {
    const chat = await openChatRig();
    storeRaw(chat, "c", composed("why?"));
    await chat.talk(["and now?"]);
    const typed = await openOn(chat, "c");
    expect(typed.written()).toContain("> why?\n> and now?\nHello there.\n");
    expect(typed.written()).not.toMatch(INJECTED);
    const { out } = await chat.talk([]);
    expect(out).toBe("> why?\n> and now?\nHello there.\n");
  });

  it("live push", async () => {
    const chat = await openChatRig();
    const typed = await openOn(chat, "c");
    typed.type("half typed");
    await typed.sees("half typed");
    await chat.talk(["said elsewhere"]);
    await typed.sees("> said elsewhere\n");
    await typed.sees("Hello there.\n");
    await typed.sees("half typed");
    storeRaw(chat, "c", composed("by another host"));
    await typed.sees("> by another host\n");
    expect(typed.written()).not.toMatch(INJECTED);
  });

  it("conversation title", async () => {
    const chat = await openChatRig();
    storeRaw(chat, "old", composed("why\u0007 does\u001B]2;it\nfail?"));
    const typed = await openOn(chat, "old");
    expect(typed.written()).toContain("\u001B]2;why␇ does␛]2;it fail?\u0007");
    const fresh = chat.openTyped({ conversation: "c" });
    await say(fresh, "what was I doing?");
    await fresh.end();
    expect(fresh.written()).toContain("\u001B]2;what was I doing?\u0007");
    expect(typed.written() + fresh.written()).not.toMatch(INJECTED);
    // And none of it stays behind.
    expect(fresh.written().endsWith("\u001B]2;\u0007\u001B[23;2t")).toBe(true);
  });

  it("list preview", async () => {
    const chat = await openChatRig();
    await chat.talk(["what was I doing?"]);
    storeRaw(chat, "old", composed("why\ndoes it fail?"));
    const typed = await openOn(chat, "c");
    typed.type(`/titles${ENTER}`);
    await typed.sees(
      " 1  what was I doing?\n    Fri 27 Nov 2026 16:12 · 2 turns · Hello there.\n" +
        " 2  why does it fail?\n    Thu 1 Jan 1970 00:00 · 1 turn · why does it fail?\n",
    );
    expect(typed.written()).not.toMatch(INJECTED);
  });

  it.each([
    ["OSC 9", { TERM_PROGRAM: "WezTerm" }, "\u001B]9;Answered: why does it fail?\u0007"],
    [
      "OSC 777",
      { TERM: "foot" },
      "\u001B]777;notify;activityd chat;Answered: why does it fail?\u0007",
    ],
    ["the bell, in tmux", { TMUX: "/tmp/tmux" }, "\u0007"],
  ])("notification by %s", async (_way, env, notification) => {
    const chat = await openChatRig();
    storeRaw(chat, "c", composed("why does it fail?"));
    const typed = await openOn(chat, "c", env);
    await say(typed, "a short one");
    const before = typed.written();
    const answer = streamText("Hello there.");
    chat.upstream.answerWith(async (request, response) => {
      chat.clock.advanceMs(11_000);
      await answer(request, response);
    });
    await say(typed, "a long one");
    const told = typed.written().slice(before.length).split("Hello there.")[1] ?? "";
    expect(told).toContain(notification);
    expect(before.split("Hello there.")[1]).not.toContain(notification);
    expect(typed.written()).not.toMatch(INJECTED);
  });

  it("search index and snippet", async () => {
    const chat = await openChatRig();
    storeRaw(chat, "old", composed(`${"word ".repeat(30)}needle ${"word ".repeat(30)}`));
    const typed = await openOn(chat, "c");
    typed.type(`/search Focused${ENTER}`);
    await typed.sees("Nobody said that.");
    typed.type(`/search exec${ENTER}`);
    await typed.sees("Nobody said that.");
    typed.type(`/search needle${ENTER}`);
    await typed.sees(" 1  word word");
    await typed.sees("· …word");
    await typed.sees("word needle word");
    // What was typed to search for it stands there, and nothing else of it.
    expect(typed.written().replaceAll(/\/search Focused/g, "")).not.toMatch(INJECTED);
    expect((await chat.talk(["/search NEEDLE"])).out).toMatch(
      /^old {2}word [^\n]* needle [^\n]*\n$/,
    );
  });

  it("export", async () => {
    const chat = await openChatRig();
    storeRaw(chat, "c", composed("why?"));
    await chat.talk(["and now?"]);
    const file = join(chat.folder, "export.md");
    await chat.talk([`/export ${file}`]);
    expect(readFileSync(file, "utf8")).toBe(
      "**You**\n\nwhy?\n\n**You**\n\nand now?\n\n**Assistant**\n\nHello there.\n",
    );
  });

  it("copy/edit/resend", async () => {
    const chat = await openChatRig();
    const modelText = composed("why\n does it fail?");
    storeRaw(chat, "c", modelText);
    const typed = await openOn(chat, "c");
    const inClipboard = Buffer.from("why\n does it fail?").toString("base64");
    typed.type(`/copy mine${ENTER}`);
    await typed.sees(`\u001B]52;c;${inClipboard}\u0007`);
    typed.type(`/resend${ENTER}`);
    await typed.sees("Hello there.");
    // The model gets the very bytes it had; the row that is stored now keeps the words beside them.
    expect(chat.upstream.seen[0]?.body).toMatchObject({
      messages: [{ role: "user", content: modelText }],
    });
    expect(chat.conversations.read("c")[0]).toMatchObject({ ownerText: "why\n does it fail?" });
    typed.type(`/edit${ENTER}`);
    await typed.sees("leaves all as it is.)");
    await typed.sees("why⏎ does it fail?");
    typed.type(` again${ENTER}`);
    await typed.sees("Hello there.");
    expect(chat.conversations.read("c").map(shownText)).toEqual([
      "why\n does it fail? again",
      "Hello there.",
    ]);
    expect(typed.written()).not.toMatch(INJECTED);
  });

  it("speech", async () => {
    const chat = await openChatRig();
    const spoken = join(chat.folder, "spoken");
    const echo = `${VOICE_TURN_DIRECTIVE}\n${blockNumber(1)}`;
    chat.upstream.answerWith(streamText(`${echo}You wrote code. Then\nyou read.`));
    const { out } = await chat.talk(["what was I doing?"], { speak: `cat > '${spoken}'` });
    expect(chat.upstream.seen[0]?.body).toMatchObject({
      messages: [{ role: "system", content: VOICE_TURN_DIRECTIVE }, { role: "user" }],
    });
    expect(readFileSync(spoken, "utf8")).toBe("You wrote code.\nThen\nyou read.\n");
    expect(out).toBe("You wrote code. Then\nyou read.\n");
  });

  it("speech that cannot be had, which is told, and the reply is there", async () => {
    const chat = await openChatRig();
    const { out, talk } = await chat.talk(["hi"], { speak: "echo no voice here >&2; exit 3" });
    expect(out).toBe("Hello there.\n");
    expect(talk).toBe("! Nothing was spoken: no voice here\n");
  });
});

describe("a turn that held nothing but context", () => {
  it("has no place in a chat, an export, a list or what was said before", async () => {
    const chat = await openChatRig();
    storeRaw(chat, "c", composed(""));
    await chat.talk(["why?"]);
    storeRaw(chat, "c", composed(""));
    const said = "> why?\nHello there.\n";
    const { out } = await chat.talk(["/export", "/titles"]);
    expect(out).toBe(
      `${said}**You**\n\nwhy?\n\n**Assistant**\n\nHello there.\nc  1970-01-01 00:00  why? (2)\n`,
    );
    expect(chat.conversations.list()).toMatchObject([{ title: "why?", preview: "Hello there." }]);
    expect(chat.conversations.saidBefore(9)).toEqual(["why?"]);
  });

  it("is none of the owner's to be edited or sent again", async () => {
    const chat = await openChatRig();
    await chat.talk(["why?"]);
    storeRaw(chat, "c", composed(""));
    await chat.talk(["/resend"]);
    expect(chat.conversations.read("c").map(shownText)).toEqual(["why?", "Hello there."]);
  });
});

describe("the strip is never done", () => {
  it("on assistant text", async () => {
    const chat = await openChatRig();
    const reply = "System: is a mark.\n\n# A heading\n- and its body\n---\n\nThat is the grammar.";
    chat.upstream.answerWith(streamText(reply));
    const spoken = join(chat.folder, "spoken");
    const { out } = await chat.talk(["show me", "/export", "/search grammar"], {
      speak: `cat > '${spoken}'`,
    });
    expect(out).toBe(
      `${reply}\n**You**\n\nshow me\n\n**Assistant**\n\n${reply}\nc  That is the grammar.\n`,
    );
    expect((await chat.talk([])).out).toBe(`> show me\n${reply}\n`);
    expect(readFileSync(spoken, "utf8")).toContain("System: is a mark.\n");
  });

  it("after newlines were collapsed", async () => {
    const chat = await openChatRig();
    storeRaw(chat, "old", composed("why\n\ndoes it fail?"));
    // On one line the mark of the first block would swallow all that follows.
    expect((await chat.talk(["/titles"])).out).toBe(
      "old  1970-01-01 00:00  why does it fail? (1)\n",
    );
  });

  it("after truncation", async () => {
    const chat = await openChatRig();
    const lines = Array.from({ length: 40 }, (_, line) => `- Focused: Code, line ${line}`);
    storeRaw(chat, "old", composed("why does it fail?", lines));
    // Cut to the length of a title, a preview or a snippet the block would have no end.
    expect(chat.conversations.list()).toMatchObject([
      { title: "why does it fail?", preview: "why does it fail?" },
    ]);
    expect(chat.conversations.search("line")).toEqual([]);
  });

  it("per content part", () => {
    const parts = [
      { type: "text", text: composed("look at this:") },
      { type: "image_url", image_url: { url: "data:," } },
      { type: "text", text: composed("which I pasted") },
    ];
    expect(stripUserContent(parts)).toEqual([
      { type: "text", text: "look at this:" },
      parts[1],
      parts[2],
    ]);
  });

  it("twice", async () => {
    const chat = await openChatRig();
    const own = composed("is what I pasted");
    storeRaw(chat, "c", composed(own));
    expect(chat.conversations.read("c").map(shownText)).toEqual([own]);
    const { out } = await chat.talk(["/resend", "/export", "/search Focused"]);
    expect(out).toContain(`**You**\n\n${own}\n`);
    expect(out).toMatch(/\nc {2}- Focused: Code\n$/);
    expect(chat.conversations.read("c").map(shownText)).toEqual([own, "Hello there."]);
    expect(chat.conversations.list()[0]?.title).toMatch(/^System: \[/);
  });
});
