import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

import { parseConfig } from "../../src/config.ts";
import { privacySchema } from "../../src/capture/privacy/rules.ts";
import { readDocExamples } from "../helpers/doc-examples.ts";
import { runCli } from "../helpers/run-cli.ts";

const page = new URL("../../docs/privacy.md", import.meta.url);
const text = readFileSync(page, "utf8");

describe("docs/privacy.md", () => {
  test("shows commands that print what it says", async () => {
    const examples = readDocExamples(page);
    expect(examples.length).toBeGreaterThan(2);
    for (const { command, output } of examples) {
      const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
        (match) => match[1] ?? match[2] ?? "",
      );
      expect((await runCli(words.slice(1))).out).toBe(output);
    }
  });

  test("shows rules that the config accepts", () => {
    const toml = /^```toml\n(.*?)^```$/ms.exec(text)?.[1] ?? "";
    expect(parseConfig(toml, "config.toml").privacy.rules).toHaveLength(3);
  });

  test("names every key and every action there is, and no other", () => {
    const rule = privacySchema.shape.rules.def.innerType.def.element.shape;
    const named = [...text.matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1]);
    const conditions = ["app", "title", "place", "private", "between", "every"];
    expect(named).toEqual([...conditions, ...rule.action.options]);
    expect(Object.keys(rule).sort()).toEqual(
      [...conditions, "action", "name", "replacement"].sort(),
    );
    for (const key of Object.keys(privacySchema.shape))
      expect(text).toMatch(new RegExp(`\\b${key}\\b`));
  });
});
