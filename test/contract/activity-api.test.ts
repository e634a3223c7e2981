import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createActivityApp, type ActivityApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { connectActivity } from "../../src/local-api/client.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { resolvePaths } from "../../src/paths.ts";
import { openEventStore } from "../../src/store/events.ts";
import { VERSION } from "../../src/version.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createFakeDesktop } from "../helpers/fake-desktop.ts";
import { createOtherDevice } from "../helpers/other-device.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { until } from "../helpers/until.ts";
import { describeActivityApi, THREE, type Subject } from "./activity-api.ts";

describeActivityApi("in process", openApp);
describeActivityApi("over the socket", async () => {
  const subject = await openApp();
  const socketPath = join(createTempHome(), "run", "activityd.sock");
  const server = await serveActivityApi({
    api: subject.api,
    prepared: subject.prepared,
    at: { socketPath },
    log: silentLog,
    version: VERSION,
  });
  const api = connectActivity({ socketPath });
  onTestFinished(async () => {
    await api.close();
    await server.close();
  });
  return { ...subject, api };
});

/** The real app, on a desktop and a clock of this test. */
async function openApp(): Promise<Subject & Pick<ActivityApp, "prepared">> {
  const home = createTempHome();
  const env = { ACTIVITYD_HOME: home };
  const paths = resolvePaths(env);
  const clock = createFakeClock("2026-11-27T16:12:00Z", "Europe/Berlin");
  const desktop = createFakeDesktop();
  const { registry } = desktop;
  const config = parseConfig("", "config.toml");
  const app = createActivityApp({ config, paths, env, clock, log: silentLog, registry });
  onTestFinished(app.close);
  await app.start();
  let changes = 0;
  return {
    api: app,
    prepared: app.prepared,
    change: async () => {
      clock.advanceMs(1_000);
      const title = `file-${(changes += 1)}.ts — payments-api`;
      desktop.focus({ app: "Code", title });
      // The input devices are asked, and answer in their own time.
      await until("the block to tell it", async () => {
        const { block } = await app.context({ form: "exact" });
        return block?.includes(title) === true && block.includes("- Input: active");
      });
    },
    recordThree: () => {
      const store = openEventStore({ directory: paths.dataDirectory, clock, log: silentLog });
      for (const event of THREE) {
        const { id: _id, startUs, endUs, utcOffsetMinutes, timeZone, ...facts } = event;
        store.begin(facts, { startUs, endUs, utcOffsetMinutes, timeZone });
      }
      store.close();
    },
    recordElsewhere: () => {
      const lap = createOtherDevice(app.others.store, "lap", { kind: "laptop" });
      lap.tell([{ app: "Calc", title: "plan", startUs: 1200e6, endUs: 1300e6 }], 1300e6);
    },
  };
}
