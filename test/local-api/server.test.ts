import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { ROUTES } from "../../src/local-api/protocol.ts";
import { silentLog } from "../../src/log.ts";
import { createFakeActivityApi } from "../helpers/fake-activity-api.ts";
import { sendBytes, sendRaw, type RawAnswer } from "../helpers/raw-http.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { waitFor } from "../helpers/wait-for.ts";

const BLOCK = '# Device Activity (exact, real-time)\n- Focused: Code: "é 🎉"\n---\n';

async function openServer() {
  const api = createFakeActivityApi();
  api.show(BLOCK);
  const socketPath = join(createTempHome(), "run", "activityd.sock");
  const server = await serveActivityApi({
    api,
    at: { socketPath },
    log: silentLog,
    version: "1.2.3",
  });
  onTestFinished(server.close);
  return { api, server, socketPath };
}

function errorOf(answer: RawAnswer): { code: string; message: string; hint: string } {
  return JSON.parse(answer.body).error;
}

describe("the block", () => {
  test("goes out as the very bytes to prepend when the client accepts anything", async () => {
    const { socketPath } = await openServer();
    const answer = await sendRaw(socketPath, { path: "/v1/context", headers: { accept: "*/*" } });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(answer.body).toBe(BLOCK);
    expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(BLOCK)));
  });

  test("is the same for GET, for GET with its form and for POST", async () => {
    const { socketPath } = await openServer();
    const bare = await sendRaw(socketPath, { path: "/v1/context" });
    const named = await sendRaw(socketPath, { path: "/v1/context?form=exact" });
    const posted = await sendRaw(socketPath, {
      method: "POST",
      path: "/v1/context",
      body: '{"form":"exact"}',
    });
    expect([named.body, posted.body]).toEqual([bare.body, bare.body]);
  });

  test.each([
    ["application/json", "application/json"],
    ["application/json, text/plain", "application/json"],
    ["text/plain;q=0.5, application/json", "application/json"],
    ["application/json;q=0.2, text/plain", "text/plain; charset=utf-8"],
    ["text/html", "text/plain; charset=utf-8"],
  ])("for a client that accepts %s comes as %s", async (accept, type) => {
    const { socketPath } = await openServer();
    const answer = await sendRaw(socketPath, { path: "/v1/context", headers: { accept } });
    expect(answer.headers["content-type"]).toBe(type);
  });

  test("as JSON is the whole answer, with the block in it", async () => {
    const { socketPath } = await openServer();
    const answer = await sendRaw(socketPath, {
      path: "/v1/context",
      headers: { accept: "application/json" },
    });
    expect(JSON.parse(answer.body)).toMatchObject({ block: BLOCK, form: "exact", intent: "now" });
  });

  test("is not sent again to a client that has it", async () => {
    const { api, socketPath } = await openServer();
    const first = await sendRaw(socketPath, { path: "/v1/context" });
    const headers = { "if-none-match": `"other", ${first.headers.etag ?? ""}` };
    const again = await sendRaw(socketPath, { path: "/v1/context", headers });
    expect([again.status, again.body]).toEqual([304, ""]);
    api.show("# Other\n---\n");
    const changed = await sendRaw(socketPath, { path: "/v1/context", headers });
    expect([changed.status, changed.body]).toEqual([200, "# Other\n---\n"]);
  });

  test("that has nothing to say is 204 as text and null as JSON", async () => {
    const { api, socketPath } = await openServer();
    api.show(null);
    const text = await sendRaw(socketPath, { path: "/v1/context" });
    expect([text.status, text.body]).toEqual([204, ""]);
    const json = await sendRaw(socketPath, {
      path: "/v1/context",
      headers: { accept: "application/json" },
    });
    expect(JSON.parse(json.body).block).toBeNull();
  });

  test("for HEAD has the headers and no body", async () => {
    const { socketPath } = await openServer();
    const answer = await sendRaw(socketPath, { method: "HEAD", path: "/v1/context" });
    expect([answer.status, answer.body]).toEqual([200, ""]);
  });
});

