/** The page while things happen: the daemon goes and comes, recording is paused, windows change for an hour. */
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../../helpers/free-port.ts";
import { until } from "../../helpers/until.ts";
import { openPageRig, type OpenPage, type PageRig } from "./browser-rig.ts";

const open: PageRig[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function openRig(options: Parameters<typeof openPageRig>[0] = {}): Promise<PageRig> {
  const rig = await openPageRig(options);
  open.push(rig);
  return rig;
}

/** A daemon that is told of windows by a watcher, since this machine has no desktop. */
async function openWatchedRig(): Promise<{
  readonly rig: PageRig;
  readonly showWindow: (app: string, title: string) => Promise<void>;
}> {
  const port = await freePort();
  const rig = await openRig({
    config: `[activitywatch]\nenabled = true\ntesting = true\nport = ${port}\n`,
  });
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(
      `http://127.0.0.1:${port}/api/0/buckets/aw-watcher-window_h${path}`,
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      },
    );
    await answer.arrayBuffer();
  };
  await post("", { client: "watcher", type: "currentwindow", hostname: "h" });
  return {
    rig,
    showWindow: (app, title) =>
      post("/heartbeat?pulsetime=60", {
        timestamp: new Date().toISOString(),
        duration: 0,
        data: { app, title },
      }),
  };
}

describe("a daemon that is stopped and started while the page is open", () => {
  it("is said to be gone, and then to be back, and the page goes on by itself", async () => {
    const rig = await openPageRig();
    // Started again by hand, so that it can be ended here.
    open.push(rig);
    const { page, complaints } = await rig.openPage();
    await page.getByRole("link", { name: "Windows not seen" }).waitFor();
    expect((await rig.daemon.run(["stop"])).code).toBe(0);
    const banner = page.locator(".banner");
    await banner.filter({ hasText: "The daemon does not answer" }).waitFor();
    await page.getByText("Unknown", { exact: true }).waitFor();
    // Every view still opens, and none shows what is old as new.
    for (const name of ["Health", "Calendar", "Timeline"]) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor({ state: "attached" });
    }
    await rig.daemon.start();
    await banner.filter({ hasText: "The daemon is back" }).waitFor();
    await banner.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Windows not seen" }).waitFor();
    await page.locator(".nothing").waitFor();
    const others = complaints.filter(
      (text) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(text),
    );
    expect(others).toEqual([]);
  });
});

describe("an answer that breaks off", () => {
  it("is taken for no answer, and not for an empty one", async () => {
    const rig = await openRig();
    const { page, goTo, complaints } = await rig.openPage();
    await page.route("**/api/v1/totals?*", (route) =>
      route.fulfill({ contentType: "application/json", body: '{"totals": [' }),
    );
    await page.getByRole("link", { name: "Totals", exact: true }).click();
    await page.locator(".banner", { hasText: "The daemon does not answer" }).waitFor();
    await page.unroute("**/api/v1/totals?*");
    await page.getByText("No window had the focus").waitFor();
    await goTo("Health");
    expect(complaints).toEqual([]);
  });
});

describe("an address that was mistyped", () => {
  it.each([
    "#/totals?from=1&to=1e300",
    "#/totals?from=-1e20&to=5",
    "#/timeline?from=-1e20&to=5",
    "#/timeline?day=0001-01-01",
    "#/calendar?unit=week&day=0000-01-01",
  ])("leads to what there is: %s", async (hash) => {
    const rig = await openRig();
    const { page, settle, complaints } = await rig.openPage({ hash });
    await settle();
    expect(await page.locator("h2.stretch-name").innerText()).toMatch(/20\d\d$/);
    expect(complaints).toEqual([]);
  });
});

describe("lanes without anything in them", () => {
  it("say what is missing: the first minute, a pause, a desktop that cannot be seen", async () => {
    const { rig, showWindow } = await openWatchedRig();
    const { page, settle, takePicture } = await rig.openPage();
    await page.getByText("Windows cannot be seen").waitFor();
    await takePicture("empty-no-source");
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "1 hour" }).click();
    await page.getByText("Recording is paused").waitFor();
    await page.getByText(/Paused until \d/).waitFor();
    expect((await rig.daemon.api.status()).paused).not.toBeNull();
    await takePicture("empty-paused");
    await page.getByRole("button", { name: "Resume" }).click();
    await until("recording goes on", async () => (await rig.daemon.api.status()).paused === null);
    await showWindow("gedit", "notes.txt");
    // It comes by itself.
    await page.locator(".diary tbody tr", { hasText: "notes.txt" }).waitFor();
    await settle();
    await takePicture("first-minute");
  });
});

