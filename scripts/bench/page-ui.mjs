// @ts-check
/**
 * How fast the local page is on a year of 250,000 events, in Chromium: from the link to the first lanes that are drawn,
 * from a press to the frame that shows its effect, and the frames of zooming. Beside wall time stands the time that the
 * browser's own trace gives for scripts, layout and drawing, which says more on a machine that does other things too.
 *
 * `scripts/bench/page-ui [WIDTH]`; needs a build and Debian's chromium.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { connectActivity } from "../../dist/local-api/client.js";
import { writeLifelikeYear } from "./lifelike-year.mjs";
import { median } from "./paired.mjs";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const TIME_ZONE = "Europe/Berlin";
const OPENINGS = 7;
const PRESSES = 20;
const WHEELS = 120;
/** The targets, in milliseconds. */
const TARGET = { firstPaint: 1000, interaction: 100, frame: 20 };

/** @type {WeakMap<import("playwright-core").Page, () => Promise<number>>} */
const watched = new WeakMap();

const width = Number(process.argv[2] ?? 1280);
const home = mkdtempSync(join(tmpdir(), "activityd-bench-page-"));
mkdirSync(join(home, "data"), { mode: 0o700 });
writeFileSync(join(home, "config.toml"), "[page]\nport = 0\n");
writeLifelikeYear(join(home, "data"), { endUs: Date.now() * 1000, timeZone: TIME_ZONE });
const daemon = spawn(process.execPath, [MAIN, "start"], {
  env: { PATH: process.env["PATH"], HOME: home, ACTIVITYD_HOME: home, TZ: TIME_ZONE },
  stdio: "ignore",
});
const api = connectActivity({ socketPath: join(home, "run", "activityd.sock") });
for (;;) {
  if (
    await api.status().then(
      () => true,
      () => false,
    )
  )
    break;
  await new Promise((resolve) => setTimeout(resolve, 50));
}
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
console.log(
  `A year of 250,000 events, ${width} pixels wide, software drawing, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}.`,
);
try {
  await measureOpenings();
  const page = await openPage();
  await measurePresses(page);
  await measureZoom(page);
} finally {
  await browser.close();
  await api.close();
  daemon.kill();
  await new Promise((resolve) => daemon.once("exit", resolve));
  rmSync(home, { recursive: true, force: true });
}

async function openPage() {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    timezoneId: TIME_ZONE,
    locale: "en-GB",
  });
  const page = await context.newPage();
  await watchWork(page);
  const { url } = await api.openPage();
  await page.goto(url);
  await page.locator('.timeline-canvas[aria-busy="false"]').waitFor();
  return page;
}

/** From the request for the page to the first frame with lanes, in a browser that has not seen it before. */
async function measureOpenings() {
  const wall = [];
  const painted = [];
  const work = [];
  for (let round = 0; round < OPENINGS; round += 1) {
    const page = await openPage();
    const times = await page.evaluate(() => {
      const [paint] = performance.getEntriesByName("first-contentful-paint");
      const [lanes] = performance.getEntriesByName("lanes drawn");
      return { paint: paint?.startTime ?? 0, lanes: lanes?.startTime ?? 0 };
    });
    wall.push(times.lanes);
    painted.push(times.paint);
    work.push(await taskMs(page));
    await page.context().close();
  }
  report("first paint with content", painted, TARGET.firstPaint);
  report("first lanes of the day drawn", wall, TARGET.firstPaint);
  report("  processor time of the page until then and the list", work);
}

/** From a press to the frame after its effect: each of these draws the timeline or another view anew. @param {import("playwright-core").Page} page */
async function measurePresses(page) {
  const all = [];
  const work = [];
  for (const name of ["Year", "Month", "Week", "Day", "Zoom in", "Zoom out"]) {
    const times = [];
    for (let press = 0; press < PRESSES; press += 1) {
      const before = await taskMs(page);
      times.push(await pressMs(page, name));
      work.push((await taskMs(page)) - before);
      await page.locator('.timeline-canvas[aria-busy="false"]').waitFor();
    }
    all.push(...times);
  }
  report("a press on the timeline until the next frame", all, TARGET.interaction);
  report("  processor time of the page's thread for it", work);
  const views = [];
  const viewWork = [];
  for (let press = 0; press < PRESSES; press += 1) {
    const before = await taskMs(page);
    views.push(await pressMs(page, press % 2 === 0 ? "Calendar" : "Timeline"));
    viewWork.push((await taskMs(page)) - before);
  }
  report("a press on another view until it is there", views, TARGET.interaction);
  report("  processor time of the page's thread for it", viewWork);
  await page.locator('.timeline-canvas[aria-busy="false"]').waitFor();
}

/** @param {import("playwright-core").Page} page @param {string} name @returns {Promise<number>} */
function pressMs(page, name) {
  return page.evaluate(
    (wanted) =>
      new Promise((resolve) => {
        const all = [...document.querySelectorAll("button, a")];
        const found = all.find(
          (each) => (each.getAttribute("aria-label") ?? each.textContent) === wanted,
        );
        if (!(found instanceof HTMLElement)) throw new Error(`nothing is called ${wanted}`);
        const startMs = performance.now();
        found.click();
        // The frame after the one in which the effect was drawn begins when that one is done.
        requestAnimationFrame(() =>
          requestAnimationFrame(() => resolve(performance.now() - startMs)),
        );
      }),
    name,
  );
}

/** From a year into a minute and out again by wheel, a notch a frame. @param {import("playwright-core").Page} page */
async function measureZoom(page) {
  await pressMs(page, "Year");
  await page.locator('.timeline-canvas[aria-busy="false"]').waitFor();
  const wall = [];
  const work = [];
  for (let notch = 0; notch < WHEELS * 2; notch += 1) {
    const before = await taskMs(page);
    const ms = await page.evaluate(
      async (deltaY) => {
        const canvas = document.querySelector(".timeline-canvas canvas");
        if (canvas === null) throw new Error("no canvas");
        const box = canvas.getBoundingClientRect();
        const at = { clientX: box.left + box.width * 0.7, clientY: box.top + 60 };
        const startMs = performance.now();
        canvas.dispatchEvent(
          new WheelEvent("wheel", { ...at, deltaY, bubbles: true, cancelable: true }),
        );
        // The first callback runs beside the drawing, the second when its frame is done.
        await new Promise((resolve) => requestAnimationFrame(resolve));
        const drawnMs = performance.now() - startMs;
        await new Promise((resolve) => requestAnimationFrame(resolve));
        return drawnMs;
      },
      notch < WHEELS ? -50 : 50,
    );
    wall.push(ms);
    work.push((await taskMs(page)) - before);
  }
  report("a frame of zooming, from the wheel until it is drawn", wall, TARGET.frame);
  report("  processor time of the page's thread for it, answers included", work, TARGET.frame);
}

/** Begins to count the processor time of a page's main thread. @param {import("playwright-core").Page} page */
async function watchWork(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  watched.set(page, async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000;
  });
}

/** Processor time of the page's main thread so far, in milliseconds. @param {import("playwright-core").Page} page */
async function taskMs(page) {
  return (await watched.get(page)?.()) ?? Number.NaN;
}

/** @param {string} what @param {readonly number[]} values @param {number} [target] */
function report(what, values, target) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const figures = `median ${median([...values]).toFixed(1)}, p95 ${at(0.95).toFixed(1)}, most ${at(1).toFixed(1)} ms`;
  const goal =
    target === undefined ? "" : ` (goal ${target}: ${at(0.95) <= target ? "met" : "MISSED"})`;
  console.log(`${what}: ${figures} of ${values.length}${goal}`);
}
