/** `activityd service …`: the daemon as something that starts by itself. */
import {
  installService,
  planService,
  runAll,
  tellAll,
  uninstallService,
} from "../../daemon/service/service.ts";
import type { ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

export const registerServiceCommands: RegisterCommands = (program, io, finish) => {
  const service = program.command("service").description("run the daemon as a desktop service");
  service
    .command("install")
    .description("install and start it for the current user")
    .option("--dry-run", "print what would be written and run")
    .action((options: { dryRun?: true }) =>
      finish(
        (async (): Promise<ExitCode> => {
          const plan = planService(io.paths(), io.env);
          installService(plan, { dryRun: options.dryRun === true }, (line) => io.out(`${line}\n`));
          return 0;
        })(),
      ),
    );
  service
    .command("uninstall")
    .description("stop and remove it; what was recorded stays")
    .option("--dry-run", "print what would be removed")
    .option("--purge", "remove the database, the logs and the settings too")
    .action((options: { dryRun?: true; purge?: true }) =>
      finish(
        (async (): Promise<ExitCode> => {
          const paths = io.paths();
          uninstallService(
            planService(paths, io.env),
            paths,
            { dryRun: options.dryRun === true, purge: options.purge === true },
            (line) => io.out(`${line}\n`),
          );
          return 0;
        })(),
      ),
    );
  const verbs = {
    status: "what the service manager says of it",
    logs: "the newest log lines",
    restart: "stop it and start it again",
  } as const;
  for (const verb of ["status", "logs", "restart"] as const) {
    service
      .command(verb)
      .description(verbs[verb])
      .action(() =>
        finish(
          (async (): Promise<ExitCode> => {
            const commands = planService(io.paths(), io.env)[verb];
            if (verb !== "restart") return tellAll(commands) ? 0 : 1;
            runAll(commands, false, (line) => io.talk(line));
            return 0;
          })(),
        ),
      );
  }
};
