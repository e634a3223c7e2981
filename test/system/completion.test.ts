/** The completion scripts in the shells they are for. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readCommandTree } from "../../src/cli/command-tree.ts";
import { renderCompletion, type Shell } from "../../src/cli/completion.ts";
import { processIo } from "../../src/cli/io.ts";
import { createProgram } from "../../src/cli/program.ts";

const tree = readCommandTree(createProgram(processIo(), async () => {}));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "activityd-completion-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function scriptFor(shell: Shell): string {
  const path = join(folder, shell);
  writeFileSync(path, renderCompletion(shell, tree));
  return path;
}

function run(program: string, ...args: readonly string[]): string {
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, TERM: "dumb" };
  return execFileSync(program, args, { env, encoding: "utf8", timeout: 20_000 });
}

/** The words fish offers for what was typed, without what they mean. */
function completeFish(typed: string): readonly string[] {
  const out = run(
    "fish",
    "--no-config",
    "-c",
    `source ${scriptFor("fish")}; complete -C '${typed}'`,
  );
  return out
    .trim()
    .split("\n")
    .map((line) => line.split("\t")[0] ?? "");
}

/** The items our function hands to zsh's own `_describe`. */
function completeZsh(...words: readonly string[]): readonly string[] {
  const typed = ["activityd", ...words].map((word) => `'${word}'`).join(" ");
  const out = run(
    "zsh",
    "-f",
    "-c",
    `compdef() { :; }; compset() { PREFIX="\${PREFIX#*=}"; }; compadd() { shift; print -rl -- "$@"; }; _files() { print -r -- "files $*"; }; _message() { print -r -- "message"; }; _normal() { print -r -- "$CURRENT of $words"; }; _describe() { print -rl -- "\${(@P)2}"; }; source ${scriptFor("zsh")}; words=(${typed}); CURRENT=${words.length + 1}; PREFIX='${words.at(-1) ?? ""}'; _activityd`,
  );
  return out
    .trim()
    .split("\n")
    .map((line) => line.split(":")[0] ?? "");
}

test("fish offers commands, subcommands, options and choices", () => {
  expect(completeFish("activityd ser")).toEqual(["service"]);
  expect(completeFish("activityd service un")).toEqual(["uninstall"]);
  expect(completeFish("activityd service uninstall --p")).toEqual(["--purge"]);
  expect(completeFish("activityd --home /x service st")).toEqual(["status"]);
  expect(completeFish("activityd completion ")).toEqual(
    expect.arrayContaining(["bash", "zsh", "fish"]),
  );
});

test("fish offers the values of options, files where one is meant, and commands behind --", () => {
  expect(completeFish("activityd events --kind w")).toEqual(["window"]);
  expect(completeFish("activityd gateway --form=d")).toEqual(["--form=digest"]);
  expect(completeFish("activityd --home service st")).toEqual(
    expect.arrayContaining(["start", "status"]),
  );
  expect(completeFish("activityd events --since ")).toEqual([""]);
  writeFileSync(join(folder, "history.json"), "");
  expect(completeFish(`activityd import ${folder}/hist`)).toEqual([`${folder}/history.json`]);
  expect(completeFish(`activityd now ${folder}/hist`)).toEqual([""]);
  expect(completeFish("activityd exec --session s -- tru")).toContain("true");
});

test("zsh offers the values of options, files where one is meant, and commands behind --", () => {
  expect(completeZsh("events", "--kind", "")).toEqual(expect.arrayContaining(["window", "tab"]));
  expect(completeZsh("gateway", "--form=")).toEqual(["exact", "digest", "auto"]);
  expect(completeZsh("--home", "")).toEqual(["files -/"]);
  expect(completeZsh("encrypt", "--key-file", "")).toEqual(["files"]);
  expect(completeZsh("events", "--since", "")).toEqual(["message"]);
  expect(completeZsh("--home", "service", "")).toEqual(expect.arrayContaining(["start"]));
  expect(completeZsh("exec", "--session", "s", "--", "git", "")).toEqual(["2 of git"]);
});

test("zsh offers commands, subcommands, options and choices", () => {
  expect(completeZsh("")).toEqual(expect.arrayContaining(["now", "service", "doctor", "--home"]));
  expect(completeZsh("service", "")).toEqual(expect.arrayContaining(["install", "uninstall"]));
  expect(completeZsh("service", "uninstall", "")).toEqual(
    expect.arrayContaining(["--purge", "--dry-run", "--help"]),
  );
  expect(completeZsh("--home", "/x", "completion", "")).toEqual(
    expect.arrayContaining(["bash", "zsh", "fish"]),
  );
  expect(run("zsh", "-f", "-n", scriptFor("zsh"))).toBe("");
});

test("the man page is set without a complaint", () => {
  const page = join(import.meta.dirname, "../../dist/man/activityd.1");
  const out = run("sh", "-c", `groff -man -Tutf8 -ww ${page} 2>&1 >/dev/null`);
  expect(out).toBe("");
});
