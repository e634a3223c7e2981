/** The command line as data, for completions and pages. It hides the option parser. */
import { Argument, Option, type Command } from "commander";

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
  readonly isMandatory: boolean;
  /** What may follow it; null where it takes no value. */
  readonly value: ValueKind | null;
  readonly choices: readonly string[];
}

/** What a shell can offer for a value: a file, a folder, or nothing but the choices there are. */
export type ValueKind = "file" | "folder" | "text";

export interface ArgumentNode {
  /** As usage lines have it: "<file>", "[words...]". */
  readonly usage: string;
  readonly description: string;
  readonly value: ValueKind;
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
        isMandatory: option.mandatory,
        value: option.required || option.optional ? kindOf(option.flags) : null,
        choices: option.argChoices ?? [],
      })),
    arguments: command.registeredArguments.map((argument) => ({
      usage: usageOf(argument.name(), argument.required, argument.variadic),
      description: argument.description,
      value: kindOf(`<${argument.name()}>`),
      choices: argument.argChoices ?? [],
    })),
    commands: command.commands.map(readCommandTree),
  };
}

/** By the word that stands for the value. */
function kindOf(usage: string): ValueKind {
  const word = /[<[]([a-z]+)/.exec(usage)?.[1];
  if (word === "file" || word === "path") return "file";
  return word === "folder" ? "folder" : "text";
}

/** An option whose values are told and completed; what else is given is refused by the command, in its own words. */
export function optionOf(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description);
  option.argChoices = [...choices];
  return option;
}

/** The same for an argument. */
export function argumentOf(
  usage: string,
  description: string,
  choices: readonly string[],
): Argument {
  const argument = new Argument(usage, description);
  argument.argChoices = [...choices];
  return argument;
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
