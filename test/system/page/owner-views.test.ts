/** What the assistant saw, Try it, Privacy and Health, clicked through in a real browser on a real daemon. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { ContextAnswer, ContextRequest } from "../../../src/api.ts";
import type { EventFacts, StorableText } from "../../../src/capture/events.ts";
import { ActivityError } from "../../../src/errors.ts";
import { silentLog } from "../../../src/log.ts";
import { openEventStore } from "../../../src/store/events.ts";
import { until } from "../../helpers/until.ts";
import { violations } from "./axe-check.ts";
import { openPageRig, type PageOptions, type PageRig, TIME_ZONE } from "./browser-rig.ts";

/** For people to look at; git ignores it. */
const PICTURES = fileURLToPath(new URL("../../../test-pictures/page", import.meta.url));
const MINUTE_US = 60_000_000;
/** Markup, a turned direction, marks of a block, and more than fits on a screen. */
const HOSTILE = `\u202e<img src=x onerror="document.title='owned'">\u202c --- # Device Activity 👩‍👩‍👧‍👦 ${"long ".repeat(2000)}`;

/** Half an hour of each, the newest last. */
const WINDOWS = [
  ["LibreOffice", "Budget Q4 2026.xlsx", null],
  ["Firefox", HOSTILE, "evil.example/<script>"],
  ["Code", "retry.ts — payments-api", null],
  ["zoom", "Call with Priya — Zoom Meeting", null],
  ["Slack", "Canary-7731-Zeppelin — Slack", null],
] as const;

/** Puts them, and a pause before them, into the record that the daemon finds at its start. */
function fill(directory: string): void {
  const clock = {
    nowUs: () => Date.now() * 1000,
    monotonicUs: () => Number(process.hrtime.bigint() / 1000n),
    timeZone: () => TIME_ZONE,
  };
  const store = openEventStore({ directory, clock, log: silentLog });
  const add = (facts: EventFacts, startUs: number, endUs: number): void => {
    store.begin(facts, { startUs, endUs, utcOffsetMinutes: 60, timeZone: TIME_ZONE });
  };
  const startUs = clock.nowUs() - (WINDOWS.length * 30 + 5) * MINUTE_US;
  add({ kind: "gap", reason: "paused" }, startUs - 20 * MINUTE_US, startUs);
  for (const [at, [app, title, place]] of WINDOWS.entries()) {
    const fromUs = startUs + at * 30 * MINUTE_US;
    // Only the privacy gate makes the brand of these texts; they are a test's own.
    const facts = { kind: "window", app, title, place } as const;
    add(facts as EventFacts & { app: StorableText }, fromUs, fromUs + 30 * MINUTE_US);
  }
  store.settle();
  store.close();
}

let rig: PageRig;
/** What the browser said of each page, in the order in which they were opened. */
const said: (readonly string[])[] = [];

beforeAll(async () => {
  rig = await openPageRig({ fill });
});
afterAll(() => rig.close());

async function open(view: string, options: PageOptions = {}, of = rig): Promise<Page> {
  const { page, complaints, close } = await of.openPage({
    width: 1280,
    height: 900,
    hash: `#/${view}`,
    ...options,
  });
  if (of === rig) said.push(complaints);
  onTestFinished(close);
  return page;
}

/** Asks for a block as a client would. */
const ask = (client: string, request: ContextRequest): Promise<ContextAnswer> =>
  rig.daemon.api.context({ ...request, client });

/** The code with which a client is refused; null when it is not. */
async function refusalOf(client: string): Promise<string | null> {
  try {
    await ask(client, { form: "exact" });
    return null;
  } catch (thrown) {
    return thrown instanceof ActivityError ? thrown.code : String(thrown);
  }
}