describe("a browser", () => {
  test.each([
    ["Origin", { origin: "http://localhost" }],
    ["Origin null", { origin: "null" }],
    ["Referer", { referer: "http://localhost/" }],
    ["a rebound Host", { host: "evil.example" }],
    ["a Host that only begins well", { host: "localhost.evil.example" }],
    ["a Host with a port", { host: "localhost:80" }],
  ])("that sends %s is refused before anything is asked", async (_name, headers) => {
    const { socketPath } = await openServer();
    const answer = await sendRaw(socketPath, { path: "/v1/context", headers });
    expect(answer.status).toBe(403);
    expect(errorOf(answer).code).toBe("forbidden_origin");
    expect(answer.body).not.toContain("Device Activity");
  });

  test("would get headers that let it do nothing with any answer", async () => {
    const { socketPath } = await openServer();
    for (const path of ["/v1/context", "/v1/status", "/nowhere"]) {
      const { headers } = await sendRaw(socketPath, { path });
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["x-frame-options"]).toBe("DENY");
      expect(headers["content-security-policy"]).toContain("default-src 'none'");
      expect(headers["cache-control"]).toBe("no-store");
      expect(headers["activityd-version"]).toBe("1.2.3");
    }
  });
});

describe("a wrong request is told in one sentence", () => {
  test.each([
    ["an unknown route", "GET", "/v1/contxt", undefined, 404, "not_found", /\/v1\/contxt/],
    ["a wrong method", "DELETE", "/v1/context", undefined, 405, "method_not_allowed", /DELETE/],
    [
      "an unknown field",
      "POST",
      "/v1/context",
      '{"form":"exact","frm":1}',
      400,
      "bad_request",
      /"frm"/,
    ],
    [
      "an unknown parameter",
      "GET",
      "/v1/context?fom=exact",
      undefined,
      400,
      "bad_request",
      /"fom"/,
    ],
    [
      "a parameter given twice",
      "GET",
      "/v1/context?form=exact&form=auto",
      undefined,
      400,
      "bad_request",
      /"form" is given 2 times/,
    ],
    [
      "a wrong value",
      "POST",
      "/v1/context",
      '{"form":"best"}',
      400,
      "bad_request",
      /"form".*"exact", "digest" or "auto"/,
    ],
    ["a missing field", "POST", "/v1/context", "{}", 400, "bad_request", /"form"/],
    ["a body that is no object", "POST", "/v1/context", "[]", 400, "bad_request", /body/],
    [
      "a body that is no JSON",
      "POST",
      "/v1/context",
      "{form:exact}",
      400,
      "bad_request",
      /not JSON/,
    ],
    ["an empty body", "POST", "/v1/context", "", 400, "bad_request", /empty/],
    [
      "a body that is no UTF-8",
      "POST",
      "/v1/context",
      Buffer.from([0x7b, 0xff, 0x7d]),
      400,
      "bad_request",
      /UTF-8/,
    ],
    [
      "a time that is no number",
      "GET",
      "/v1/events?fromUs=yesterday",
      undefined,
      400,
      "bad_request",
      /"fromUs".*whole number/,
    ],
    [
      "an unknown kind",
      "GET",
      "/v1/events?fromUs=0&kinds=window,wndow",
      undefined,
      400,
      "bad_request",
      /"kinds\.1"/,
    ],
    [
      "a body of 10 MB",
      "POST",
      "/v1/context",
      Buffer.alloc(10_000_000, 0x20),
      413,
      "body_too_large",
      /1048576 bytes/,
    ],
  ])("%s", async (_name, method, path, body, status, code, message) => {
    const { socketPath } = await openServer();
    const answer = await sendRaw(socketPath, {
      method,
      path,
      headers: { accept: "text/plain" },
      ...(body === undefined ? {} : { body }),
    });
    expect(answer.status).toBe(status);
    const error = errorOf(answer);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("\n");
    expect(error.hint).not.toBe("");
  });

  test("what is not HTTP", async () => {
    const { socketPath } = await openServer();
    const received = await sendBytes(socketPath, "hello\r\n\r\n");
    expect(received).toContain("400 Bad Request");
    expect(JSON.parse(received.slice(received.indexOf("\r\n\r\n"))).error.code).toBe("bad_request");
  });

  test("a body without a length that grows over the limit", async () => {
    const { socketPath } = await openServer();
    const answer = await sendRaw(socketPath, {
      method: "POST",
      path: "/v1/context",
      headers: { "transfer-encoding": "chunked" },
      body: Buffer.alloc(2_000_000, 0x20),
    });
    expect([answer.status, errorOf(answer).code]).toEqual([413, "body_too_large"]);
  });

  test("the words of a turn are not repeated in an error", async () => {
    const { socketPath } = await openServer();
    const answer = await sendRaw(socketPath, {
      method: "POST",
      path: "/v1/context",
      body: '{"form":"auto","turn":"my secret" oops',
    });
    expect(answer.body).not.toContain("secret");
  });
});

