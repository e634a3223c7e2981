/** The chat through a real gateway before an upstream that speaks in splinters: what the owner sees and can do. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatChunk, chatStream, startStream, streamText } from "../helpers/openai-upstream.ts";
import { VOICE_TURN_DIRECTIVE } from "../../src/gateway/voice-steering.ts";
import { shownText } from "../../src/tui/conversations.ts";
import { openChatRig, type ChatRig } from "../helpers/chat-rig.ts";
import { blockNumber } from "../helpers/gateway-rig.ts";
import { until } from "../helpers/until.ts";

/** Keys, as terminals send them. */
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const ENTER = "\r";
const UP = "\u001B[A";

/** An upstream that says `text`, and more only when it is let go. */
function answerSlowly({ upstream }: ChatRig, text: string): void {
  upstream.answerWith((_request, response) => {
    startStream(response);
    response.write(chatChunk({ content: text }));
  });
}

const turnsOf = (chat: ChatRig, id = "c"): readonly string[] =>
  chat.conversations.read(id).map(shownText);

describe("a chat in pipes", () => {
  it("prints the replies and nothing else", async () => {
    const chat = await openChatRig();
    const { out, talk, isFine } = await chat.talk(["what was I doing?", "and now?"]);
    expect({ out, talk, isFine }).toEqual({
      out: "Hello there.\nHello there.\n",
      talk: "",
      isFine: true,
    });
    expect(chat.upstream.seen[0]?.text).toContain("# Device Activity");
  });

  it("tells with the next turn what waited for one whose answer was lost", async () => {
    const chat = await openChatRig();
    chat.daemon.setSilent(true);
    chat.daemon.tell("chat-c", "Build finished");
    chat.daemon.setLosing(true);
    chat.upstream.answerWith(async (request, response) => {
      chat.daemon.setLosing(false);
      await streamText("Hello there.")(request, response);
    });
    await chat.talk(["one", "two", "three"]);
    const told = chat.upstream.seen.map(({ text }) => text.match(/Build finished/g)?.length ?? 0);
    expect(told).toEqual([0, 1, 1]);
  });

  it("prints none of the blocks that stood before the turns", async () => {
    const chat = await openChatRig();
    chat.upstream.answerWith(async (request, response) => {
      const echo = request.text.includes("and now?") ? blockNumber(1) : "";
      await streamText(`${echo}Hello there.`)(request, response);
    });
    const { out } = await chat.talk(["what was I doing?", "and now?"]);
    expect(out).toBe("Hello there.\nHello there.\n");
  });

  it("shows no sequence of a reply that would act on the terminal behind the pipe", async () => {
    const chat = await openChatRig();
    chat.upstream.answerWith(streamText("a\u001B]0;evil\u0007b\u009B2Jc"));
    expect((await chat.talk(["hi"])).out).toBe("a␛]0;evil␇b<9b>2Jc\n");
  });

  it("lists, finds and exports conversations, one a line", async () => {
    const chat = await openChatRig();
    await chat.talk(["why does it fail?"]);
    const { out } = await chat.talk(["/titles", "/search there", "/export"]);
    expect(out).toBe(
      "> why does it fail?\nHello there.\n" +
        "c  2026-11-27 16:12  why does it fail? (2)\n" +
        "c  Hello there.\n" +
        "**You**\n\nwhy does it fail?\n\n**Assistant**\n\nHello there.\n",
    );
  });

  it("tells an unknown command in one sentence, says nothing of it to the model, and ends as failed", async () => {
    const chat = await openChatRig();
    const { out, talk, isFine } = await chat.talk(["/nonsense at all", "/etc/hosts is wrong"]);
    expect(talk).toBe(
      "! There is no command /nonsense. /help lists them; a space in front says it to the model.\n",
    );
    expect({ out, isFine }).toEqual({ out: "Hello there.\n", isFine: false });
    expect(chat.upstream.seen).toHaveLength(1);
    expect(turnsOf(chat)[0]).toBe("/etc/hosts is wrong");
  });

  it.each([
    ["/open", "! /open wants a number of the last list, or an id. /titles lists them.\n"],
    ["/open nothing", '! There is no conversation "nothing". /titles lists them.\n'],
    ["/open 7", '! There is no conversation "7". /titles lists them.\n'],
    ["/search", "! /search wants the words to look for.\n"],
    ["/search nobody", "Nobody said that.\n"],
    ["/edit", "! You have said nothing in this conversation yet.\n"],
    ["/resend", "! You have said nothing in this conversation yet.\n"],
    ["/copy", "! There is nothing to copy yet.\n"],
    ["/titles", "There are no conversations yet.\n"],
    ["/export /nowhere/at/all.md", "! Cannot write /nowhere/at/all.md: ENOENT.\n"],
  ])("answers %s with one sentence when there is nothing to do", async (line, sentence) => {
    const chat = await openChatRig();
    expect((await chat.talk([line])).talk).toBe(sentence);
  });

  it("speaks one reply after the other", async () => {
    const chat = await openChatRig();
    const spoken = join(chat.folder, "spoken");
    await chat.talk(["one", "two"], { speak: `cat >> '${spoken}'` });
    expect(readFileSync(spoken, "utf8")).toBe("Hello there.\nHello there.\n");
  });

  it("writes an export to a file as it was said, and over none that is there", async () => {
    const chat = await openChatRig();
    const file = join(chat.folder, "talk.md");
    chat.upstream.answerWith(streamText("\u001B[1mbold\u001B[0m"));
    const { talk } = await chat.talk(["hi", `/export ${file}`, `/export ${file}`]);
    expect(readFileSync(file, "utf8")).toContain("\u001B[1mbold\u001B[0m");
    expect(talk).toBe(`Written to ${file}.\n! Cannot write ${file}: it is there already.\n`);
  });
});

