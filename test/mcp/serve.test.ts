import { createServer } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, onTestFinished, test } from "vitest";
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

describe("over HTTP", () => {
  /** The clients that the API was asked for. */
  async function openServer() {
    const asked: unknown[] = [];
    const fake = createFakeActivityApi();
    const context: typeof fake.context = (request) => {
      asked.push(request?.client);
      return fake.context(request);
    };
    const api = { ...fake, context };
    const server = await serveMcpHttp({
      api,
      clock: systemClock,
      version: "1.2.3",
      port: 0,
      token: "t",
    });
    onTestFinished(server.close);
    return { asked, address: server.address };
  }

  async function openHost(address: string, name: string) {
    const host = new Client({ name, version: "1" });
    const requestInit = { headers: { authorization: "Bearer t" } };
    await host.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit }));
    onTestFinished(() => host.close());
    return { look: () => host.callTool({ name: "current_activity" }) };
  }

  test("each host is the client that it calls itself, whoever asks in between", async () => {
    const { asked, address } = await openServer();
    const first = await openHost(address, "first host");
    const second = await openHost(address, "zweiter Gast – 客");
    await first.look();
    await second.look();
    await first.look();
    expect(asked).toEqual(["first host", "zweiter Gast – 客", "first host"]);
  });

  test.each(["", "x", "a.b", "..", "%%%", "é".repeat(10)])(
    "a host that keeps no session, or makes one up (%j), is one of those without a name",
    async (session) => {
      const { asked, address } = await openServer();
      const answer = await fetch(address, {
        method: "POST",
        headers: {
          authorization: "Bearer t",
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(session === "" ? {} : { "mcp-session-id": encodeURI(session) }),
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "current_activity", arguments: {} },
        }),
      });
      expect(answer.status).toBe(200);
      expect(asked).toEqual(["mcp"]);
    },
  );
});
