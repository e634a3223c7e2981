/** The NATS driver keeps the promises of a driver, on a server alone and on a cluster of three. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import { describeHubDriver } from "../../contract/hub-driver.ts";
import type { HubDriver } from "../../../src/hub/driver.ts";
import { openCluster, type ClusterRig } from "./cluster-rig.ts";

describe.each([1, 3])("%i server(s)", (servers) => {
  let cluster: ClusterRig;

  beforeAll(async () => {
    cluster = await openCluster({ args: ["--servers", String(servers)] });
  });

  afterAll(async () => cluster.close());

  describeHubDriver("NATS", async () => {
    // The servers stand for all tests; each has a hub of its own on them.
    const hub = randomBytes(16).toString("hex");
    const opened: HubDriver[] = [];
    return {
      open: async (device) => {
        const driver = await cluster.open(device.slice(0, 4), device, { hub });
        opened.push(driver);
        return driver;
      },
      close: async () => {
        for (const driver of opened) await driver.close();
      },
    };
  });
});
