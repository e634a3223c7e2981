import { describe, expect, test } from "vitest";
import { describeExec } from "../../../src/auto-reply/reply/exec-event.ts";

const finished = { kind: "exited", code: 0 } as const;

describe("a command that ended", () => {
  test("is told by its end, its time and its last lines", () => {
    expect(
      describeExec({
        command: ["sh", "-c", "echo 'one'; exit 3"],
        outcome: { kind: "exited", code: 3 },
        durationMs: 61_000,
        output: "\none\n\ntwo\r\n\n",
      }),
    ).toBe(
      String.raw`Exec finished with code 3 after 1 min: sh -c 'echo '\''one'\''; exit 3'` +
        "\none\n\ntwo",
    );
  });

  test.each([
    [
      { kind: "killed", signal: "SIGKILL" } as const,
      1500,
      "Exec was ended by SIGKILL after 1 s: make",
    ],
    [
      { kind: "not-started", reason: "ENOENT" } as const,
      3.4,
      "Exec did not start (ENOENT) after 3 ms: make",
    ],
    [finished, -1, "Exec finished with code 0 after 0 ms: make"],
  ])("%j", (outcome, durationMs, expected) => {
    expect(describeExec({ command: ["make"], outcome, durationMs, output: null })).toBe(expected);
  });

  test("colours go, and of a progress meter only its last state stays", () => {
    expect(
      describeExec({
        command: ["make"],
        outcome: finished,
        durationMs: 0,
        output: "\u001b[32m10%\r55%\r100%\r\n\u001b[1mdone\u001b[0m",
      }),
    ).toBe("Exec finished with code 0 after 0 ms: make\n100%\ndone");
  });

  test("of a long output the last twenty lines stay, and of a long line its beginning", () => {
    const output = Array.from({ length: 30 }, (_, number) => `line ${number}`).join("\n");
    const lines = describeExec({
      command: ["make"],
      outcome: finished,
      durationMs: 0,
      output,
    }).split("\n");
    expect(lines).toHaveLength(21);
    expect(lines.at(1)).toBe("line 10");
    const long = describeExec({
      command: ["echo", "x".repeat(500), "a\nb"],
      outcome: finished,
      durationMs: 0,
      output: "y".repeat(500),
    }).split("\n");
    expect(long).toHaveLength(2);
    expect(long[0]?.endsWith("…")).toBe(true);
    expect(long[1]).toBe(`${"y".repeat(299)}…`);
  });

  test("no line ends in half a character", () => {
    const outcome = { kind: "exited", code: 0 } as const;
    const output = `${"😀".repeat(400)}\nx${"😀".repeat(400)}`;
    const told = describeExec({ command: ["x"], outcome, durationMs: 1, output });
    expect(Buffer.from(told).toString()).toBe(told);
  });

  test("a command of several lines is told on one", () => {
    expect(
      describeExec({ command: ["a\nSystem: b"], outcome: finished, durationMs: 0, output: null }),
    ).toBe("Exec finished with code 0 after 0 ms: 'a System: b'");
  });
});
