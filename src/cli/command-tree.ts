/** The command line as data, for completions and pages. It hides the option parser. */
import type { Command } from "commander";

export interface CommandNode {
  /** As it is typed after the words above it; the program's own name at the root. */
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionNode[];
  readonly arguments: readonly ArgumentNode[];
  readonly commands: readonly CommandNode[];
}

export interface OptionNode {
  /** Such as "-n, --limit <n>". */
  readonly flags: string;
  /** "--limit", and "-n" where there is one. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

export interface ArgumentNode {
  /** As usage lines have it: "<file>", "[words...]". */
  readonly usage: string;
  readonly description: string;
  readonly choices: readonly string[];
}

export function readCommandTree(command: Command): CommandNode {
  return {
    name: command.name(),
    description: command.description(),
    options: command
      .createHelp()
      .visibleOptions(command)
      .filter(({ long }) => long !== "--help")
      .map((option) => ({
        flags: option.flags,
        names: [option.long, option.short].filter((name) => name !== undefined && name !== null),
        description: option.description,
        takesValue: option.required || option.optional,
        choices: option.argChoices ?? [],
      })),
    arguments: command.registeredArguments.map((argument) => ({
      usage: usageOf(argument.name(), argument.required, argument.variadic),
      description: argument.description,
      choices: argument.argChoices ?? [],
    })),
    commands: command.commands.map(readCommandTree),
  };
}

function usageOf(name: string, isRequired: boolean, isVariadic: boolean): string {
  const inner = `${name}${isVariadic ? "..." : ""}`;
  return isRequired ? `<${inner}>` : `[${inner}]`;
}

/** Every command with the words that lead to it, in the order of telling; the program itself has none. */
export function listCommands(
  node: CommandNode,
  path: readonly string[] = [],
): readonly { readonly path: readonly string[]; readonly node: CommandNode }[] {
  return [
    { path, node },
    ...node.commands.flatMap((child) => listCommands(child, [...path, child.name])),
  ];
}

/** The commands that do something; a group does, beside what stands below it, where it takes options of its own. */
export function listRunnable(root: CommandNode): ReturnType<typeof listCommands> {
  return listCommands(root).filter(
    ({ path, node }) => path.length > 0 && (node.commands.length === 0 || node.options.length > 0),
  );
}

/** What is typed: "activityd forget [options]". */
export function usageLine(path: readonly string[], node: CommandNode): string {
  const words = ["activityd", ...path];
  if (node.options.length > 0) words.push("[options]");
  if (node.commands.length > 0) words.push(node.options.length > 0 ? "[command]" : "<command>");
  return [...words, ...node.arguments.map(({ usage }) => usage)].join(" ");
}
