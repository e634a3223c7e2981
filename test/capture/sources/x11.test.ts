import { Buffer } from "node:buffer";
import os from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createX11Providers } from "../../../src/capture/sources/x11.ts";
import { parseDisplay } from "../../../src/capture/sources/x11-display.ts";
import { openRecorded, rejectionOf, type SourceRecorder } from "../../helpers/source-recorder.ts";
import { until } from "../../helpers/until.ts";
import { openXTestClient, type XTestClient } from "../../helpers/x-client.ts";
import { startJsXServer, type JsXServer } from "../../helpers/x-js-server.ts";

let server: JsXServer;
let client: XTestClient;
let recorder: SourceRecorder<"window"> | null = null;

beforeEach(async () => {
  server = await startJsXServer();
  client = await openXTestClient(server.port);
});

afterEach(async () => {
  recorder?.source.close();
  recorder = null;
  client.close();
  await server.close();
});

async function open(): Promise<SourceRecorder<"window">> {
  recorder = await openRecorded(createX11Providers().window, { DISPLAY: server.display });
  return recorder;
}

/** Announces a window manager the way EWMH wants it, and lets the test set the active window itself. */
async function pretendWindowManager(): Promise<(active: number) => Promise<void>> {
  const check = await client.open({ title: "manager" });
  const supported = await client.atom("_NET_ACTIVE_WINDOW");
  await client.setNumbers(check, "_NET_SUPPORTING_WM_CHECK", "WINDOW", [check]);
  await client.setNumbers(client.root, "_NET_SUPPORTED", "ATOM", [supported]);
  await client.setNumbers(client.root, "_NET_SUPPORTING_WM_CHECK", "WINDOW", [check]);
  return (active) => client.setNumbers(client.root, "_NET_ACTIVE_WINDOW", "WINDOW", [active]);
}

describe("without a window manager", () => {
  test("the window with the keyboard focus is told with all it says of itself", async () => {
    const window = await client.open({ title: "first", app: "Editor" });
    await client.focus(window);
    const { untilTold } = await open();
    const sample = await untilTold("the focused window", (value) => value?.title === "first");
    expect(sample).toEqual({
      app: "Editor",
      title: "first",
      url: null,
      pid: process.pid,
      executable: process.execPath,
      private: null,
      window: String(window),
    });
  });

  test("a change of the focus is told", async () => {
    const [first, second] = [
      await client.open({ title: "one" }),
      await client.open({ title: "two" }),
    ];
    await client.focus(first);
    const { untilTold } = await open();
    await untilTold("one", (value) => value?.title === "one");
    await client.focus(second);
    const sample = await untilTold("another", (value) => value?.title !== "one");
    expect(sample?.title).toBe("two");
  });

  test("a focused window that belongs to no application is nothing, not a window", async () => {
    const window = await client.open({ title: "the manager's own" });
    await client.setText(window, "WM_CLASS", "STRING", null);
    await client.focus(window);
    const { source } = await open();
    expect(await source.snapshot()).toEqual({ ok: true, value: null });
  });
});

