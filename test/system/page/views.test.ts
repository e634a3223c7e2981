/** Every view of the page on a year of 250,000 events, in a real browser: at three widths and in both schemes. */
import type { Locator } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HOSTILE_TITLES, writeLifelikeYear } from "../../../scripts/bench/lifelike-year.mjs";
import { violations } from "./axe-check.ts";
import { until } from "../../helpers/until.ts";
import {
  openPageRig,
  TIME_ZONE,
  type OpenPage,
  type PageOptions,
  type PageRig,
} from "./browser-rig.ts";

const HOUR_US = 3_600_000_000;

let rig: PageRig;
beforeAll(async () => {
  rig = await openPageRig({
    fill: (directory) =>
      writeLifelikeYear(directory, { endUs: Date.now() * 1000, timeZone: TIME_ZONE }),
  });
  for (const ownerText of [
    "What was I doing before lunch yesterday?",
    "And how long on the cart?",
  ]) {
    await rig.daemon.api.composeTurn({
      session: "s",
      ownerText,
      form: "digest",
      client: "demo/1.0",
    });
  }
}, 120_000);
afterAll(async () => {
  await rig.close();
});

const pages: OpenPage[] = [];
afterEach(async () => {
  for (const each of pages.splice(0)) await each.close();
});

async function openPage(options: PageOptions): Promise<OpenPage> {
  const open = await rig.openPage(options);
  pages.push(open);
  return open;
}

/** By how much the page is wider than the screen. */
function overflow({ page }: OpenPage): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

/** Whether an element stands between the edges of a screen so wide. */
async function isWithin(element: Locator, width: number): Promise<boolean> {
  const box = await element.boundingBox();
  return box !== null && box.x >= 0 && box.x + box.width <= width;
}

/** A view, what to press in it, and what must then be there. */
interface Stop {
  readonly picture: string;
  readonly view: string;
  readonly press?: readonly string[];
  readonly look: RegExp;
}

// Of days, weeks, months and years those before the present ones, of which there is nothing in their first hours.
const STOPS: readonly Stop[] = [
  { picture: "timeline-day", view: "Timeline", press: ["Earlier"], look: /Focused \d+ h/ },
  {
    picture: "timeline-hour",
    view: "Timeline",
    press: ["Earlier", "Hour"],
    look: /Focused \d+ min/,
  },
  { picture: "timeline-year", view: "Timeline", press: ["Year"], look: /Focused \d{3,} h/ },
  {
    picture: "calendar-month",
    view: "Calendar",
    press: ["Earlier"],
    look: /\d+ h \d+ min focused/,
  },
  {
    picture: "calendar-week",
    view: "Calendar",
    press: ["Week", "Earlier"],
    look: /\d+ h .*focused/,
  },
  {
    picture: "calendar-year",
    view: "Calendar",
    press: ["Year", "Earlier"],
    look: /\d+ h .*focused/,
  },
  { picture: "totals", view: "Totals", press: ["30 days"], look: /shop-front/ },
  { picture: "what-it-saw", view: "What it saw", look: /What you saw/ },
  { picture: "try-it", view: "Try it", press: ["Where did I leave off?"], look: /tokens/i },
  { picture: "privacy", view: "Privacy", look: /rules/i },
  { picture: "health", view: "Health", look: /\d{3},\d{3}/ },
];

it("the navigation shows the view that an address leads to, also where it does not fit", async () => {
  const open = await openPage({ width: 320, height: 640, scheme: "light" });
  for (const name of ["health", "timeline", "privacy"]) {
    await open.page.evaluate((to) => {
      location.hash = `#/${to}`;
    }, name);
    const current = open.page.locator(`.nav [aria-current="page"][href="#/${name}"]`);
    await current.waitFor();
    await expect.poll(() => isWithin(current, 320), { message: name, timeout: 20_000 }).toBe(true);
  }
});

