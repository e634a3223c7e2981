/** A damaged database: one that is too large to be looked through before the first answer, and one that is killed over. */
import { once } from "node:events";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { StatusAnswer } from "../../src/api.ts";
import { systemClock } from "../../src/clock.ts";
import { silentLog } from "../../src/log.ts";
import { openEventStore } from "../../src/store/events.ts";
import { storable } from "../helpers/storable.ts";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

it("is answered from at once, looked through beside, and recovered", async () => {
  const daemon = openDaemonRig(createProcesses(), {});
  onTestFinished(daemon.close);
  const directory = join(daemon.home, "data");
  fill(directory);
  const path = join(directory, "activity.db");
  // Room at the end, which the header does not count, makes it large.
  truncateSync(path, 17 * 1024 * 1024);
  const bytes = readFileSync(path);
  // Tables of documents, labels and events stand in the first pages; their leaves are what follows.
  for (const page of [6, 7, 8, 60, 61, 62]) bytes.fill(0x5a, (page - 1) * 4096, page * 4096);
  writeFileSync(path, bytes);

  await daemon.start();
  const told = await recovered(daemon);
  expect(`${told.reason} ${told.remedy}`).toContain(join(directory, "damaged"));
}, 120_000);

it("is answered beside while it is recovered, and a kill in the midst of it loses nothing", async () => {
  const daemon = openDaemonRig(createProcesses(), {});
  onTestFinished(daemon.close);
  const directory = join(daemon.home, "data");
  fill(directory);
  spoilHeader(join(directory, "activity.db"));
  for (let kill = 0; kill < 3; kill += 1) {
    const child = await daemon.start();
    expect((await daemon.api.context({ form: "exact" })).block).toContain("- Now: ");
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await daemon.start();
  await recovered(daemon);
  const { events } = await daemon.api.events({ fromUs: 0, kinds: ["window"], limit: 10_000 });
  expect(events).toHaveLength(5000);
}, 120_000);

it("is recovered by a daemon that was put into the background, and nothing of it ends with who did that", async () => {
  const daemon = openDaemonRig(createProcesses(), {});
  onTestFinished(daemon.close);
  onTestFinished(async () => void (await daemon.run(["stop"])));
  const directory = join(daemon.home, "data");
  fill(directory);
  spoilHeader(join(directory, "activity.db"));
  expect(await daemon.run(["start", "--detach"])).toMatchObject({ code: 0 });
  const { pid } = await daemon.api.status();
  await recovered(daemon);
  expect((await daemon.api.status()).pid).toBe(pid);
}, 120_000);

function spoilHeader(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0, 0, 90);
  writeFileSync(path, bytes);
}

/** What is told of a recovery that is over. A second's work, and many where a machine does much else. */
function recovered({ api }: DaemonRig): Promise<StatusAnswer["problems"][number]> {
  return until(
    "the recovery is told",
    async () => (await api.status()).problems.find(({ reason }) => reason.includes("was damaged")),
    60_000,
  );
}

function fill(directory: string): void {
  const store = openEventStore({ directory, clock: systemClock, log: silentLog });
  const nowUs = systemClock.nowUs();
  store.database.transaction(() => {
    for (let n = 5000; n > 0; n -= 1) {
      const startUs = nowUs - n * 60_000_000;
      const title = storable(`document ${n} ${"x".repeat(60)}`);
      store.begin(
        { kind: "window", app: storable("App"), title, place: null },
        { startUs, endUs: startUs + 50_000_000, utcOffsetMinutes: 0, timeZone: "UTC" },
      );
    }
  });
  store.close();
}
