/** What is typed and pasted, as the line editor gets it. */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import {
  createTypedInput,
  fromEditorLine,
  showEditorOutput,
  toEditorLine,
} from "../../src/tui/typed-input.ts";

/** What the editor gets of `chunks`. */
async function typed(...chunks: readonly (string | Buffer)[]): Promise<string> {
  const input = createTypedInput();
  let text = "";
  input.on("data", (chunk: Buffer) => (text += chunk.toString()));
  for (const chunk of chunks) input.write(chunk);
  input.end();
  await once(input, "end");
  return text;
}

describe("a text in the editor's one line", () => {
  it("comes out as it went in, with its lines and tabs", () => {
    const text = "if (x) {\n\treturn;\n}";
    expect(toEditorLine(text)).not.toMatch(/[\n\t]/);
    expect(fromEditorLine(toEditorLine(text))).toBe(text);
  });

  it("shows a sign for each line end and tab", () => {
    expect(showEditorOutput(toEditorLine("a\n\tb"))).toBe("a⏎⇥b");
  });
});

describe("what is typed", () => {
  it("reaches the editor as it is, keys included", async () => {
    expect(await typed("ab", "\u001B[A", "\r")).toBe("ab\u001B[A\r");
  });

  it("with Alt-Enter begins a new line within the entry", async () => {
    expect(fromEditorLine(await typed("a\u001B\rb"))).toBe("a\nb");
  });

  it("with the tab key has a tab in it", async () => {
    expect(fromEditorLine(await typed("a\tb"))).toBe("a\tb");
    expect(await typed("a\tb")).not.toContain("\t");
  });

  it("may come in halves of characters", async () => {
    const bytes = Buffer.from("漢");
    expect(await typed(bytes.subarray(0, 1), bytes.subarray(1))).toBe("漢");
  });
});

describe("what is pasted", () => {
  it("is one entry, whatever lines it has, and no key of it is pressed", async () => {
    const paste = "\u001B[200~one\r\ntwo\rthree\u001B[A\u0003\u001B[201~";
    expect(fromEditorLine(await typed(paste))).toBe("one\ntwo\nthree␛[A␃");
  });

  it("may be cut anywhere within its marks", async () => {
    const paste = "x\u001B[200~a\nb\u001B[201~y";
    for (let at = 3; at < paste.length; at += 1)
      expect(fromEditorLine(await typed(paste.slice(0, at), paste.slice(at)))).toBe("xa\nby");
  });
});