describe.each([
  { width: 320, height: 640 },
  { width: 1024, height: 768 },
  { width: 3840, height: 1600 },
])("on a screen of $width pixels", ({ width, height }) => {
  it.each(["light", "dark"] as const)(
    "every view can be read, in %s colours",
    { timeout: 180_000 },
    async (scheme) => {
      const open = await openPage({ width, height, scheme });
      for (const { picture, view, press = [], look } of STOPS) {
        await open.goTo(view);
        for (const name of press) {
          await open.page.getByRole("button", { name, exact: true }).first().click();
          await open.settle();
        }
        const text = await open.page.locator("main").innerText();
        expect({ picture, text }).toEqual({ picture, text: expect.stringMatching(look) });
        expect({ picture, overflow: await overflow(open) }).toEqual({ picture, overflow: 0 });
        // What axe looks at differs between the widths and between the schemes, not in each pair of them.
        const isLookedAt = width === 1024 || (width === 320) === (scheme === "light");
        const found = isLookedAt ? await violations(open.page) : [];
        expect({ picture, found }).toEqual({ picture, found: [] });
        await open.takePicture(`${picture}-${width}-${scheme}`);
      }
      expect(open.complaints).toEqual([]);
    },
  );
});

describe("titles that strangers wrote", () => {
  /** The hour of yesterday in which they stand. */
  async function openTheirHour(): Promise<OpenPage> {
    const { firstDay } = await yesterday();
    const fromUs = firstDay + 14 * HOUR_US;
    const hash = `#/timeline?from=${fromUs / 1_000_000}&to=${(fromUs + HOUR_US) / 1_000_000}`;
    const open = await openPage({ hash, height: 1200 });
    await open.settle();
    return open;
  }

  it("are text in every view, cut where they are long, and change nothing around them", async () => {
    const open = await openTheirHour();
    const { page } = open;
    await page.getByRole("combobox", { name: "Show" }).selectOption("documents");
    const rows = page.locator(".diary tbody tr").filter({ hasText: "evil.example" });
    await until("the list holds them all", async () => {
      return (await rows.count()) === HOSTILE_TITLES.length;
    });
    const shown = await rows.locator("bdi:first-of-type").allInnerTexts();
    expect(shown.some((text) => text.startsWith("<img src=x onerror"))).toBe(true);
    expect(shown.every((text) => text.length < 1500)).toBe(true);
    const heights = await rows.evaluateAll((all) => all.map((row) => row.clientHeight));
    expect(Math.max(...heights)).toBeLessThan(120);
    // Nothing of theirs became an element, and every text of theirs is isolated.
    expect(await page.locator("main :is(img, script, b, iframe, object, style)").count()).toBe(0);
    expect(await page.title()).toBe("Timeline · activityd");
    const outside = await rows.first().evaluate((row) => row.querySelector(".number")?.textContent);
    expect(outside).toMatch(/^(9|10) min/);
    await page.mouse.move(500, 230);
    await page.locator(".tip").waitFor();
    await open.takePicture("hostile-titles");
    await open.goTo("Totals");
    await page.getByRole("button", { name: "Yesterday" }).click();
    await open.settle();
    await page.getByRole("button", { name: "Show more" }).first().click();
    await open.settle();
    expect(await page.locator("main").innerText()).toContain("<img src=x onerror");
    expect(await overflow(open)).toBe(0);
    expect(open.complaints).toEqual([]);
  });
});