describe("with a window manager", () => {
  test("its word on the active window counts, not the keyboard focus", async () => {
    const activate = await pretendWindowManager();
    const [first, second] = [
      await client.open({ title: "one" }),
      await client.open({ title: "two" }),
    ];
    await client.focus(second);
    await activate(first);
    const { untilTold, told } = await open();
    await untilTold("one", (value) => value?.title === "one");
    await activate(second);
    await untilTold("two", (value) => value?.title === "two");
    expect(told).toHaveLength(2);
  });

  test("no window for a moment between two activations is not told", async () => {
    const activate = await pretendWindowManager();
    const [first, second] = [
      await client.open({ title: "one" }),
      await client.open({ title: "two" }),
    ];
    await activate(first);
    const { untilTold, told } = await open();
    await untilTold("one", (value) => value?.title === "one");
    await activate(0);
    await activate(second);
    await untilTold("two", (value) => value?.title === "two");
    expect(told.map((result) => result.ok && result.value?.title)).toEqual(["one", "two"]);
  });

  test("nothing focused is told once it lasts", async () => {
    const activate = await pretendWindowManager();
    const first = await client.open({ title: "one" });
    await activate(first);
    const { untilTold } = await open();
    await untilTold("one", (value) => value?.title === "one");
    await activate(0);
    expect(await untilTold("a change", (value) => value?.title !== "one")).toBeNull();
  });

  test("what covers the whole screen above it is seen until it goes, as a locker is", async () => {
    const activate = await pretendWindowManager();
    const window = await client.open({ title: "mine" });
    await activate(window);
    const { source, untilTold } = await open();
    await untilTold("the window", (value) => value?.title === "mine");
    const locker = await client.open({ title: "", app: "i3lock", covers: true });
    await untilTold("the locker", (value) => value?.app === "i3lock");
    await client.setTitle(window, "still mine");
    expect(await source.snapshot()).toMatchObject({ value: { app: "i3lock" } });
    await client.unmap(locker);
    await untilTold("the window again", (value) => value?.title === "still mine");
    const next = await client.open({ title: "", app: "i3lock", covers: true });
    await untilTold("the locker again", (value) => value?.app === "i3lock");
    await client.destroy(next);
    await untilTold("the window at last", (value) => value?.title === "still mine");
  });

  test("what covers the screen below the windows, or only a part of it, is not seen", async () => {
    const activate = await pretendWindowManager();
    const window = await client.open({ title: "mine" });
    await activate(window);
    const { source, told, untilTold } = await open();
    await untilTold("the window", (value) => value?.title === "mine");
    const background = await client.open({ title: "", app: "Desktop", covers: true });
    await untilTold("what lies above", (value) => value?.app === "Desktop");
    await client.lower(background);
    await untilTold("the window again", (value) => value?.title === "mine");
    await client.open({ title: "hint", app: "Hint" });
    expect(await source.snapshot()).toMatchObject({ value: { title: "mine" } });
    expect(told.at(-1)).toMatchObject({ value: { title: "mine" } });
  });

  test("an active window that no longer exists is nothing focused and no error", async () => {
    const activate = await pretendWindowManager();
    const first = await client.open({ title: "one" });
    await activate(first);
    const { untilTold, lost } = await open();
    await untilTold("one", (value) => value?.title === "one");
    await client.destroy(first);
    await untilTold("nothing", (value) => value === null);
    expect(lost()).toBeNull();
  });
});

describe("titles", () => {
  async function titleAfter(set: (window: number) => Promise<void>): Promise<string | null> {
    const window = await client.open({ title: "before" });
    await client.focus(window);
    const { untilTold } = await open();
    await untilTold("the first title", (value) => value?.title === "before");
    await set(window);
    return (await untilTold("another title", (value) => value?.title !== "before"))?.title ?? null;
  }

  test.each([
    'a=b "q" \\ 漢字 👩‍💻',
    "line one\nline two",
    "\u001b]0;x\u0007",
    "",
    "\\303\\251",
    "\u202Eevil",
    "---",
  ])("%j arrives as it was set", async (title) => {
    expect(await titleAfter((window) => client.setTitle(window, title))).toBe(title);
  });

  test("a title over the limit is cut between two characters", async () => {
    const title = await titleAfter((window) => client.setTitle(window, "x" + "漢".repeat(3_000)));
    expect(title).toBe("x" + "漢".repeat(1_365));
  });

  test("a title in Latin-1 is read as Latin-1, one in UTF-8 under the same type as UTF-8", async () => {
    const latin = Buffer.from("Müller", "latin1");
    const set = async (window: number, bytes: Buffer): Promise<void> => {
      await client.setText(window, "WM_NAME", "STRING", bytes);
      await client.setText(window, "_NET_WM_NAME", "UTF8_STRING", null);
    };
    expect(await titleAfter((window) => set(window, latin))).toBe("Müller");
    recorder?.source.close();
    expect(await titleAfter((window) => set(window, Buffer.from("Müller")))).toBe("Müller");
  });

  test("compound text is read where it is plain and unreadable where it is not", async () => {
    const set = async (window: number, text: string): Promise<void> => {
      await client.setText(window, "WM_NAME", "COMPOUND_TEXT", Buffer.from(text, "latin1"));
      await client.setText(window, "_NET_WM_NAME", "UTF8_STRING", null);
    };
    const utf8 = Buffer.from("漢字").toString("latin1");
    const plain = `caf\u00e9 \u001b%G${utf8}\u001b%@!`;
    expect(await titleAfter((window) => set(window, plain))).toBe("café 漢字!");
    recorder?.source.close();
    expect(await titleAfter((window) => set(window, "\u001b$(B4A\u001b(B"))).toBeNull();
  });

  test("a burst of changes is told at once and then once a second, ending with the last", async () => {
    const window = await client.open({ title: "0" });
    await client.focus(window);
    const { untilTold, told } = await open();
    await untilTold("the first", (value) => value?.title === "0");
    const before = performance.now();
    for (let index = 1; index <= 50; index += 1) await client.setTitle(window, String(index));
    await untilTold("the last", (value) => value?.title === "50");
    const seconds = (performance.now() - before) / 1000;
    expect(told.length - 1).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
  });
});