describe("the words of the owner", () => {
  it("said anew take the place of what followed", async () => {
    const chat = await openChatRig();
    await chat.talk(["first", "second", "/edit third"]);
    expect(turnsOf(chat)).toEqual(["first", "Hello there.", "third", "Hello there."]);
    expect(chat.upstream.seen.at(-1)?.text).not.toContain("second");
  });

  it("asked again are the very bytes they were, with a new reply", async () => {
    const chat = await openChatRig();
    await chat.talk(["first"]);
    chat.upstream.answerWith(streamText("Another."));
    await chat.talk(["/resend"]);
    expect(turnsOf(chat)).toEqual(["first", "Another."]);
    const [before, after] = chat.upstream.seen.map(({ text }) => text);
    expect(after).toBe(before);
  });

  it("go with a context of now when what they had was forgotten", async () => {
    const chat = await openChatRig();
    await chat.talk(["first"]);
    rmSync(join(chat.folder, "model"), { recursive: true });
    await chat.talk(["/resend"]);
    expect(chat.upstream.seen[1]?.text).toContain("number 2");
    expect(turnsOf(chat)).toEqual(["first", "Hello there."]);
  });

  it("go alone without a daemon, which is said once", async () => {
    const chat = await openChatRig();
    chat.daemon.setAway(true);
    const { out, talk } = await chat.talk(["first", "second"]);
    expect(chat.upstream.seen[0]?.body).toMatchObject({
      messages: [{ role: "user", content: "first" }],
    });
    expect(talk).toBe("(Turns go without context. No daemon answers. )\n");
    expect(out).toBe("Hello there.\nHello there.\n");
  });

  it("are byte for byte what the model had before, turn after turn, also after a restart", async () => {
    const chat = await openChatRig();
    await chat.talk(["first"]);
    await chat.talk(["second"]);
    const [first, second] = chat.upstream.seen.map(({ body }) => JSON.stringify(body));
    const turn = /"messages":\[(\{[^}]*\})/;
    expect(turn.exec(second ?? "")?.[1]).toBe(turn.exec(first ?? "")?.[1]);
    expect(second).toContain("Hello there.");
  });
});

