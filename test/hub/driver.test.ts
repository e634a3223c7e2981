/** The hub in memory that other tests stand on keeps the promises of a driver. */
import { createFakeClock } from "../helpers/fake-clock.ts";
import { describeHubDriver } from "../contract/hub-driver.ts";
import { createMemoryHub } from "../helpers/memory-hub.ts";

describeHubDriver("memory", async () => {
  const hub = createMemoryHub(createFakeClock("2026-05-04T09:30:00Z"));
  return { open: async (device) => hub.open(device), close: async () => {} };
});
