/** `activityd hub …`: one record over several devices. Making, joining and leaving it, its keys, and how it stands. */
import type { HubAnswer, HubDevice, HubRequest } from "../../api.ts";
import { cleanField } from "../../context/plain-text.ts";
import type { FolderHint } from "../../daemon/hub-setup.ts";
import { ActivityError } from "../../errors.ts";
import { askDaemon } from "../ask-daemon.ts";
import { RESTART, type CliIo, type ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

interface PlaceOptions {
  readonly folder?: string;
  readonly server?: readonly string[];
  readonly credentials?: string;
  readonly ca?: string;
  readonly name?: string;
  readonly newOnly?: boolean;
}

export const registerHubCommands: RegisterCommands = (program, io, finish) => {
  const hub = program.command("hub").description("one record over several devices");
  hub
    .command("create")
    .description("make a hub with this device in it, and print the code for the others")
    .option("--folder <path>", "a folder that Syncthing or a cloud drive carries between them")
    .option("--server <url...>", "a NATS server, or those of one cluster")
    .option("--credentials <file>", "the NKey seed or credentials of this device at the server")
    .option("--ca <file>", "the authority that signed the server's certificate")
    .option("--name <name>", "what this device is called; the machine's name unless given")
    .option("--new-only", "keep to this device what was recorded so far")
    .action((options: PlaceOptions) => finish(runCreate(io, options)));
  hub
    .command("join")
    .description("join a hub by its code; join again by the newer code after its key was changed")
    .argument("<code>", "as it was printed; - reads it from stdin, past the shell's history")
    .option("--folder <path>", "where the hub's folder lies on this device")
    .option("--server <url...>", "other addresses than the code's")
    .option("--credentials <file>", "the NKey seed or credentials of this device at the server")
    .option("--ca <file>", "the authority that signed the server's certificate")
    .option("--name <name>", "what this device is called; the machine's name unless given")
    .option("--new-only", "keep to this device what was recorded so far")
    .action((code: string, options: PlaceOptions) => finish(runJoin(io, code, options)));
  hub
    .command("invite")
    .description("print the code with which another device joins; whoever has it reads everything")
    .action(() => finish(runInvite(io)));
  hub
    .command("status")
    .description("print how the hub stands: whether it is reached, what waits, what is wrong")
    .option("--json", "print JSON")
    .action((options: { json?: boolean }) => finish(runStatus(io, options)));
  hub
    .command("devices")
    .description("print the devices of the hub and when each was heard of last")
    .option("--json", "print JSON")
    .action((options: { json?: boolean }) => finish(runDevices(io, options)));
  hub
    .command("rotate")
    .description("give the hub a new key, for all devices that are in it")
    .action(() => finish(runChange(io, { action: "rotate" }, ROTATED)));
  hub
    .command("revoke")
    .description(
      "take a device out of the hub, such as a lost one: it reads nothing new, and nothing it sends is accepted",
    )
    .argument("<device>", "its name, or the beginning of its id")
    .action((device: string) => finish(runChange(io, { action: "revoke", device }, REVOKED)));
  hub
    .command("rejoin")
    .description(
      "go on in the hub after this device was restored from a backup: its log begins anew",
    )
    .action(() => finish(runChange(io, { action: "rejoin" }, REJOINED)));
  hub
    .command("leave")
    .description("leave the hub, and remove from this device what the others recorded")
    .action(() => finish(runLeave(io)));
};

const ROTATED = "The key is changed. Codes from before are of no use any more.";
const REVOKED =
  "It is taken out, and the key is changed. What it read before it keeps; at a server, take its permission too.";
const REJOINED = "The log of this device begins anew, and everything is told once more.";

async function runCreate(io: CliIo, options: PlaceOptions): Promise<ExitCode> {
  const { createHub } = await import("../../daemon/hub-setup.ts");
  const { code, hint } = createHub(io.paths(), io.env, toJoinOptions(options));
  io.talk(`activityd: this device is in a new hub. It counts ${RESTART}`);
  if (hint?.says === "another hub is in it") io.talk(describeHint(hint));
  io.talk("On each other device: activityd hub join CODE. The code is a secret, and this is it:");
  io.out(`${code}\n`);
  return 0;
}

async function runJoin(io: CliIo, code: string, options: PlaceOptions): Promise<ExitCode> {
  const { joinHub } = await import("../../daemon/hub-setup.ts");
  const text = code === "-" ? await readStdin() : code;
  const { isKnown, hint } = joinHub(io.paths(), io.env, text, toJoinOptions(options));
  io.talk(
    isKnown
      ? `activityd: this device was in the hub already, and has the keys of the code now. It counts ${RESTART}`
      : `activityd: this device takes part in the hub. It counts ${RESTART}`,
  );
  if (hint !== null) io.talk(describeHint(hint));
  return 0;
}

function describeHint({ folder, says }: FolderHint): string {
  return says === "another hub is in it"
    ? `activityd: another hub is in ${folder}, and two hubs never meet. If your other device made it: activityd hub leave here, activityd hub invite there, and join by that code.`
    : `activityd: nothing of the hub is in ${folder} yet. It comes when the folder is carried here; if it does not come, it is another folder.`;
}

async function runInvite(io: CliIo): Promise<ExitCode> {
  const { inviteToHub } = await import("../../daemon/hub-setup.ts");
  io.out(`${inviteToHub(io.paths(), io.env)}\n`);
  return 0;
}

async function runStatus(io: CliIo, { json }: { readonly json?: boolean }): Promise<ExitCode> {
  const answer = await askDaemon(io, (api) => api.hub());
  if (json === true) {
    io.out(`${JSON.stringify(answer)}\n`);
    return 0;
  }
  for (const line of describeHub(answer)) io.out(`${line}\n`);
  await tellUnheard(io, answer);
  return 0;
}

/** A hub that was made or joined while the daemon ran is nothing that it knows of yet. */
async function tellUnheard(io: CliIo, { place, problems }: HubAnswer): Promise<void> {
  if (place !== null || problems.length > 0) return;
  const { readConfig } = await import("../../config.ts");
  const { hub } = readConfig(io.paths().configFile, io.env);
  if (hub.driver !== "none")
    io.talk(`activityd: the settings name one, which the daemon takes part in ${RESTART}`);
}

async function runDevices(io: CliIo, { json }: { readonly json?: boolean }): Promise<ExitCode> {
  const answer = await askDaemon(io, (api) => api.hub());
  if (json === true) io.out(`${JSON.stringify(answer.devices)}\n`);
  else for (const device of answer.devices) io.out(`${describeDevice(device)}\n`);
  if (answer.devices.length === 0) io.talk("activityd: this device is in no hub.");
  await tellUnheard(io, answer);
  return 0;
}

async function runChange(io: CliIo, request: HubRequest, done: string): Promise<ExitCode> {
  await askDaemon(io, (api) => api.changeHub(request));
  io.talk(`activityd: ${done}`);
  return 0;
}

/** With a daemon the others hear of it and their record goes; without one the record and the files alone go. */
async function runLeave(io: CliIo): Promise<ExitCode> {
  const { forgetHub, requireHub } = await import("../../daemon/hub-setup.ts");
  const notes = await leaveDaemon(io);
  if (notes === null) requireHub(io.paths(), io.env);
  forgetHub(io.paths(), io.env);
  io.talk(
    "activityd: this device is in no hub any more; what other devices recorded is gone here.",
  );
  for (const { reason, remedy } of notes ?? []) io.talk(`activityd: ${reason} ${remedy}`);
  return 0;
}

/** What is to be known then; null where neither the daemon nor, where none runs, its record was in a hub. */
async function leaveDaemon(io: CliIo): Promise<HubAnswer["notes"] | null> {
  try {
    return (await askDaemon(io, (api) => api.changeHub({ action: "leave" }))).notes;
  } catch (thrown) {
    const code = thrown instanceof ActivityError ? thrown.code : null;
    if (code === "not_found") return null;
    if (code !== "daemon_unreachable") throw thrown;
    const { leaveOffline } = await import("../../daemon/offline.ts");
    return leaveOffline(io.paths());
  }
}

function* describeHub(answer: HubAnswer): Generator<string, void, undefined> {
  const { place, link, devices, waiting, lastSentUs, problems, notes } = answer;
  if (place === null) yield "this device is in no hub";
  else yield `hub: ${place}`;
  if (link !== null) {
    const since = `since ${showInstant(link.sinceUs)}`;
    yield `state: ${link.state} ${since}${link.why === null ? "" : `, ${link.why.reason}`}`;
    yield `waiting: ${waiting} changes${lastSentUs === null ? "" : `, last sent ${showInstant(lastSentUs)}`}`;
  }
  for (const device of devices) yield describeDevice(device);
  for (const { reason, remedy } of problems) yield `problem: ${reason} ${remedy}`.trimEnd();
  for (const { reason, remedy } of notes) yield `note: ${reason} ${remedy}`.trimEnd();
}

function describeDevice(device: HubDevice): string {
  const { key, id, name, kind, state, lastHeardUs, lagUs, missing } = device;
  const called = `${cleanField("device", name)} (${[kind, id.slice(0, 8)].filter((word) => word !== null).join(", ")})`;
  if (key === 0) return `device: ${called}, this one${state === "member" ? "" : `, ${state}`}`;
  const heard =
    lastHeardUs === null
      ? "not heard of yet"
      : `last heard ${showInstant(lastHeardUs)}, ${Math.round((lagUs ?? 0) / 1e6)} s after it spoke`;
  return `device: ${called}, ${heard}${state === "member" ? "" : `, ${state}`}${missing > 0 ? `, ${missing} records missing` : ""}`;
}

function toJoinOptions({ server, ...options }: PlaceOptions) {
  return { ...options, ...(server === undefined ? {} : { servers: server }) };
}

async function readStdin(): Promise<string> {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) text += String(chunk);
  return text;
}

function showInstant(atUs: number): string {
  return new Date(atUs / 1000).toLocaleString("sv-SE");
}
