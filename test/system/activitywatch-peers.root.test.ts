/** Who may speak ActivityWatch's protocol: a port of the loopback is open to every user of the machine. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { freePort } from "../helpers/free-port.ts";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

/** Any user who is not us; on Debian and elsewhere "nobody". */
const STRANGER = 65_534;
const REFUSED = /"uid":65534,"pid":null,"msg":"activitywatch: another user was refused"/;

let daemon: DaemonRig | null = null;
afterEach(async () => {
  await daemon?.close();
});

test("another user may neither read nor feed the buckets, and is logged", async () => {
  const port = await freePort();
  const rig = openDaemonRig(
    createProcesses(),
    {},
    `[activitywatch]\nenabled = true\ntesting = true\nport = ${port}\n`,
  );
  daemon = rig;
  await rig.start();
  const ask = (uid: number, ...args: readonly string[]): string =>
    execFileSync("curl", ["-s", "-m", "10", ...args, `http://127.0.0.1:${port}/api/0/buckets/`], {
      uid,
      gid: uid,
      cwd: "/",
      encoding: "utf8",
    });
  await until("the watchers' port", () => {
    try {
      return ask(0) === "{}";
    } catch {
      // Not open yet.
      return false;
    }
  });
  expect(JSON.parse(ask(STRANGER))).toEqual({ message: "This server answers its owner alone." });
  const made = ["-X", "POST", "-H", "content-type: application/json", "-d", '{"type":"x"}'];
  expect(JSON.parse(ask(STRANGER, ...made))).toHaveProperty("message");
  expect(ask(0)).toBe("{}");
  const log = join(rig.home, "log", "activityd.log");
  // It is written when the daemon comes to it.
  await until(
    "the refusal is logged",
    () => existsSync(log) && REFUSED.test(readFileSync(log, "utf8")),
  );
});
