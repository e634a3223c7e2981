import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  ActivityError,
  ERROR_CODES,
  fromErrorEnvelope,
  httpStatusOf,
  toErrorEnvelope,
  whyRefused,
  type ErrorCode,
} from "../src/errors.ts";

function rows(): readonly { readonly code: string; readonly status: string }[] {
  const page = readFileSync(new URL("../docs/errors.md", import.meta.url), "utf8");
  return [...page.matchAll(/^\| `([a-z_]+)` \| (\d{3}|–) \|/gm)].map(
    ([, code = "", status = ""]) => ({
      code,
      status,
    }),
  );
}

describe("docs/errors.md", () => {
  test("has every code there is, in order, and no other", () => {
    expect(rows().map((row) => row.code)).toEqual([...ERROR_CODES]);
    expect([...ERROR_CODES]).toEqual(ERROR_CODES.toSorted());
  });

  test("gives the status that every server answers with", () => {
    for (const { code, status } of rows()) {
      if (status === "–") continue;
      const known = ERROR_CODES.find((one) => one === code);
      expect({ code, status }).toEqual({ code, status: String(httpStatusOf(known ?? "internal")) });
    }
  });
});

test("every code is thrown somewhere: none is promised that nobody can meet", () => {
  const src = fileURLToPath(new URL("../src", import.meta.url));
  const text = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && name !== "errors.ts")
    .map((name) => readFileSync(join(src, name), "utf8"))
    .join("\n");
  const isThrown = (code: string): boolean =>
    new RegExp(`(Error|refuse|fail\\w*)\\(\\s*"${code}"|code: "${code}"`).test(text);
  expect(ERROR_CODES.filter((code) => !isThrown(code))).toEqual([]);
});