describe("a reply", () => {
  it("that says the directive or the block back loses that, on the screen and in the store", async () => {
    const chat = await openChatRig();
    const directive = VOICE_TURN_DIRECTIVE;
    const echoes = [
      directive,
      blockNumber(2),
      `${directive}\n\n${blockNumber(3)}`,
      blockNumber(4) + directive,
    ];
    for (const [count, echo] of echoes.entries()) {
      chat.upstream.answerWith(streamText(`${echo} Good morning.`));
      expect((await chat.talk([`hi ${count}`], { conversation: `c${count}` })).out).toBe(
        "Good morning.\n",
      );
      expect(turnsOf(chat, `c${count}`)).toEqual([`hi ${count}`, "Good morning."]);
    }
  });

  it("of nothing but an echo is told as nothing said, and is not stored", async () => {
    const chat = await openChatRig();
    chat.upstream.answerWith(streamText(VOICE_TURN_DIRECTIVE));
    const { talk } = await chat.talk(["hi"]);
    expect(talk).toBe("(The model said nothing: /resend asks again.)\n");
    expect(turnsOf(chat)).toEqual(["hi"]);
  });

  it("that breaks off is kept as far as it came, and why is told in one sentence", async () => {
    const chat = await openChatRig();
    chat.upstream.answerWith((_request, response) => {
      startStream(response);
      response.write(chatChunk({ content: "Half of it" }), () => response.destroy());
    });
    const { out, talk } = await chat.talk(["hi"]);
    expect(out).toBe("Half of it\n");
    expect(talk).toBe("! The upstream's answer broke off before its end. Ask again.\n");
    expect(turnsOf(chat)).toEqual(["hi", "Half of it"]);
  });

  it("that cannot be had leaves the owner's words stored, and the chat goes on", async () => {
    const chat = await openChatRig();
    await chat.upstream.close();
    const { out, talk } = await chat.talk(["hello", "/titles"]);
    expect(talk).toMatch(/^! The model answered with 502: [^\n]*\n$/);
    expect(out).toBe("c  2026-11-27 16:12  hello (1)\n");
  });
});