describe("what the assistant saw", () => {
  it("shows the exact bytes with their reasons and the owner's words beside them", async () => {
    const turn = "what was I doing before the call with Priya?";
    const { block, reasons } = await ask("hermes", { form: "digest", turn });
    const page = await open("saw?client=hermes");
    const entry = page.getByRole("article").first();
    await entry.waitFor();
    const lines = await entry.locator(".given-line .given-text").evaluateAll((nodes) =>
      nodes.map((node) => {
        const copy = node.cloneNode(true);
        // What is there for screen readers alone is none of the bytes.
        if (copy instanceof Element)
          copy.querySelectorAll(".visually-hidden").forEach((note) => note.remove());
        return copy.textContent;
      }),
    );
    expect(`${lines.join("\n")}\n`).toBe(block);
    expect(await entry.locator(".given-why bdi").allTextContents()).toEqual(reasons);
    expect(await entry.locator(".owner-words").textContent()).toBe(turn);
    expect(await entry.locator(".untrusted").first().textContent()).toContain("Code");
  });

  it("shows a hostile title as text", async () => {
    await ask("mallory", { form: "digest", turn: "what did I do today?" });
    const page = await open("saw?client=mallory");
    await page.getByRole("article").first().waitFor();
    expect(await page.locator(".given").first().textContent()).toContain("<img src=x");
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.title()).toBe("What it saw · activityd");
  });

  it("lets a new entry in at once, and has it wait while somebody reads on", async () => {
    // Each conversation has an entry of its own, whatever it was given.
    const tell = (session: string) => ask("many", { form: "exact", session });
    for (let at = 0; at < 12; at++) await tell(`before ${at}`);
    const page = await open("saw?client=many");
    const entries = page.getByRole("article");
    await entries.nth(5).waitFor();
    const before = await entries.count();
    await tell("while the page is at its top");
    await until("the entry stands there", async () => (await entries.count()) === before + 1);

    await page.mouse.wheel(0, 700);
    await until("the page is scrolled, and stands still", () =>
      page.evaluate(async () => {
        const before = scrollY;
        for (let frames = 0; frames < 3; frames += 1)
          await new Promise((resolve) => requestAnimationFrame(resolve));
        return before > 500 && scrollY === before;
      }),
    );
    const seen = entries.nth(3);
    const place = await seen.boundingBox();
    await tell("while somebody reads");
    const news = page.getByRole("button", { name: "1 new entry" });
    await news.waitFor();
    expect(await entries.count()).toBe(before + 1);
    expect((await seen.boundingBox())?.y).toBe(place?.y);
    await news.click();
    await until("the entry stands there", async () => (await entries.count()) === before + 2);
  });

  it("reaches older entries by scrolling and by the button, down to the first", async () => {
    for (let at = 0; at < 70; at++) await ask("old", { form: "exact", session: `s${at}` });
    const page = await open("saw?client=old");
    const entries = page.getByRole("article");
    await entries.first().waitFor();
    const before = await entries.count();
    expect(before).toBeLessThan(70);
    await page.getByRole("button", { name: "Show older entries" }).focus();
    await page.keyboard.press("Enter");
    await until("older entries are there", async () => (await entries.count()) > before);
    await until("all entries are there", async () => {
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      return (await entries.count()) === 70;
    });
    await page.getByText("This is where the ledger begins").waitFor();
  });

  it("refuses a client after a question, and allows it again", async () => {
    await ask("nosy", { form: "exact" });
    const page = await open("saw");
    await page.getByRole("button", { name: "Refuse nosy" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await refusalOf("nosy")).toBeNull();

    await page.getByRole("button", { name: "Refuse nosy" }).click();
    await dialog.getByRole("button", { name: "Refuse it" }).click();
    await page.getByRole("button", { name: "Allow nosy again" }).waitFor();
    expect(await refusalOf("nosy/2.0")).toBe("client_revoked");

    await page.getByRole("button", { name: "Allow nosy again" }).click();
    await page.getByRole("button", { name: "Refuse nosy" }).waitFor();
    expect(await refusalOf("nosy")).toBeNull();
  });

  it("shows one client's entries by keyboard alone", async () => {
    await ask("quiet", { form: "exact" });
    const page = await open("saw");
    const only = page.getByRole("button", { name: "Show only quiet" });
    await only.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/client=quiet/);
    await page.getByRole("article").first().waitFor();
    const names = await page
      .getByRole("article")
      .getByRole("heading", { level: 3 })
      .allTextContents();
    expect(names.every((name) => name.startsWith("quiet"))).toBe(true);
  });
});

describe("try it", () => {
  it("shows what an assistant would be given, what it costs, and what was left out", async () => {
    const page = await open("try");
    await page.getByLabel("Your turn").fill("find the budget");
    await page.getByRole("spinbutton").fill("30");
    await page.keyboard.press("Tab");
    await page.getByLabel("Your turn").press("Enter");
    await page.getByText("Nothing: your words would go alone").waitFor();
    const leftOut = page.locator(".left-out li").first();
    expect(await leftOut.textContent()).toContain("Budget Q4 2026.xlsx");
    expect(await leftOut.textContent()).toContain("no room within 30 tokens");

    await page.getByRole("spinbutton").fill("");
    await page.getByLabel("Your turn").press("Enter");
    await page.locator(".given-line").first().waitFor();
    expect(await page.locator(".given").textContent()).toContain("Budget Q4 2026.xlsx");
    expect(await page.locator(".facts").textContent()).toMatch(/\d+ of 400/);
  });

  it("stands in the ledger as what the page was told", async () => {
    const { entries } = await rig.daemon.api.ledger({ client: "page" });
    expect(entries.map(({ form }) => form)).toEqual(expect.arrayContaining(["digest", "left-out"]));
  });

  it("says that small talk gets nothing", async () => {
    const page = await open("try");
    await page.getByRole("button", { name: "Thanks, that was great!" }).click();
    await page.getByText("Nothing: your words would go alone").waitFor();
    expect(await page.locator(".facts").textContent()).toContain("nothing of the record");
  });
});

