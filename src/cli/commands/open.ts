/** `activityd open`: the local page in the browser. */
import { spawn } from "node:child_process";
import { askDaemon } from "../ask-daemon.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

export const registerOpenCommand: RegisterCommands = (program, io, finish) => {
  program
    .command("open")
    .description("open the local page in the browser: timeline, what assistants saw, the switches")
    .option("--print", "print the link instead; it opens the page once, within five minutes")
    .option("--json", "print the link as JSON")
    .action((options: OpenOptions) => finish(runOpen(io, options)));
};

interface OpenOptions {
  readonly print?: boolean;
  readonly json?: boolean;
}

async function runOpen(io: CliIo, options: OpenOptions): Promise<ExitCode> {
  const link = await askDaemon(io, (api) => api.openPage());
  if (options.json === true) io.out(`${JSON.stringify(link)}\n`);
  else if (options.print === true) io.out(`${link.url}\n`);
  else if (await showInBrowser(link.url, io))
    io.talk("activityd: the page is open in the browser.");
  else {
    io.talk(
      "activityd: no browser could be opened here. This link opens the page once, within five minutes:",
    );
    io.out(`${link.url}\n`);
  }
  return 0;
}

/** The desktop's own way. Whether it took the link; what becomes of it then is between the two. */
function showInBrowser(url: string, io: CliIo): Promise<boolean> {
  const [command = "", ...args] = browserCommand(url);
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: { ...io.env }, stdio: "ignore", detached: true });
    const settle = (isOpen: boolean): void => {
      clearTimeout(patience);
      child.unref();
      resolve(isOpen);
    };
    // A browser that was started by it may be its child for as long as it is open.
    const patience = setTimeout(() => settle(true), PATIENCE_MS);
    child.once("error", () => settle(false));
    child.once("exit", (code) => settle(code === 0));
  });
}

const PATIENCE_MS = 5_000;

function browserCommand(url: string): readonly string[] {
  switch (process.platform) {
    case "darwin":
      return ["open", url];
    case "win32":
      return ["rundll32", "url.dll,FileProtocolHandler", url];
    default:
      return ["xdg-open", url];
  }
}