describe("processes", () => {
  test.each([
    ["another host", "elsewhere.example"],
    ["no host", null],
  ])("the process id of a window of %s is not believed", async (_name, hostName) => {
    const window = await client.open({ title: "remote", hostName });
    await client.focus(window);
    const { source } = await open();
    expect(await source.snapshot()).toMatchObject({
      ok: true,
      value: { pid: null, executable: null },
    });
  });

  test("a host name with its domain is this host", async () => {
    const hostName = `${os.hostname()}.example.org`;
    const window = await client.open({ title: "local", hostName });
    await client.focus(window);
    const { source } = await open();
    expect(await source.snapshot()).toMatchObject({ ok: true, value: { pid: process.pid } });
  });

  test("a process that ended leaves its window readable", async () => {
    const window = await client.open({ title: "orphan", pid: 4_194_304 });
    await client.focus(window);
    const { source } = await open();
    expect(await source.snapshot()).toMatchObject({
      ok: true,
      value: { title: "orphan", executable: null },
    });
  });
});

describe("opening", () => {
  test("without DISPLAY it is passed over with what to do", async () => {
    const rejection = await rejectionOf(createX11Providers().window, {});
    expect(rejection.reason).toBe("DISPLAY is not set.");
    expect(rejection.remedy).toContain("import-environment DISPLAY");
  });

  test.each([
    ["WAYLAND_DISPLAY", "wayland-0"],
    ["XDG_SESSION_TYPE", "wayland"],
  ])("with %s set the X display is not taken for the desktop", async (name, value) => {
    const env = { DISPLAY: server.display, [name]: value };
    const { window, input } = createX11Providers();
    expect((await rejectionOf(window, env)).reason).toContain("Wayland session");
    expect((await rejectionOf(input, env)).reason).toContain("Wayland session");
  });

  test("a display nobody serves is named, and no other one is tried", async () => {
    const { port } = server;
    client.close();
    await server.close();
    const rejection = await rejectionOf(createX11Providers().window, { DISPLAY: server.display });
    expect(rejection).toMatchObject({
      reason: `No X server answers on display ${server.display} (127.0.0.1 port ${port}).`,
      applies: true,
    });
    const local = await rejectionOf(createX11Providers().window, { DISPLAY: ":98765" });
    expect(local.reason).toBe("No X server answers on display :98765 (/tmp/.X11-unix/X98765).");
  });

  test("a server without MIT-SCREEN-SAVER gives windows and says why it gives no idle time", async () => {
    const providers = createX11Providers();
    const rejection = await rejectionOf(providers.input, { DISPLAY: server.display });
    expect(rejection.reason).toContain("MIT-SCREEN-SAVER");
    recorder = await openRecorded(providers.window, { DISPLAY: server.display });
    expect((await recorder.source.snapshot()).ok).toBe(true);
  });

  test("a server that goes away is told once as lost", async () => {
    const { lost, source } = await open();
    await server.close();
    await until("the loss", lost);
    expect(lost()?.reason).toContain("went away");
    expect((await source.snapshot()).ok).toBe(false);
  });
});

test.each([
  [":0", "/tmp/.X11-unix/X0"],
  [":12.1", "/tmp/.X11-unix/X12"],
  ["unix:3", "/tmp/.X11-unix/X3"],
  ["unix/:3", "/tmp/.X11-unix/X3"],
  ["localhost:10.0", null],
  ["10.0.0.7:1", null],
])("DISPLAY %s leads to the socket %s", (display, socketPath) => {
  expect(parseDisplay(display)?.socketPath ?? null).toBe(socketPath);
});

test.each(["", "0", "host", ":", ":x"])("DISPLAY %j names no display", (display) => {
  expect(parseDisplay(display)).toBeNull();
});
