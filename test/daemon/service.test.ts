/** Carrying a service plan out, with a manager that is a folder of files. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ServicePlan } from "../../src/daemon/service/plan.ts";
import { planService, requireOwnLogin } from "../../src/daemon/service/machine-plan.ts";
import {
  installService,
  restartService,
  uninstallService,
} from "../../src/daemon/service/service.ts";
import { resolvePaths } from "../../src/paths.ts";
import { createTempHome } from "../helpers/temp-home.ts";

function createRig(line = "ListenStream=/a") {
  const home = createTempHome();
  const paths = resolvePaths({ ACTIVITYD_HOME: join(home, "own") });
  const said: string[] = [];
  const note = (word: string) => ({ argv: ["sh", "-c", `echo ${word} >>${home}/ran`] }) as const;
  const plan: ServicePlan = {
    mechanism: "systemd",
    files: [
      {
        path: join(home, "units", "a.socket"),
        text: `${line}\nMode=1\n`,
        holds: { line, release: note("release") },
      },
    ],
    outdated: [join(home, "autostart.desktop")],
    install: [note("install")],
    uninstall: [note("uninstall")],
    restart: [note("restart")],
    stop: [],
    // Runs when it was installed and not removed since.
    status: [{ argv: ["test", "-e", join(home, "ran")] }],
    enabled: [{ argv: ["test", "!", "-e", join(home, "disabled")] }],
    logs: [],
    logFile: null,
    mainPid: null,
    notes: [],
  };
  return {
    home,
    paths,
    plan,
    said,
    tell: (text: string) => void said.push(text),
    ran: () =>
      existsSync(join(home, "ran")) ? readFileSync(join(home, "ran"), "utf8").split("\n") : [],
  };
}

describe("installing", () => {
  it("a second time changes and runs nothing", async () => {
    const { home, plan, paths, said, tell, ran } = createRig();
    await installService(plan, paths, { dryRun: false }, tell);
    await installService(plan, paths, { dryRun: false }, tell);
    expect(ran()).toEqual(["install", ""]);
    expect(said.at(-1)).toBe("nothing changed, and it is running");
    // Such as by a hand: it runs, and would not with the next login.
    writeFileSync(join(home, "disabled"), "");
    await installService(plan, paths, { dryRun: false }, tell);
    expect(ran()).toEqual(["install", "install", ""]);
  });

  it("as a dry run writes, removes and runs nothing", async () => {
    const { home, plan, paths, tell, ran } = createRig();
    writeFileSync(join(home, "autostart.desktop"), "");
    await installService(plan, paths, { dryRun: true }, tell);
    expect(ran()).toEqual([]);
    expect(existsSync(join(home, "units"))).toBe(false);
    expect(existsSync(join(home, "autostart.desktop"))).toBe(true);
  });

  it("what another installation left is removed, also where nothing else changed", async () => {
    const { home, plan, paths, tell, ran } = createRig();
    await installService(plan, paths, { dryRun: false }, tell);
    writeFileSync(join(home, "autostart.desktop"), "");
    await installService(plan, paths, { dryRun: false }, tell);
    expect(existsSync(join(home, "autostart.desktop"))).toBe(false);
    expect(ran()).toEqual(["install", "install", ""]);
  });

  it("what is held open is let go when its line changes, and only then: no request is lost", async () => {
    const { home, plan, paths, tell, ran } = createRig();
    mkdirSync(join(home, "units"));
    writeFileSync(join(home, "units", "a.socket"), "ListenStream=/a\nMode=0\n");
    await installService(plan, paths, { dryRun: false }, tell);
    expect(ran()).toEqual(["install", ""]);
    writeFileSync(join(home, "units", "a.socket"), "ListenStream=/b\nMode=1\n");
    await installService(plan, paths, { dryRun: false }, tell);
    expect(ran()).toEqual(["install", "release", "install", ""]);
  });

  it("what the manager has not finished yet is tried again, and its failure told at the end", async () => {
    const { home, plan, paths, tell } = createRig();
    const second = {
      argv: ["sh", "-c", `test -e ${home}/once || { touch ${home}/once; exit 5; }`],
    } as const;
    const patient = { ...second, patienceMs: 10_000 };
    await installService({ ...plan, install: [patient] }, paths, { dryRun: false }, tell);
    const failing = { argv: ["sh", "-c", "exit 5"], patienceMs: 600 } as const;
    await expect(
      installService(
        {
          ...plan,
          install: [failing],
          outdated: [paths.configFile],
          status: [{ argv: ["false"] }],
        },
        paths,
        { dryRun: false },
        tell,
      ),
    ).rejects.toMatchObject({ message: "«sh -c exit 5» ended with 5." });
  });

  it("a file that Windows reads is written in its encoding, and known again", async () => {
    const { home, plan, paths, said, tell, ran } = createRig();
    const path = join(home, "units", "task.xml");
    const windows = { ...plan, files: [{ path, text: "<é/>", encoding: "utf16le" } as const] };
    await installService(windows, paths, { dryRun: false }, tell);
    expect([...readFileSync(path)]).toEqual([0xff, 0xfe, 0x3c, 0, 0xe9, 0, 0x2f, 0, 0x3e, 0]);
    await installService(windows, paths, { dryRun: false }, tell);
    expect(said).toContain(`as it is  ${path}`);
    expect(ran()).toEqual(["install", ""]);
  });

  it("a mask is taken away instead of being written through", async () => {
    const { home, plan, paths, tell } = createRig();
    mkdirSync(join(home, "units"));
    symlinkSync("/dev/null", join(home, "units", "a.socket"));
    await installService(plan, paths, { dryRun: false }, tell);
    expect(readFileSync(join(home, "units", "a.socket"), "utf8")).toBe("ListenStream=/a\nMode=1\n");
  });

  it("with sudo would be for root: it is refused, naming whom it is for", () => {
    const env = { SUDO_USER: "koi", XDG_RUNTIME_DIR: "/run/user/0" };
    expect(() => requireOwnLogin(env, 0)).toThrow(
      expect.objectContaining({ code: "bad_request", hint: "Call it without sudo." }),
    );
    expect(() => requireOwnLogin(env, 1000)).not.toThrow();
    expect(() => requireOwnLogin({ XDG_RUNTIME_DIR: "/run/user/0" }, 0)).not.toThrow();
  });
});

describe("uninstalling", () => {
  it("leaves what was recorded, and with purge takes it from where it was moved to", async () => {
    const { home, plan, paths, tell } = createRig();
    mkdirSync(join(home, "own"));
    mkdirSync(join(home, "big disk"));
    writeFileSync(join(home, "big disk", "activity.db"), "");
    symlinkSync(join(home, "big disk"), paths.dataDirectory);
    writeFileSync(join(home, "dotfile"), "");
    symlinkSync(join(home, "dotfile"), paths.configFile);
    await uninstallService(plan, paths, { dryRun: false, purge: false }, tell);
    expect(existsSync(join(paths.dataDirectory, "activity.db"))).toBe(true);
    await uninstallService(plan, paths, { dryRun: true, purge: true }, tell);
    expect(existsSync(join(paths.dataDirectory, "activity.db"))).toBe(true);
    await uninstallService(plan, paths, { dryRun: false, purge: true }, tell);
    expect(existsSync(join(home, "big disk"))).toBe(false);
    // The settings may be kept elsewhere for more than this machine: the link is ours, its end is not.
    expect(existsSync(paths.configFile)).toBe(false);
    expect(existsSync(join(home, "dotfile"))).toBe(true);
  });

  it("with purge takes the folder of the settings too, unless there is something else in it", async () => {
    const { home, plan, paths, tell } = createRig();
    const folder = join(home, "config", "activityd");
    const own = { ...paths, configFile: join(folder, "config.toml") };
    mkdirSync(folder, { recursive: true });
    writeFileSync(own.configFile, "");
    writeFileSync(join(folder, "notes"), "");
    await uninstallService(plan, own, { dryRun: false, purge: true }, tell);
    expect(existsSync(join(folder, "notes"))).toBe(true);
    rmSync(join(folder, "notes"));
    // Settings that could not be taken over are settings too.
    writeFileSync(`${own.configFile}.edit.toml`, "");
    await uninstallService(plan, own, { dryRun: false, purge: true }, tell);
    expect(existsSync(folder)).toBe(false);
  });
});

it("what is not installed cannot be restarted, and how to is said", async () => {
  const { plan, paths, tell, ran } = createRig();
  await expect(restartService(plan, paths, tell)).rejects.toMatchObject({ code: "not_found" });
  expect(ran()).toEqual([]);
});

it("a program that npx runs is told to be installed first: its cache is emptied one day", async () => {
  const { plan, paths, said, tell } = createRig("ExecStart=/home/koi/.npm/_npx/5f2/node_modules/a");
  await installService(plan, paths, { dryRun: true }, tell);
  expect(said.at(-1)).toContain("npm install -g");
});

describe("the plan", () => {
  it("keeps every variable that says where things lie, as a path that means the same everywhere", () => {
    const home = createTempHome();
    const env = { ACTIVITYD_HOME: "own", XDG_CACHE_HOME: "/c", XDG_CONFIG_HOME: home };
    mkdirSync(join(home, "systemd"));
    writeFileSync(join(home, "systemd", "private"), "");
    const plan = planService(resolvePaths(env), { ...env, XDG_RUNTIME_DIR: home }, "linux");
    const service = plan.files[1]?.text;
    expect(service).toContain(`\nEnvironment="ACTIVITYD_HOME=${process.cwd()}/own"\n`);
    expect(service).toContain('\nEnvironment="XDG_CACHE_HOME=/c"\n');
    expect(plan.files[0]?.text).toContain(
      `\nListenStream=${process.cwd()}/own/run/activityd.sock\n`,
    );
    expect(plan.files[0]?.path).toBe(join(home, "systemd", "user", "activityd.socket"));
  });
});
