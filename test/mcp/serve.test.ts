import { createServer } from "node:net";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { serveMcpHttp } from "../../src/mcp/serve.ts";
import { createFakeActivityApi } from "../helpers/fake-activity-api.ts";

test("a port that another program has is told by the code for ports", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const api = createFakeActivityApi();
  await expect(
    serveMcpHttp({ api, clock: systemClock, version: "1.2.3", port, token: "t" }),
  ).rejects.toMatchObject({
    code: "port_in_use",
    message: `Port ${port} of this machine is taken.`,
  });
  await new Promise((resolve) => other.close(resolve));
});
