/**
 * An encrypted record, with the SQLite that knows ciphers installed as its owner would install it. Set
 * `ACTIVITYD_TEST_CIPHERS` to a node_modules folder that has it to save the minutes of compiling.
 */
import { execFile, spawn } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { silentLog } from "../../src/log.ts";
import { createHeldEvents } from "../../src/store/held-events.ts";
import { filesWith } from "../helpers/files-below.ts";
import { storable } from "../helpers/storable.ts";
import { openDaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const run = promisify(execFile);
const scratch = mkdtempSync(join(tmpdir(), "activityd-encryption-"));
let modules = process.env["ACTIVITYD_TEST_CIPHERS"] ?? "";

beforeAll(async () => {
  if (modules !== "") return;
  const allowScripts = { "better-sqlite3-multiple-ciphers": true };
  writeFileSync(join(scratch, "package.json"), JSON.stringify({ private: true, allowScripts }));
  const { CIPHER_PACKAGES } = await import("../../src/store/cipher.ts");
  await run("npm", ["install", ...CIPHER_PACKAGES.split(" ")], { cwd: scratch });
  modules = join(scratch, "node_modules");
}, 900_000);

afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

describe("activityd encrypt", () => {
  it("leaves no text in any file of the data folder, and everything where it was", async () => {
    const home = await openHome();
    await home.run("backup");
    const before = await home.run("export");
    const { out } = await home.run("encrypt", "--key-file", home.keyFile);
    expect(out).toContain("the database is encrypted now\n1 copies in plain text were removed\n");
    expect(statSync(home.keyFile).mode & 0o777).toBe(0o600);
    await home.run("backup");
    expect(plainFiles(home.data)).toEqual([]);
    expect((await home.run("export")).out).toBe(before.out);
    expect((await home.run("search", "canary", "--json", "--limit", "1")).out).toContain(
      "canary 299",
    );
    expect((await home.run("encrypt")).out).toContain("encrypted already");
    await home.run("restore");
    expect((await home.run("export")).out).toBe(before.out);
  });

  it("lets the daemon record, search and back up", async () => {
    const home = await openHome();
    await home.run("encrypt", "--key-file", home.keyFile);
    const processes = createProcesses();
    const rig = openDaemonRig(processes, { NODE_PATH: modules, ACTIVITYD_HOME: home.path });
    const socketPath = join(home.path, "run", "activityd.sock");
    const { connectActivity } = await import("../../src/local-api/client.ts");
    const { until } = await import("../helpers/until.ts");
    processes.start(process.execPath, [MAIN, "start"], { env: home.env });
    const api = connectActivity({ socketPath });
    await until("the daemon answers", () => api.status().catch(() => null));
    const { hits } = await api.search({ q: "canary", limit: 3 });
    expect(hits.map(({ title }) => title)).toEqual(["canary 299", "canary 298", "canary 297"]);
    await api.close();
    await rig.close();
  });

  it("refuses another key, a key that is gone, and a plain file in the place of the encrypted one", async () => {
    const home = await openHome();
    const plain = readFileSync(join(home.data, "activity.db"));
    await home.run("encrypt", "--key-file", home.keyFile);
    const key = readFileSync(home.keyFile, "utf8");
    writeFileSync(
      home.keyFile,
      key.replace(/^./, (digit) => (digit === "0" ? "1" : "0")),
    );
    expect((await home.run("export")).talk).toContain("The key does not open");
    rmSync(home.keyFile);
    expect((await home.run("export")).talk).toContain("its key is not in");
    writeFileSync(home.keyFile, key);
    expect((await home.run("export")).code).toBe(0);
    writeFileSync(join(home.data, "activity.db"), plain);
    expect((await home.run("import", home.file)).talk).toContain("should be encrypted and is not");
    expect(readFileSync(join(home.data, "activity.db")).equals(plain)).toBe(true);
  });

  it("is restored where its key is, also from a plain backup, and from nowhere else", async () => {
    const home = await openHome();
    const before = await home.run("export");
    await home.run("backup");
    const plain = join(home.path, "plain.db");
    copyFileSync(join(home.data, "activity.db"), plain);
    await home.run("encrypt", "--key-file", home.keyFile);
    await home.run("backup");
    const [name = ""] = readdirSync(join(home.data, "backups"));
    const backup = join(home.data, "backups", name);

    await home.run("restore", plain);
    expect((await home.run("export")).out).toBe(before.out);
    expect(readFileSync(join(home.data, "activity.db")).includes("canary")).toBe(false);

    const other = await openHome();
    const refused = await other.run("restore", backup);
    expect(refused.code).toBe(1);
    expect(refused.talk).toContain(`${backup} is not sound: it is encrypted, or no database.`);
    expect(refused.talk).toContain("encryption.json");
    expect((await other.run("export")).code).toBe(0);
    copyFileSync(join(home.data, "encryption.json"), join(other.data, "encryption.json"));
    await other.run("restore", backup);
    expect((await other.run("export")).out).toBe(before.out);

    writeFileSync(home.keyFile, `${"ab".repeat(32)}\n`);
    const strange = await other.run("restore", backup);
    expect(strange.talk).toContain(`The key does not open ${backup}`);
    expect(strange.talk).toContain("Bring the key that it was encrypted with");
  });

  it("removes the plain copies too when it was cut off before them, and no others", async () => {
    const home = await openHome();
    await home.run("backup");
    const plain = join(home.path, "plain");
    cpSync(join(home.data, "backups"), plain, { recursive: true });
    await home.run("encrypt", "--key-file", home.keyFile);
    await home.run("backup");
    cpSync(plain, join(home.data, "backups"), { recursive: true });
    mkdirSync(join(home.data, "backups", "mine", "of-2025"), { recursive: true });
    expect((await home.run("encrypt")).out).toContain("1 copies in plain text were removed\n");
    expect((await home.run("backup", "--list")).out.split("\n")).toHaveLength(2);
    expect(readdirSync(join(home.data, "backups"))).toContain("mine");
    expect(plainFiles(home.data)).toEqual([]);
  });

  it("can be killed at any moment and run again", async () => {
    for (let round = 0; round < 8; round += 1) {
      const home = await openHome();
      const before = await home.run("export");
      const child = spawn(process.execPath, [MAIN, "encrypt", "--key-file", home.keyFile], {
        env: home.env,
      });
      const ended = new Promise((resolve) => child.once("close", resolve));
      await new Promise((resolve) => setTimeout(resolve, 60 + round * 40));
      child.kill("SIGKILL");
      await ended;
      await home.run("encrypt", "--key-file", home.keyFile);
      expect((await home.run("export")).out).toBe(before.out);
      expect(plainFiles(home.data)).toEqual([]);
    }
  });

  it("keeps the key in the keychain of the desktop, and nowhere where there is none", async () => {
    const home = await openHome();
    const before = await home.run("export");
    const none = await home.run("encrypt");
    expect(none).toMatchObject({ code: 1, out: "" });
    expect(none.talk).toContain("--key-file");
    expect((await home.run("export")).out).toBe(before.out);
    const script = `printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null
      "$0" "$1" encrypt && "$0" "$1" export`;
    const env = { ...home.env, XDG_RUNTIME_DIR: home.path };
    const argv = ["--", "bash", "-c", script, process.execPath, MAIN];
    const { stdout } = await run("dbus-run-session", argv, { env });
    expect(stdout).toContain("its key lies in the keychain of this desktop\n");
    expect(stdout.endsWith(before.out)).toBe(true);
    expect((await home.run("export")).talk).toMatch(/keychain/);
  });

  it("lets a damaged database be recovered as far as its tables can be read", async () => {
    const home = await openHome();
    await home.run("encrypt", "--key-file", home.keyFile);
    const path = join(home.data, "activity.db");
    const bytes = readFileSync(path);
    const page = Math.floor(bytes.length / 4096) - 3;
    bytes.fill(0x5a, page * 4096, (page + 1) * 4096);
    writeFileSync(path, bytes);
    expect((await home.run("doctor", "--repair")).out).toMatch(
      /recovered \d+ events|the damaged file/,
    );
    const left = (await home.run("export")).out.split("\n").length - 2;
    expect(left).toBeGreaterThan(200);
  });

  it("takes into the record what was held beside a damaged one, and leaves none of it in plain text", async () => {
    const home = await openHome();
    hold(home.data, "canary held");
    await home.run("encrypt", "--key-file", home.keyFile);
    expect(plainFiles(home.data)).toEqual([]);
    expect((await home.run("export")).out).toContain("canary held");
  });

  it("lets a daemon recover a damaged record, and what happens meanwhile is in no file in plain text", async () => {
    const home = await openHome();
    await home.run("encrypt", "--key-file", home.keyFile);
    const path = join(home.data, "activity.db");
    const bytes = readFileSync(path);
    for (const page of [5, 6, 7]) bytes.fill(0x5a, page * 4096, (page + 1) * 4096);
    writeFileSync(path, bytes);
    const child = spawn(process.execPath, [MAIN, "start"], { env: home.env, stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("close", resolve));
    const { until } = await import("../helpers/until.ts");
    const plain = new Set<string>();
    const told = await until("the recovery is told", async () => {
      for (const name of plainFiles(home.data)) plain.add(name);
      const { out } = await home.run("status");
      return out.split("\n").find((line) => line.includes("was damaged")) ?? null;
    });
    expect(told).toMatch(/\d+ events were read/);
    child.kill();
    await ended;
    expect([...plain, ...plainFiles(home.data)]).toEqual([]);
  });
});

/** As a daemon does that is ended while it recovers a damaged record. */
function hold(directory: string, title: string): void {
  const held = createHeldEvents({ directory, nowUs: systemClock.nowUs, log: silentLog });
  const startUs = 1_790_000_000_000_000;
  const span = { startUs, endUs: startUs + 50_000_000, utcOffsetMinutes: 0, timeZone: "UTC" };
  held.hold([
    {
      id: startUs,
      kind: "window",
      app: storable("App"),
      title: storable(title),
      place: null,
      ...span,
    },
  ]);
  held.close();
}

/** A home with three hundred events. */
async function openHome() {
  const path = mkdtempSync(join(scratch, "home-"));
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: path,
    ACTIVITYD_HOME: path,
    NODE_PATH: modules,
  };
  const file = join(path, "export.ndjson");
  const lines = Array.from({ length: 300 }, (_, n) => {
    const startUs = 1_780_000_000_000_000 + n * 60_000_000;
    const span = { startUs, endUs: startUs + 50_000_000, utcOffsetMinutes: 0, timeZone: "UTC" };
    return JSON.stringify({
      kind: "window",
      app: `App${n % 3}`,
      title: `canary ${n}`,
      place: null,
      ...span,
    });
  });
  writeFileSync(file, ['{"activityd":"export","format":1}', ...lines].join("\n"));
  const home = {
    path,
    env,
    file,
    data: join(path, "data"),
    keyFile: join(path, "keys", "activityd.key"),
    run: async (...argv: readonly string[]) => {
      try {
        const { stdout, stderr } = await run(process.execPath, [MAIN, ...argv], { env });
        return { code: 0, out: stdout, talk: stderr };
      } catch (failure) {
        const { code, stdout, stderr } = failure as {
          code: number;
          stdout: string;
          stderr: string;
        };
        return { code, out: stdout, talk: stderr };
      }
    },
  };
  mkdirSync(home.data, { recursive: true });
  await home.run("import", file);
  return home;
}

/** The names of the files that hold something in plain text. The lock is a database too, an empty one. */
function plainFiles(folder: string): readonly string[] {
  return filesWith(folder, /canary|SQLite format|cpuLoad/).filter((name) => name !== "daemon.lock");
}
