/** The page left open: over midnight, over a journey into another zone, over what is forgotten and upgraded elsewhere. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openPageRig, type OpenPage, type PageOptions, type PageRig } from "./browser-rig.ts";

let rig: PageRig;
beforeAll(async () => {
  rig = await openPageRig();
});
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

/** The name of the stretch that is shown. */
function shown({ page }: OpenPage): Promise<string> {
  return page.locator("h2.stretch-name").innerText();
}

const [EVENING, NIGHT] = ["2026-11-30T23:59:30+01:00", "2026-12-01T00:00:30+01:00"];
const [LAST, NEXT] = ["Monday, 30 November 2026", "Tuesday, 1 December 2026"];

describe("a page that is open at midnight", () => {
  it.each(["#/timeline", "#/totals", "#/totals?range=today"])(
    "shows today at %s, which is another day then",
    async (hash) => {
      const open = await openPage({ hash, at: EVENING });
      await open.settle();
      expect(await shown(open)).toBe(LAST);
      await open.page.clock.setFixedTime(NIGHT);
      await open.page.getByRole("heading", { name: NEXT }).waitFor();
      expect(open.complaints).toEqual([]);
    },
  );

  it("stays at a day that is not today, and at an hour of it", async () => {
    const open = await openPage({ hash: "#/timeline?day=2026-11-29", at: EVENING });
    await open.settle();
    const before = await shown(open);
    await open.page.clock.setFixedTime(NIGHT);
    await open.goTo("Calendar");
    await open.page.goBack();
    await open.settle();
    expect(await shown(open)).toBe(before);
  });

  it("has the new day among those of the calendar that are no more to come", async () => {
    const open = await openPage({ hash: "#/calendar?unit=week", at: EVENING });
    await open.settle();
    const today = open.page.locator("th.today");
    expect(await today.innerText()).toContain("30");
    await open.page.clock.setFixedTime(NIGHT);
    await open.page.locator("th.today", { hasText: "Tue 1" }).waitFor();
  });
});

describe("a machine that is given another zone while the page is open", () => {
  it("tells times and days by the clock there, in every view", async () => {
    const open = await openPage({ hash: "#/totals", at: "2026-12-01T03:00:00+01:00" });
    await open.settle();
    expect(await shown(open)).toBe(NEXT);
    const { page } = open;
    expect(await page.locator(".totals-note").innerText()).toContain("Europe/Berlin");
    await open.travel("America/New_York");
    await page.locator(".totals-note", { hasText: "America/New_York" }).waitFor();
    // There it is still the evening of the day before.
    expect(await shown(open)).toBe(LAST);
    await open.goTo("Timeline");
    expect(await shown(open)).toBe(LAST);
    expect(open.complaints).toEqual([]);
  });
});
