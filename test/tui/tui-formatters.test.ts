import { describe, expect, test } from "vitest";
import { stripLeadingSystemContext } from "../../src/tui/tui-formatters.ts";

describe("stripLeadingSystemContext", () => {
  test("takes off a stacked run in any order and keeps the first real line as it is", () => {
    expect(
      stripLeadingSystemContext(
        "# a\n- b\n---\n\nSystem: c\nSystem: d\n \n\nSystem: e\n# f\n---\n   hi\n\nSystem: g",
      ),
    ).toBe("   hi\n\nSystem: g");
  });
});
