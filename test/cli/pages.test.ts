import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  listCommands,
  listRunnable,
  readCommandTree,
  usageLine,
  type CommandNode,
} from "../../src/cli/command-tree.ts";
import { renderCompletion } from "../../src/cli/completion.ts";
import { processIo } from "../../src/cli/io.ts";
import { renderCommandPage, renderManPage } from "../../src/cli/pages.ts";
import { createProgram } from "../../src/cli/program.ts";
import { runCli } from "../helpers/run-cli.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const tree = readCommandTree(createProgram(processIo(), async () => {}));
const leaves = listRunnable(tree);

describe("docs/cli.md", () => {
  test("has the groups that do something by themselves, with their options", () => {
    const page = renderCommandPage(tree);
    expect(page).toContain("## activityd mcp\n\n`activityd mcp [options] [command]`");
    expect(page).toContain("| `--http` |");
    expect(page).toContain("## activityd clients\n");
    expect(page).not.toContain("## activityd hub\n");
  });

  test("is what the commands are: after a change of them, npm run docs", () => {
    expect(readFileSync(join(ROOT, "docs/cli.md"), "utf8")).toBe(renderCommandPage(tree));
  });

  test.each(leaves.map(({ path, node }) => [path.join(" "), path, node] as const))(
    "%s --help says what the page says",
    async (_name, path, node) => {
      const { out, exitCode } = await runCli([...path, "--help"]);
      expect(exitCode).toBe(0);
      const help = out.replaceAll(/\s+/g, " ");
      expect(help).toContain(
        `Usage: ${usageLine(path, node).replace(" [options]", "")}`.slice(0, 17),
      );
      for (const { flags, description } of node.options) {
        expect(help).toContain(flags);
        expect(help).toContain(description.replaceAll(/\s+/g, " "));
      }
      expect(help).toContain(node.description.replaceAll(/\s+/g, " "));
      expect(node.description).not.toBe("");
    },
  );
});

test("--help tells the commands by what they are for, each once", async () => {
  const { out } = await runCli(["--help"]);
  const headings = [...out.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual([
    "Options",
    "The daemon",
    "Ask it",
    "Give it to an assistant",
    "The record, and other devices",
    "Your switches",
  ]);
  const told = [...out.matchAll(/^  ([a-z][a-z-]*)(?= .*)/gm)].map(([, name]) => name);
  expect(told).toHaveLength(tree.commands.length + 1);
  expect(new Set(told)).toEqual(new Set([...tree.commands.map(({ name }) => name), "help"]));
});

test("help of a command below another is that command's own", async () => {
  const { out } = await runCli(["hub", "create", "--help"]);
  expect(out).toContain("Usage: activityd hub create");
  expect(await runCli(["help", "hub", "create"])).toMatchObject({ out, exitCode: 0 });
});

/** Every command line that a page shows: code spans and lines of blocks that begin with the program's name. */
function shownCommands(page: string): readonly string[] {
  const blocks = [...page.matchAll(/^```.*?\n(.*?)^```/gms)].flatMap(([, body = ""]) =>
    body.split("\n").map((line) => line.replace(/^\$ /, "").trim()),
  );
  const spans = [...page.replaceAll(/^```.*?\n.*?^```/gms, "").matchAll(/`([^`]+)`/g)].map(
    ([, span = ""]) => span.replaceAll(/\s+/g, " "),
  );
  return [...blocks, ...spans].filter((line) => /^activityd [a-z-]/.test(line));
}

/** What is wrong with a command line as a page shows it, or null: each command of it is looked at. */
function faultOf(line: string): string | null {
  const commands = line.split(/\s+(?:#|&&|\|\||\||>|<\()\s*|;\s*/);
  return commands.flatMap((command) => faultOfOne(command) ?? [])[0] ?? null;
}

function faultOfOne(command: string): string | null {
  const [name, ...words] = command.split(" ");
  if (name !== "activityd") return null;
  let node: CommandNode = tree;
  // Whether the line could be typed as it stands, and does not only name a command.
  let isGiven = words.includes("--");
  if (words.includes("[options]")) return null;
  for (const [index, raw] of words.entries()) {
    // "install|uninstall": each of them; "[--json]": whether it is there.
    const word = raw.replaceAll(/[[\],.;:)]/g, "");
    if (word === "…" || word === "...") return null;
    if (word === "--") break;
    // Placeholders of a usage line.
    if (raw === "[options]" || raw === "[command]") continue;
    if (word.startsWith("--")) {
      const known = [...node.options, ...tree.options].flatMap(({ names }) => names);
      const unknown = word
        .split("|")
        .map((each) => each.split("=")[0] ?? "")
        .find((each) => each !== "--help" && !known.includes(each));
      if (unknown !== undefined) return `no option ${unknown}`;
      continue;
    }
    const children: readonly CommandNode[] = node.commands;
    if (children.length === 0) {
      isGiven ||= words[index - 1]?.startsWith("--") !== true;
      continue;
    }
    const found = word.split("|").map((each) => children.find(({ name }) => name === each));
    if (found.some((each) => each === undefined))
      return index === 0 || children.length > 0 ? `no command ${word}` : null;
    node = found[0] ?? node;
  }
  const lacking = node.options.find(
    ({ isMandatory, names }) => isMandatory && !names.some((each) => words.includes(each)),
  );
  return isGiven && lacking !== undefined ? `without ${lacking.flags}` : null;
}

describe("links of pages", () => {
  const pages = [
    "README.md",
    "CHANGELOG.md",
    ...readdirSync(join(ROOT, "docs"))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ];
  /** Each link of a page, as a path from the top. */
  const linksOf = (page: string): readonly string[] =>
    [...readFileSync(join(ROOT, page), "utf8").matchAll(/\]\((?!https?:)([^)\s#]+)[^)]*\)/g)].map(
      ([, link = ""]) => normalize(join(dirname(page), link)),
    );

  test.each(pages)("%s leads to nothing that is not there", (page) => {
    expect(linksOf(page).filter((link) => !existsSync(join(ROOT, link)))).toEqual([]);
  });

  test("README.md leads to every page there is", () => {
    const linked = new Set(linksOf("README.md"));
    expect(pages.filter((page) => page !== "README.md" && !linked.has(page))).toEqual([]);
  });
});

describe("command lines that pages show", () => {
  const pages = [
    "README.md",
    ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`),
  ].filter((name) => name.endsWith(".md"));
  test.each(pages)("%s shows commands and options that there are", (name) => {
    const lines = shownCommands(readFileSync(join(ROOT, name), "utf8"));
    const faults = lines.map((line) => ({ line, fault: faultOf(line) }));
    expect(faults.filter(({ fault }) => fault !== null)).toEqual([]);
  });

  test("a command or an option that is not there is found", () => {
    expect(faultOf("activityd frobnicate")).toBe("no command frobnicate");
    expect(faultOf("activityd service status --loud")).toBe("no option --loud");
    expect(faultOf("activityd stop; activityd start --away")).toBe("no option --away");
    expect(faultOf("activityd stop && activityd start --detach")).toBeNull();
    expect(faultOf("activityd service install|uninstall")).toBeNull();
    expect(faultOf("activityd exec --session s -- make --loud")).toBeNull();
    expect(faultOf("activityd exec -- make")).toBe("without --session <id>");
    expect(faultOf('activityd event "done"')).toBe("without --session <id>");
    expect(faultOf("activityd event")).toBeNull();
  });
});