describe("what is forgotten elsewhere while the page is open", () => {
  it("stands on no page any more: not as chosen, not in the lanes of before, not as told", async () => {
    const { rig, showWindow } = await openWatchedRig();
    await showWindow("gedit", "a private matter");
    const [timeline, saw, tried] = [
      await rig.openPage(),
      await rig.openPage({ hash: "#/saw" }),
      await rig.openPage({ hash: "#/try" }),
    ];
    const row = timeline.page.locator(".diary tbody tr", { hasText: "a private matter" });
    await row.waitFor();
    await row.getByRole("button").click();
    await timeline.page.locator(".chosen", { hasText: "a private matter" }).waitFor();
    await tried.page.getByLabel("Your turn").fill("What am I doing?");
    await tried.page.getByRole("button", { name: "Real-time" }).click();
    await tried.page.getByRole("button", { name: "Try it" }).click();
    await tried.page.locator(".try-answer", { hasText: "a private matter" }).waitFor();
    await saw.page.locator(".saw-feed", { hasText: "a private matter" }).waitFor();
    await showWindow("gedit", "something else");
    const { code } = await rig.daemon.run(["forget", "--match", "a private matter"]);
    expect(code).toBe(0);
    for (const { page, complaints } of [timeline, saw, tried]) {
      await page.getByText("a private matter").first().waitFor({ state: "detached" });
      expect(complaints).toEqual([]);
    }
    // Zoomed out, nothing of before is drawn for the time until the answer.
    await timeline.page.getByRole("button", { name: "Week", exact: true }).click();
    await timeline.settle();
    expect(await timeline.page.locator("main").innerText()).not.toContain("private");
  });
});

describe("a daemon that was updated while the page is open", () => {
  it("is told of, and the page of the new version is one press away", async () => {
    const rig = await openRig();
    const { page, settle, complaints } = await rig.openPage({ hash: "#/health" });
    await settle();
    await page.route("**/api/v1/status", async (route) => {
      const answer = await route.fetch();
      const status: unknown = await answer.json();
      await route.fulfill({ json: Object.assign({}, status, { version: "99.0.0" }) });
    });
    // It is asked for when the page is looked at again.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    const banner = page.locator(".banner", { hasText: "activityd was updated" });
    await banner.waitFor();
    await banner.getByRole("button", { name: "Load it anew" }).click();
    await banner.waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1, name: "Health" }).waitFor({ state: "attached" });
    await settle();
    expect(complaints).toEqual([]);
  });
});

describe("a page that is open for an hour of changes", () => {
  it(
    "follows them, and takes no more memory at its end than after its first minutes",
    { timeout: 180_000 },
    async () => {
      const { rig, showWindow } = await openWatchedRig();
      // A stretch that stays where it is while the page's clock runs ahead, whatever the time of day.
      const nowSeconds = Math.floor(Date.now() / 1000);
      const hash = `#/timeline?from=${nowSeconds - 6 * 3600}&to=${nowSeconds + 12 * 3600}`;
      const shown = await rig.openPage({ lessMotion: true, hash });
      const { page, complaints } = shown;
      await showWindow("gedit", "the first");
      await page.locator(".diary tbody tr", { hasText: "the first" }).waitFor();
      // The page's clock is moved on by a quarter of a minute with each change: all its timers, and none of the daemon's.
      await page.clock.install();
      const change = async (number: number): Promise<void> => {
        await showWindow(`app ${number % 3}`, `document ${number}`);
        await page.clock.fastForward(15_000);
      };
      // So short as they are, they stand in few rows, which tell how many they are. From the last change on the page's clock
      // goes no faster than the daemon's: no stream could outlive minutes in which it may not be heard.
      const areShown = (changes: number): Promise<unknown> =>
        until(`${changes} changes are on the page`, async () => {
          const rows = await page.locator(".diary-documents .number").allInnerTexts();
          const counts = rows.map((row) => Number(/ in (\d+) stretches/.exec(row)?.[1] ?? 1));
          return counts.reduce((sum, count) => sum + count, 0) >= changes;
        });
      for (let number = 0; number < 60; number += 1) await change(number);
      await areShown(55);
      const before = await heapBytes(shown);
      for (let number = 60; number < 260; number += 1) await change(number);
      await areShown(255);
      const after = await heapBytes(shown);
      expect(after / before).toBeLessThan(1.25);
      expect(after - before).toBeLessThan(1_500_000);
      expect(complaints).toEqual([]);
    },
  );
});

/** What scripts and elements of the page take, after the garbage is gone. */
async function heapBytes({ page }: OpenPage): Promise<number> {
  const session = await page.context().newCDPSession(page);
  for (let times = 0; times < 3; times += 1) await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}