describe("the timeline under the hands", () => {
  const range = (open: OpenPage): Promise<string> =>
    open.page.evaluate(() => decodeURIComponent(location.hash));
  /** The stretch on the screen, in seconds. */
  const stretch = async (open: OpenPage): Promise<{ from: number; to: number }> => {
    await open.settle();
    const params = new URLSearchParams((await range(open)).split("?")[1]);
    const day = params.get("day");
    if (day === null) return { from: Number(params.get("from")), to: Number(params.get("to")) };
    const { from } = await open.page.evaluate((text) => {
      const [year = 0, month = 1, date = 1] = text.split("-").map(Number);
      return { from: new Date(year, month - 1, date).getTime() / 1000 };
    }, day);
    return { from, to: from + 86_400 };
  };

  it("zooms at the pointer by wheel, moves by drag, and shows what is pointed at and chosen", async () => {
    const open = await openPage({});
    await open.page.getByRole("button", { name: "Earlier" }).click();
    const before = await stretch(open);
    const canvas = open.page.locator(".timeline-canvas canvas");
    const box = await canvas.boundingBox();
    if (box === null) throw new Error("no canvas");
    await open.page.mouse.move(box.x + box.width / 2, box.y + 60);
    await open.page.mouse.wheel(0, -600);
    const zoomed = await stretch(open);
    expect(zoomed.to - zoomed.from).toBeLessThan((before.to - before.from) / 3);

    await open.page.mouse.down();
    await open.page.mouse.move(box.x + box.width / 2 - 200, box.y + 60, { steps: 4 });
    await open.page.mouse.up();
    const moved = await stretch(open);
    expect(moved.from).toBeGreaterThan(zoomed.from);
    expect(Math.abs(moved.to - moved.from - (zoomed.to - zoomed.from))).toBeLessThanOrEqual(2);

    await open.page.mouse.move(box.x + box.width / 2, box.y + 60);
    await open.page.locator(".tip").waitFor();
    const tip = await open.page.locator(".tip").innerText();
    expect(tip).toMatch(/Application\s+\S[\s\S]*\d+:\d+[:\d]* – \d+:\d+[:\d]* · /);
    await open.page.mouse.click(box.x + box.width / 2, box.y + 60);
    await open.page.getByRole("button", { name: "Zoom to it" }).click();
    const onIt = await stretch(open);
    expect(onIt.to - onIt.from).toBeLessThan(moved.to - moved.from);
    await open.page.mouse.dblclick(box.x + box.width / 2, box.y + 60);
    const closer = await stretch(open);
    expect(closer.to - closer.from).toBeLessThan(onIt.to - onIt.from);
  });

  it("zooms from a year to a minute by keys alone, goes to both ends and back to today", async () => {
    const open = await openPage({ lessMotion: true });
    const { page } = open;
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const lanes = page.getByRole("application");
    for (let tabs = 0; tabs < 30; tabs += 1) {
      if (await lanes.evaluate((element) => element === document.activeElement)) break;
      await page.keyboard.press("Tab");
    }
    const today = await stretch(open);
    for (let times = 0; times < 30; times += 1) await page.keyboard.press("-");
    const year = await stretch(open);
    expect(year.to - year.from).toBe(366 * 86_400);
    await page.keyboard.press("End");
    for (let times = 0; times < 40; times += 1) await page.keyboard.press("+");
    const minute = await stretch(open);
    expect(minute.to - minute.from).toBe(60);
    await page.keyboard.press("Home");
    const oldest = await stretch(open);
    expect(oldest.from).toBeLessThan(year.to - 360 * 86_400);
    await page.keyboard.press("t");
    expect(await stretch(open)).toEqual(today);
    await page.keyboard.press("Shift+ArrowLeft");
    const yesterday = await stretch(open);
    expect(yesterday.to).toBe(today.from);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press(".");
    const first = await page.locator(".chosen .span-title").innerText();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press(".");
    await page.keyboard.press(".");
    expect(first).not.toBe("");
    expect(await page.locator(".chosen .tip-lane").innerText()).toContain("Document");
    expect(open.complaints).toEqual([]);
  });

  it("has the clock and the dates of the browser's language", async () => {
    const hash = "#/timeline";
    const american = await openPage({ locale: "en-US", hash });
    await american.page.getByRole("button", { name: "Earlier" }).click();
    await american.settle();
    expect(await american.page.locator(".diary tbody").innerText()).toMatch(/\d:\d\d\s[AP]M/);
    const german = await openPage({ locale: "de-DE", hash });
    await german.page.getByRole("button", { name: "Earlier" }).click();
    await german.settle();
    const text = await german.page.locator("main").innerText();
    expect(text).toMatch(/(Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag), \d+\. /);
    expect(text).toMatch(/\b0?9:\d\d\b/);
    expect(text).not.toMatch(/\b[AP]M\b/);
  });
});

describe("without a pointer", () => {
  it("every view is reached, recording is paused and resumed, and the focus is always seen", async () => {
    const { page, settle, complaints } = await openPage({ hash: "#/totals" });
    await settle();
    /** Goes on with the Tab key until what has this name has the focus, which must be seen all the way. */
    const tabTo = async (name: string): Promise<void> => {
      for (let tabs = 0; tabs < 80; tabs += 1) {
        await page.keyboard.press("Tab");
        const focused = await page.evaluate(() => {
          const element = document.activeElement;
          if (element === null || element === document.body) return null;
          const style = getComputedStyle(element);
          const box = element.getBoundingClientRect();
          return {
            name: element.getAttribute("aria-label") ?? element.textContent.trim(),
            isSeen: style.outlineStyle !== "none" && box.width > 0 && box.top < innerHeight,
          };
        });
        if (focused?.isSeen === false) throw new Error(`the focus is not seen on ${focused.name}`);
        if (focused?.name === name) return;
      }
      throw new Error(`${name} is not reached by Tab`);
    };
    for (const name of ["Timeline", "Calendar", "What it saw", "Try it", "Privacy", "Health"]) {
      await page.evaluate(() => scrollTo(0, 0));
      await tabTo(name);
      await page.keyboard.press("Enter");
      await page
        .getByRole("heading", { level: 1, name, exact: true })
        .waitFor({ state: "attached" });
      await until("the new view has the focus", () =>
        page.evaluate(() => document.activeElement?.tagName === "MAIN"),
      );
      // Back to the beginning, as by Shift and Tab many times.
      await page.locator(".brand").evaluate((brand) => {
        brand.setAttribute("tabindex", "-1");
        if (brand instanceof HTMLElement) brand.focus();
      });
    }
    await tabTo("Pause");
    await page.keyboard.press("Enter");
    await tabTo("1 hour");
    await page.keyboard.press("Enter");
    await page
      .getByText(/Paused until/)
      .first()
      .waitFor();
    expect((await rig.daemon.api.status()).paused).not.toBeNull();
    await page.locator(".brand").focus();
    await tabTo("Resume");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });
});

