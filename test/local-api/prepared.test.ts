/** Answers that were made elsewhere, as they go out over the socket. */
import { request } from "node:http";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import type { Encoding } from "../../src/api.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { createFakeActivityApi } from "../helpers/fake-activity-api.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const ANSWER = JSON.stringify({ days: [], timeZone: "Europe/Berlin" });

test.each([
  ["", "identity"],
  ["identity", "identity"],
  ["gzip;q=0", "identity"],
  ["br, gzip; q=0.0", "identity"],
  ["gzip", "gzip"],
  ["gzip, deflate, br", "gzip"],
  ["br;q=1, GZIP;q=0.5", "gzip"],
])("a client that accepts %j gets them as %s, and says which", async (accepted, encoding) => {
  const socketPath = await serve();
  const { headers, body } = await ask(socketPath, accepted);
  expect(headers["content-encoding"] ?? "identity").toBe(encoding);
  expect(headers["vary"]).toBe("accept-encoding");
  expect(headers["content-length"]).toBe(String(body.byteLength));
  expect((encoding === "gzip" ? gunzipSync(body) : body).toString("utf8")).toBe(ANSWER);
});

async function serve(): Promise<string> {
  const socketPath = join(createTempHome(), "run", "activityd.sock");
  const give = async (_request: object, encoding: Encoding): Promise<Uint8Array> =>
    encoding === "gzip" ? gzipSync(ANSWER) : Buffer.from(ANSWER);
  const server = await serveActivityApi({
    api: createFakeActivityApi(),
    prepared: { timeline: give, totals: give, days: give },
    at: { socketPath },
    log: silentLog,
    version: "0",
  });
  onTestFinished(server.close);
  return socketPath;
}

function ask(socketPath: string, accepted: string) {
  const path = "/v1/days?fromDay=2026-11-01&toDay=2026-11-02";
  const headers = {
    host: "localhost",
    ...(accepted === "" ? {} : { "accept-encoding": accepted }),
  };
  return new Promise<{ headers: NodeJS.Dict<string | string[]>; body: Buffer }>(
    (resolve, reject) => {
      const asked = request({ socketPath, path, headers, agent: false }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.once("end", () =>
          resolve({ headers: response.headers, body: Buffer.concat(parts) }),
        );
      });
      asked.once("error", reject);
      asked.end();
    },
  );
}
