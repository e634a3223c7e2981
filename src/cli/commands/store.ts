/** The commands that look after the database: `export`, `backup`, `restore`. */
import { resolve } from "node:path";
import { ActivityError } from "../../errors.ts";
import type { CliIo, ExitCode } from "../io.ts";
import { createProgress, type Progress } from "../progress.ts";
import type { RegisterCommands } from "../program.ts";

export const registerStoreCommands: RegisterCommands = (program, io, finish) => {
  program
    .command("export")
    .description(
      "print every event as one JSON object a line, oldest first; a daemon may be running",
    )
    .action(() => finish(runExport(io)));
  program
    .command("backup")
    .description("copy the database while it is in use, and keep the newest three copies")
    .option("--list", "list the copies there are")
    .action((options: { list?: boolean }) => finish(runBackup(io, options)));
  program
    .command("restore")
    .description("replace the database with a backup; the database that was there is set aside")
    .argument("[file]", "the backup; the newest unless given")
    .action((file?: string) => finish(runRestore(io, file)));
  program
    .command("encrypt")
    .description("encrypt the database and its backups; can be interrupted and run again")
    .option("--key-file <file>", "keep the key in this file instead of the desktop's keychain")
    .action((options: { keyFile?: string }) => finish(runEncrypt(io, options)));
};

async function runEncrypt(
  io: CliIo,
  { keyFile }: { readonly keyFile?: string },
): Promise<ExitCode> {
  const { encrypt } = await import("../../daemon/offline.ts");
  const file = keyFile === undefined ? null : resolve(keyFile);
  const { place, changed, removedCopies } = encrypt(io.paths(), file);
  io.out(changed ? "the database is encrypted now\n" : "the database is encrypted already\n");
  if (removedCopies > 0) io.out(`${removedCopies} copies in plain text were removed\n`);
  io.out(
    place.keyIn === "file"
      ? `its key lies in ${place.path}, for you alone: whoever can read your files can read it too. ` +
          "It protects copies of the database that lie elsewhere.\n"
      : "its key lies in the keychain of this desktop\n",
  );
  io.out("keep a copy of the key: without it nobody can read the record\n");
  return 0;
}

async function runExport(io: CliIo): Promise<ExitCode> {
  const { readExport } = await import("../../daemon/offline-reader.ts");
  let progress: Progress | null = null;
  let done = 0;
  for (const { text, events, total } of readExport(io.paths())) {
    progress ??= createProgress(io, total, "events");
    io.out(text);
    done += events;
    progress.at(done);
  }
  progress?.end();
  return 0;
}

async function runBackup(io: CliIo, { list }: { readonly list?: boolean }): Promise<ExitCode> {
  const { backUp, readBackups } = await import("../../daemon/offline-reader.ts");
  const backups = list === true ? readBackups(io.paths()) : [await backUp(io.paths())];
  for (const { path, sizeBytes } of backups) {
    io.out(`${path}  ${(sizeBytes / 1024 / 1024).toFixed(1)} MB\n`);
  }
  return 0;
}

async function runRestore(io: CliIo, file?: string): Promise<ExitCode> {
  const { readBackups } = await import("../../daemon/offline-reader.ts");
  const { restore } = await import("../../daemon/offline.ts");
  const path = file ?? readBackups(io.paths())[0]?.path;
  if (path === undefined) {
    throw new ActivityError(
      "not_found",
      "There is no backup yet.",
      "Make one with: activityd backup",
    );
  }
  const replaced = restore(io.paths(), path);
  io.out(`restored ${path}\n`);
  if (replaced !== null) io.out(`the database that was there lies at ${replaced}\n`);
  return 0;
}
