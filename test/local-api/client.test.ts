import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { WatchMessage } from "../../src/api.ts";
import { connectActivity } from "../../src/local-api/client.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { VERSION } from "../../src/version.ts";
import { failureOf } from "../contract/activity-api.ts";
import { createFakeActivityApi } from "../helpers/fake-activity-api.ts";
import { createTempHome } from "../helpers/temp-home.ts";

/** Something that listens where a daemon should. */
async function openStranger(answer: RequestListener): Promise<string> {
  const socketPath = join(createTempHome(), "a.sock");
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return socketPath;
}

describe("without a daemon", () => {
  test("every method says so, with the command that starts one", async () => {
    const socketPath = join(createTempHome(), "a.sock");
    const api = connectActivity({ socketPath });
    const calls = [
      api.status(),
      api.context({ form: "exact" }),
      api.events({ fromUs: 0 }),
      (async () => {
        for await (const _ of api.watch()) throw new Error("There should be no message.");
      })(),
    ];
    for (const call of calls) {
      const error = await failureOf(call);
      expect(error.code).toBe("daemon_unreachable");
      expect(error.message).toBe(`No daemon answers at ${socketPath}.`);
      expect(error.hint).toBe("Start it with: activityd start --detach");
    }
  });

  test("a daemon that dies during an answer is unreachable too", async () => {
    const socketPath = await openStranger((request) => request.socket.destroy());
    const error = await failureOf(connectActivity({ socketPath }).status());
    expect(error.code).toBe("daemon_unreachable");
    expect(error.message).toContain("went away");
  });

  test("a daemon that dies during a watch ends it with an error, not in silence", async () => {
    const socketPath = join(createTempHome(), "a.sock");
    const api = createFakeActivityApi();
    const server = await serveActivityApi({
      api,
      at: { socketPath },
      log: silentLog,
      version: VERSION,
    });
    const messages: WatchMessage[] = [];
    const watching = (async () => {
      for await (const message of connectActivity({ socketPath }).watch()) {
        messages.push(message);
        // The grace of running requests never ends: a connection that outlives its stream would hold up the daemon.
        vi.useFakeTimers({ toFake: ["setTimeout"] });
        onTestFinished(() => void vi.useRealTimers());
        await server.close();
        vi.useRealTimers();
      }
    })();
    expect((await failureOf(watching)).code).toBe("daemon_unreachable");
    expect(messages).toHaveLength(1);
  });

  test("a daemon that was restarted between two calls is not noticed", async () => {
    const socketPath = join(createTempHome(), "a.sock");
    const start = () =>
      serveActivityApi({
        api: createFakeActivityApi(),
        at: { socketPath },
        log: silentLog,
        version: VERSION,
      });
    const api = connectActivity({ socketPath });
    for (let restart = 0; restart < 5; restart += 1) {
      const server = await start();
      expect((await api.status()).health).toBe("ok");
      await server.close();
    }
    expect((await failureOf(api.status())).code).toBe("daemon_unreachable");
    await api.close();
  });

  test("another program on the socket is told apart from a daemon", async () => {
    const socketPath = await openStranger((_request, response) => response.end("<html>"));
    const error = await failureOf(connectActivity({ socketPath }).status());
    expect(error.code).toBe("internal");
    expect(error.message).toContain("is not activityd");
  });
});

describe("a daemon of another version", () => {
  async function openOlder(onVersionSkew: (sentence: string) => void) {
    const socketPath = join(createTempHome(), "a.sock");
    const server = await serveActivityApi({
      api: createFakeActivityApi(),
      at: { socketPath },
      log: silentLog,
      version: "0.0.1",
    });
    onTestFinished(server.close);
    return connectActivity({ socketPath, onVersionSkew });
  }

  test("is told once, and answers all the same", async () => {
    const told: string[] = [];
    const api = await openOlder((sentence) => told.push(sentence));
    await api.status();
    await api.status();
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("activityd 0.0.1");
    expect(told[0]).toContain(VERSION);
  });

  test("is named as the likely cause when it refuses something", async () => {
    const api = await openOlder(() => {});
    const error = await failureOf(api.context({ form: "digest" }));
    expect(error.code).toBe("bad_request");
    expect(error.hint).toContain("Restart the daemon");
  });
});