describe("in the owner's own colours (high contrast)", () => {
  it("shows which view and width is chosen, and which day had more, less, nothing or no record", async () => {
    const open = await openPage({ hash: "#/calendar?unit=year", scheme: "dark" });
    const { page } = open;
    await page.emulateMedia({ forcedColors: "active" });
    await open.settle();
    const looks = (selector: string): Promise<string> =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => {
          const { backgroundColor, backgroundImage } = getComputedStyle(element);
          return `${backgroundColor} ${backgroundImage}`;
        });
    const steps = [];
    for (const step of ["0", "1", "2", "3", "4", "5", "unknown"]) {
      steps.push(await looks(`.heat-legend .heat-${step}`));
    }
    expect(new Set(steps).size).toBe(7);
    expect(await looks("td.heat-5")).toBe(steps[5]);
    expect(await looks('.nav-link[aria-current="page"]')).not.toBe(
      await looks(".nav-link:not([aria-current])"),
    );
    expect(await looks('.button[aria-pressed="true"]')).not.toBe(
      await looks('.button[aria-pressed="false"]'),
    );
    expect(await violations(page)).toEqual([]);
    await open.takePicture("calendar-year-high-contrast");
  });
});

describe("for those who wish for less motion", () => {
  it("nothing slides: a zoom is there with the next frame, and no part of the page has a transition", async () => {
    /** Yesterday, of which nothing more is heard: what is drawn changes by movement alone. */
    const openYesterday = async (options: PageOptions): Promise<OpenPage> => {
      const opened = await openPage(options);
      await opened.page.getByRole("button", { name: "Earlier" }).click();
      await opened.settle();
      await opened.page.route("**/api/v1/timeline?*", (route) => route.abort("aborted"));
      return opened;
    };
    const open = await openYesterday({ lessMotion: true });
    const framesUntilStill = async (page: OpenPage["page"]): Promise<number> =>
      page.evaluate(async () => {
        const canvas = document.querySelector(".timeline-canvas canvas");
        const lanes = document.querySelector(".timeline-canvas");
        if (!(canvas instanceof HTMLCanvasElement) || !(lanes instanceof HTMLElement)) return -1;
        // A frame takes as long here as where nothing else is to be done.
        let nowMs = performance.now();
        performance.now = () => nowMs;
        const next = requestAnimationFrame.bind(globalThis);
        globalThis.requestAnimationFrame = (callback) => next(() => callback(nowMs));
        const frame = (): Promise<number> => {
          nowMs += 16;
          return new Promise((resolve) => requestAnimationFrame(resolve));
        };
        lanes.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true }));
        const seen: string[] = [];
        for (let frames = 0; frames < 30; frames += 1) {
          await frame();
          seen.push(canvas.toDataURL());
        }
        const last = seen.at(-1);
        return seen.findIndex((picture) => picture === last);
      });
    expect(await framesUntilStill(open.page)).toBeLessThanOrEqual(2);
    const transitions = await open.page.evaluate(
      () =>
        [...document.querySelectorAll("*")].filter(
          (each) => getComputedStyle(each).transitionDuration !== "0s",
        ).length,
    );
    expect(transitions).toBe(0);
    const usual = await openYesterday({});
    expect(await framesUntilStill(usual.page)).toBeGreaterThan(2);
  });
});

/** The local midnight with which yesterday began. */
async function yesterday(): Promise<{ firstDay: number }> {
  const open = await openPage({});
  const firstDay = await open.page.evaluate(() => {
    const now = new Date();
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1).getTime() * 1000;
  });
  return { firstDay };
}
