/** An owner who travels: the machine is given another zone under a real daemon, whose /etc is a folder of its own. */
import { copyFileSync, existsSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses, type Processes } from "./processes.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

let processes: Processes;
let daemon: DaemonRig;
beforeEach(() => {
  processes = createProcesses();
  daemon = openDaemonRig(processes, {});
  mkdirSync(join(daemon.home, "etc"));
  for (const name of ["passwd", "nsswitch.conf", "ld.so.cache"])
    if (existsSync(`/etc/${name}`)) copyFileSync(`/etc/${name}`, join(daemon.home, "etc", name));
});
afterEach(() => daemon.close());

/** As timedated does it: a new link is put in the place of the old one. */
function moveTo(zone: string): void {
  const file = join(daemon.home, "etc", "localtime");
  symlinkSync(`/usr/share/zoneinfo/${zone}`, `${file}.new`);
  renameSync(`${file}.new`, file);
}

async function readNow(): Promise<string> {
  // A pause that came and went leaves nothing held ready from before.
  await daemon.api.pause({ minutes: 1 });
  await daemon.api.resume();
  const { block } = await daemon.api.context({ form: "exact" });
  return /^- Now: .*$/m.exec(block ?? "")?.[0] ?? String(block);
}

test("the block is in the zone that the machine was given since the start", async () => {
  moveTo("Asia/Tokyo");
  const inside = `mount --bind "${daemon.home}/etc" /etc && exec "${process.execPath}" "${MAIN}" start`;
  processes.start("unshare", ["--mount", "sh", "-c", inside], {
    env: { HOME: daemon.home, ACTIVITYD_HOME: daemon.home },
  });
  await until("the daemon answers", () => daemon.api.status().catch(() => null));
  expect(await readNow()).toContain("(UTC+09:00)");
  moveTo("America/Phoenix");
  expect(await readNow()).toContain("(UTC-07:00)");
});
