import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { serveActivityApi, type ActivityServer } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { VERSION } from "../../src/version.ts";
import { THREE } from "../contract/activity-api.ts";
import { readDocExamples } from "../helpers/doc-examples.ts";
import { createFakeActivityApi } from "../helpers/fake-activity-api.ts";

const PAGE = new URL("../../docs/local-api.md", import.meta.url);
const run = promisify(execFile);

/** What the examples of the page show. */
const BLOCK = `# Device Activity (exact, real-time)
- Now: Fri 27 Nov 2026 16:12 CET (UTC+01:00)
- Focused: Code: "retry.ts — payments-api", since 16:00 (12 min)
---

`;

describe("the examples of docs/local-api.md", () => {
  const home = mkdtempSync(join(tmpdir(), "activityd-test-"));
  const socketPath = join(home, "run", "activityd.sock");
  let server: ActivityServer;

  beforeAll(async () => {
    const api = createFakeActivityApi({ tokens: 60 });
    api.show(BLOCK);
    for (const event of THREE) api.record(event);
    server = await serveActivityApi({ api, at: { socketPath }, log: silentLog, version: VERSION });
  });
  afterAll(async () => {
    await server.close();
    rmSync(home, { recursive: true, force: true });
  });

  test("are there", () => {
    expect(readDocExamples(PAGE).length).toBeGreaterThan(8);
  });

  test.each(readDocExamples(PAGE))("$command", async ({ command, output }) => {
    const { stdout } = await run("sh", ["-c", command], {
      env: { ...process.env, SOCKET: socketPath },
    });
    expect(stdout).toBe(output);
  });
});