describe("an error on its way over the socket", () => {
  test.each<[ErrorCode]>(ERROR_CODES.map((code) => [code]))("%s arrives as it left", (code) => {
    const sent = new ActivityError(code, "What happened.", "What to do.");
    const arrived = fromErrorEnvelope(JSON.parse(JSON.stringify(toErrorEnvelope(sent))));
    expect(arrived).toBeInstanceOf(ActivityError);
    expect(arrived).toMatchObject({ code, message: "What happened.", hint: "What to do." });
  });

  test("a fault of the program becomes internal, without its stack", () => {
    const { error } = toErrorEnvelope(new TypeError("x is not a function"));
    expect(error).toEqual({
      code: "internal",
      message: "Internal error: x is not a function",
      hint: "",
    });
  });

  test("what the system refuses is told as that, with what to look at, and not as a fault of the program", () => {
    const refused = Object.assign(new Error("EACCES: permission denied, mkdir '/x/data'"), {
      code: "EACCES",
      syscall: "mkdir",
      path: "/x/data",
    });
    expect(toErrorEnvelope(refused).error).toEqual({
      code: "internal",
      message: "The system refuses «mkdir /x/data»: this user may not (EACCES).",
      hint: "See whose the folder is with: ls -ld '/x'",
    });
    const behindLink = Object.assign(
      new Error("ENOENT: no such file or directory, mkdir '/x/data'"),
      {
        code: "ENOENT",
        syscall: "mkdir",
        path: "/x/data",
      },
    );
    expect(toErrorEnvelope(behindLink).error).toEqual({
      code: "internal",
      message: "The system refuses «mkdir /x/data»: there is no such file or folder (ENOENT).",
      hint: "See what is in its way with: ls -ld '/x/data' '/x'",
    });
    const file = { code: "EEXIST", syscall: "mkdir", path: "/x/data" };
    expect(toErrorEnvelope(Object.assign(new Error("EEXIST"), file)).error).toEqual({
      code: "internal",
      message:
        "The system refuses «mkdir /x/data»: a file, or a link that leads nowhere, is in its place (EEXIST).",
      hint: "See what is in its way with: ls -ld '/x/data' '/x'",
    });
    const below = { code: "ENOTDIR", syscall: "open", path: "/x/data/token" };
    expect(toErrorEnvelope(Object.assign(new Error("ENOTDIR"), below)).error).toEqual({
      code: "internal",
      message:
        "The system refuses «open /x/data/token»: what should be a folder in it is a file (ENOTDIR).",
      hint: "See what is in its way with: ls -ld '/x/data/token' '/x/data'",
    });
    const low = { code: "EACCES", syscall: "listen", address: "127.0.0.1", port: 80 };
    expect(toErrorEnvelope(Object.assign(new Error("EACCES"), low)).error.message).toBe(
      "The system refuses «listen 127.0.0.1:80»: this user may not (EACCES).",
    );
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      code: "ENOSPC",
      syscall: "write",
    });
    expect(toErrorEnvelope(full).error).toEqual({
      code: "internal",
      message: "The system refuses «write»: the disk is full (ENOSPC).",
      hint: "",
    });
  });

  test("a native part that was not built, or for another Node.js, is told with what builds it", () => {
    const file = "better-sqlite3/build/Release/better_sqlite3.node";
    const missing = Object.assign(new Error(`Cannot find module '${file}'\nRequire stack:\n- /x`), {
      code: "MODULE_NOT_FOUND",
    });
    expect(toErrorEnvelope(missing).error).toEqual({
      code: "internal",
      message: `Node.js ${process.versions.node} cannot load the package better-sqlite3: its native part was not built.`,
      hint: "Build it anew: npm rebuild -g --allow-scripts=better-sqlite3 better-sqlite3; in a checkout, there: npm rebuild better-sqlite3",
    });
    const said = `The module '/opt/lib/node_modules/${file}'\nwas compiled against a different Node.js`;
    const other = Object.assign(new Error(said), { code: "ERR_DLOPEN_FAILED" });
    expect(toErrorEnvelope(other).error.message).toContain("or was built for another version.");
    const ours = Object.assign(new Error("Cannot find module './x.js'"), missing);
    expect(toErrorEnvelope(ours).error.message).toBe("Internal error: Cannot find module './x.js'");
  });

  test("a value is told by its ends where all of it would bury the sentence", () => {
    const word = `${"a".repeat(200)}${"b".repeat(100_000)}${"c".repeat(100)}`;
    const { error } = toErrorEnvelope(
      new ActivityError("bad_request", `Cannot read "${word}" as a number.`, "Give a number."),
    );
    expect(error.message).toBe(`Cannot read "${"a".repeat(159)}…${"c".repeat(39)}" as a number.`);
    const prose = "one word more ".repeat(10_000);
    const said = toErrorEnvelope(new ActivityError("bad_request", `There is no ${prose}here.`));
    expect(said.error.message).toMatch(/^There is no one word .* … .* more here\.$/);
    expect(said.error.message.length).toBeLessThan(2000);
    const path = `/${"x".repeat(250)}`;
    const usual = toErrorEnvelope(new ActivityError("not_found", `There is no ${path}.`));
    expect(usual.error.message).toBe(`There is no ${path}.`);
  });

  test("a code of a newer daemon is taken for internal, and keeps its sentence", () => {
    const error = fromErrorEnvelope({
      error: { code: "from_the_future", message: "Odd.", hint: "" },
    });
    expect(error).toMatchObject({ code: "internal", message: "Odd." });
  });

  test.each([null, 7, {}, { error: null }, { error: { code: "internal" } }])(
    "%j is none",
    (value) => {
      expect(fromErrorEnvelope(value)).toBeNull();
    },
  );
});

describe("why a file cannot be used", () => {
  test.each([
    ["is not there", "/nowhere/at/all", "there is no such file or folder"],
    ["is a folder", "/", "it is a folder"],
    ["is named as below a file", "/etc/passwd/x", "what should be a folder in it is a file"],
  ])("is told in words where it %s", (_name, path, words) => {
    let thrown: unknown;
    try {
      readFileSync(path);
    } catch (error) {
      thrown = error;
    }
    expect(whyRefused(thrown)).toBe(words);
  });

  test("is told as the system tells it where it has no words", () => {
    expect(whyRefused(new Error("odd"))).toBe("odd");
    expect(whyRefused("odd")).toBe("odd");
  });
});

test("what a terminal would obey is not in a sentence", () => {
  const colour = new ActivityError(
    "bad_request",
    "No \u001B[31mred\u0007\u009B.\nBut lines.",
    "\u001B",
  );
  expect(toErrorEnvelope(colour).error).toEqual({
    code: "bad_request",
    message: "No \uFFFD[31mred\uFFFD\uFFFD.\nBut lines.",
    hint: "\uFFFD",
  });
});
