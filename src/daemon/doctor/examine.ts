/**
 * Looks at everything that can be wrong on this machine. It promises to change nothing, to go on where one part
 * cannot be examined, and to say of each broken state what to do, as a command where there is one.
 */
import type { StatusAnswer } from "../../api.ts";
import type { Paths } from "../../paths.ts";
import { examineDaemon } from "./daemon.ts";
import type { Finding } from "./finding.ts";
import type { Machine } from "./machine.ts";
import { examineProgram } from "./program.ts";
import { examineService, readService } from "./service.ts";
import { examinePorts, examineSettings } from "./settings.ts";
import { examineSocket } from "./socket.ts";
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
  const { config, findings: settings } = examineSettings(paths, machine);
  const service = readService(paths, machine);
  const socket = await examineSocket(paths, machine, service.isInstalled);
  const { status } = socket;
  // While a daemon runs, it is the one that holds the port.
  const ports = status === null && config !== null ? await examinePorts(config) : [];
  return {
    findings: [
      ...(await examineProgram(machine)),
      ...settings,
      ...ports,
      ...examineStorage(paths, machine),
      ...socket.findings,
      ...examineService(service, machine, status),
      ...(status === null ? [] : examineDaemon(status, machine, service.isInstalled)),
    ],
    status,
    mechanism: service.plan.mechanism,
    isServiceInstalled: service.isInstalled,
  };
}
