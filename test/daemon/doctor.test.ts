import {
  chmodSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { execFileSync, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { StatusAnswer } from "../../src/api.ts";
import { examineMachine } from "../../src/daemon/doctor/examine.ts";
import { FINDING_IDS, type Finding } from "../../src/daemon/doctor/finding.ts";
import { openMachine, type Machine } from "../../src/daemon/doctor/machine.ts";
import { renderReport } from "../../src/daemon/doctor/report.ts";
import { planService } from "../../src/daemon/service/machine-plan.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { resolvePaths, type Paths } from "../../src/paths.ts";
import { openEventStore } from "../../src/store/events.ts";
import { acquireInstanceLock } from "../../src/store/lock.ts";
import { INSTALL, VERSION } from "../../src/version.ts";
import { readRemedy } from "../../src/web/ui/views/health-words.ts";
import { createFakeActivityApi } from "../helpers/fake-activity-api.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { readDocTable } from "../helpers/doc-examples.ts";
import { createTempHome } from "../helpers/temp-home.ts";

/** A machine on which all is well, in a home of its own; `changes` make it sick. */
function createPatient() {
  const home = createTempHome();
  const env: Record<string, string> = {
    ACTIVITYD_HOME: home,
    XDG_CONFIG_HOME: join(home, "xdg"),
    XDG_RUNTIME_DIR: join(home, "login"),
  };
  const paths = resolvePaths(env);
  const patience = { ms: 100 };
  const machine: Machine = {
    ...openMachine(env),
    platform: "linux",
    run: () => null,
    runtimeFolder: () => join(home, "login"),
    probePeers: async () => "told",
    space: () => ({ freeBytes: 50e9, totalBytes: 100e9 }),
    get patienceMs() {
      return patience.ms;
    },
  };
  return { home, env, paths, machine, patience };
}

type Patient = ReturnType<typeof createPatient>;

async function findingsOf(
  { paths, machine }: Patient,
  changes: Partial<Machine> = {},
): Promise<readonly Finding[]> {
  const { findings } = await examineMachine(paths, { ...machine, ...changes });
  // What is to be typed is what a shell can read, each time that something is found.
  const commands = findings
    .flatMap(({ remedy }) => readRemedy(remedy))
    .flatMap(({ kind, text }) => (kind === "command" ? [text] : []));
  expect(execFileSync("sh", ["-n"], { input: commands.join("\n"), encoding: "utf8" })).toBe("");
  return findings;
}

/** The one finding of this id, which must be there and tell something. */
async function find(
  patient: Patient,
  id: Finding["id"],
  changes: Partial<Machine> = {},
): Promise<Finding> {
  const found = (await findingsOf(patient, changes)).filter((finding) => finding.id === id);
  const [first] = found;
  if (first === undefined || found.length > 1) throw new Error(`${id}: found ${found.length}`);
  return first;
}

/** A daemon that says of itself what a test wants, on the patient's socket. */
async function serveStatus(
  { paths, patience }: Patient,
  changes: Partial<StatusAnswer> = {},
): Promise<void> {
  // What is served answers, however busy this machine is.
  patience.ms = 5_000;
  const api = createFakeActivityApi();
  const standard = await api.status();
  const status = async (): Promise<StatusAnswer> => ({
    ...standard,
    version: VERSION,
    pid: process.pid,
    socket: paths.socketPath,
    problems: [],
    notes: [],
    store: { ...standard.store, path: join(paths.dataDirectory, "activity.db") },
    sources: [],
    ...changes,
  });
  const server = await serveActivityApi({
    api: { ...api, status },
    at: { socketPath: paths.socketPath },
    log: silentLog,
    version: "0.1.0",
  });
  onTestFinished(server.close);
}

function record({ paths }: Patient, at: string): void {
  const clock = createFakeClock(at);
  const store = openEventStore({ directory: paths.dataDirectory, clock, log: silentLog });
  const startUs = clock.nowUs();
  const facts = { kind: "idle", state: "away" } as const;
  store.begin(facts, { startUs, endUs: startUs + 1, utcOffsetMinutes: 0, timeZone: "UTC" });
  store.close();
}

async function listenOn(path: string | number): Promise<Server> {
  const server = createServer((socket) => socket.on("error", () => {}));
  const sockets = new Set<{ destroy: () => void }>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => {
    server.listen(typeof path === "number" ? { port: path, host: "127.0.0.1" } : path, resolve);
  });
  onTestFinished(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  return server;
}

/** A daemon's lock on the record, as it is when it was taken then. */
function hold(dataDirectory: string, pid: number, since: "just now" | "long ago"): void {
  onTestFinished(acquireInstanceLock(dataDirectory, pid));
  if (since === "long ago") utimesSync(join(dataDirectory, "daemon.pid"), 1, 1);
}

/** Writes the service's files as an installation does, for a login with systemd. */
function installUnits({ home, env, paths }: Patient): ReturnType<typeof planService> {
  mkdirSync(join(home, "login", "systemd", "private"), { recursive: true });
  const plan = planService(paths, env, "linux");
  for (const { path, text } of plan.files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return plan;
}

/** `systemctl show` as systemd 252 prints it, with what matters changed. */
function systemd(
  service: Readonly<Record<string, string>> = {},
  { socket = "active", journal = "" } = {},
): Pick<Machine, "run"> {
  const units: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "activityd.service": {
      MainPID: String(process.pid),
      NRestarts: "0",
      Result: "success",
      ActiveState: "active",
      UnitFileState: "enabled",
      NeedDaemonReload: "no",
      ...service,
    },
    "activityd.socket": { ActiveState: socket, UnitFileState: "enabled" },
  };
  return {
    run: (program, args) => {
      if (program === "journalctl") return journal;
      if (program === "loginctl") return "no\n";
      const unit = units[args[2] ?? ""];
      if (program !== "systemctl" || unit === undefined) return null;
      return `${Object.entries(unit)
        .map(([name, value]) => `${name}=${value}`)
        .join("\n")}\n`;
    },
  };
}

const BLIND = { kind: "window", backend: null, sinceUs: 0, rejected: [] } as const;

test("on a machine where all is well there is no problem and hardly a note", async () => {
  const patient = createPatient();
  installUnits(patient);
  record(patient, "2026-11-27T09:00:00Z");
  await serveStatus(patient);
  const findings = await findingsOf(patient, systemd());
  expect(findings.filter(({ state }) => state !== "ok")).toEqual([]);
  expect(findings.map(({ id }) => id)).toEqual([
    "program",
    "peers",
    "settings",
    "privacy",
    "database",
    "data",
    "disk",
    "socket",
    "service",
    "daemon",
  ]);
});

describe("the program", () => {
  test.each<[Finding["id"], Partial<Machine>, RegExp, string]>([
    [
      "node-old",
      { nodeVersion: "20.18.3" },
      /^Node\.js 20\.18\.3 is too old/,
      `Install a newer one, then: ${INSTALL} && activityd service install`,
    ],
    [
      "sqlite-old",
      { sqliteVersion: () => "3.46.0" },
      /^SQLite 3\.46\.0 is too old/,
      `Install activityd with its own SQLite again: ${INSTALL} --force`,
    ],
    [
      "koffi-absent",
      { probePeers: async () => "koffi-absent" },
      /^The optional package koffi is not installed/,
      `Add it with: ${INSTALL}`,
    ],
    ["peers-unchecked", { probePeers: async () => "untold" }, /does not tell who asks/, ""],
    [
      "peers-unchecked",
      { probePeers: async () => "untried" },
      /could not be tried/,
      "Make room there, or set TMPDIR to a folder of yours",
    ],
  ])("%s", async (id, changes, what, remedy) => {
    const finding = await find(createPatient(), id, changes);
    expect(finding.what).toMatch(what);
    expect(finding.remedy).toBe(remedy);
  });
});

describe("the settings", () => {
  test("settings-invalid names the line", async () => {
    const patient = createPatient();
    writeFileSync(patient.paths.configFile, "[capture]\nwindow = 3\n");
    const { what, remedy } = await find(patient, "settings-invalid");
    expect(what).toContain(`${patient.paths.configFile}:2: capture.window`);
    expect(remedy).toMatch(/^Mend .*config\.toml and start again/);
  });

  test("config-open", async () => {
    const patient = createPatient();
    writeFileSync(patient.paths.configFile, "");
    chmodSync(patient.paths.configFile, 0o644);
    const { remedy } = await find(patient, "config-open");
    expect(remedy).toBe(`Take that right away with: chmod 600 ${patient.paths.configFile}`);
  });

  test("port-taken, while no daemon runs that could hold it", async () => {
    const patient = createPatient();
    const address = (await listenOn(0)).address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const config = `[activitywatch]\nenabled = true\nport = ${address.port}\n`;
    writeFileSync(patient.paths.configFile, config);
    mkdirSync(patient.paths.dataDirectory, { mode: 0o700 });
    const release = acquireInstanceLock(patient.paths.dataDirectory, 412);
    // One that hangs, or is just starting.
    expect((await findingsOf(patient)).map(({ id }) => id)).not.toContain("port-taken");
    release();
    const { remedy } = await find(patient, "port-taken");
    expect(remedy).toBe(
      `See who holds it with: ss -ltnp 'sport = :${address.port}', and end it; or: activityd activitywatch disable`,
    );
    await serveStatus(patient);
    expect((await findingsOf(patient)).map(({ id }) => id)).not.toContain("port-taken");
  });

  test("a port that the service manager keeps open for the daemon is not taken", async () => {
    const patient = createPatient();
    const address = (await listenOn(0)).address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const config = `[activitywatch]\nenabled = true\nport = ${address.port}\n`;
    writeFileSync(patient.paths.configFile, config);
    installUnits(patient);
    const failed = systemd({ ActiveState: "failed", Result: "oom-kill", MainPID: "0" });
    expect((await findingsOf(patient, failed)).map(({ id }) => id)).toContain("port-taken");
    const run: Machine["run"] = (program, args) =>
      args.includes("activityd-activitywatch.socket")
        ? "ActiveState=active\n"
        : failed.run(program, args);
    expect((await findingsOf(patient, { run })).map(({ id }) => id)).not.toContain("port-taken");
  });

  test("page-port-taken is no problem of the record", async () => {
    const patient = createPatient();
    const address = (await listenOn(0)).address();
    if (address === null || typeof address === "string") throw new Error("no port");
    writeFileSync(patient.paths.configFile, `[page]\nport = ${address.port}\n`);
    const found = await find(patient, "page-port-taken");
    expect(found.state).toBe("note");
    expect(found.remedy).toContain(String(address.port));
  });
});

describe("what was recorded", () => {
  test("nothing-recorded is no problem", async () => {
    expect((await find(createPatient(), "nothing-recorded")).state).toBe("note");
  });

  test("database-damaged", async () => {
    const patient = createPatient();
    record(patient, "2026-11-27T09:00:00Z");
    writeFileSync(join(patient.paths.dataDirectory, "activity.db"), "x".repeat(8192));
    expect(await find(patient, "database-damaged")).toMatchObject({
      state: "problem",
      remedy: "Recover it with: activityd stop && activityd doctor --repair",
    });
  });

  test("database-set-aside, with what takes it away", async () => {
    const patient = createPatient();
    record(patient, "2026-11-27T09:00:00Z");
    const folder = join(patient.paths.dataDirectory, "damaged");
    mkdirSync(join(folder, "20261127T090000Z"), { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    const { what, remedy } = await find(patient, "database-set-aside");
    expect(what).toContain("1 damaged database was set aside");
    expect(remedy).toBe(`When you need it no more: rm -r ${folder}`);
  });

  test("database-newer", async () => {
    const patient = createPatient();
    record(patient, "2026-11-27T09:00:00Z");
    const path = join(patient.paths.dataDirectory, "activity.db");
    // user_version, bytes 60 to 63 of the header (sqlite.org/fileformat2.html).
    execFileSync("dd", [`of=${path}`, "bs=1", "seek=60", "conv=notrunc", "status=none"], {
      input: Buffer.from([0, 0, 3, 0xe8]),
    });
    const { what, remedy } = await find(patient, "database-newer");
    expect(what).toContain("a newer activityd wrote it (schema 1000");
    expect(remedy).toContain("Update activityd");
  });

  test("encryption-key-missing: the key file did not come along", async () => {
    const patient = createPatient();
    record(patient, "2026-11-27T09:00:00Z");
    const key = join(patient.home, "key");
    writeFileSync(
      join(patient.paths.dataDirectory, "encryption.json"),
      JSON.stringify({ keyIn: "file", path: key }),
      { mode: 0o600 },
    );
    expect(await find(patient, "encryption-key-missing")).toMatchObject({
      state: "problem",
      what: `The database is encrypted, and its key is not in ${key}.`,
      remedy:
        "Bring the key back there: without it nobody can read the record. To begin a new one, move the data folder away.",
    });
  });

  test("a database that was never begun is nothing recorded, unless there is a backup", async () => {
    const patient = createPatient();
    const { dataDirectory } = patient.paths;
    mkdirSync(dataDirectory, { mode: 0o700 });
    writeFileSync(join(dataDirectory, "activity.db"), "", { mode: 0o600 });
    expect((await find(patient, "nothing-recorded")).what).toContain("cut short");
    mkdirSync(join(dataDirectory, "backups"), { mode: 0o700 });
    const backup = join(dataDirectory, "backups", "activity-20261127T090000Z.db");
    writeFileSync(backup, "", { mode: 0o600 });
    const { what, remedy } = await find(patient, "database-damaged");
    expect(what).toContain("is empty, and there is a backup");
    expect(remedy).toBe("Start the daemon, as said below: it takes over what the backup has.");
  });

  test("log-unwritable is no problem of the record", async () => {
    const patient = createPatient();
    record(patient, "2026-11-27T09:00:00Z");
    const { logDirectory } = patient.paths;
    writeFileSync(logDirectory, "");
    expect(await find(patient, "log-unwritable")).toMatchObject({
      state: "note",
      remedy: `Move it away: mv ${logDirectory} ${logDirectory}.away`,
    });
  });

  test("clock-behind", async () => {
    const patient = createPatient();
    record(patient, "2026-11-27T09:00:00Z");
    const nowUs = () => Date.parse("2026-11-27T08:30:00Z") * 1000;
    const { what, remedy } = await find(patient, "clock-behind", { nowUs });
    expect(what).toContain("recorded 30 minutes from now");
    expect(remedy).toBe(
      "Let it be set from the network: timedatectl set-ntp true; then forget what lies ahead: activityd forget --from 0s --to 2100-01-01",
    );
    const slightly = () => Date.parse("2026-11-27T08:59:00Z") * 1000;
    const ids = (await findingsOf(patient, { nowUs: slightly })).map(({ id }) => id);
    expect(ids).not.toContain("clock-behind");
  });

  test("disk-nearly-full", async () => {
    const space = () => ({ freeBytes: 200e6, totalBytes: 100e9 });
    const { what, remedy } = await find(createPatient(), "disk-nearly-full", { space });
    expect(what).toContain("200 MB free of 100000 MB");
    expect(remedy).toContain("du -xh --max-depth=2 ~ | sort -h | tail");
  });

  test("data-open", async () => {
    const patient = createPatient();
    record(patient, "2026-11-27T09:00:00Z");
    chmodSync(patient.paths.dataDirectory, 0o755);
    const { remedy } = await find(patient, "data-open");
    expect(remedy).toBe(`Take that right away with: chmod -R go= ${patient.paths.dataDirectory}`);
  });

  test("data-unwritable: what root left behind", async () => {
    const patient = createPatient();
    record(patient, "2026-11-27T09:00:00Z");
    const uid = (process.getuid?.() ?? 0) + 1;
    const { dataDirectory } = patient.paths;
    const { remedy } = await find(patient, "data-unwritable", { uid });
    expect(remedy).toBe(
      `Make it yours again: sudo chown -R "$(id -u):$(id -g)" ${dataDirectory} && chmod -R u+rwX ${dataDirectory}`,
    );
  });
});

describe("data-unwritable", () => {
  test("a file where the folder should be is no record that has yet to begin", async () => {
    const patient = createPatient();
    const { dataDirectory } = patient.paths;
    writeFileSync(dataDirectory, "");
    const { what, remedy } = await find(patient, "data-unwritable");
    expect(what).toContain("is something else");
    expect(remedy).toBe(`Move it away: mv ${dataDirectory} ${dataDirectory}.away`);
  });

  test("a link to a disk that is not mounted is told as that", async () => {
    const patient = createPatient();
    const { dataDirectory } = patient.paths;
    symlinkSync("/no-such-disk/record", dataDirectory);
    const { what, remedy } = await find(patient, "data-unwritable");
    expect(what).toContain("is a link to /no-such-disk/record, which is not there");
    expect(remedy).toContain(`: rm ${dataDirectory}`);
  });

  test("a file above the folder is what is to be moved away", async () => {
    const { home, machine, ...patient } = createPatient();
    writeFileSync(join(home, "file"), "");
    const dataDirectory = join(home, "file", "deep", "data");
    const inFile = { ...patient, home, machine, paths: { ...patient.paths, dataDirectory } };
    const { what, remedy } = await find(inFile, "data-unwritable");
    expect(what).toBe(
      `The record's folder ${dataDirectory} cannot be made or reached, so no daemon can start: ${join(home, "file")} is no folder.`,
    );
    expect(remedy).toBe(`Move it away: mv ${join(home, "file")} ${join(home, "file.away")}`);
    // What is not the owner's is not theirs to move.
    const uid = (process.getuid?.() ?? 0) + 1;
    const asOther = await find(inFile, "data-unwritable", { uid });
    expect(asOther.remedy).toBe(
      "Do without ACTIVITYD_HOME and --home, or give them a folder of your own.",
    );
  });
});

test("a command names a folder of any name as a shell reads it", async () => {
  const patient = createPatient();
  const home = join(patient.home, "koi's $HOME & 100%");
  const env = { ...patient.env, ACTIVITYD_HOME: home };
  const odd = { ...patient, env, paths: resolvePaths(env) };
  mkdirSync(odd.paths.runtimeDirectory, { recursive: true });
  chmodSync(odd.paths.runtimeDirectory, 0o755);
  const { remedy } = await find(odd, "socket-folder-open");
  execFileSync("sh", ["-c", remedy.replace("Close it with: ", "")]);
  expect(statSync(odd.paths.runtimeDirectory).mode & 0o777).toBe(0o700);
});

test("not-examined: one part that cannot be looked at does not keep the others back", async () => {
  const patient = createPatient();
  const probePeers = () => Promise.reject(new Error("ENOSPC: no space left on device, mkdtemp"));
  const findings = await findingsOf(patient, { probePeers });
  expect(findings.find(({ id }) => id === "not-examined")).toMatchObject({
    state: "problem",
    what: "Of the program nothing can be told: Internal error: ENOSPC: no space left on device, mkdtemp",
  });
  expect(findings.map(({ id }) => id)).toContain("settings");
  expect(findings.map(({ id }) => id)).toContain("daemon-stopped");
});

describe("the way to the daemon", () => {
  test("daemon-stopped is no problem", async () => {
    expect(await find(createPatient(), "daemon-stopped")).toMatchObject({
      state: "note",
      remedy: "Start it with: activityd start --detach",
    });
  });

  test("socket-folder-open", async () => {
    const patient = createPatient();
    const { runtimeDirectory } = patient.paths;
    mkdirSync(runtimeDirectory, { recursive: true });
    chmodSync(runtimeDirectory, 0o755);
    const { what, remedy } = await find(patient, "socket-folder-open");
    expect(what).toContain("(mode 0755)");
    expect(remedy).toBe(`Close it with: chmod 700 ${runtimeDirectory}`);
  });

  test("a folder that is there for others too is not advised to be made one's own", async () => {
    const patient = createPatient();
    const shared = join(patient.home, "shared");
    mkdirSync(shared);
    chmodSync(shared, 0o777);
    const env = { ...patient.env, ACTIVITYD_SOCKET: join(shared, "a.sock") };
    const chosen = {
      ...patient,
      env,
      paths: resolvePaths(env),
      machine: { ...patient.machine, env },
    };
    const remedy =
      'Choose one in a folder of your own: export ACTIVITYD_SOCKET="$XDG_RUNTIME_DIR/activityd/activityd.sock"';
    expect((await find(chosen, "socket-folder-open")).remedy).toBe(remedy);
    const uid = (process.getuid?.() ?? 0) + 1;
    expect((await find(chosen, "socket-folder-foreign", { uid })).remedy).toBe(remedy);
  });

  test("socket-folder-closed: to its owner too", async () => {
    const patient = createPatient();
    const { runtimeDirectory } = patient.paths;
    mkdirSync(runtimeDirectory, { recursive: true });
    chmodSync(runtimeDirectory, 0o000);
    const { remedy } = await find(patient, "socket-folder-closed");
    expect(remedy).toBe(`Open it to yourself: chmod 700 ${runtimeDirectory}`);
  });

  test("socket-folder-no-folder", async () => {
    const patient = createPatient();
    symlinkSync("/tmp", patient.paths.runtimeDirectory);
    const { remedy } = await find(patient, "socket-folder-no-folder");
    const { runtimeDirectory } = patient.paths;
    expect(remedy).toBe(`Move it away: mv ${runtimeDirectory} ${runtimeDirectory}.away`);
  });

  test("socket-folder-no-folder: a file, where nothing can be said of a socket", async () => {
    const patient = createPatient();
    const { runtimeDirectory } = patient.paths;
    writeFileSync(runtimeDirectory, "");
    const { remedy } = await find(patient, "socket-folder-no-folder");
    expect(remedy).toBe(`Move it away: mv ${runtimeDirectory} ${runtimeDirectory}.away`);
    expect((await findingsOf(patient)).map(({ id }) => id)).not.toContain("not-examined");
  });

  test.each([
    ["of a login that is not one's own, while there is one", true, "export XDG_RUNTIME_DIR="],
    ["of a login that has ended", false, "unset XDG_RUNTIME_DIR"],
  ])("socket-folder-unmade: in the folder %s", async (_, isLoggedIn, remedy) => {
    const { home, machine, patience, ...well } = createPatient();
    const theirs = join(home, "theirs");
    writeFileSync(theirs, "");
    const own = join(home, "own");
    if (isLoggedIn) mkdirSync(own);
    const env = { ...well.env, XDG_RUNTIME_DIR: theirs };
    const paths: Paths = { ...well.paths, socketPath: join(theirs, "activityd", "activityd.sock") };
    const away = { ...machine, env, runtimeFolder: () => own };
    const patient = { home, env, paths, machine: away, patience };
    const found = await find(patient, "socket-folder-unmade");
    expect(found.remedy).toContain(remedy);
    expect(found.what).toContain(`cannot be made or reached: ${theirs} is no folder.`);
    const ids = (await findingsOf(patient)).map(({ id }) => id);
    expect(ids).not.toContain("not-examined");
    expect(ids).not.toContain("daemon-stopped");
  });

  test("socket-folder-foreign", async () => {
    const patient = createPatient();
    mkdirSync(patient.paths.runtimeDirectory, { recursive: true, mode: 0o700 });
    const uid = (process.getuid?.() ?? 0) + 1;
    const { remedy } = await find(patient, "socket-folder-foreign", { uid });
    expect(remedy).toContain(`sudo chown -R ${uid} ${patient.paths.runtimeDirectory}`);
  });

  test("socket-path-too-long", async () => {
    const patient = createPatient();
    const socketPath = join(patient.home, "x".repeat(120));
    const paths: Paths = { ...patient.paths, socketPath };
    const { remedy } = await find({ ...patient, paths }, "socket-path-too-long");
    expect(remedy).toContain("export ACTIVITYD_SOCKET=");
  });

  test("socket-dead: what a kill -9 leaves", async () => {
    const patient = createPatient();
    const { runtimeDirectory, socketPath } = patient.paths;
    mkdirSync(runtimeDirectory, { recursive: true, mode: 0o700 });
    const listen = `require("net").createServer().listen(${JSON.stringify(socketPath)}, () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", listen]);
    expect(await find(patient, "socket-dead")).toMatchObject({
      state: "problem",
      remedy: "Start it again, which replaces the socket: activityd start --detach",
    });
  });

  test("socket-foreign: a file in its place", async () => {
    const patient = createPatient();
    const { runtimeDirectory, socketPath } = patient.paths;
    mkdirSync(runtimeDirectory, { recursive: true, mode: 0o700 });
    writeFileSync(socketPath, "");
    const { remedy } = await find(patient, "socket-foreign");
    expect(remedy).toBe(
      `Move it away: mv ${socketPath} ${socketPath}.away && activityd start --detach`,
    );
  });

  test("daemon-silent: it accepts and does not answer", async () => {
    const patient = createPatient();
    const { runtimeDirectory, socketPath, dataDirectory } = patient.paths;
    mkdirSync(runtimeDirectory, { recursive: true, mode: 0o700 });
    mkdirSync(dataDirectory, { mode: 0o700 });
    hold(dataDirectory, 412, "long ago");
    await listenOn(socketPath);
    expect(await find(patient, "daemon-silent")).toMatchObject({
      what: expect.stringContaining("(pid 412)"),
      remedy: "End it and start it again: kill -9 412; activityd start --detach",
    });
  });

  test("second-daemon: the data is held, and not by who answers", async () => {
    const patient = createPatient();
    const { dataDirectory } = patient.paths;
    mkdirSync(dataDirectory, { mode: 0o700 });
    hold(dataDirectory, 412, "long ago");
    const { remedy } = await find(patient, "second-daemon");
    expect(remedy).toBe("End it with: activityd stop && activityd start --detach");
    await serveStatus(patient);
    expect((await find(patient, "second-daemon")).what).toContain("Another activityd (pid 412)");
  });

  test("daemon-starting: it began a moment ago, and recovers a record perhaps", async () => {
    const patient = createPatient();
    const { runtimeDirectory, socketPath, dataDirectory } = patient.paths;
    mkdirSync(dataDirectory, { mode: 0o700 });
    hold(dataDirectory, 412, "just now");
    expect(await find(patient, "daemon-starting")).toMatchObject({
      state: "note",
      what: "A daemon (pid 412) is starting, and does not answer yet.",
    });
    mkdirSync(runtimeDirectory, { recursive: true, mode: 0o700 });
    await listenOn(socketPath);
    expect((await find(patient, "daemon-starting")).state).toBe("note");
  });

  test("a damaged record that is being recovered is left to who is at it", async () => {
    const patient = createPatient();
    const { dataDirectory } = patient.paths;
    record(patient, "2026-11-27T09:00:00Z");
    writeFileSync(join(dataDirectory, "activity.db"), "x".repeat(20_000), { mode: 0o600 });
    hold(dataDirectory, 412, "long ago");
    const recovering = join(dataDirectory, "activity.db.recovering");
    writeFileSync(recovering, "", { mode: 0o600 });
    const { what } = await find(patient, "daemon-starting");
    expect(what).toContain("A daemon (pid 412) is recovering a damaged record");
    const ids = (await findingsOf(patient)).map(({ id }) => id);
    expect(ids).not.toContain("database-damaged");
    // One that was killed leaves its file too.
    utimesSync(recovering, 1, 1);
    expect((await find(patient, "database-damaged")).state).toBe("problem");
  });

  test("a daemon that has not looked at anything yet is asked again", async () => {
    const patient = createPatient();
    const unprobed = { why: { reason: "Not probed yet.", remedy: "" }, rejected: [] } as const;
    const window = {
      kind: "window",
      state: "blind",
      backend: null,
      sinceUs: 0,
      ...unprobed,
    } as const;
    let asked = 0;
    await serveStatus(patient, {
      get sources() {
        asked += 1;
        return asked < 3 ? [window] : [];
      },
      startedUs: 0,
      nowUs: 1,
    });
    const findings = await findingsOf(patient);
    expect(findings.filter(({ id }) => id === "window-blind")).toEqual([]);
    expect(asked).toBe(3);
  });

  test("daemon-elsewhere: it answers for another folder", async () => {
    const patient = createPatient();
    const store = { ...(await createFakeActivityApi().status()).store, path: "/other/activity.db" };
    await serveStatus(patient, { store });
    const { what } = await find(patient, "daemon-elsewhere");
    expect(what).toContain(`keeps its record in /other, and this command means`);
  });

  test("run-with-sudo: all that is said is of root", async () => {
    const patient = createPatient();
    const env = { ...patient.env, SUDO_USER: "koi" };
    const { what, remedy } = await find(patient, "run-with-sudo", { env, uid: 0 });
    expect(what).toContain("not at those of koi");
    expect(remedy).toBe("Call it without sudo: activityd doctor");
  });

  test("runtime-folder-unset: a shell of su or cron", async () => {
    const patient = createPatient();
    const login = join(patient.home, "login");
    mkdirSync(join(login, "activityd"), { recursive: true, mode: 0o700 });
    await listenOn(join(login, "activityd", "activityd.sock"));
    const env = { XDG_CONFIG_HOME: join(patient.home, "xdg") };
    const { remedy } = await find(patient, "runtime-folder-unset", { env });
    expect(remedy).toBe(`Set it: export XDG_RUNTIME_DIR=${login}`);
    // Whose daemon holds the record is no second one.
    mkdirSync(patient.paths.dataDirectory, { mode: 0o700 });
    hold(patient.paths.dataDirectory, 412, "long ago");
    const ids = (await findingsOf(patient, { env })).map(({ id }) => id);
    expect(ids).not.toContain("second-daemon");
    expect(ids).not.toContain("daemon-stopped");
  });
});

describe("the service", () => {
  test("service-absent is no problem", async () => {
    expect(await find(createPatient(), "service-absent")).toMatchObject({
      state: "note",
      remedy: "Install it with: activityd service install",
    });
  });

  test("service-elsewhere: that of the usual places, seen from a trial", async () => {
    const patient = createPatient();
    installUnits(patient);
    const env = { ...patient.env, ACTIVITYD_HOME: join(patient.home, "trial") };
    const trial = {
      ...patient,
      env,
      paths: resolvePaths(env),
      machine: { ...patient.machine, env },
    };
    const { what } = await find(trial, "service-elsewhere", systemd());
    expect(what).toContain(patient.home);
    const findings = await findingsOf(trial, systemd());
    expect(findings.map(({ id }) => id).filter((id) => id.startsWith("service-"))).toEqual([
      "service-elsewhere",
    ]);
    expect(findings.find(({ id }) => id === "daemon-stopped")?.remedy).toBe(
      "Start it with: activityd start --detach",
    );
  });

  test("service-drop-ins: what its owner changed is named beside what is wrong", async () => {
    const patient = createPatient();
    installUnits(patient);
    const own = "/home/koi/.config/systemd/user/activityd.service.d/own.conf";
    const all = "/usr/lib/systemd/user/service.d/10-timeout-abort.conf";
    expect(
      (await findingsOf(patient, systemd({ DropInPaths: all }))).map(({ id }) => id),
    ).not.toContain("service-drop-ins");
    const failed = systemd({ DropInPaths: `${all} ${own}`, ActiveState: "failed", NRestarts: "5" });
    expect(await find(patient, "service-drop-ins", failed)).toMatchObject({
      state: "note",
      what: `Files of yours change the service: ${own}`,
      remedy: "See what they change with: systemctl --user cat activityd.service",
    });
    expect((await find(patient, "service-crash-loop", failed)).state).toBe("problem");
  });

  test("service-stale: what is no file ends no examination", async () => {
    const patient = createPatient();
    const [, service] = installUnits(patient).files;
    rmSync(service?.path ?? "");
    mkdirSync(service?.path ?? "");
    expect((await find(patient, "service-stale", systemd())).state).toBe("problem");
  });

  test("service-masked: by its owner, who can have it back", async () => {
    const patient = createPatient();
    const [, service] = installUnits(patient).files;
    rmSync(service?.path ?? "");
    symlinkSync("/dev/null", service?.path ?? "");
    const masked = systemd({ UnitFileState: "masked", ActiveState: "inactive", MainPID: "0" });
    expect(await find(patient, "service-masked", masked)).toMatchObject({
      state: "problem",
      what: expect.stringContaining("activityd.service"),
      remedy: "Take the mask away and start it: activityd service install",
    });
    const ids = (await findingsOf(patient, masked)).map(({ id }) => id);
    expect(ids.filter((id) => id.startsWith("service-"))).toEqual(["service-masked"]);
  });

  test("service-stale: written by another version", async () => {
    const patient = createPatient();
    const [, service] = installUnits(patient).files;
    writeFileSync(
      service?.path ?? "",
      (service?.text ?? "").replace(/activityd \S+/, "activityd 0.0.9"),
    );
    const { what, remedy } = await find(patient, "service-stale", systemd());
    expect(what).toContain("activityd.service");
    expect(remedy).toBe(
      "Write it anew: activityd service install (see what changes with --dry-run)",
    );
  });

  test("service-program-missing: Node.js was updated by its version manager", async () => {
    const patient = createPatient();
    const [, service] = installUnits(patient).files;
    const old = "/home/pat/.nvm/versions/node/v20.19.0/bin/node";
    writeFileSync(
      service?.path ?? "",
      (service?.text ?? "").replace(`"${process.execPath}"`, `"${old}"`),
    );
    const { what, remedy } = await find(patient, "service-program-missing", systemd());
    expect(what).toContain(`The service starts ${old}, which is not there`);
    expect(remedy).toBe("Write it anew: activityd service install");
  });

  test("service-stale: a program of an odd name that is where the service says", async () => {
    const patient = createPatient();
    const [, service] = installUnits(patient).files;
    const odd = join(patient.home, 'my 100% "node"');
    writeFileSync(odd, "");
    const written = odd.replaceAll('"', '\\"').replaceAll("%", "%%");
    writeFileSync(
      service?.path ?? "",
      (service?.text ?? "").replace(`"${process.execPath}"`, `/usr/bin/env "${written}"`),
    );
    expect((await find(patient, "service-stale", systemd())).state).toBe("problem");
  });

  const again =
    "Read all of it with: activityd service logs; mend the cause, then: activityd service restart";
  test.each<[Finding["id"], Pick<Machine, "run">, RegExp, string]>([
    [
      "service-crash-loop",
      systemd(
        { ActiveState: "failed", Result: "exit-code", NRestarts: "5", MainPID: "0" },
        {
          socket: "failed",
          journal:
            "activityd: The configuration has a problem: config.toml:1: nonsense: there is no such key.\n  Mend it.\nactivityd.service: Failed with result 'exit-code'.\n",
        },
      ),
      /\(5 restarts\).* Its last words: The configuration has a problem: config\.toml:1/,
      again,
    ],
    [
      "service-watchdog",
      systemd({ ActiveState: "failed", Result: "watchdog", NRestarts: "5", MainPID: "0" }),
      /no sign of life/,
      again,
    ],
    [
      "service-failed",
      systemd({ ActiveState: "failed", Result: "oom-kill", MainPID: "0" }),
      /^The service failed \(oom-kill\)\.$/,
      again,
    ],
    [
      "service-restarts",
      systemd({ NRestarts: "7" }),
      /started the daemon again 7 times/,
      "Read why with: activityd service logs",
    ],
    [
      "service-not-enabled",
      systemd({ UnitFileState: "disabled" }),
      /does not start with your login/,
      "Let it: systemctl --user enable activityd.socket activityd.service activityd-desktop.service",
    ],
    [
      "service-not-reloaded",
      systemd({ NeedDaemonReload: "yes" }),
      /has not read them again/,
      "Let it: systemctl --user daemon-reload && activityd service restart",
    ],
    [
      "service-stopped",
      systemd({ ActiveState: "inactive", MainPID: "0" }, { socket: "inactive" }),
      /installed and stopped/,
      "Start it with: activityd service restart",
    ],
  ])("%s", async (id, manager, what, remedy) => {
    const patient = createPatient();
    installUnits(patient);
    const finding = await find(patient, id, manager);
    expect(finding.what).toMatch(what);
    expect(finding.remedy).toBe(remedy);
  });

  test("daemon-beside-service: it was started by hand", async () => {
    const patient = createPatient();
    installUnits(patient);
    await serveStatus(patient);
    const manager = systemd({ ActiveState: "inactive", MainPID: "0" }, { socket: "inactive" });
    const { remedy } = await find(patient, "daemon-beside-service", manager);
    expect(remedy).toBe("Let the service run it: activityd service restart");
  });

  test("service-linger, for whoever comes over ssh", async () => {
    const patient = createPatient();
    installUnits(patient);
    const env = { ...patient.env, SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" };
    const { remedy } = await find(patient, "service-linger", { ...systemd(), env });
    expect(remedy).toBe("Keep it: loginctl enable-linger");
  });
});

describe("what the daemon sees", () => {
  const NO_EXTENSION = {
    reason:
      "GNOME Shell tells nobody which window has the focus, and the extension of activityd is not running in it.",
    remedy: "Run: activityd gnome install-extension, then log out and in again.",
  };
  test("window-blind, with the reason and the remedy of the backend", async () => {
    const patient = createPatient();
    const sources = [{ ...BLIND, state: "blind", why: NO_EXTENSION }] as const;
    const problems = [
      { reason: `window cannot be seen: ${NO_EXTENSION.reason}`, remedy: NO_EXTENSION.remedy },
    ];
    await serveStatus(patient, { sources, problems, health: "degraded" });
    expect(await find(patient, "window-blind")).toEqual({
      state: "problem",
      id: "window-blind",
      what: `Windows cannot be seen: ${NO_EXTENSION.reason}`,
      remedy: NO_EXTENSION.remedy,
    });
    // Told once, not once more as a problem of the daemon.
    expect((await findingsOf(patient)).map(({ id }) => id)).not.toContain("daemon-problem");
  });

  test("window-lost, source-lost and source-blind", async () => {
    const patient = createPatient();
    const why = { reason: "The X server went away.", remedy: "" };
    const sources = [
      { ...BLIND, state: "lost", why },
      { ...BLIND, kind: "media", state: "lost", why },
      { ...BLIND, kind: "session", state: "blind", why },
    ] as const;
    await serveStatus(patient, { sources });
    expect((await find(patient, "window-lost")).state).toBe("problem");
    expect((await find(patient, "source-lost")).what).toMatch(/^media was seen and is no more/);
    expect((await find(patient, "source-blind")).state).toBe("note");
  });

  test("permission-lost on a Mac", async () => {
    const patient = createPatient();
    const why = {
      reason:
        "active-win may not read the windows of this Mac, or could not read the one in front.",
      remedy: "Allow Screen Recording and Accessibility.",
    };
    await serveStatus(patient, { sources: [{ ...BLIND, state: "blind", why }] });
    const { what, remedy } = await find(patient, "permission-lost", { platform: "darwin" });
    expect(what).toContain(process.execPath);
    expect(remedy).toMatch(
      /^Open the settings.*Privacy_ScreenCapture'.*&& activityd service restart$/,
    );
  });

  test("display-unknown: the daemon was started before the desktop", async () => {
    const patient = createPatient();
    installUnits(patient);
    const why = { reason: "DISPLAY is not set.", remedy: "" };
    await serveStatus(patient, { sources: [{ ...BLIND, state: "blind", why }] });
    const env = { ...patient.env, DISPLAY: ":0", XAUTHORITY: "/run/user/1000/xauth" };
    const { remedy } = await find(patient, "display-unknown", {
      ...systemd(),
      env,
      environmentOf: () => ({}),
    });
    expect(remedy).toBe(
      "Hand it on: systemctl --user import-environment DISPLAY XAUTHORITY && activityd service restart",
    );
  });

  test("daemon-version, paused, and what the daemon says itself", async () => {
    const patient = createPatient();
    await serveStatus(patient, {
      version: "0.0.9",
      paused: { sinceUs: 1, untilUs: null },
      problems: [{ reason: "The store cannot be written.", remedy: "Make room." }],
      notes: [{ reason: "Firefox sets no mark.", remedy: "" }],
    });
    expect((await find(patient, "daemon-version")).remedy).toBe(
      "Restart the daemon with: activityd stop && activityd start --detach",
    );
    expect((await find(patient, "paused")).remedy).toBe("End the pause with: activityd resume");
    expect((await find(patient, "daemon-problem")).what).toBe("The store cannot be written.");
    expect((await find(patient, "daemon-notes")).state).toBe("note");
  });
});

test("a report for a bug tracker carries nothing of the owner, whatever stands in the sources of it", async () => {
  const patient = createPatient();
  const canary = "canary-7731";
  writeFileSync(
    patient.paths.configFile,
    `[capture]\nassistant_apps = ["${canary}"]\n[[privacy.rules]]\nname = "${canary}"\naction = "drop"\ntitle = "${canary}"\n`,
  );
  const why = { reason: `it shows ${canary}`, remedy: canary };
  await serveStatus(patient, {
    sources: [
      { ...BLIND, state: "blind", why, rejected: [{ backend: "x11", ...why }] },
      { ...BLIND, kind: "media", state: "live", backend: `${canary} 1`, why: null },
    ],
    problems: [why],
    notes: [why],
  });
  const machine = {
    ...patient.machine,
    env: {
      ...patient.env,
      XDG_CURRENT_DESKTOP: "GNOME",
      DESKTOP_SESSION: `/home/${canary}/x`,
      DISPLAY: `${canary}:0`,
    },
  };
  const examination = await examineMachine(patient.paths, machine);
  const report = renderReport(patient.paths, machine, examination);
  expect(report).not.toContain(canary);
  expect(report).not.toContain(patient.home);
  expect(report).toContain("XDG_CURRENT_DESKTOP=GNOME");
  expect(report).toContain("DESKTOP_SESSION=(other)");
  expect(report).toContain("capture.assistant_apps, privacy.rules");
  expect(report).toContain("| problem | window-blind |");
  expect(report).toContain("| window | blind |  | x11 |");
});

test("docs/troubleshooting.md tells every finding, and no other", () => {
  const rows = readDocTable(new URL("../../docs/troubleshooting.md", import.meta.url));
  expect(rows.map(([id]) => id)).toEqual([...FINDING_IDS].map((id) => `\`${id}\``));
  expect([...FINDING_IDS]).toEqual(FINDING_IDS.toSorted());
});
