import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { acquireInstanceLock, findInstanceHolder, holdInstanceLock } from "../../src/store/lock.ts";
import { createTempHome } from "../helpers/temp-home.ts";

describe("the lock of a data folder", () => {
  it("keeps a second daemon out, names the first, and is free again after its release", () => {
    const home = createTempHome();
    const release = acquireInstanceLock(home, 412);
    expect(() => acquireInstanceLock(home, 413)).toThrow(
      expect.objectContaining({
        code: "socket_in_use",
        message: `Another activityd (pid 412) is using ${home}. Nothing was changed.`,
      }),
    );
    release();
    acquireInstanceLock(home, 413)();
    expect(existsSync(join(home, "daemon.pid"))).toBe(false);
  });

  it("is held again at the next look where its folder was removed, and not where another was faster", () => {
    const home = join(createTempHome(), "data");
    mkdirSync(home);
    const lock = holdInstanceLock(home, 412);
    expect(lock.keep()).toBe(false);
    rmSync(home, { recursive: true });
    mkdirSync(home);
    expect(lock.keep()).toBe(true);
    expect(() => acquireInstanceLock(home, 413)).toThrow("(pid 412)");
    rmSync(join(home, "daemon.lock"));
    const other = acquireInstanceLock(home, 413);
    expect(() => lock.keep()).toThrow(expect.objectContaining({ code: "socket_in_use" }));
    other();
    expect(lock.keep()).toBe(true);
    lock.release();
    acquireInstanceLock(home, 414)();
  });

  it("is named by its holder again where only that was removed, and held all the time", () => {
    const home = createTempHome();
    const lock = holdInstanceLock(home, 412);
    rmSync(join(home, "daemon.pid"));
    expect(lock.keep()).toBe(false);
    expect(findInstanceHolder(home)).toMatchObject({ pid: 412 });
    lock.release();
  });

  it("needs no room on the disk, neither for itself nor for who holds it", () => {
    const home = createTempHome();
    // Nothing can be written where a folder is.
    mkdirSync(join(home, "daemon.pid"));
    mkdirSync(join(home, "daemon.lock-journal"));
    const lock = holdInstanceLock(home, 412);
    expect(() => acquireInstanceLock(home, 413)).toThrow(
      expect.objectContaining({ code: "socket_in_use" }),
    );
    rmSync(join(home, "daemon.pid"), { recursive: true });
    lock.release();
  });

  it("is free at once when its holder is killed", async () => {
    const home = createTempHome();
    const holder = spawn(
      process.execPath,
      [
        "-e",
        `const sqlite = new (require("better-sqlite3"))(process.argv[1]);
         sqlite.exec("BEGIN EXCLUSIVE"); console.log("held"); setInterval(() => {}, 1000);`,
        join(home, "daemon.lock"),
      ],
      {
        cwd: fileURLToPath(new URL("../..", import.meta.url)),
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    await once(holder.stdout, "data");
    expect(() => acquireInstanceLock(home, 1)).toThrow(
      expect.objectContaining({ code: "socket_in_use" }),
    );
    const gone = once(holder, "exit");
    holder.kill("SIGKILL");
    await gone;
    acquireInstanceLock(home, 1)();
  });

  it("is taken although a failing disk spoilt its file, which nobody holds then", () => {
    const home = createTempHome();
    acquireInstanceLock(home, 412)();
    writeFileSync(join(home, "daemon.lock"), "garbage".repeat(1000));
    expect(findInstanceHolder(home)).toBeNull();
    const release = acquireInstanceLock(home, 413);
    expect(findInstanceHolder(home)).toMatchObject({ pid: 413 });
    expect(() => acquireInstanceLock(home, 414)).toThrow(
      expect.objectContaining({ code: "socket_in_use" }),
    );
    release();
  });
});
