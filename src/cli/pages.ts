/** The command line as pages: a man page and the table of docs/cli.md, made from the commands themselves. */
import { listRunnable, usageLine, type CommandNode } from "./command-tree.ts";

const EXIT_CODES = [
  ["0", "done"],
  ["1", "failed; for doctor: something is wrong"],
  ["2", "the command line or its input is wrong"],
  ["3", "no daemon answers"],
] as const;

const VARIABLES = [
  ["ACTIVITYD_HOME", "keeps settings, record, log and socket under one folder"],
  ["ACTIVITYD_SOCKET", "the path of the socket alone"],
  ["ACTIVITYD_<TABLE>_<KEY>", "a setting, such as ACTIVITYD_CAPTURE_MEDIA=false"],
  ["ACTIVITYD_VERBOSE", "show the stack of an unexpected error"],
  ["ACTIVITYD_GATEWAY_TOKEN", "the token of activityd gateway instead of the one that it keeps"],
  ["ACTIVITYD_UPSTREAM_KEY", "the key for the upstream of activityd gateway"],
  ["NO_COLOR", "no colours in activityd live and activityd chat"],
  ["VISUAL, EDITOR", "the editor of activityd config edit"],
] as const;

const FILES = [
  ["~/.config/activityd/config.toml", "the settings"],
  ["~/.local/share/activityd/activity.db", "the record, with backups beside it"],
  ["~/.local/state/activityd/activityd.log", "the log of a daemon that no service manager started"],
  ["$XDG_RUNTIME_DIR/activityd/activityd.sock", "the socket"],
] as const;

/** @see man-pages(7), groff_man(7) */
export function renderManPage(root: CommandNode, version: string): string {
  const lines = [
    `.TH ACTIVITYD 1 "" "activityd ${escapeRoff(version)}" "User Commands"`,
    ".SH NAME",
    "activityd \\- tells a personal assistant what its owner is doing",
    ".SH SYNOPSIS",
    ".B activityd",
    "[options] <command>",
    ".SH DESCRIPTION",
    escapeRoff(root.description),
    ".SH OPTIONS",
    ...root.options.flatMap(({ flags, description }) => tagged(flags, description)),
    ".SH COMMANDS",
    ...listRunnable(root).flatMap(({ path, node }) => [
      `.SS "${escapeRoff(usageLine(path, node))}"`,
      escapeRoff(sentence(node.description)),
      ...node.arguments
        .filter(({ description }) => description !== "")
        .flatMap((argument) => tagged(argument.usage, whole(argument))),
      ...node.options.flatMap((option) => tagged(option.flags, whole(option))),
    ]),
    ".SH EXIT STATUS",
    ...EXIT_CODES.flatMap(([code, meaning]) => tagged(code, meaning)),
    ".SH ENVIRONMENT",
    ...VARIABLES.flatMap(([name, meaning]) => tagged(name, meaning)),
    ".SH FILES",
    ...FILES.flatMap(([path, meaning]) => tagged(path, meaning)),
  ];
  return `${lines.join("\n")}\n`;
}

/** What it means, with the values it takes. */
function whole(taken: {
  readonly description: string;
  readonly choices: readonly string[];
}): string {
  const { description, choices } = taken;
  return choices.length === 0 ? description : `${description}: ${choices.join(", ")}`;
}

function tagged(tag: string, text: string): readonly string[] {
  return [".TP", `.B "${escapeRoff(tag)}"`, escapeRoff(sentence(text))];
}

/** Dashes of options stay dashes, quotes end no argument, and a line that begins with a dot is text. */
function escapeRoff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replace(/^([.'])/, "\\&$1");
}

/** Markdown: one section a command, with what `--help` says of it. */
export function renderCommandPage(root: CommandNode): string {
  const lines = [
    "---",
    'summary: "Every command with its options, as --help has it"',
    "read_when:",
    "  - Looking for a command or an option",
    "  - Adding one: this page is made by `npm run docs`",
    'title: "Command line"',
    "---",
    "",
    "# Command line",
    "",
    "Data goes to stdout, messages to stderr. Exit codes:",
    `${EXIT_CODES.map(([code, meaning]) => `${code} ${meaning}`).join("; ")}.`,
    "",
    "Options that every command takes:",
    "",
    ...table(root.options.map(({ flags, description }) => [flags, description])),
    "",
    "Completions: `source <(activityd completion bash)` in `~/.bashrc`, `source <(activityd completion zsh)` behind",
    "`compinit` in `~/.zshrc`, `activityd completion fish > ~/.config/fish/completions/activityd.fish`. The package has a",
    "man page: `man activityd`.",
  ];
  for (const { path, node } of listRunnable(root)) {
    lines.push("", `## ${["activityd", ...path].join(" ")}`, "", `\`${usageLine(path, node)}\``);
    lines.push("", sentence(node.description));
    const rows = [
      ...node.arguments.map((argument) => [argument.usage, whole(argument)] as const),
      ...node.options.map((option) => [option.flags, whole(option)] as const),
    ].filter(([, description]) => description !== "");
    if (rows.length > 0) lines.push("", ...table(rows));
  }
  return `${lines.join("\n")}\n`;
}

function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  return [
    "| | |",
    "|---|---|",
    ...rows.map(([name, text]) => `| \`${name.replaceAll("|", "\\|")}\` | ${escapeCell(text)} |`),
  ];
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}
