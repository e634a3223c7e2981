import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStreamFilter, filterWholeReply } from "../../src/gateway/reply-filter.ts";
import { stripLeakedDirectives, VOICE_TURN_DIRECTIVE } from "../../src/gateway/voice-steering.ts";
import { propertyRuns } from "../helpers/property-runs.ts";

const ECHO = VOICE_TURN_DIRECTIVE;

/** A chat stream as upstreams send it: a role, the pieces of content, the finish, the usage. */
function chatStream(pieces: readonly string[], lineEnd = "\n"): string {
  const chunk = (delta: object, finish: string | null = null) =>
    event(
      {
        id: "c1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      },
      lineEnd,
    );
  return [
    chunk({ role: "assistant", content: "" }),
    ...pieces.map((content) => chunk({ content })),
    chunk({}, "stop"),
    event({ id: "c1", choices: [], usage: { total_tokens: 7 } }, lineEnd),
    `data: [DONE]${lineEnd}${lineEnd}`,
  ].join("");
}

function event(data: object, lineEnd = "\n", name?: string): string {
  const head = name === undefined ? "" : `event: ${name}${lineEnd}`;
  return `${head}data: ${JSON.stringify(data)}${lineEnd}${lineEnd}`;
}

/** Runs bytes through a filter in pieces of the given sizes, over and over. */
function run(
  stream: string,
  sizes: readonly number[],
  dialect: "chat" | "responses" = "chat",
  replies = 1,
): string {
  const filter = createStreamFilter(dialect, replies);
  const bytes = Buffer.from(stream);
  const out: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    out.push(filter.push(bytes.subarray(at, at + size)));
    at += size;
  }
  out.push(filter.end());
  return Buffer.concat(out).toString("utf8");
}

interface Delta {
  readonly choices?: readonly {
    readonly index: number;
    readonly delta?: { readonly content?: string };
    readonly finish_reason?: string | null;
    readonly activityd?: unknown;
  }[];
}

function eventsOf(stream: string): readonly Delta[] {
  return stream
    .split(/\r?\n\r?\n/)
    .filter((part) => part.startsWith("data: {"))
    .map((part): Delta => JSON.parse(part.slice(6)));
}

function contentOf(stream: string, index = 0): string {
  return eventsOf(stream)
    .flatMap((data) => data.choices ?? [])
    .filter((choice) => choice.index === index)
    .map((choice) => choice.delta?.content ?? "")
    .join("");
}

const sizes = fc.array(fc.integer({ min: 1, max: 13 }), { minLength: 1, maxLength: 9 });
const pieces = fc.array(fc.string({ unit: "binary", maxLength: 12 }).map(wellFormed), {
  maxLength: 12,
});

function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** A run takes a millisecond. */
const numRuns = propertyRuns(60, 5_000);

