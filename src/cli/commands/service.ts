/** `activityd service …`: the daemon as something that starts by itself. */
import type { ServicePlan } from "../../daemon/service/plan.ts";
import type { Paths } from "../../paths.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

export const registerServiceCommands: RegisterCommands = (program, io, finish) => {
  const service = program.command("service").description("run the daemon as a desktop service");
  service
    .command("install")
    .description("install the daemon as a service of the current user, and start it")
    .option("--dry-run", "print what would be written and run")
    .action((options: { dryRun?: true }) => finish(install(io, options.dryRun === true)));
  service
    .command("uninstall")
    .description("stop the service and remove it; what was recorded stays")
    .option("--dry-run", "print what would be removed")
    .option("--purge", "remove the database, the logs and the settings too")
    .action((options: { dryRun?: true; purge?: true }) =>
      finish(uninstall(io, options.dryRun === true, options.purge === true)),
    );
  service
    .command("status")
    .description("print what the service manager says of the service")
    .action(() => finish(tell(io, "status")));
  service
    .command("logs")
    .description("print the newest log lines of the service")
    .action(() => finish(tell(io, "logs")));
  service
    .command("restart")
    .description("stop the service and start it again")
    .action(() => finish(restart(io)));
};

async function install(io: CliIo, dryRun: boolean): Promise<ExitCode> {
  const { installService } = await loadService();
  const { paths, plan } = await planHere(io);
  await installService(plan, paths, { dryRun }, (line) => io.out(`${line}\n`));
  return 0;
}

async function uninstall(io: CliIo, dryRun: boolean, purge: boolean): Promise<ExitCode> {
  const { uninstallService } = await loadService();
  const { paths, plan } = await planHere(io);
  await uninstallService(plan, paths, { dryRun, purge }, (line) => io.out(`${line}\n`));
  return 0;
}

async function tell(io: CliIo, verb: "status" | "logs"): Promise<ExitCode> {
  const { requireInstalled, requireLog, tellAll } = await loadService();
  const { plan } = await planHere(io);
  // The log of one that was removed may still be read.
  if (verb === "status") requireInstalled(plan);
  else requireLog(plan);
  return tellAll(plan[verb]) ? 0 : 1;
}

async function restart(io: CliIo): Promise<ExitCode> {
  const { restartService } = await loadService();
  const { paths, plan } = await planHere(io);
  await restartService(plan, paths, (line) => io.talk(line));
  return 0;
}

async function planHere(io: CliIo): Promise<{ readonly paths: Paths; readonly plan: ServicePlan }> {
  const { planService, requireOwnLogin } = await import("../../daemon/service/machine-plan.ts");
  requireOwnLogin(io.env);
  const paths = io.paths();
  return { paths, plan: planService(paths, io.env) };
}

/** Not with this file: it knows the store, which takes its time. */
function loadService() {
  return import("../../daemon/service/service.ts");
}
