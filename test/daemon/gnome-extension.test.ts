import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createContext, runInContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toErrorEnvelope } from "../../src/errors.ts";
import { installGnomeExtension, renderGnomeExtension } from "../../src/daemon/gnome-extension.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "activityd-gnome-"));
});

afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

/** An environment whose only programs are these shell scripts. */
function envWith(programs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, script] of Object.entries(programs)) {
    const file = path.join(home, name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }
  return { HOME: home, PATH: home, STORE: path.join(home, "enabled") };
}

/** `gsettings` that keeps the list of extensions in a file. */
const GSETTINGS = `
if [ "$1 $3" = "get enabled-extensions" ]; then
  if [ -f "$STORE" ]; then read -r list < "$STORE"; echo "$list"; else echo "@as []"; fi
elif [ "$1 $3" = "set enabled-extensions" ]; then echo "$4" > "$STORE"
else echo false; fi`;

const SHELL_43 = "echo GNOME Shell 43.9";

describe("installing the extension of GNOME Shell", () => {
  it("writes it, enables it, and changes nothing the second time", async () => {
    const env = envWith({ "gnome-shell": SHELL_43, gsettings: GSETTINGS });
    const first = await installGnomeExtension(env);
    expect(first).toMatchObject({ shellVersion: "43.9", written: true, enabled: "now" });
    expect(readFileSync(path.join(home, "enabled"), "utf8")).toBe("['focus@activityd']\n");
    const file = path.join(first.folder, "extension.js");
    const { mtimeMs } = statSync(file);
    expect(await installGnomeExtension(env)).toMatchObject({ written: false, enabled: "already" });
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
  });

  it("keeps the other extensions enabled", async () => {
    const env = envWith({ "gnome-shell": SHELL_43, gsettings: GSETTINGS });
    writeFileSync(path.join(home, "enabled"), "['dock@one', 'tray@two']\n");
    await installGnomeExtension(env);
    expect(readFileSync(path.join(home, "enabled"), "utf8")).toBe(
      "['dock@one', 'tray@two', 'focus@activityd']\n",
    );
  });

  it("writes over an older form after the shell was upgraded", async () => {
    const before = envWith({ "gnome-shell": SHELL_43, gsettings: GSETTINGS });
    await installGnomeExtension(before);
    const after = envWith({ "gnome-shell": "echo GNOME Shell 47.2", gsettings: GSETTINGS });
    const report = await installGnomeExtension(after);
    expect(report).toMatchObject({ written: true, enabled: "already" });
    expect(readFileSync(path.join(report.folder, "extension.js"), "utf8")).toContain(
      'import Gio from "gi://Gio";',
    );
  });

  it("tells what stands in the way of its files, and where", async () => {
    const env = envWith({ "gnome-shell": SHELL_43, gsettings: GSETTINGS });
    writeFileSync(path.join(home, ".local"), "a file where the folder should be");
    const refusal = await installGnomeExtension(env).catch((thrown: unknown) => thrown);
    expect(toErrorEnvelope(refusal).error.message).toMatch(
      /^The system refuses «mkdir .*»: what should be a folder in it is a file \(ENOTDIR\)\.$/,
    );
    rmSync(path.join(home, ".local"));
    const folder = path.join(home, ".local/share/gnome-shell/extensions/focus@activityd");
    mkdirSync(folder, { recursive: true });
    // Every write to it is refused for want of room.
    symlinkSync("/dev/full", path.join(folder, "metadata.json.new"));
    const full = await installGnomeExtension(env).catch((thrown: unknown) => thrown);
    expect(toErrorEnvelope(full).error).toMatchObject({
      message: `The system refuses «write ${folder}/metadata.json»: the disk is full (ENOSPC).`,
      hint: `See what room is left with: df -h '${folder}'`,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("says so when the owner must enable it, or has all extensions switched off", async () => {
    const noSettings = envWith({ "gnome-shell": SHELL_43 });
    expect(await installGnomeExtension(noSettings)).toMatchObject({ enabled: "by-hand" });
    const off = envWith({
      "gnome-shell": SHELL_43,
      gsettings: GSETTINGS.replace("echo false", "echo true"),
    });
    expect(await installGnomeExtension(off)).toMatchObject({ enabled: "off" });
  });

  it.each([
    ["is not installed", {}],
    ["prints no version", { "gnome-shell": "echo nothing" }],
    ["is older than any form", { "gnome-shell": "echo GNOME Shell 3.38.4" }],
  ])("is refused when GNOME Shell %s", async (_, programs) => {
    await expect(installGnomeExtension(envWith(programs))).rejects.toMatchObject({
      code: "platform_unsupported",
    });
  });
});

describe("the metadata", () => {
  it.each([
    ["43.9", ["40", "41", "42", "43", "44"]],
    ["45.0", ["45", "46", "47", "48", "49", "50"]],
    ["51.alpha", ["45", "46", "47", "48", "49", "50", "51"]],
  ])("for GNOME Shell %s names the releases of its form", async (version, releases) => {
    const files = await renderGnomeExtension(version);
    const metadata: unknown = JSON.parse(files.get("metadata.json") ?? "");
    expect(metadata).toMatchObject({ uuid: "focus@activityd", "shell-version": releases });
  });
});

/** As much of the shell as the extension touches. */
function createFakeShell() {
  const emitted: unknown[][] = [];
  const timers: (() => boolean)[] = [];
  const log: string[] = [];
  const createObject = (properties: Record<string, unknown>) => {
    const handlers = new Map<number, { readonly signal: string; readonly run: () => void }>();
    let nextId = 1;
    return {
      ...properties,
      connect: (signal: string, run: () => void) => {
        handlers.set(nextId, { signal, run });
        return nextId++;
      },
      disconnect: (id: number) => handlers.delete(id),
      notify: (signal: string) => {
        for (const handler of handlers.values()) if (handler.signal === signal) handler.run();
      },
      connections: () => handlers.size,
    };
  };
  const createWindow = (title: string, app: string | null, pid: number) => {
    const state = { title };
    const window = createObject({
      get_title: () => state.title,
      get_wm_class: () => app,
      get_gtk_application_id: () => null,
      get_sandboxed_app_id: () => "org.sandboxed.App",
      get_pid: () => pid,
      get_stable_sequence: () => 7,
    });
    const setTitle = (next: string): void => {
      state.title = next;
      window.notify("notify::title");
    };
    return { ...window, setTitle };
  };
  const display = { ...createObject({}), focus_window: null as unknown };
  const Gio = {
    DBus: { session: "session" },
    BusNameOwnerFlags: { NONE: 0 },
    DBusExportedObject: {
      wrapJSObject: (xml: string) => ({
        export: (_: unknown, objectPath: string) => {
          log.push(`export ${objectPath} ${xml.includes('type="s" name="title"') ? "typed" : ""}`);
        },
        unexport: () => log.push("unexport"),
        emit_signal: (name: string, variant: { readonly value: unknown[] }) =>
          emitted.push([name, ...variant.value]),
      }),
    },
    bus_own_name_on_connection: (_: unknown, name: string) => log.push(`own ${name}`),
    bus_unown_name: () => log.push("unown"),
  };
  const GLib = {
    PRIORITY_DEFAULT: 0,
    SOURCE_REMOVE: false,
    Variant: class {
      readonly type: string;
      readonly value: unknown[];
      constructor(type: string, value: unknown[]) {
        this.type = type;
        this.value = value;
      }
    },
    timeout_add: (_: number, ms: number, callback: () => boolean) => {
      timers.push(callback);
      log.push(`timer ${ms}`);
      return timers.length;
    },
    source_remove: () => log.push("timer removed"),
  };
  const focus = (window: unknown): void => {
    display.focus_window = window;
    display.notify("notify::focus-window");
  };
  return { Gio, GLib, display, emitted, timers, log, createWindow, focus };
}

interface Extension {
  readonly enable: () => void;
  readonly disable: () => void;
}

type FakeShell = ReturnType<typeof createFakeShell>;

/** Loads the rendered extension as a script, as GNOME Shell up to 44 does. */
async function loadScript(shell: FakeShell): Promise<Extension> {
  const files = await renderGnomeExtension("44.2");
  const context = createContext({
    imports: { gi: { Gio: shell.Gio, GLib: shell.GLib } },
    global: { display: shell.display },
  });
  runInContext(files.get("extension.js") ?? "", context);
  const made: Extension = runInContext("init()", context);
  return made;
}

/** Loads it as a module, as GNOME Shell from 45 on does, with its three imports replaced. */
async function loadModule(shell: FakeShell): Promise<Extension> {
  const files = await renderGnomeExtension("47.1");
  const fakes = "globalThis.fakeShellForTest";
  const source = (files.get("extension.js") ?? "")
    .replace('import Gio from "gi://Gio";', `const { Gio } = ${fakes};`)
    .replace('import GLib from "gi://GLib";', `const { GLib } = ${fakes};`)
    .replace(/import \{ Extension \} from .*;/, "class Extension {}")
    .replaceAll("global.display", `${fakes}.display`);
  expect(source).not.toContain("import ");
  const file = path.join(home, "extension.mjs");
  writeFileSync(file, source);
  vi.stubGlobal("fakeShellForTest", shell);
  const module: { readonly default: new () => Extension } = await import(
    /* @vite-ignore */ pathToFileURL(file).href
  );
  return new module.default();
}

describe.each([
  ["a script, up to GNOME Shell 44", loadScript],
  ["a module, from GNOME Shell 45 on", loadModule],
])("the extension as %s", (_, load) => {
  it("tells each change of focus and of the title", async () => {
    const shell = createFakeShell();
    const extension = await load(shell);
    extension.enable();
    const window = shell.createWindow("one", "foot", 42);
    shell.focus(window);
    window.setTitle("renamed");
    shell.focus(null);
    expect(shell.emitted).toEqual([
      ["Changed", false, "", "", 0, 0],
      ["Changed", true, "one", "foot", 42, 7],
      ["Changed", true, "renamed", "foot", 42, 7],
      ["Changed", false, "", "", 0, 0],
    ]);
    expect(shell.log.slice(0, 2)).toEqual([
      "export /org/activityd/Focus typed",
      "own org.activityd.Focus",
    ]);
  });

  it("tells a title that never stops changing at once, then only after each pause", async () => {
    const shell = createFakeShell();
    const extension = await load(shell);
    const window = shell.createWindow("0", null, -1);
    extension.enable();
    shell.focus(window);
    for (let n = 1; n <= 50; n++) window.setTitle(String(n));
    expect(shell.emitted.map(([, , title]) => title)).toEqual(["", "0", "1"]);
    expect(shell.timers).toHaveLength(1);
    shell.timers[0]?.();
    expect(shell.emitted.at(-1)).toEqual(["Changed", true, "50", "org.sandboxed.App", 0, 7]);
    // Nothing changed in the second pause, so it is the last.
    shell.timers[1]?.();
    expect(shell.timers).toHaveLength(2);
  });

  it("leaves nothing behind when it is disabled", async () => {
    const shell = createFakeShell();
    const extension = await load(shell);
    const window = shell.createWindow("one", "foot", 42);
    extension.enable();
    shell.focus(window);
    window.setTitle("two");
    extension.disable();
    expect(window.connections()).toBe(0);
    expect(shell.display.connections()).toBe(0);
    expect(shell.log.slice(2)).toEqual(["timer 500", "unown", "timer removed", "unexport"]);
  });
});
