/**
 * Completion scripts for three shells, made from the command line itself. They promise to start no process while
 * somebody types.
 */
import { listCommands, type CommandNode, type OptionNode, type ValueKind } from "./command-tree.ts";

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

interface ValueOption {
  /** The words of the command that takes it; null for every command. */
  readonly path: string | null;
  readonly name: string;
  readonly kind: ValueKind;
  readonly choices: readonly string[];
}

/** Every option that the next word belongs to. */
function valueOptionsOf(root: CommandNode): readonly ValueOption[] {
  const ofNode = (path: string | null, options: readonly OptionNode[]): readonly ValueOption[] =>
    options.flatMap(({ names, value, choices }) =>
      value === null ? [] : names.map((name) => ({ path, name, kind: value, choices })),
    );
  return [
    ...ofNode(null, root.options),
    ...listCommands(root)
      .filter(({ node }) => node !== root)
      .flatMap(({ path, node }) => ofNode(path.join(" "), node.options)),
  ];
}

/** A pattern of a `case` over "path so far option". */
function patternOf({ path, name }: ValueOption): string {
  return path === null ? `*" ${name}"` : `"${path} ${name}"`;
}

/** Whether a file can be what a command is given. */
function takesFile(node: CommandNode): boolean {
  return node.arguments.some(({ value }) => value === "file");
}

function renderBash(root: CommandNode): string {
  const values = valueOptionsOf(root);
  const cases = listCommands(root)
    .map(({ path, node }) => {
      const words = followersOf(node, root).map(({ word }) => word);
      return `    "${path.join(" ")}") words="${words.join(" ")}"${takesFile(node) ? " files=1" : ""} ;;\n`;
    })
    .join("");
  const valueCases = values
    .map((option) => {
      const files = option.kind === "text" ? "" : " files=1";
      return `    ${patternOf(option)}) words="${option.choices.join(" ")}"${files} ;;\n`;
    })
    .join("");
  return `# Completion of activityd for bash. Load it with: source <(activityd completion bash)
_activityd() {
  local path="" words="" files="" option="" i word cur="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  [[ $cur == "=" ]] && cur=""
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ $word == "=" ]] && continue
    if [[ -n $option ]]; then
      option=""
      continue
    fi
    if [[ $word == "--" ]]; then
      # What follows is a command of its own.
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      elif ((COMP_CWORD == i + 1)); then
        COMPREPLY=($(compgen -c -- "$cur"))
      fi
      return
    fi
    case "$path $word" in
      ${values.map(patternOf).join(" | ")})
        option="$path $word" ;;
    esac
    case "$path/$word" in
      ${stepsOf(root).join(" | ")})
        path="\${path:+$path }$word" ;;
    esac
  done
  if [[ -n $option ]]; then
    case "$option" in
${valueCases}    esac
  else
    case "$path" in
${cases}    esac
  fi
  [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ -n $files ]] || compopt +o default 2>/dev/null
}
complete -o default -F _activityd activityd
`;
}

function renderZsh(root: CommandNode): string {
  const values = valueOptionsOf(root);
  const cases = listCommands(root)
    .map(({ path, node }) => {
      const items = followersOf(node, root).map(
        ({ word, description }) =>
          `      ${quote(`${word.replaceAll(":", "\\:")}:${description}`)}\n`,
      );
      return `    ${quote(path.join(" "))}) ${takesFile(node) ? "files=1 " : ""}items=(\n${items.join("")}    ) ;;\n`;
    })
    .join("");
  const valueCases = values
    .map((option) => {
      const offer =
        option.choices.length > 0
          ? `compadd -- ${option.choices.join(" ")}`
          : { file: "_files", folder: "_files -/", text: "_message value" }[option.kind];
      return `      ${patternOf(option)}) ${offer} ;;\n`;
    })
    .join("");
  return `#compdef activityd
# Completion of activityd for zsh. Load it with: source <(activityd completion zsh)
_activityd() {
  local known="" option="" files="" i word
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ -n "$option" ]]; then
      option=""
      continue
    fi
    if [[ "$word" == "--" ]]; then
      # What follows is a command of its own.
      shift $i words
      (( CURRENT -= i ))
      _normal
      return
    fi
    case "$known $word" in
      ${values.map(patternOf).join(" | ")})
        option="$known $word" ;;
    esac
    case "$known/$word" in
      ${stepsOf(root).join(" | ")})
        known="\${known:+$known }$word" ;;
    esac
  done
  if [[ -z "$option" && "$PREFIX" == --*=* ]]; then
    option="$known \${PREFIX%%=*}"
    compset -P '*='
  fi
  if [[ -n "$option" ]]; then
    case "$option" in
${valueCases}    esac
    return
  fi
  case "$known" in
${cases}  esac
  _describe activityd items || { [[ -n "$files" ]] && _files }
}
if [[ "\${funcstack[1]}" = _activityd ]]; then _activityd "$@"; else compdef _activityd activityd; fi
`;
}

function renderFish(root: CommandNode): string {
  const lines = listCommands(root).flatMap(({ path, node }) => {
    const at = `complete -c activityd -n '__activityd_at ${quoteFish(path.join(" "))}'`;
    const taken = [...node.options, ...(node === root ? [] : root.options)];
    return [
      ...(takesFile(node) ? [`${at} -F\n`] : []),
      ...followersOf(node, root).map(({ word, description }) => {
        const option = taken.find(({ names }) => names.includes(word));
        const what = word.startsWith("--")
          ? `-l ${word.slice(2)}`
          : word.startsWith("-")
            ? `-s ${word.slice(1)}`
            : `-a ${word}`;
        return `${at} ${what}${valueOfFish(option)} -d ${quoteFish(description)}\n`;
      }),
    ];
  });
  return `# Completion of activityd for fish. Load it with: activityd completion fish | source
function __activityd_at
    set -l words (commandline -opc)
    # What follows is a command of its own.
    contains -- -- $words; and return 1
    set -l known ''
    set -l option ''
    for word in $words[2..-1]
        if test -n "$option"
            set option ''
            continue
        end
        switch "$known $word"
            case ${valueOptionsOf(root)
              .map((option) => patternOf(option).replace('*" ', '"* '))
              .join(" ")}
                set option $word
        end
        switch "$known/$word"
            case ${stepsOf(root).join(" ")}
                set known (string trim "$known $word")
        end
    end
    test "$known" = "$argv"
end
function __activityd_command
    set -l words (commandline -opc)
    set -l at (contains -i -- -- $words); or return 1
    complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-1]) (commandline -ct))
end
complete -c activityd -f
complete -c activityd -n 'contains -- -- (commandline -opc)' -a '(__activityd_command)'
${lines.join("")}`;
}

/** What may stand behind an option of fish: nothing, a file, a folder, or the words there are. */
function valueOfFish(option: OptionNode | undefined): string {
  if (option === undefined || option.value === null) return "";
  if (option.choices.length > 0) return ` -x -a ${quoteFish(option.choices.join(" "))}`;
  switch (option.value) {
    case "file":
      return " -r -F";
    case "folder":
      return ` -x -a '(__fish_complete_directories)'`;
    default:
      return " -x";
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quoteFish(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("$", "\\$")}"`;
}