describe("a chat on a terminal", () => {
  it("stops a reply by Ctrl-C, keeps what came, and goes on with what was typed meanwhile", async () => {
    const chat = await openChatRig();
    answerSlowly(chat, "It began to");
    const typed = chat.openTyped();
    await typed.sees("> ");
    typed.type(`hi${ENTER}`);
    await typed.sees("It began");
    typed.type("next");
    typed.type(CTRL_C);
    await typed.sees("(stopped; what came is kept)");
    await typed.sees("next");
    expect(turnsOf(chat)).toEqual(["hi", "It began to"]);
    await until("the upstream is let go", () => chat.upstream.cut() === 1);
    chat.upstream.answerWith(streamText("Done."));
    typed.type(ENTER);
    await typed.sees("Done.");
    expect(turnsOf(chat).at(-2)).toBe("next");
  });

  it("clears a line by Ctrl-C, and ends by Ctrl-D alone", async () => {
    const chat = await openChatRig();
    const typed = chat.openTyped();
    await typed.sees("> ");
    typed.type("never mind");
    await typed.sees("never mind");
    typed.type(CTRL_C);
    typed.type(CTRL_C);
    await typed.sees("Ctrl-D ends the chat.");
    typed.type(CTRL_D);
    expect(await typed.end()).toBe(true);
    expect(chat.upstream.seen).toEqual([]);
  });

  it("draws no line to type in once it was ended, also while a reply came", async () => {
    const chat = await openChatRig();
    const typed = chat.openTyped();
    await typed.sees("> ");
    expect(await typed.end()).toBe(true);
    expect(typed.written().split("> ")).toHaveLength(2);

    let finish = (): void => {};
    chat.upstream.answerWith((_request, response) => {
      startStream(response);
      response.write(chatChunk({ content: "Hello to" }));
      finish = () => void response.end(chatStream([" you."]));
    });
    const during = chat.openTyped();
    await during.sees("> ");
    during.type(`hi${ENTER}`);
    await during.sees("Hello");
    during.type(CTRL_D);
    finish();
    await during.sees("to you.");
    expect(await during.end()).toBe(true);
    expect(during.written().split("Hello")[1]).not.toContain("> ");
  });

  it("calls back the owner's words of other conversations, and takes a paste as one turn", async () => {
    const chat = await openChatRig();
    await chat.talk(["what did I read?"], { conversation: "old" });
    const typed = chat.openTyped({ conversation: null });
    await typed.sees("> ");
    typed.type(UP);
    await typed.sees("what did I read?");
    typed.type("\u001B[200~\none\n\ttwo\u001B[201~");
    await typed.sees("two");
    typed.type(ENTER);
    await typed.sees("Hello there.");
    await typed.end();
    const id = chat.conversations.list()[0]?.id ?? "";
    expect(turnsOf(chat, id)[0]).toBe("what did I read?\none\n\ttwo");
    expect(typed.written()).toContain("⏎one⏎⇥two");
  });

  it("breaks a reply at the width the terminal has when it comes", async () => {
    const chat = await openChatRig();
    chat.upstream.answerWith(streamText("one two three four"));
    const typed = chat.openTyped({ columns: 10 });
    await typed.sees("> ");
    typed.type(`hi${ENTER}`);
    await typed.sees("one two\nthree four\n");
    typed.resize(8);
    typed.type(`again${ENTER}`);
    await typed.sees("one two\nthree\nfour\n");
    expect(chat.conversations.read("c").at(-1)?.ownerText).toBe("one two three four");
  });

  it("goes up by the rows that a resized terminal has now, and in xterm by those it drew", async () => {
    const chat = await openChatRig();
    const words = "w".repeat(25);
    for (const [env, up] of [
      [{}, "\u001B[1A"],
      [{ XTERM_VERSION: "XTerm(379)" }, ""],
    ] as const) {
      const typed = chat.openTyped({ columns: 40, env, conversation: null });
      await typed.sees("> ");
      typed.type(words);
      await typed.sees(words.slice(-1));
      await until("it is drawn", () => typed.written().split("w").length > words.length);
      const before = typed.written().length;
      typed.resize(20);
      expect(typed.written().slice(before).split("\u001B[1G")[0]).toBe(up);
    }
  });

  it("leaves an edit by an empty line as it was", async () => {
    const chat = await openChatRig();
    await chat.talk(["first"]);
    const typed = chat.openTyped();
    await typed.sees("> ");
    typed.type(`/edit${ENTER}`);
    await typed.sees("leaves all as it is.");
    await typed.sees("first");
    typed.type(CTRL_C);
    typed.type(ENTER);
    typed.type(`second${ENTER}`);
    await typed.sees("Hello there.");
    await typed.end();
    expect(turnsOf(chat)).toEqual(["first", "Hello there.", "second", "Hello there."]);
  });

  it("shows what another said while a reply came once, and its own turns no second time", async () => {
    const chat = await openChatRig();
    answerSlowly(chat, "It began to");
    const typed = chat.openTyped();
    await typed.sees("> ");
    typed.type(`hi${ENTER}`);
    await typed.sees("It began");
    chat.upstream.answerWith(streamText("For the other."));
    await chat.talk(["said elsewhere"]);
    expect(typed.written()).not.toContain("said elsewhere");
    typed.type(CTRL_C);
    await typed.sees("> said elsewhere\nFor the other.\n");
    await typed.end();
    expect(typed.written().match(/It began/g)).toHaveLength(1);
    expect(typed.written().match(/said elsewhere/g)).toHaveLength(1);
  });

  it("is told when what it shows was changed elsewhere", async () => {
    const chat = await openChatRig();
    await chat.talk(["first", "second"]);
    const typed = chat.openTyped();
    await typed.sees("> second");
    await chat.talk(["/edit third"]);
    await typed.sees("(The conversation was changed elsewhere.)");
    await typed.sees("> third");
    expect(typed.written().match(/> first/g)).toHaveLength(1);
  });

  it("silences a voice by Ctrl-C, tells at once of one that cannot speak, and goes on", async () => {
    const chat = await openChatRig();
    const started = join(chat.folder, "started");
    const speak = `if [ -e '${started}' ]; then echo no voice >&2; exit 1; fi; : > '${started}'; sleep 60`;
    const typed = chat.openTyped({ speak });
    await typed.sees("> ");
    typed.type(`hi${ENTER}`);
    await typed.sees("Hello there.");
    await until("the voice speaks", () => existsSync(started));
    typed.type(CTRL_C);
    typed.type(`again${ENTER}`);
    await typed.sees("Hello there.");
    await typed.sees("! Nothing was spoken: no voice");
    expect(await typed.end()).toBe(true);
  });

  it("asks nothing of a terminal that would show the question", async () => {
    const chat = await openChatRig();
    for (const TERM of ["dumb", "linux"]) {
      const typed = chat.openTyped({ env: { TERM } });
      await typed.sees("> ");
      typed.type(`hi${ENTER}`);
      await typed.sees("Hello there.");
      typed.type(`/copy${ENTER}`);
      await typed.sees("There is no terminal whose clipboard could be set.");
      await typed.end();
      expect(typed.written()).not.toContain("\u001B]");
    }
  });
});
