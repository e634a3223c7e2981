/** `activityd gnome install-extension`: what GNOME needs before its windows can be seen. */
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

export const registerGnomeCommands: RegisterCommands = (program, io, finish) => {
  const gnome = program.command("gnome").description("what GNOME Shell needs");
  gnome
    .command("install-extension")
    .description("let GNOME Shell tell which window has the focus")
    .action(() => finish(installExtension(io)));
};

async function installExtension(io: CliIo): Promise<ExitCode> {
  const { GNOME_EXTENSION_ID, installGnomeExtension } =
    await import("../../daemon/gnome-extension.ts");
  const { folder, shellVersion, written, enabled } = await installGnomeExtension(io.env);
  const did = written ? "Installed" : "Already installed";
  io.out(`${did} for GNOME Shell ${shellVersion}: ${folder}\n`);
  const enableByHand = `gnome-extensions enable ${GNOME_EXTENSION_ID}`;
  switch (enabled) {
    case "off":
      io.out("Extensions are switched off in GNOME. Switch them on with:\n");
      io.out("  gsettings set org.gnome.shell disable-user-extensions false\n");
      return 1;
    case "by-hand":
      io.out(`Log out and in again, then run: ${enableByHand}\n`);
      return 0;
    case "already":
    case "now":
      if (!written && enabled === "already") {
        io.out("It is enabled. If activityd still sees no window, log out and in again.\n");
      } else {
        io.out("Log out and in again: GNOME Shell loads new extensions only then.\n");
      }
      return 0;
  }
}
