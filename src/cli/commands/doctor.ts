/** `activityd doctor`: looks at everything that can be wrong on this machine, and says what to do about each. */
import { counted } from "../../counted.ts";
import type { Finding } from "../../daemon/doctor/finding.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

export const registerDoctorCommand: RegisterCommands = (program, io, finish) => {
  program
    .command("doctor")
    .description("look for what is wrong on this machine, and say what to do about it")
    .option("--repair", "recover a damaged database first; the damaged file is set aside")
    .option("--json", "print one JSON object a line")
    .option(
      "--report",
      "print facts for a bug tracker: nothing that was recorded, no path, no name",
    )
    .action((options: DoctorOptions) => finish(runDoctor(io, options)));
};

interface DoctorOptions {
  readonly repair?: boolean;
  readonly json?: boolean;
  readonly report?: boolean;
}

async function runDoctor(io: CliIo, options: DoctorOptions): Promise<ExitCode> {
  const { examineMachine } = await import("../../daemon/doctor/examine.ts");
  const { openMachine } = await import("../../daemon/doctor/machine.ts");
  const paths = io.paths();
  const machine = openMachine(io.env);
  const repaired = options.repair === true ? await repairStore(io) : [];
  const examination = await examineMachine(paths, machine);
  const findings = [...repaired, ...examination.findings];
  if (options.report === true) {
    const { renderReport } = await import("../../daemon/doctor/report.ts");
    io.out(renderReport(paths, machine, { ...examination, findings }));
  } else {
    for (const finding of findings)
      io.out(options.json === true ? `${JSON.stringify(finding)}\n` : render(finding));
  }
  return findings.some(({ state }) => state === "problem") ? 1 : 0;
}

function render({ state, id, what, remedy }: Finding): string {
  const name = state === "ok" ? "" : ` [${id}]`;
  return `${state.padEnd(8)}${what}${name}\n${remedy === "" ? "" : `        ${remedy}\n`}`;
}

async function repairStore(io: CliIo): Promise<readonly Finding[]> {
  const { repair } = await import("../../daemon/offline.ts");
  const { sound } = await import("../../daemon/doctor/finding.ts");
  const report = repair(io.paths());
  if (report === null) return [sound("repair", "repair: there was nothing to recover")];
  const { salvaged, fromBackup, unreadable, setAsidePath } = report;
  return [
    sound(
      "repair",
      `repair: recovered ${counted(salvaged, "event")} from the database and ${fromBackup} more from a backup; ${unreadable} could not be read; ${setAsidePath === null ? "nothing was left of the damaged file" : `the damaged file lies at ${setAsidePath}`}`,
    ),
  ];
}
