/** The port of the page, when another program has it as the daemon starts. */
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { freePort } from "../../helpers/free-port.ts";
import { until } from "../../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "../daemon-rig.ts";
import { createProcesses } from "../processes.ts";

let daemon: DaemonRig | null = null;
afterEach(async () => {
  await daemon?.close();
});

test("a page that was open is served again once the port is free, without being asked for", async () => {
  const port = await freePort();
  const other = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
  await once(other, "listening");
  const rig = openDaemonRig(createProcesses(), {}, `[page]\nport = ${port}\n`);
  daemon = rig;
  mkdirSync(join(rig.home, "data"), { mode: 0o700 });
  writeFileSync(join(rig.home, "data", "page-sessions.json"), "[]", { mode: 0o600 });
  await rig.start();
  const log = join(rig.home, "log", "activityd.log");
  await until(
    "the port was found taken",
    () => existsSync(log) && readFileSync(log, "utf8").includes("the page is not served"),
  );
  other.close();
  await once(other, "close");
  const status = await until(
    "the page is there",
    () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        (answer) => answer.status,
        () => null,
      ),
    30_000,
  );
  expect(status).toBe(200);
});

test("who asks for the page while its port is another's gets it at one that is free", async () => {
  const port = await freePort();
  const other = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
  await once(other, "listening");
  const rig = openDaemonRig(createProcesses(), {}, `[page]\nport = ${port}\n`);
  daemon = rig;
  await rig.start();
  const { url } = await rig.api.openPage();
  expect(new URL(url).port).not.toBe(String(port));
  expect((await fetch(url)).status).toBe(200);
  // Links lead to the same place from then on.
  expect(new URL((await rig.api.openPage()).url).origin).toBe(new URL(url).origin);
  other.close();
});
