/** `activityd activitywatch …`: whether ActivityWatch's watchers can send what they see. */
import { request } from "node:http";
import { ActivityError } from "../../errors.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

export const registerActivityWatchCommands: RegisterCommands = (program, io, finish) => {
  const command = program
    .command("activitywatch")
    .description(
      "let ActivityWatch's watchers (browser tabs, editors, players) send what they see",
    );
  command
    .command("enable")
    .description("answer ActivityWatch's API on 127.0.0.1:5600, where its watchers look for it")
    .action(() => finish(enable(io)));
  command
    .command("disable")
    .description("stop answering ActivityWatch's API")
    .action(() => finish(change(io, false)));
};

async function enable(io: CliIo): Promise<ExitCode> {
  const { readConfig, watcherPort } = await import("../../config.ts");
  const { activitywatch } = readConfig(io.paths().configFile, io.env);
  const port = watcherPort(activitywatch);
  const holder = await whoHolds(port);
  if (holder !== null && !holder.includes("activityd")) {
    throw new ActivityError(
      "socket_in_use",
      `Port ${port} is held by ${holder}.`,
      "End it first (its watchers can go on): quit ActivityWatch, or stop aw-server. Nothing was changed.",
    );
  }
  return change(io, true);
}

async function change(io: CliIo, enabled: boolean): Promise<ExitCode> {
  const { setKeys } = await import("../../config-edit.ts");
  const file = io.paths().configFile;
  setKeys(file, "activitywatch", { enabled }, io.env);
  io.talk(
    `activityd: ${enabled ? "enabled" : "disabled"} in ${file}. It counts from the next start: activityd stop && activityd start --detach, ` +
      "or, for the service, which then holds the port over restarts too: activityd service install",
  );
  return 0;
}

/** Who answers on the port, in words; null when nobody does. */
function whoHolds(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const asked = request(
      { host: "127.0.0.1", port, path: "/api/0/info", timeout: 1_000 },
      (answer) => {
        let body = "";
        answer.setEncoding("utf8").on("data", (chunk: string) => {
          body = (body + chunk).slice(0, 1_000);
        });
        answer.on("end", () => {
          const version = /"version"\s*:\s*"([^"]{1,60})"/.exec(body)?.[1];
          resolve(
            version === undefined ? "another program" : `ActivityWatch's API, version ${version}`,
          );
        });
      },
    );
    asked.once("timeout", () => asked.destroy());
    asked.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "ECONNREFUSED" ? null : "another program"),
    );
    asked.end();
  });
}
