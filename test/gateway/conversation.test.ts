import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readConversation } from "../../src/gateway/conversation.ts";
import { propertyRuns } from "../helpers/property-runs.ts";

const numRuns = propertyRuns(200, 20_000);

const text = fc.string({ unit: "grapheme" });
const part = fc.oneof(
  text.map((value) => ({ type: "text", text: value })),
  fc.constant({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }),
);
const content = fc.oneof(text, fc.array(part, { maxLength: 4 }));
const message = fc.oneof(
  content.map((value) => ({ role: "user", content: value })),
  text.map((value) => ({ role: "assistant", content: value })),
  text.map((value) => ({ role: "system", content: value })),
  fc.constant({ role: "tool", tool_call_id: "t", content: "{}" }),
);
/** Bodies as clients send them: more fields than anybody here knows, in any order and any layout. */
const body = fc
  .tuple(
    fc.array(message, { maxLength: 6 }),
    content.map((value) => ({ role: "user", content: value })),
    fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), fc.jsonValue(), { maxKeys: 3 }),
    fc.constantFrom(undefined, 1, "\t"),
  )
  .map(([before, last, others, indent]) => {
    const fields = { ...others, messages: [...before, last], model: "m", n: 1 };
    return JSON.stringify(fields, null, indent);
  });

interface Message {
  readonly role: string;
  readonly content: unknown;
}

function messagesOf(json: string): readonly Message[] {
  const { messages }: { messages: readonly Message[] } = JSON.parse(json);
  return messages;
}

/** The texts of a content, in order. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.flatMap(({ text: one }: { text?: string }) => one ?? []) : [];
}

describe("a change to a turn", { timeout: 60_000 }, () => {
  test("changes its first text and nothing else of the body", () => {
    fc.assert(
      fc.property(body, fc.nat(), text, (json, which, modelText) => {
        const conversation = readConversation(json, "chat");
        const index = which % conversation.turns.length;
        const turn = conversation.turns[index];
        const edited = conversation.edited(
          turn === undefined ? [] : [turn.replaceFirstText(modelText)],
        );
        const before = messagesOf(json);
        const after = messagesOf(edited);
        const user = before.flatMap(({ role }, at) => (role === "user" ? [at] : []))[index] ?? -1;
        expect(after.filter((_, at) => at !== user)).toEqual(before.filter((_, at) => at !== user));
        const [, ...others] = textsOf(before[user]?.content);
        expect(textsOf(after[user]?.content)).toEqual([modelText, ...others]);
        expect({ ...JSON.parse(edited), messages: null }).toEqual({
          ...JSON.parse(json),
          messages: null,
        });
      }),
      { numRuns },
    );
  });

  test("and to the system prompt and the model may come together", () => {
    fc.assert(
      fc.property(body, (json) => {
        const conversation = readConversation(json, "chat");
        const edited = conversation.edited([
          ...conversation.turns.map((turn) => turn.replaceFirstText(`block ${turn.firstText}`)),
          conversation.appendToSystemPrompt("directive"),
          conversation.replaceModel("other"),
        ]);
        expect(JSON.parse(edited).model).toBe("other");
        const [first] = messagesOf(edited);
        expect(first?.role).toBe("system");
        const system = messagesOf(edited).filter(({ role }) => role === "system");
        expect(system.filter((one) => String(one.content).endsWith("directive"))).toHaveLength(1);
        expect(edited.match(/directive/g)).toHaveLength(1);
      }),
      { numRuns },
    );
  });
});

describe("the name of a turn", () => {
  const keysOf = (messages: readonly object[]) =>
    readConversation(JSON.stringify({ messages }), "chat").turns.map((turn) => turn.key);
  const user = (value: unknown) => ({ role: "user", content: value });
  const assistant = (value: string) => ({ role: "assistant", content: value });

  test("is the same in every later request of the conversation", () => {
    const [one] = keysOf([user("a")]);
    const [again, two] = keysOf([user("a"), assistant("x"), user("b")]);
    expect(again).toBe(one);
    expect(two).not.toBe(one);
  });

  test("does not change with the system prompt, with tools, or with the form of a reply", () => {
    const plain = keysOf([user("a"), assistant("x"), user("b")]);
    const dressed = keysOf([
      { role: "system", content: "It is 16:12." },
      user("a"),
      { role: "assistant", content: [{ type: "text", text: "x" }], tool_calls: [], refusal: null },
      { role: "tool", tool_call_id: "t", content: "rain" },
      user("b"),
    ]);
    expect(dressed).toEqual(plain);
  });

  test("changes with what was said before it, and with a picture", () => {
    const last = (messages: readonly object[]) => keysOf(messages).at(-1);
    const names = [
      last([user("a"), assistant("x"), user("b")]),
      last([user("a"), assistant("y"), user("b")]),
      last([user("c"), assistant("x"), user("b")]),
      last([user([{ type: "text", text: "b" }])]),
      last([
        user([
          { type: "text", text: "b" },
          { type: "image_url", image_url: { url: "u" } },
        ]),
      ]),
    ];
    expect(new Set(names).size).toBe(names.length);
  });
});
