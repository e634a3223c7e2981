/** Which displays of a machine are told to an owner who has to name one. */
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listLocalDisplays } from "../../../src/capture/sources/x11-display.ts";

async function listen(path: string): Promise<() => Promise<void>> {
  const server = createServer().listen(path);
  await once(server, "listening");
  return async () => {
    server.close();
    await once(server, "close");
  };
}

test("displays are those whose server listens, in the order of their numbers", async () => {
  const folder = mkdtempSync(join(tmpdir(), "activityd-x11-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ["X10", "X2"]) onTestFinished(await listen(join(folder, name)));
  // Of a server that crashed: its socket is still there, and nobody behind it.
  const end = await listen(join(folder, "dying"));
  renameSync(join(folder, "dying"), join(folder, "X3"));
  await end();
  writeFileSync(join(folder, "X4"), "");
  expect(await listLocalDisplays(folder)).toEqual([":2", ":10"]);
});

test("a machine on which no server ever ran has none", async () => {
  expect(await listLocalDisplays("/nonexistent")).toEqual([]);
});
