import { join } from "node:path";
import { onTestFinished } from "vitest";
import { connectActivity } from "../../src/local-api/client.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { VERSION } from "../../src/version.ts";
import { createFakeActivityApi, type FakeActivityApi } from "../helpers/fake-activity-api.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { THREE, describeActivityApi } from "./activity-api.ts";

describeActivityApi("in process", async () => {
  const fake = createFakeActivityApi();
  return { api: fake, ...strings(fake) };
});

describeActivityApi("over the socket", async () => {
  const fake = createFakeActivityApi();
  const socketPath = join(createTempHome(), "run", "activityd.sock");
  const server = await serveActivityApi({
    api: fake,
    at: { socketPath },
    log: silentLog,
    version: VERSION,
  });
  const api = connectActivity({ socketPath });
  onTestFinished(async () => {
    await api.close();
    await server.close();
  });
  return { api, ...strings(fake) };
});

function strings(fake: FakeActivityApi) {
  let changes = 0;
  return {
    change: () => fake.show(`# Device Activity ${(changes += 1)}\n- é 🎉\n---\n\n`),
    recordThree: () => {
      for (const event of THREE) fake.record(event);
    },
  };
}
