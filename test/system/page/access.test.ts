/** What other pages, names, users and links can do with the page: a real daemon, a real browser. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { freePort } from "../../helpers/free-port.ts";
import { openDaemonRig, type DaemonRig } from "../daemon-rig.ts";
import { createProcesses } from "../processes.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

test("the link opens the page once, and its cookie is out of reach of scripts", async () => {
  const { daemon, origin } = await openDaemon();
  const { url } = await daemon.api.openPage();
  const browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(url);
  expect(page.url()).toMatch(new RegExp(`^${origin}/(#.*)?$`));
  expect(await page.evaluate(() => document.cookie)).toBe("");
  expect(await askFrom(page, `${origin}/api/v1/status`)).toMatch(/^200 .*"health"/);

  // Whoever found the link, such as in a log of the terminal, has another browser.
  const thief = await (await browser.newContext()).newPage();
  const stolen = await thief.goto(url);
  expect(stolen?.status()).toBe(401);
  expect(await thief.textContent("body")).toContain("used already");
  expect(await askFrom(thief, `${origin}/api/v1/status`)).toMatch(/^401 /);
});

test("a daemon listens on no port until its page is opened, and then again from its start", async () => {
  const { daemon, origin } = await openDaemon();
  await expect(fetch(origin)).rejects.toThrow("fetch failed");
  const { url } = await daemon.api.openPage();
  expect((await fetch(origin)).status).toBe(200);
  // A link that was not used leaves nothing to come back to.
  await daemon.run(["stop"]);
  await daemon.start();
  await expect(fetch(origin)).rejects.toThrow("fetch failed");
  expect(await (await fetch((await daemon.api.openPage()).url)).text()).toContain("<div id=");
  expect((await fetch(url)).status).toBe(401);
  await daemon.run(["stop"]);
  await daemon.start();
  await expect.poll(() => fetch(origin).then(({ status }) => status)).toBe(200);
});

test("open hands the link to the browser of the desktop, and prints it where there is none", async () => {
  const { daemon, origin } = await openDaemon();
  const printed = await daemon.run(["open", "--print"]);
  expect(printed.out).toMatch(new RegExp(`^${origin}/open\\?key=[\\w-]{43}\\n$`));
  const { url, expiresUs } = JSON.parse((await daemon.run(["open", "--json"])).out);
  expect(new URL(url).origin).toBe(origin);
  expect(expiresUs).toBeGreaterThan(Date.now() * 1000);
  const without = await runOpen(daemon, "");
  expect(without).toMatch(new RegExp(`no browser could be opened here.*\\n${origin}/open\\?key=`));
  const seen = join(daemon.home, "seen");
  const desktop = await runOpen(daemon, `echo "$1" > ${seen}`);
  expect(desktop).toBe("activityd: the page is open in the browser.\n");
  const page = await (await openBrowser()).newPage();
  expect((await page.goto(readFileSync(seen, "utf8").trim()))?.status()).toBe(200);
});

test("a page that stays open goes on with a daemon that was started anew", async () => {
  const { daemon, origin } = await openDaemon();
  const page = await openPage(daemon);
  expect((await daemon.run(["stop"])).code).toBe(0);
  expect(await askFrom(page, `${origin}/api/v1/status`)).toBe("kept back");
  await daemon.start();
  await expect.poll(() => askFrom(page, `${origin}/api/v1/status`)).toMatch(/^200 /);
});

test("pages of other origins, also of this machine, change nothing, read nothing and run nothing", async () => {
  const { daemon, origin, port } = await openDaemon();
  const page = await openPage(daemon);
  const icon = await page.getAttribute("link[rel=icon]", "href");
  const picture = new URL(icon ?? "", `${origin}/`).href;
  const load = (): Promise<string> =>
    page.evaluate(
      (address) =>
        new Promise((resolve) => {
          const image = document.createElement("img");
          image.addEventListener("load", () => resolve("loaded"));
          image.addEventListener("error", () => resolve("refused"));
          image.src = address;
          document.body.append(image);
        }),
      picture,
    );
  expect(await load()).toBe("loaded");
  // For cookies the same site as ours, whoever's server it is; and another one.
  for (const theirs of await openOrigins()) {
    await page.goto(theirs);
    expect(await askFrom(page, `${origin}/api/v1/status`)).toBe("kept back");
    expect(await askFrom(page, `${origin}/api/page/export`)).toBe("kept back");
    const pause = { method: "POST", body: "{}" };
    expect(await askFrom(page, `${origin}/api/v1/pause`, pause)).toBe("kept back");
    expect(await askFrom(page, `${origin}/api/v1/pause`, { ...pause, mode: "no-cors" })).toMatch(
      /^0 |kept back/,
    );
    expect(await load()).toBe("refused");
  }
  expect((await daemon.api.status()).paused).toBeNull();
  // A form needs no leave of the browser's to be sent.
  await page.setContent(
    `<form method="post" action="http://127.0.0.1:${port}/api/v1/pause" enctype="text/plain"><button>go</button></form>`,
  );
  await page.click("button");
  await page.waitForURL(/pause/);
  expect(await page.textContent("body")).toContain("forbidden_origin");
  expect((await daemon.api.status()).paused).toBeNull();
});

test("a name that was rebound to this machine gets nothing, with a cookie of its own neither", async () => {
  const { daemon, port } = await openDaemon();
  const browser = await openBrowser(["--host-resolver-rules=MAP evil.example 127.0.0.1"]);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto((await daemon.api.openPage()).url);
  const cookies = await context.cookies();
  const [cookie] = cookies;
  if (cookie === undefined) throw new Error("The link gave no cookie.");
  await context.addCookies([{ ...cookie, domain: "evil.example" }]);
  const rebound = await page.goto(`http://evil.example:${port}/`);
  expect(rebound?.status()).toBe(403);
  expect(await askFrom(page, `http://evil.example:${port}/api/v1/status`)).toMatch(
    /^403 .*forbidden_origin/,
  );
  // Nor does it use up a link.
  const { url } = await daemon.api.openPage();
  await page.goto(url.replace("127.0.0.1", "evil.example"));
  expect((await page.goto(url))?.status()).toBe(200);
});

test("no other page shows it in itself", async () => {
  const { daemon, origin } = await openDaemon();
  const page = await openPage(daemon);
  for (const theirs of await openOrigins()) {
    await page.goto(theirs);
    await page.setContent(`<iframe src="${origin}/"></iframe><object data="${origin}/"></object>`);
    await page.waitForLoadState("networkidle");
    const texts = await Promise.all(
      page.frames().map((frame) =>
        frame
          .locator("#page")
          .count()
          .catch(() => 0),
      ),
    );
    expect(texts.reduce((sum, count) => sum + count, 0)).toBe(0);
  }
});

test("nothing that was put into the page runs", async () => {
  const { daemon } = await openDaemon();
  const page = await openPage(daemon);
  const outcome = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "globalThis.ran = true";
    document.body.append(script);
    const image = document.createElement("img");
    image.setAttribute("onerror", "globalThis.ran = true");
    image.src = "/none";
    document.body.append(image);
    return new Promise((resolve) => {
      image.addEventListener("error", () => setTimeout(() => resolve("ran" in globalThis)));
    });
  });
  expect(outcome).toBe(false);
  const elsewhere = await page.evaluate(() =>
    fetch("https://example.com/").then(
      () => "sent",
      () => "refused",
    ),
  );
  expect(elsewhere).toBe("refused");
});

/** What `activityd open` says on a desktop whose xdg-open does this; "": that has none. */
async function runOpen(daemon: DaemonRig, script: string): Promise<string> {
  const folder = join(daemon.home, `bin-${script.length}`);
  mkdirSync(folder);
  if (script !== "")
    writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const main = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
  const env = { PATH: `${folder}:/bin-of-none`, HOME: daemon.home, ACTIVITYD_HOME: daemon.home };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [main, "open"], { env });
  return stderr + stdout;
}

