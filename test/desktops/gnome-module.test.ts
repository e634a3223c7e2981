/** The form of the extension for GNOME Shell 45 and later, as a module in a real GJS on a real bus. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { fileURLToPath } from "node:url";
import { gnomeShell } from "../../src/capture/sources/gnome.ts";
import { renderGnomeExtension } from "../../src/daemon/gnome-extension.ts";
import { openRecorded } from "../helpers/source-recorder.ts";
import { until } from "../helpers/until.ts";
import { type DesktopSession, openDesktopSession } from "./desktop-session.ts";

let session: DesktopSession;

beforeEach(async () => {
  session = await openDesktopSession("none");
});

afterEach(async () => {
  await session.close();
});

it("tells the focus and the title exactly, and leaves the bus when it is disabled", async () => {
  const files = await renderGnomeExtension("47.1");
  // The only thing of the shell that it imports.
  const source = (files.get("extension.js") ?? "").replace(
    /import \{ Extension \} from .*;/,
    "class Extension {}",
  );
  const extension = session.write("extension.js", source);
  const focus = session.write("focus", "1|first|foot");
  const host = fileURLToPath(new URL("gnome-module-host.js", import.meta.url));
  const child = session.start("gjs", ["-m", host, extension, focus]);
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await until("the stand-in is on the bus", () => {
    if (child.exitCode !== null) throw new Error(`gjs ended: ${said}`);
    return session.nameOwner("org.gnome.Shell");
  });
  const { source: focusSource, untilTold, lost } = await openRecorded(gnomeShell, session.env);
  expect(await focusSource.snapshot()).toMatchObject({
    ok: true,
    value: { app: "foot", title: "first", pid: child.pid },
  });
  const nasty = 'a=b "q" \\ 漢字 👩‍💻';
  session.write("focus", `1|${nasty}|foot`);
  await untilTold("the new title", (value) => value?.title === nasty);
  session.write("focus", "2|second|Editor");
  await untilTold("the second window", (value) => value?.app === "Editor");
  session.write("focus", "");
  await untilTold("nothing", (value) => value === null);
  session.write("focus", "end");
  await until("the loss", lost);
  expect(lost()?.remedy).toContain("gnome-extensions enable focus@activityd");
  focusSource.close();
});
