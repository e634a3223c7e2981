/**
 * Completion scripts for three shells, made from the command line itself. They promise to start no process while
 * somebody types.
 */
import { listCommands, type CommandNode } from "./command-tree.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** `root` is the whole command line. */
export function renderCompletion(shell: Shell, root: CommandNode): string {
  switch (shell) {
    case "bash":
      return renderBash(root);
    case "zsh":
      return renderZsh(root);
    default:
      return renderFish(root);
  }
}

/** What can follow the words of a command, beside values: commands, choices and options, each with what it means. */
function followersOf(
  node: CommandNode,
  root: CommandNode,
): readonly { readonly word: string; readonly description: string }[] {
  const global = node === root ? [] : root.options;
  return [
    ...node.commands.map(({ name, description }) => ({ word: name, description })),
    ...node.arguments.flatMap(({ choices, description }) =>
      choices.map((word) => ({ word, description })),
    ),
    ...[...node.options, ...global].flatMap(({ names, description }) =>
      names.map((word) => ({ word, description })),
    ),
    { word: "--help", description: "show what the command does" },
  ];
}

/** Each step from a command to one below it, as patterns of a `case` over "path so far/next word". */
function stepsOf(root: CommandNode): readonly string[] {
  return listCommands(root)
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => `"${path.slice(0, -1).join(" ")}/${path.at(-1) ?? ""}"`);
}

function renderBash(root: CommandNode): string {
  const cases = listCommands(root)
    .map(({ path, node }) => {
      const words = followersOf(node, root).map(({ word }) => word);
      return `    "${path.join(" ")}") words="${words.join(" ")}" ;;\n`;
    })
    .join("");
  return `# Completion of activityd for bash. Load it with: source <(activityd completion bash)
_activityd() {
  local path="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path/\${COMP_WORDS[i]}" in
      ${stepsOf(root).join(" | ")})
        path="\${path:+$path }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path" in
${cases}  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _activityd activityd
`;
}

function renderZsh(root: CommandNode): string {
  const cases = listCommands(root)
    .map(({ path, node }) => {
      const items = followersOf(node, root).map(
        ({ word, description }) =>
          `      ${quote(`${word.replaceAll(":", "\\:")}:${description}`)}\n`,
      );
      return `    ${quote(path.join(" "))}) items=(\n${items.join("")}    ) ;;\n`;
    })
    .join("");
  return `#compdef activityd
# Completion of activityd for zsh. Load it with: source <(activityd completion zsh)
_activityd() {
  local known="" i
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    case "$known/\${words[i]}" in
      ${stepsOf(root).join(" | ")})
        known="\${known:+$known }\${words[i]}" ;;
    esac
  done
  case "$known" in
${cases}  esac
  _describe activityd items || _files
}
if [[ "\${funcstack[1]}" = _activityd ]]; then _activityd "$@"; else compdef _activityd activityd; fi
`;
}

function renderFish(root: CommandNode): string {
  const lines = listCommands(root).flatMap(({ path, node }) =>
    followersOf(node, root).map(({ word, description }) => {
      const what = word.startsWith("--")
        ? `-l ${word.slice(2)}`
        : word.startsWith("-")
          ? `-s ${word.slice(1)}`
          : `-a ${word}`;
      return `complete -c activityd -n '__activityd_at ${quoteFish(path.join(" "))}' ${what} -d ${quoteFish(description)}\n`;
    }),
  );
  return `# Completion of activityd for fish. Load it with: activityd completion fish | source
function __activityd_at
    set -l known ''
    for word in (commandline -opc)[2..-1]
        switch "$known/$word"
            case ${stepsOf(root).join(" ")}
                set known (string trim "$known $word")
        end
    end
    test "$known" = "$argv"
end
${lines.join("")}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quoteFish(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("$", "\\$")}"`;
}
