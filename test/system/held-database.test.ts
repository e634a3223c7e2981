/** Another program has the database open and is changing it for minutes, as a browser of databases does. */
import Database from "better-sqlite3";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { until } from "../helpers/until.ts";
import { openDaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

it("holds up no answer; what happens meanwhile waits in memory, is told, and is written after it", async () => {
  const daemon = openDaemonRig(createProcesses(), {});
  onTestFinished(daemon.close);
  await daemon.start();
  const other = new Database(join(daemon.home, "data", "activity.db"));
  onTestFinished(() => void other.close());
  other.exec("BEGIN IMMEDIATE");
  const [held] = await until("the other program is named", async () => {
    const { problems } = await daemon.api.status();
    const named = problems.filter(({ reason }) => reason.includes("Another program holds"));
    return named.length > 0 ? named : null;
  });
  expect(held?.remedy).toContain("Close");
  // Each of these waited for five seconds, and the test ends after twelve of them.
  for (let n = 0; n < 40; n += 1) {
    await daemon.api.pause({ minutes: 1 });
    await daemon.api.resume();
    expect((await daemon.api.context({ form: "exact" })).block).toContain("Device Activity");
  }
  other.exec("ROLLBACK");
  await until("all is written", async () =>
    (await daemon.api.status()).problems.every(
      ({ reason }) => !reason.includes("cannot be written"),
    ),
  );
  const { events } = await daemon.api.events({ fromUs: 0, kinds: ["gap"] });
  expect(events.length).toBeGreaterThanOrEqual(40);
});