test("the man page names every command and option, and no line of text is taken for a request", () => {
  const page = renderManPage(tree, "1.2.3");
  for (const { path, node } of leaves) {
    expect(page).toContain(`.SS "${usageLine(path, node).replaceAll("-", "\\-")}"`);
    for (const { flags } of node.options) expect(page).toContain(flags.replaceAll("-", "\\-"));
  }
  for (const line of page.trimEnd().split("\n"))
    expect(line).toMatch(/^(\.(TH|SH|SS|TP|B)( |$)|[^.'])/);
});

describe("completion", () => {
  const SCRIPT = renderCompletion("bash", tree);
  function completeBash(...words: readonly string[]): readonly string[] {
    const file = join(createTempHome(), "completion");
    writeFileSync(file, SCRIPT);
    const quoted = ["activityd", ...words].map((word) => `'${word}'`).join(" ");
    const run = `source ${file}; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _activityd; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", run], { encoding: "utf8" }).trim().split("\n");
  }

  test("bash completes commands, subcommands, options and choices", () => {
    expect(completeBash("")).toEqual(
      expect.arrayContaining(["now", "service", "doctor", "--home", "--help"]),
    );
    expect(completeBash("ser")).toEqual(["service"]);
    expect(completeBash("service", "un")).toEqual(["uninstall"]);
    expect(completeBash("service", "uninstall", "--p")).toEqual(["--purge"]);
    expect(completeBash("--home", "/x", "service", "st")).toEqual(["status"]);
    expect(completeBash("completion", "")).toEqual(expect.arrayContaining(["bash", "zsh", "fish"]));
  });

  test("bash offers the values of an option behind it, and no command is taken for one", () => {
    expect(completeBash("events", "--kind", "")).toEqual(
      expect.arrayContaining(["window", "media"]),
    );
    expect(completeBash("gateway", "--form", "e")).toEqual(["exact"]);
    expect(completeBash("gateway", "--form", "=", "d")).toEqual(["digest"]);
    expect(completeBash("privacy", "add", "--action", "re")).toEqual(["redact"]);
    expect(completeBash("hook", "cl")).toEqual(["claude-code"]);
    // Anything may stand there, and no word of ours is more likely than another.
    expect(completeBash("events", "--since", "")).toEqual([""]);
    expect(completeBash("--home", "service", "st")).toEqual(
      expect.arrayContaining(["start", "stop", "status"]),
    );
    expect(completeBash("exec", "--session", "s", "--", "bas")).toContain("bash");
    expect(completeBash("exec", "--session", "s", "--", "git", "--h")).toEqual([""]);
  });

  test("bash completes every command there is, each with all of its options", () => {
    for (const { path, node } of listCommands(tree)) {
      const names = node.options.flatMap((option) => option.names);
      const block = new RegExp(
        `^ +"${path.join(" ")}"\\) words="([^"]*)"(?: files=1)? ;;$`,
        "m",
      ).exec(SCRIPT);
      expect(block?.[1]?.split(" ")).toEqual(
        expect.arrayContaining([...names, ...node.commands.map(({ name }) => name)]),
      );
    }
  });

  test("is printed by the command, and another shell is refused", async () => {
    expect((await runCli(["completion", "bash"])).out).toBe(SCRIPT);
    expect((await runCli(["completion", "tcsh"])).exitCode).toBe(2);
  });
});