async function openDaemon(): Promise<{
  readonly daemon: DaemonRig;
  readonly port: number;
  readonly origin: string;
}> {
  const port = await freePort();
  const daemon = openDaemonRig(createProcesses(), {}, `[page]\nport = ${port}\n`);
  open.push(daemon.close);
  await daemon.start();
  return { daemon, port, origin: `http://127.0.0.1:${port}` };
}

async function openBrowser(args: readonly string[] = []): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", ...args],
  });
  open.push(() => browser.close());
  return browser;
}

/** A tab that has opened the page by its link. */
async function openPage(daemon: DaemonRig): Promise<Page> {
  const browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto((await daemon.api.openPage()).url);
  return page;
}

/** A server of somebody's on this machine, under the address that ours has and under a name. */
async function openOrigins(): Promise<readonly string[]> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<title>theirs</title>");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  open.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  const { port } = server.address() as AddressInfo;
  return [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
}

/** What a script of the page gets for a request: a status and a text, or that the browser kept it back. */
function askFrom(
  page: Page,
  address: string,
  init: {
    readonly method?: string;
    readonly body?: string;
    readonly mode?: "cors" | "no-cors";
  } = {},
): Promise<string> {
  return page.evaluate(
    async ([url, request]) => {
      try {
        const got = await fetch(url, { credentials: "include", ...request });
        return `${got.status} ${(await got.text()).slice(0, 300)}`;
      } catch {
        return "kept back";
      }
    },
    [address, init] as const,
  );
}
