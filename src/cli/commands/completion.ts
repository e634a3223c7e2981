/** `activityd completion`: the command line for the shells that complete it. */
import { Argument } from "commander";
import { readCommandTree } from "../command-tree.ts";
import { renderCompletion, SHELLS, type Shell } from "../completion.ts";
import type { RegisterCommands } from "../program.ts";

export const registerCompletionCommand: RegisterCommands = (program, io) => {
  program
    .command("completion")
    .description("print a script that completes commands and options in a shell")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .action((shell: Shell) => io.out(renderCompletion(shell, readCommandTree(program))));
};
