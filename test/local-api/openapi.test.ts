import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ActivityApi } from "../../src/api.ts";
import { ANSWERS, describeRoutes } from "../../src/local-api/openapi.ts";
import { ROUTES } from "../../src/local-api/protocol.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { THREE } from "../contract/activity-api.ts";
import { createFakeActivityApi } from "../helpers/fake-activity-api.ts";
import { sendRaw } from "../helpers/raw-http.ts";
import { createTempHome } from "../helpers/temp-home.ts";

async function open(api: ActivityApi): Promise<string> {
  const socketPath = join(createTempHome(), "a.sock");
  const server = await serveActivityApi({
    api,
    at: { socketPath },
    log: silentLog,
    version: "1.2.3",
  });
  onTestFinished(server.close);
  return socketPath;
}

describe("the OpenAPI document", () => {
  test("names every route with its method, and no other", () => {
    const document = JSON.parse(JSON.stringify(describeRoutes("1.2.3")));
    const named = Object.entries<object>(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(named.toSorted()).toEqual(
      ROUTES.map((route) => `${route.method} ${route.path}`).toSorted(),
    );
    expect(document.openapi).toBe("3.1.0");
  });

  test("shows the very fields that requests are checked against", () => {
    const document = JSON.parse(JSON.stringify(describeRoutes("1.2.3")));
    const schema =
      document.paths["/v1/context"].post.requestBody.content["application/json"].schema;
    expect(schema.properties.form.enum).toEqual(["exact", "digest", "auto"]);
    expect(schema.additionalProperties).toBe(false);
    expect(document.paths["/v1/events"].get.parameters[0]).toMatchObject({
      name: "fromUs",
      required: true,
    });
  });

  test("is served by the daemon", async () => {
    const socketPath = await open(createFakeActivityApi());
    const answer = await sendRaw(socketPath, { path: "/v1/openapi.json" });
    expect(JSON.parse(answer.body)).toEqual(JSON.parse(JSON.stringify(describeRoutes("1.2.3"))));
  });

  test.each(["/v1/context", "/v1/status", "/v1/events?fromUs=0"])(
    "describes what %s really answers",
    async (path) => {
      const api = createFakeActivityApi();
      for (const event of THREE) api.record(event);
      const socketPath = await open(api);
      const { body } = await sendRaw(socketPath, { path, headers: { accept: "application/json" } });
      const schema = ANSWERS[path.split("?")[0] ?? ""];
      const parsed = schema?.safeParse(JSON.parse(body));
      expect(parsed?.error).toBeUndefined();
      expect(parsed?.data).toEqual(JSON.parse(body));
    },
  );
});
