/** The tools as a host of the protocol uses them, with a client of the protocol's own library. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { createMcpServer } from "../../src/mcp/server.ts";
import { createFakeActivityApi } from "../helpers/fake-activity-api.ts";

async function openHost() {
  const api = createFakeActivityApi();
  const server = createMcpServer({ api, clock: systemClock, version: "1.2.3" });
  const host = new Client({ name: "host", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await host.connect(near);
  onTestFinished(() => host.close());
  const call = async (name: string, args: Record<string, unknown>): Promise<string> =>
    JSON.stringify(await host.callTool({ name, arguments: args }));
  return { api, host, call };
}

describe("while recording is paused", () => {
  test.each([
    ["recall_activity", { question: "what did I do today?" }],
    ["search_activity", { words: "retry" }],
    ["list_events", { since: "2h" }],
  ])("%s says so, and not that nothing was recorded", async (name, args) => {
    const { api, call } = await openHost();
    await api.pause({ minutes: 5 });
    const answer = await call(name, args);
    expect(answer).toContain("Recording is paused: nothing is told.");
    expect(answer).not.toContain("recorded.");
  });

  test("the resource with a question says so too", async () => {
    const { api, host } = await openHost();
    await api.pause({ minutes: 5 });
    await expect(host.readResource({ uri: "activity://recall/what%20now%3F" })).rejects.toThrow(
      /Recording is paused: nothing is told\./,
    );
  });
});

test("a question that is no valid part of an address is taken as it stands", async () => {
  const { api, host } = await openHost();
  api.show("# Device Activity (exact, real-time)\n- Now: Fri\n---\n\n");
  const { contents } = await host.readResource({ uri: "activity://recall/100%" });
  expect(JSON.stringify(contents)).toContain("Device Activity");
});
