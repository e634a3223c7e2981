/** Taking part in a hub while there is no record to take part with. */
import { expect, test } from "vitest";
import type { ActivityApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { keepHubService } from "../../src/daemon/hub.ts";
import { silentLog } from "../../src/log.ts";
import type { HubPort } from "../../src/owner/hub.ts";
import { openEventStore } from "../../src/store/events.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { refusalOf } from "../helpers/app-rig.ts";
import { createTempHome } from "../helpers/temp-home.ts";

test("nothing is asked of a hub while the record is recovered, it is not left, and it is opened again after", async () => {
  const directory = createTempHome();
  const clock = createFakeClock("2026-11-27T12:00:00Z");
  const store = openEventStore({ directory, clock, log: silentLog });
  let isRecovering = false;
  let tell = (_isBegun: boolean): void => {};
  const ports: (HubPort | null)[] = [];
  const others = {
    store: {
      ...store,
      recovering: () => (isRecovering ? { sinceUs: 0, failure: null } : null),
      onRecovering: (listener: (isBegun: boolean) => void) => void (tell = listener),
    },
    attach: (port: HubPort | null) => void ports.push(port),
  };
  const service = await keepHubService({
    // A hub without an identity is opened, and says what it lacks: that is all of a hub that is needed here.
    app: { others: others as unknown as ActivityApp["others"] },
    config: parseConfig(`[hub]\ndriver = "folder"\nfolder = "${directory}"\n`, "config.toml"),
    dataDirectory: directory,
    clock,
    log: silentLog,
  });
  const problems = (): number => ports.at(-1)?.problems().length ?? -1;
  expect(problems()).toBe(1);
  isRecovering = true;
  tell(true);
  expect(problems()).toBe(0);
  for (const request of [null, { action: "leave" }] as const)
    expect(await refusalOf(ports.at(-1)?.request(request) ?? Promise.resolve())).toContain(
      "database_recovering: ",
    );
  await new Promise(setImmediate);
  isRecovering = false;
  tell(false);
  await expect.poll(problems).toBe(1);
  await service.close();
  expect(ports.at(-1)).toBeNull();
  store.close();
});
