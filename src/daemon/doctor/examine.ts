/**
 * Looks at everything that can be wrong on this machine. It promises to change nothing, to go on where one part
 * cannot be examined, and to say of each broken state what to do, as a command where there is one.
 */
import type { StatusAnswer } from "../../api.ts";
import type { Paths } from "../../paths.ts";
import { findInstanceHolder } from "../../store/lock.ts";
import { examineDaemon } from "./daemon.ts";
import { toErrorEnvelope } from "../../errors.ts";
import { problem, type Finding } from "./finding.ts";
import type { Machine } from "./machine.ts";
import { examineProgram } from "./program.ts";
import { examineService, holdsWatcherPort, readService } from "./service.ts";
import { examinePorts, examineSettings } from "./settings.ts";
import { examineSocket, type SocketExamination } from "./socket.ts";
import { examineStorage } from "./storage.ts";

export interface Examination {
  /** In the order of telling: from the program up to what the daemon sees. */
  readonly findings: readonly Finding[];
  /** What the daemon says of itself; null when none answers. */
  readonly status: StatusAnswer | null;
  /** How the service is or would be installed. */
  readonly mechanism: string;
  readonly isServiceInstalled: boolean;
}

export async function examineMachine(paths: Paths, machine: Machine): Promise<Examination> {
  const program = await guarded("the program", () => examineProgram(machine));
  const { config, findings: settings } = examineSettings(paths, machine);
  const service = readService(paths, machine);
  const storage = await guarded("the record", () => examineStorage(paths, machine));
  const unasked: SocketExamination = { status: null, findings: [] };
  let socket = unasked;
  const way = await guarded("the socket", async () => {
    socket = await examineSocket(paths, machine, service.isInstalled);
    return socket.findings;
  });
  const { status } = socket;
  const ports =
    status === null && config !== null
      ? await guarded("the ports", async () =>
          // While a daemon runs, it is the one that holds them, also where it hangs or is just starting.
          findInstanceHolder(paths.dataDirectory) === null
            ? examinePorts(config, holdsWatcherPort(service, machine))
            : [],
        )
      : [];
  return {
    findings: [
      ...program,
      ...settings,
      ...ports,
      ...storage,
      ...way,
      ...(await guarded("the service", () => examineService(service, machine, status))),
      ...(status === null ? [] : examineDaemon(status, machine, service.isInstalled)),
    ],
    status,
    mechanism: service.plan.mechanism,
    isServiceInstalled: service.isInstalled,
  };
}

/** One part that cannot be looked at does not keep the others from being told. */
async function guarded(
  part: string,
  examine: () => readonly Finding[] | Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await examine();
  } catch (thrown) {
    const { message, hint } = toErrorEnvelope(thrown).error;
    return [problem("not-examined", `Of ${part} nothing can be told: ${message}`, hint)];
  }
}