describe("a streamed reply", { timeout: 60_000 }, () => {
  test("that echoes nothing comes out byte for byte, whatever the pieces", () => {
    fc.assert(
      fc.property(pieces, sizes, fc.constantFrom("\n", "\r\n", "\r"), (content, cuts, lineEnd) => {
        const stream = chatStream(["Hi. ", ...content], lineEnd);
        expect(run(stream, cuts)).toBe(stream);
      }),
      { numRuns },
    );
  });

  test("says what the whole reply would say without the echo, whatever the pieces", () => {
    const echoes = fc.constantFrom(
      ECHO,
      `"${ECHO}"\n\n`,
      `System: ${ECHO} `,
      ECHO.slice(0, 90),
      "",
    );
    fc.assert(
      fc.property(
        echoes,
        pieces,
        sizes,
        fc.integer({ min: 1, max: 40 }),
        (echo, content, cuts, width) => {
          const text = echo + content.join("");
          const cut = text.match(new RegExp(`[\\s\\S]{1,${width}}`, "gu")) ?? [];
          expect(contentOf(run(chatStream(cut), cuts))).toBe(stripLeakedDirectives(text));
        },
      ),
      { numRuns },
    );
  });

  test("loses an echoed directive at every place where it may be cut in two", () => {
    const reply = `${ECHO} Good morning.`;
    for (let at = 1; at < reply.length; at += 1) {
      const out = run(chatStream([reply.slice(0, at), reply.slice(at)]), [4096]);
      expect(contentOf(out)).toBe("Good morning.");
      expect(out).not.toContain("owner hears");
    }
  });

  test("keeps both halves of a line end that came in two pieces", () => {
    const stream = chatStream([ECHO, " Hello."], "\r\n");
    for (let at = 1; at < stream.length; at += 1)
      expect(run(stream, [at, stream.length])).not.toMatch(/\r(?!\n)/);
  });

  test("keeps its finish, its usage and its end when an echo was taken off", () => {
    const out = run(chatStream([ECHO, " Hello."]), [7]);
    expect(out).toContain('"finish_reason":"stop"');
    expect(out).toContain('"total_tokens":7');
    expect(out.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("of which nothing is left says so where it finishes", () => {
    const finish = eventsOf(run(chatStream([ECHO]), [64]))
      .flatMap((data) => data.choices ?? [])
      .find((choice) => choice.finish_reason === "stop");
    expect(finish?.activityd).toEqual({ reply: "emptied" });
  });

  test("that was empty from the start says nothing of the kind", () => {
    const stream = chatStream([]);
    expect(run(stream, [64])).toBe(stream);
  });

  test("that only begins like the directive and breaks off comes out whole", () => {
    const stream = chatStream([ECHO.slice(0, 20)]).replace(/data: \{[^\n]*"stop"[\s\S]*$/, "");
    expect(contentOf(run(stream, [5]))).toBe(ECHO.slice(0, 20));
  });

  test("whose choices bear no number loses the echo too, and passes once it has begun", () => {
    const stream = (pieces: readonly string[]) => chatStream(pieces).replaceAll('"index":0,', "");
    const said = eventsOf(run(stream([...(ECHO.match(/.{1,9}/g) ?? []), " Hi."]), [50]))
      .flatMap((data) => data.choices ?? [])
      .map((choice) => choice.delta?.content ?? "");
    expect(said.join("")).toBe("Hi.");
    expect(run(stream(["Hi", " there"]), [50])).toBe(stream(["Hi", " there"]));
  });

  test("does not hold up another that runs beside it", () => {
    const both = (first: string, second: string) =>
      event({
        choices: [
          { index: 0, delta: { content: first } },
          { index: 1, delta: { content: second } },
        ],
      });
    const stream = both(ECHO, "Plain ") + both(" One.", "text.") + "data: [DONE]\n\n";
    const out = run(stream, [11], "chat", 2);
    expect([contentOf(out, 0), contentOf(out, 1)]).toEqual(["One.", "Plain text."]);
  });

  test("of tool calls, comments and errors passes untouched", () => {
    const stream =
      ": keep-alive\n\n" +
      event({
        choices: [
          { index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: "{" } }] } },
        ],
      }) +
      event({ error: { message: "overloaded", type: "server_error", code: null, param: null } });
    expect(run(stream, [3])).toBe(stream);
  });

  test("gives what it held before an error, behind which no client reads on", () => {
    const begun = event({ choices: [{ index: 0, delta: { content: ECHO.slice(0, 20) } }] });
    const error = event({ error: { message: "overloaded", type: "server_error" } });
    const out = run(begun + error, [7]);
    expect(contentOf(out)).toBe(ECHO.slice(0, 20));
    expect(out.endsWith(error)).toBe(true);
  });

  test.each([[null], [[]]])("calls no tool by naming none: %j", (none) => {
    const finish = (calls: unknown) =>
      event({
        choices: [{ index: 0, delta: { content: ECHO, tool_calls: calls }, finish_reason: "stop" }],
      });
    expect(run(finish(none), [64])).toContain('"activityd":{"reply":"emptied"}');
    expect(run(finish([{ index: 0 }]), [64])).not.toContain("emptied");
  });

  test("takes the log probabilities of an echo with it", () => {
    const stream = event({
      choices: [
        {
          index: 0,
          delta: { content: `${ECHO} Yes` },
          logprobs: { content: [{ token: "owner hears" }] },
        },
      ],
    });
    expect(run(stream, [50])).not.toContain("owner hears");
  });
});

