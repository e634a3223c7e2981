/** Who may see the page: a real daemon, asked by its owner and by another user of the machine. */
import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDaemonRig, type DaemonRig } from "../daemon-rig.ts";
import { createProcesses } from "../processes.ts";

/** Any user who is not us; on Debian and elsewhere "nobody". */
const STRANGER = 65_534;

let daemon: DaemonRig;
beforeEach(async () => {
  daemon = openDaemonRig(createProcesses(), {}, "[page]\nport = 0\n");
  await daemon.start();
});
afterEach(() => daemon.close());

test("another user of the machine is turned away, with the owner's cookie too", async () => {
  const { url } = await daemon.api.openPage();
  const { origin } = new URL(url);
  const head = execFileSync("curl", ["-si", "-m", "10", url], { encoding: "utf8" });
  const cookie = /^set-cookie: ([^;]+)/im.exec(head)?.[1] ?? "";
  const ask = (uid: number, address: string): string =>
    execFileSync("curl", ["-s", "-m", "10", "-b", cookie, address], {
      uid,
      gid: uid,
      cwd: "/",
      encoding: "utf8",
    });
  expect(JSON.parse(ask(0, `${origin}/api/v1/status`))).toMatchObject({ pid: expect.any(Number) });
  for (const path of ["/", "/api/v1/status"]) {
    expect(JSON.parse(ask(STRANGER, `${origin}${path}`)).error.code).toBe("forbidden_peer");
  }
  const { url: unused } = await daemon.api.openPage();
  ask(STRANGER, unused);
  expect(execFileSync("curl", ["-si", "-m", "10", unused], { encoding: "utf8" })).toMatch(
    /^HTTP\/1.1 303 /,
  );
});