describe("the watch stream", () => {
  test("does not repeat a block to a client that comes back with its id", async () => {
    const { api, socketPath } = await openServer();
    const known = await sendRaw(socketPath, { path: "/v1/context" });
    const etag = known.headers.etag?.replaceAll('"', "") ?? "";
    const received: string[] = [];
    const socket = connect(socketPath, () =>
      socket.write(`GET /v1/watch HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 7:${etag}\r\n\r\n`),
    );
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => received.push(text));
    await waitFor("the stream", () => received.join("").includes("retry:"));
    api.show("# Second\n---\n");
    await waitFor("the change", () => received.join("").includes("# Second"));
    expect(received.join("")).toContain("text/event-stream");
    expect(received.join("")).not.toContain("Focused");
    socket.destroy();
  });

  test("for HEAD is its headers and an end", async () => {
    const { socketPath } = await openServer();
    const answer = await sendRaw(socketPath, { method: "HEAD", path: "/v1/watch" });
    expect([answer.status, answer.body]).toEqual([200, ""]);
  });

  test("lets go of the watch when the client goes", async () => {
    const { api, socketPath } = await openServer();
    const socket = connect(socketPath, () =>
      socket.write("GET /v1/watch HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    );
    await waitFor("the watch", () => api.watching() === 1);
    socket.destroy();
    await waitFor("its end", () => api.watching() === 0);
    expect(api.watching()).toBe(0);
  });

  test("ends when the daemon stops, and the socket is gone", async () => {
    const { api, server, socketPath } = await openServer();
    const ended = sendRaw(socketPath, { path: "/v1/watch" });
    await waitFor("the watch", () => api.watching() === 1);
    await server.close();
    expect((await ended).body).toContain("Focused");
    await expect(sendRaw(socketPath, { path: "/v1/status" })).rejects.toThrow(/ENOENT/);
  });
});

describe("a socket that was removed", () => {
  test("is there again at the next look, and who was connected before goes on", async () => {
    const { api, server, socketPath } = await openServer();
    expect(await server.keep()).toBe(false);
    const ended = sendRaw(socketPath, { path: "/v1/watch" });
    await waitFor("the watch", () => api.watching() === 1);
    rmSync(dirname(socketPath), { recursive: true });
    expect(await server.keep()).toBe(true);
    expect((await sendRaw(socketPath, { path: "/v1/status" })).status).toBe(200);
    expect(api.watching()).toBe(1);
    await server.close();
    expect((await ended).status).toBe(200);
    expect(existsSync(socketPath)).toBe(false);
    expect(await server.keep()).toBe(false);
  });

  test("is not taken back from whoever has its place", async () => {
    const { server, socketPath } = await openServer();
    rmSync(socketPath);
    writeFileSync(socketPath, "mine");
    expect(await server.keep()).toBe(false);
    expect(readFileSync(socketPath, "utf8")).toBe("mine");
  });
});

test("the route table is sorted by path, then method, and names no route twice", () => {
  const names = ROUTES.map((route) => `${route.path} ${route.method}`);
  expect(names).toEqual([...new Set(names)].toSorted());
});