describe("a streamed reply of the responses API", () => {
  const at = { item_id: "m1", output_index: 0, content_index: 0 };
  const message = (text: string) => ({
    id: "m1",
    type: "message",
    content: [{ type: "output_text", text }],
  });
  const stream = (texts: readonly string[]) =>
    [
      { type: "response.created", response: { id: "r1", output: [] } },
      ...texts.map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
      { type: "response.output_text.done", ...at, text: texts.join("") },
      {
        type: "response.content_part.done",
        ...at,
        part: { type: "output_text", text: texts.join("") },
      },
      { type: "response.output_item.done", output_index: 0, item: message(texts.join("")) },
      { type: "response.completed", response: { id: "r1", output: [message(texts.join(""))] } },
    ]
      .map((data, sequence_number) => event({ ...data, sequence_number }, "\n", data.type))
      .join("");

  test("comes out byte for byte when it echoes nothing", () => {
    expect(run(stream(["Good", " morning"]), [9], "responses")).toBe(stream(["Good", " morning"]));
  });

  test("loses the echo in its pieces and in every summary of them", () => {
    const out = run(
      stream([ECHO.slice(0, 30), ECHO.slice(30), " Good ", "morning"]),
      [13],
      "responses",
    );
    expect(out).not.toContain("owner hears");
    const deltas = [...out.matchAll(/"delta":"((?:[^"\\]|\\.)*)"/g)]
      .map((match) => match[1])
      .join("");
    expect(deltas).toBe("Good morning");
    expect(out.match(/"text":"Good morning"/g)).toHaveLength(4);
  });

  test.each(["response.incomplete", "response.failed", "error", null])(
    "gives what it held where its text has no end of its own: %s",
    (type) => {
      const delta = "response.output_text.delta";
      const begun = event({ type: delta, ...at, delta: ECHO.slice(0, 20) }, "\n", delta);
      const end = type === null ? "" : event({ type, response: { output: [] } }, "\n", type);
      const out = run(begun + end, [13], "responses");
      expect(out).toBe(
        event({ type: delta, ...at, delta: "", logprobs: [] }, "\n", delta) +
          event({ type: delta, ...at, delta: ECHO.slice(0, 20), logprobs: [] }, "\n", delta) +
          end,
      );
    },
  );

  test("of which nothing is left says so when it is complete", () => {
    expect(run(stream([ECHO]), [99], "responses")).toContain('"activityd":{"reply":"emptied"}');
  });
});

describe("a whole reply", () => {
  test("that echoes nothing is the same bytes, and so is what is no reply", () => {
    for (const json of [
      '{ "choices":[{"message":{"role":"assistant","content":"Hi"}}],"x":1.0 }',
      '{"error":{"message":"no"}}',
      "<html>",
      "[]",
    ]) {
      expect(filterWholeReply(json, "chat")).toBe(json);
    }
  });

  test("loses the echo and nothing else", () => {
    const json = `{"id": 9007199254740993,"choices":[{"logprobs":{"content":[]},"message":{"content":${JSON.stringify(`${ECHO} Hi.`)}}}] }`;
    expect(filterWholeReply(json, "chat")).toBe(
      '{"id": 9007199254740993,"choices":[{"logprobs":null,"message":{"content":"Hi."}}] }',
    );
  });

  test("in parts loses the echo where its text begins", () => {
    const thought = { type: "thinking", thinking: [{ type: "text", text: "Spoken, so short." }] };
    const parts = (text: string) => [thought, { type: "text", text }, { type: "text", text: ECHO }];
    const json = (text: string) =>
      JSON.stringify({ choices: [{ message: { role: "assistant", content: parts(text) } }] });
    expect(filterWholeReply(json(`${ECHO} Hi.`), "chat")).toBe(json("Hi."));
    expect(filterWholeReply(json("Hi."), "chat")).toBe(json("Hi."));
  });

  test("of which nothing is left says so", () => {
    const json = JSON.stringify({ choices: [{ message: { role: "assistant", content: ECHO } }] });
    expect(JSON.parse(filterWholeReply(json, "chat")).choices[0]).toEqual({
      activityd: { reply: "emptied" },
      message: { role: "assistant", content: "" },
    });
  });

  test.each([[null], [[]]])("calls no tool by naming none: %j", (none) => {
    const json = (calls: unknown) =>
      JSON.stringify({ choices: [{ message: { content: ECHO, tool_calls: calls } }] });
    expect(filterWholeReply(json(none), "chat")).toContain('"activityd":{"reply":"emptied"}');
    expect(filterWholeReply(json([{ id: "t" }]), "chat")).not.toContain("emptied");
  });

  test("of the responses API loses the echo too", () => {
    const json = JSON.stringify({
      output: [{ type: "reasoning" }, { content: [{ type: "output_text", text: `${ECHO} Hi.` }] }],
    });
    expect(JSON.parse(filterWholeReply(json, "responses")).output[1].content[0].text).toBe("Hi.");
  });
});