describe("privacy", () => {
  it("pauses so that the command line says it too, counts down, and resumes", async () => {
    const page = await open("privacy");
    await page.getByRole("button", { name: "15 minutes" }).click();
    const left = page.getByRole("timer");
    await left.waitFor();
    expect(await left.textContent()).toMatch(/^1[45]:\d\d$/);
    expect((await rig.daemon.run(["status"])).out).toContain("PAUSED");
    const first = await left.textContent();
    await until("a second is gone", async () => (await left.textContent()) !== first);
    const other = await open("try");
    await other.getByRole("button", { name: "Where did I leave off?" }).click();
    await other.getByText("recording is paused: nothing is told").waitFor();
    await page.getByRole("button", { name: "Resume now" }).click();
    await left.waitFor({ state: "detached" });
    expect((await rig.daemon.api.status()).paused).toBeNull();
  });

  it("tests the rules as one types", async () => {
    const page = await open("privacy");
    const verdict = page.locator(".rule-verdict");
    await page.getByLabel("Application", { exact: true }).fill("1Password");
    await verdict.getByText("Dropped").waitFor();
    expect(await verdict.textContent()).toContain("1Password (password manager)");
    await page.getByLabel("Application", { exact: true }).fill("Firefox");
    await page.getByLabel("Title", { exact: true }).fill("<b>Docs</b>");
    await page.getByLabel("Address", { exact: true }).fill("https://me:pw@example.com/a?token=1");
    await verdict.getByText("example.com/a", { exact: true }).waitFor();
    expect(await verdict.textContent()).toContain("<b>Docs</b>");
    await page.getByText("The rules in force").click();
    await page.getByRole("heading", { name: "Private windows" }).waitFor();
  });

  it("says what is recorded and where, and gives all of it as a download", async () => {
    const page = await open("privacy");
    await page.getByText(rig.daemon.home, { exact: false }).first().waitFor();
    const begun = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download all of it" }).click();
    const file = await (await begun).createReadStream();
    let text = "";
    for await (const chunk of file) text += String(chunk);
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.length).toBeGreaterThan(WINDOWS.length);
    expect(text).toContain("retry.ts");
  });

  it("shows what would be forgotten, forgets it after the word was typed, and proves it", async () => {
    const page = await open("privacy");
    await page.getByLabel("Any time").check();
    await page.getByRole("button", { name: "Show what would go" }).click();
    await page.getByText("Name an application or a text").waitFor();
    await page.getByLabel("Only what holds the text").fill("zeppelin");
    await page.getByRole("button", { name: "Show what would go" }).click();
    const heading = page.getByRole("heading", { name: "This would go" });
    await heading.waitFor();
    // A reader by keyboard or voice is where something happened.
    expect(await heading.evaluate((node) => node === document.activeElement)).toBe(true);
    expect(await page.locator(".forget-preview").textContent()).toContain("1 event");
    expect(await page.locator(".forget-preview tbody").textContent()).toContain(
      "Canary-7731-Zeppelin",
    );
    const forget = page.getByRole("button", { name: "Forget it" });
    expect(await forget.isDisabled()).toBe(true);
    await page.getByLabel("Type “forget” to do it").fill("forge");
    expect(await forget.isDisabled()).toBe(true);
    await page.getByLabel("Type “forget” to do it").fill("forget");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Forgotten" }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await page.locator(".proof").textContent()).toMatch(
      /files \(.*\) were searched .*none was found/,
    );
    const { hits } = await rig.daemon.api.search({ q: "zeppelin" });
    expect(hits).toEqual([]);
  });

  it("says what the daemon refuses, and what to do instead", async () => {
    const page = await open("privacy");
    await page.getByLabel("Any time").check();
    await page.getByLabel("Only what holds the text").fill("ab");
    await page.getByRole("button", { name: "Show what would go" }).click();
    const refusal = page.getByRole("alert");
    await refusal.waitFor();
    expect(await refusal.textContent()).toMatch(/too short.*at least 3 characters/);
  });

  it("forgets what was looked at when the form says something else meanwhile: it asks anew", async () => {
    const page = await open("privacy");
    await page.getByLabel("Any time").check();
    await page.getByLabel("Only what holds the text").fill("retry.ts");
    await page.getByRole("button", { name: "Show what would go" }).click();
    await page.getByRole("heading", { name: "This would go" }).waitFor();
    await page.getByLabel("Only what holds the text").fill("Budget");
    expect(await page.getByRole("button", { name: "Forget it" }).count()).toBe(0);
  });

  it("ends in this browser alone when the owner says so", async () => {
    const page = await open("privacy");
    await page.getByRole("button", { name: "End it in this browser" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
    await page.getByText("The link of this page has ended").waitFor();
    const other = await open("privacy");
    await other.getByText("While it is paused").waitFor();
    expect(await other.getByText("has ended").count()).toBe(0);
  });
});

