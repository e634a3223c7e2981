/** Who may ask: a real daemon, asked by its owner and by another user who was let through to the socket. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { probePeers } from "../../src/local-api/peer.ts";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

/** Any user who is not us; on Debian and elsewhere "nobody". */
const STRANGER = 65_534;
const REFUSED = /"uid":65534,"pid":\d+,"msg":"local api: another user was refused"/;

let daemon: DaemonRig;
beforeEach(async () => {
  daemon = openDaemonRig(createProcesses(), {});
  await daemon.start();
});
afterEach(() => daemon.close());

/** Opens the way to the socket for everybody, as a mistaken chmod would. */
function openTheWay(): void {
  chmodSync(daemon.home, 0o711);
  chmodSync(join(daemon.home, "run"), 0o711);
  chmodSync(daemon.socket, 0o666);
}

function ask(uid: number): string {
  const args = ["-s", "-m", "10", "--unix-socket", daemon.socket, "http://localhost/v1/status"];
  return execFileSync("curl", args, { uid, gid: uid, cwd: "/", encoding: "utf8" });
}

test("another user is refused although the modes let them in, and nothing is told", async () => {
  openTheWay();
  const answer = ask(STRANGER);
  expect(JSON.parse(answer)).toEqual({
    error: {
      code: "forbidden_peer",
      message: "This daemon answers its owner alone.",
      hint: "Start one of your own with: activityd start --detach",
    },
  });
  expect(JSON.parse(ask(0))).toMatchObject({ health: expect.any(String) });
  const log = join(daemon.home, "log", "activityd.log");
  // It is written when the daemon comes to it.
  await until(
    "the refusal is logged",
    () => existsSync(log) && REFUSED.test(readFileSync(log, "utf8")),
  );
});

test("the modes alone keep another user out", () => {
  expect(() => ask(STRANGER)).toThrow(/Command failed/);
  expect(JSON.parse(ask(0))).toMatchObject({ health: expect.any(String) });
});

test("the kernel names this very process at the other end", async () => {
  expect(await probePeers()).toBe("told");
});
