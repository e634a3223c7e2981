/**
 * What one of two daemons over a folder tells of the other: to an assistant in the block and the digest, to their owner
 * on the command line and on the page; and that nothing of it is left once it was forgotten.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { until } from "../../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "../daemon-rig.ts";
import { createProcesses, type Processes } from "../processes.ts";

/** For people to look at; git ignores it. */
const PICTURES = fileURLToPath(new URL("../../../test-pictures/page", import.meta.url));

let folder = "";
let desk: DaemonRig;
let lap: DaemonRig;
let lapProcesses: Processes;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "activityd-hub-"));
  const session = join(folder, "session.jsonl");
  writeFileSync(session, recordedSession());
  const hub = join(folder, "hub");
  mkdirSync(hub);
  desk = openDaemonRig(createProcesses(), {}, "[page]\nport = 0\n");
  lapProcesses = createProcesses();
  lap = openDaemonRig(lapProcesses, {}, `[capture]\nreplay = ${JSON.stringify(session)}\n`);
  const made = await desk.run(["hub", "create", "--folder", hub, "--name", "desk"]);
  const joined = await lap.run(["hub", "join", "-", "--folder", hub, "--name", "lap"], made.out);
  if (made.code !== 0 || joined.code !== 0) throw new Error(`${made.talk}${joined.talk}`);
  await desk.start();
  await lap.start();
});
afterEach(async () => {
  await lap.close();
  await desk.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A letter from the beginning, a file of code after four seconds, a map after sixteen. */
function recordedSession(): string {
  const line = (atMs: number, app: string, title: string): string =>
    JSON.stringify({
      atMs,
      kind: "window",
      result: {
        ok: true,
        value: { app, title, url: null, pid: null, executable: null, private: null },
      },
    });
  return [
    JSON.stringify({ format: "activityd-session", version: 1, recordedAt: "2026-11-27T15:00:00Z" }),
    line(0, "Writer", "letter.odt"),
    line(4_000, "Code", "retry.ts — payments-api"),
    line(16_000, "Marble", "a map of the moon"),
    "",
  ].join("\n");
}

/** The lines of other devices in a device's block. */
async function also(daemon: DaemonRig): Promise<string> {
  const { out } = await daemon.run(["now"]);
  return out
    .split("\n")
    .filter((line) => line.startsWith("- Also: "))
    .join("\n");
}

async function openPage(view: string): Promise<Page> {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: "en-GB" });
  const { out } = await desk.run(["open", "--print"]);
  const link = /http:\/\/\S+/.exec(out)?.[0] ?? "";
  await page.goto(link);
  await page.goto(new URL(`/#/${view}`, page.url()).href);
  return page;
}

it("a window is named in the other's block within six seconds, and told as the other device's everywhere", async () => {
  await until("it has the focus there", async () =>
    (await lap.api.context({ form: "exact" })).block?.includes('Focused: Code: "retry.ts'),
  );
  const focusedAt = performance.now();
  await until("the other's block names it", async () =>
    (await desk.api.context({ form: "exact" })).block?.includes("retry.ts"),
  );
  expect(performance.now() - focusedAt).toBeLessThan(6_000);
  expect(await also(desk)).toMatch(
    /^- Also: lap(?: \(\w+\))?: Code: "retry\.ts — payments-api", now$/,
  );
  // What is paused here tells nothing of anywhere.
  expect((await desk.run(["pause", "10m"])).code).toBe(0);
  expect(await also(desk)).toBe("");
  await desk.run(["resume"]);
  const turn = "what did I do on lap in the last ten minutes?";
  // How long it lasted is known when it is over, or a minute later.
  const digest = await until(
    "the digest tells it",
    async () => {
      const { out } = await desk.run(["digest", turn]);
      return out.includes("payments") ? out : null;
    },
    40_000,
  );
  expect(digest).toMatch(/^- \S+ \(\d+ s\) Code: "retry\.ts — payments-api", on lap$/m);
  expect((await desk.run(["search", "payments"])).out).toMatch(/retry\.ts.*, on lap$/m);
  expect((await lap.run(["search", "payments"])).out).not.toContain(", on ");
  expect((await desk.run(["events", "--kind", "window"])).out).toMatch(/retry\.ts.*, on lap$/m);

  const health = await openPage("health");
  await health.getByRole("row", { name: /lap.*In touch.*last heard/s }).waitFor();
  await health.screenshot({ path: join(PICTURES, "devices.png"), fullPage: true });
  const timeline = await openPage("timeline");
  await timeline.getByText("retry.ts — payments-api").first().waitFor();
  await timeline.screenshot({ path: join(PICTURES, "timeline-devices.png"), fullPage: true });
});

it("what is forgotten on one is gone at once from its block, digest and search, and soon from the other", async () => {
  await until(
    "the last window arrives",
    async () => (await also(desk)).includes("a map of the moon"),
    40_000,
  );
  expect((await desk.run(["search", "payments"])).out).not.toBe("");
  expect((await desk.run(["forget", "--match", "payments"])).code).toBe(0);
  expect((await desk.run(["search", "payments"])).out).toBe("");
  const turn = "what did I do in the last ten minutes?";
  expect((await desk.run(["digest", turn])).out).not.toContain("payments");
  await until(
    "it is gone there as well",
    async () => (await lap.run(["search", "payments"])).out === "",
    20_000,
  );
  // A device that is off may still be known here, and is forgotten here.
  await lapProcesses.close();
  expect(await also(desk)).toContain("a map of the moon");
  expect((await desk.run(["forget", "--app", "Marble"])).code).toBe(0);
  expect(await also(desk)).not.toContain("moon");
  expect((await desk.run(["search", "moon"])).out).toBe("");
  await lap.start();
  await until(
    "it is gone from the device that was off",
    async () => (await lap.run(["search", "moon"])).out === "",
    20_000,
  );
});
