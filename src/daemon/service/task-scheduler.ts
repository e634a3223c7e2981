/**
 * The service as a logon task of the Windows Task Scheduler: a Windows service would run in session 0, where no
 * window can be seen. Written to Microsoft's documentation; not run on Windows.
 */
import { join } from "node:path";
import { escapeXml, type ServiceFacts, type ServicePlan } from "./plan.ts";

const TASK = "activityd";

/** @see https://learn.microsoft.com/windows/win32/taskschd/task-scheduler-schema */
export function planTaskScheduler(facts: ServiceFacts): ServicePlan {
  const path = join(facts.configDirectory, "activityd-task.xml");
  const logFile = join(facts.logDirectory, "activityd.log");
  return {
    mechanism: "task-scheduler",
    // The only encoding that schtasks takes for certain, and the one in which it writes such files itself.
    files: [{ path, text: taskXml(facts), encoding: "utf16le" }],
    outdated: [],
    install: [
      { argv: ["schtasks", "/create", "/tn", TASK, "/xml", path, "/f"] },
      { argv: ["schtasks", "/run", "/tn", TASK] },
    ],
    uninstall: [
      { argv: ["schtasks", "/end", "/tn", TASK], mayFail: true },
      { argv: ["schtasks", "/delete", "/tn", TASK, "/f"], mayFail: true },
    ],
    restart: [
      { argv: ["schtasks", "/end", "/tn", TASK], mayFail: true },
      { argv: ["schtasks", "/run", "/tn", TASK] },
    ],
    stop: [],
    status: [{ argv: ["schtasks", "/query", "/tn", TASK, "/v", "/fo", "list"] }],
    enabled: [],
    logs: [{ argv: ["cmd", "/c", "type", logFile] }],
    logFile,
    mainPid: null,
    notes: [
      "The daemon does not run on Windows itself yet, for want of a local API that is closed to other users: the task ends with that error. Inside WSL it runs.",
    ],
  };
}

function taskXml(facts: ServiceFacts): string {
  // A task has no variables of its own.
  const home = facts.variables["ACTIVITYD_HOME"];
  const words = [
    `"${facts.mainPath}"`,
    ...(home === undefined ? [] : [`--home "${home}"`]),
    "start",
  ];
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.4" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Device activity for the personal assistant</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${escapeXml(facts.userName)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="owner">
      <UserId>${escapeXml(facts.userName)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="owner">
    <Exec>
      <Command>${escapeXml(facts.nodePath)}</Command>
      <Arguments>${escapeXml(words.join(" "))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}
