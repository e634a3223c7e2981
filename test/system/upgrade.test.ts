/** A daemon that runs on while another version of the program is installed in the place of its own. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freePort } from "../helpers/free-port.ts";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

let installed: string;
let daemon: DaemonRig;
let port: number;
beforeEach(async () => {
  port = await freePort();
  installed = mkdtempSync(join(tmpdir(), "activityd-installed-"));
  cpSync(join(ROOT, "dist"), join(installed, "dist"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(installed, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(installed, "node_modules"));
  const main = join(installed, "dist", "cli", "main.js");
  const watchers = `[activitywatch]\nenabled = true\nport = ${port}\n`;
  daemon = openDaemonRig(createProcesses(), {}, watchers, main);
  await daemon.start();
  const log = join(daemon.home, "log", "activityd.log");
  await until(
    "the start is over",
    () => existsSync(log) && readFileSync(log, "utf8").includes('"started"'),
  );
  await daemon.api.context(DIGEST);
});
afterEach(async () => {
  await daemon.close();
  rmSync(installed, { recursive: true, force: true });
});

const RANGE = { fromUs: 0, toUs: 1e15 };
const DIGEST = { form: "digest", turn: "what did I do?" } as const;
const TOLD = {
  code: "program_replaced",
  message: expect.stringContaining("upgraded"),
  hint: expect.stringContaining("activityd service restart"),
};

/** As a package manager does: the files of another version, under whose names none of this one's parts is left. */
function installAnother(): void {
  const packed = join(installed, "dist", "packed");
  for (const name of readdirSync(packed)) {
    if (/-[\w-]{8}\.js$/.test(name)) rmSync(join(packed, name));
  }
  const version = join(installed, "dist", "version.js");
  writeFileSync(
    version,
    readFileSync(version, "utf8").replace(/VERSION = "[^"]+"/, 'VERSION = "99.0.0"'),
  );
}

test("what it had not loaded yet is refused with the reason and the way out, and the rest is answered", async () => {
  installAnother();
  const asked = await daemon.curl(["http://localhost/v1/openapi.json"]);
  expect(JSON.parse(asked.out)).toEqual({ error: TOLD });
  await expect(daemon.api.openPage()).rejects.toMatchObject(TOLD);
  await expect(daemon.api.context({ form: "exact" })).resolves.toMatchObject({ form: "exact" });
  await expect(daemon.api.context(DIGEST)).resolves.toMatchObject({ form: "digest" });
});

test("the process that reads the record is none of another version", async () => {
  await daemon.api.timeline(RANGE);
  const { pid } = await daemon.api.status();
  const [reader = ""] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  installAnother();
  // The one that runs already is of this version.
  await expect(daemon.api.timeline(RANGE)).resolves.toMatchObject({ lanes: expect.anything() });
  process.kill(Number(reader), "SIGKILL");
  await expect
    .poll(() => daemon.api.timeline(RANGE).catch((error: unknown) => error))
    .toMatchObject(TOLD);
});

test("nor is the thread that runs queries", async () => {
  const ask = async (): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/0/query/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ timeperiods: ["2026-11-27/2026-11-28"], query: ["RETURN = 1 + 1;"] }),
    });
    return answer.text();
  };
  installAnother();
  expect(await ask()).toContain("upgraded");
});

test("rules that need a part of it are not taken, which status tells", async () => {
  installAnother();
  const rule = '[[privacy.rules]]\naction = "drop"\ntitle = "secret"\n';
  writeFileSync(join(daemon.home, "config.toml"), rule);
  const problem = await until("the problem", async () =>
    (await daemon.api.status()).problems.find(({ reason }) => reason.includes("rules")),
  );
  expect(problem).toEqual({ reason: expect.stringContaining("upgraded"), remedy: TOLD.hint });
});

test("a program that was removed is told of too", async () => {
  rmSync(join(installed, "dist"), { recursive: true });
  await expect(daemon.api.timeline(RANGE)).rejects.toMatchObject(TOLD);
  await expect(daemon.api.openPage()).rejects.toMatchObject(TOLD);
});
