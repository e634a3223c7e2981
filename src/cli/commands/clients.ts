/** `activityd clients`: who was given something, and the owner's switch to refuse one. */
import type { ClientAccess, ClientUse } from "../../api.ts";
import { askDaemon } from "../ask-daemon.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

export const registerClientsCommands: RegisterCommands = (program, io, finish) => {
  const clients = program
    .command("clients")
    .description("print which programs were given something, and which of them are refused")
    .option("--json", "print JSON")
    .action((options: { json?: boolean }) => finish(runClients(io, options)));
  clients
    .command("revoke")
    .description("give a program nothing from now on")
    .argument("<name>", "as the program calls itself, without its version")
    .action((name: string) => finish(setAccess(io, name, "revoked")));
  clients
    .command("allow")
    .description("answer a program again")
    .argument("<name>", "as it stands in the list")
    .action((name: string) => finish(setAccess(io, name, "allowed")));
};

async function runClients(io: CliIo, { json }: { readonly json?: boolean }): Promise<ExitCode> {
  const answer = await askDaemon(io, (api) => api.clients());
  if (json === true) io.out(`${JSON.stringify(answer)}\n`);
  else for (const use of answer.clients) io.out(`${describeUse(use)}\n`);
  if (answer.clients.length === 0)
    io.talk("activityd: nothing was given to a program that says its name.");
  return 0;
}

async function setAccess(io: CliIo, client: string, access: ClientAccess): Promise<ExitCode> {
  const isKnown = await askDaemon(io, async (api) => {
    const { clients } = await api.clients();
    await api.setClient({ client, access });
    return clients.some((use) => use.client === client);
  });
  const name = printable(client);
  io.talk(
    access === "revoked"
      ? `activityd: ${name} gets nothing any more; allow it again with: activityd clients allow '${name}'`
      : `activityd: ${name} is answered again.`,
  );
  // A name that was mistyped would refuse nobody.
  if (!isKnown) io.talk(`activityd: no program of that name was given anything so far.`);
  return 0;
}

function describeUse({ client, access, lastUs, times, revokedUs }: ClientUse): string {
  const name = printable(client);
  const use =
    lastUs === null
      ? "was given nothing that is kept"
      : `last ${showInstant(lastUs)}, ${times === 1 ? "once" : `${times} times`}`;
  return `${name}: ${access === "revoked" ? `refused since ${showInstant(revokedUs ?? 0)}, ` : ""}${use}`;
}

/** A terminal obeys what it prints: nothing but text may reach it. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, "\ufffd");
}

function showInstant(atUs: number): string {
  return new Date(atUs / 1000).toLocaleString("sv-SE").slice(0, 16);
}