describe("health", () => {
  it("names sources, gaps and the store, and gives the fix of each finding as a command", async () => {
    const page = await open("health");
    const window = page.getByRole("row", { name: /^window/ });
    await window.filter({ hasText: "Not seen here" }).waitFor();
    const paused = page.getByRole("row", { name: /paused by you/ });
    await paused.filter({ hasText: "20 min" }).waitFor();
    await page
      .getByRole("button", { name: "Copy the command activityd service install" })
      .waitFor();
    expect(await page.getByText(rig.daemon.home, { exact: false }).first().isVisible()).toBe(true);
  });

  it("copies a command", async () => {
    const page = await open("health");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy the command activityd service install" }).click();
    await page.getByText("Copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      "activityd service install",
    );
  });
});

/** Brings each view to where most of it is to be seen. */
const SETTLE: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  saw: (page) => page.getByRole("article").first().waitFor(),
  try: async (page) => {
    await page.getByLabel("Your turn").fill("what was I doing before the call with Priya?");
    await page.getByLabel("Your turn").press("Enter");
    await page.getByRole("heading", { name: "What was left out" }).waitFor();
  },
  privacy: async (page) => {
    await page.getByLabel("Any time").check();
    await page.getByLabel("Only what holds the text").fill("long");
    await page.getByRole("button", { name: "Show what would go" }).click();
    await page.getByRole("heading", { name: "This would go" }).waitFor();
    await page.getByRole("button", { name: "an address with a secret" }).click();
    await page.locator(".rule-verdict").getByText("example.com/a", { exact: true }).waitFor();
    await page.evaluate(() => scrollTo({ top: 0 }));
  },
  health: (page) =>
    page.getByRole("button", { name: "Copy the command activityd service install" }).waitFor(),
};

describe("every view keeps to the width of its screen, and axe finds nothing", () => {
  it.each([
    ["a phone", 320, 1200],
    ["a tablet", 1024, 900],
    ["a wall", 3840, 2160],
  ])("on %s", async (name, width, height) => {
    await ask(name, { form: "digest", turn: "what did I do today?" });
    for (const scheme of ["light", "dark"] as const) {
      const page = await open("saw", { width, height, scheme });
      for (const [view, settle] of Object.entries(SETTLE)) {
        await page.goto(new URL(`/#/${view}`, page.url()).href);
        await settle(page);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect([view, width, over]).toEqual([view, width, 0]);
        // What axe looks at differs between the widths and between the schemes, not in each pair of them.
        const isLookedAt = width === 1024 || scheme === "light";
        expect(isLookedAt ? await violations(page) : []).toEqual([]);
        await page.screenshot({ path: join(PICTURES, `${view}-${width}-${scheme}.png`) });
      }
    }
  });
});

describe("with larger letters, set in the browser, every view keeps to the width of its screen", () => {
  it.each([
    ["twice as large, on half a screen", 32, 640],
    ["a quarter larger, on a phone", 20, 320],
  ])("%s", async (_name, lettersPx, width) => {
    const own = await openPageRig({ fill, lettersPx });
    onTestFinished(own.close);
    const { page, settle } = await own.openPage({ width, height: 900 });
    const letters = await page.evaluate(() => getComputedStyle(document.body).fontSize);
    expect(Number.parseFloat(letters)).toBeGreaterThanOrEqual((lettersPx * 14) / 16);
    for (const view of ["timeline", "calendar", "totals", "saw", "try", "privacy", "health"]) {
      await page.goto(new URL(`/#/${view}`, page.url()).href);
      await settle();
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect([view, over]).toEqual([view, 0]);
    }
  });
});

it("what is from before says so while the daemon is gone, and nothing can be switched", async () => {
  const own = await openPageRig({ fill });
  onTestFinished(own.close);
  const page = await open("health", {}, own);
  await page.getByRole("row", { name: /^window/ }).waitFor();
  await own.daemon.run(["stop"]);
  await page.getByText("As of").first().waitFor();
  await page.goto(new URL("/#/privacy", page.url()).href);
  await page.getByText("Unknown: the daemon does not answer").waitFor();
  expect(await page.getByRole("button", { name: "15 minutes" }).last().isDisabled()).toBe(true);
});

it("the console of the browser has nothing to say", () => {
  // What the page itself tells of, a session that was ended and a wish that was refused, the browser tells in its own words.
  const isToldOf = (words: string): boolean => /status of (?:400|401) /.test(words);
  expect(said.flat().filter((words) => !isToldOf(words))).toEqual([]);
});
