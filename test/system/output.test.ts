/** The command line where its output can go nowhere. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { connectActivity } from "../../src/local-api/client.ts";
import { until } from "../helpers/until.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

test.each(["--help", "privacy explain", "completion bash"])(
  "%s onto a disk that is full fails with one sentence and no stack",
  (line) => {
    const { status, stderr } = spawnSync(
      "sh",
      ["-c", `"$0" "$1" ${line} > /dev/full`, process.execPath, MAIN],
      {
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "", ACTIVITYD_HOME: "/nonexistent" },
        timeout: 20_000,
      },
    );
    expect(stderr).toBe(
      "activityd: The output could not be written to its end: the disk is full.\n" +
        "  Do not use what is there of it. See what is wrong where it goes, and run the command again.\n",
    );
    expect(status).toBe(1);
  },
);

test("a daemon whose stderr goes to a disk that is full stays up, and ends when it is told to", async () => {
  const home = mkdtempSync(join(tmpdir(), "activityd-output-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const full = openSync("/dev/full", "w");
  const { dev, ino } = fstatSync(full);
  const daemon = spawn(process.execPath, [MAIN, "start"], {
    // As under a service manager, which makes it log to stderr.
    env: { PATH: process.env["PATH"] ?? "", ACTIVITYD_HOME: home, JOURNAL_STREAM: `${dev}:${ino}` },
    stdio: ["ignore", "ignore", full],
  });
  closeSync(full);
  const ended = once(daemon, "exit");
  const api = connectActivity({ socketPath: join(home, "run", "activityd.sock") });
  onTestFinished(api.close);
  await until("the daemon answers", async () => {
    if (daemon.exitCode !== null) throw new Error(`the daemon ended with ${daemon.exitCode}`);
    return api.status().catch(() => null);
  });
  // Each of them is a line of the log.
  await api.pause({ minutes: 1 });
  await api.resume();
  expect((await api.context({ form: "exact" })).block).not.toBeNull();
  daemon.kill();
  expect(await ended).toEqual([0, null]);
});

test("a daemon put into the background from a terminal that logs to the journal has its log in files", async () => {
  const home = mkdtempSync(join(tmpdir(), "activityd-output-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  // What a terminal that systemd started hands on to its shells.
  const env = { PATH: process.env["PATH"] ?? "", ACTIVITYD_HOME: home, JOURNAL_STREAM: "8:1" };
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [MAIN, ...args], { env, encoding: "utf8", timeout: 30_000 });
  expect(run("start", "--detach").status).toBe(0);
  onTestFinished(() => void run("stop"));
  await until("a line in the log", () => existsSync(join(home, "log", "activityd.log")));
});
