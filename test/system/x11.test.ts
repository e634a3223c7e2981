/** X11 with a real server and real window managers. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSourceKeeper } from "../../src/capture/sources/keeper.ts";
import { createX11Providers } from "../../src/capture/sources/x11.ts";
import type { SourceResult, SourceStatus } from "../../src/capture/sources/source.ts";
import type { WindowSample } from "../../src/capture/events.ts";
import { openRecorded, rejectionOf, sourceContext } from "../helpers/source-recorder.ts";
import { until } from "../helpers/until.ts";
import { openXRig, type XRig } from "./x-rig.ts";

let rig: XRig;

beforeEach(async () => {
  rig = await openXRig();
});

afterEach(async () => {
  await rig.close();
});

test("a real terminal is told with its process, and its death in mid-read is no error", async () => {
  await rig.startWindowManager("openbox");
  const { source, untilTold, lost } = await openRecorded(createX11Providers().window, rig.env);
  try {
    const xterm = rig.processes.start("xterm", ["-T", "alpha - doc.txt", "-e", "sleep", "3600"], {
      env: rig.env,
    });
    const sample = await untilTold("the terminal", (value) => value?.title === "alpha - doc.txt");
    expect(sample).toMatchObject({ app: "XTerm", pid: xterm.pid });
    expect(sample?.executable).toMatch(/\/xterm$/);
    for (let round = 0; round < 20; round += 1) {
      const brief = rig.processes.start("xterm", ["-T", `brief ${round}`, "-e", "true"], {
        env: rig.env,
      });
      await until("its end", () => brief.exitCode !== null);
      expect((await source.snapshot()).ok).toBe(true);
    }
    await untilTold("the terminal again", (value) => value?.title === "alpha - doc.txt");
    await rig.processes.stop(xterm);
    expect(await untilTold("a change", (value) => value?.title !== "alpha - doc.txt")).toBeNull();
    expect(lost()).toBeNull();
  } finally {
    source.close();
  }
});

test("the idle time of the server is told, from zero again after a key", async () => {
  const { source } = await openRecorded(createX11Providers().input, rig.env);
  try {
    const idleMs = async (): Promise<number> => {
      const result = await source.snapshot();
      return result.ok ? (result.value?.idleMs ?? Number.NaN) : Number.NaN;
    };
    await until("half a second of stillness", async () => (await idleMs()) > 500);
    const before = performance.now();
    const press = rig.processes.start("xdotool", ["key", "a"], { env: rig.env });
    await until("the key", () => press.exitCode !== null);
    // Without the key it would have gone on from the half second that there was. The server counts in whole milliseconds.
    expect(await idleMs()).toBeLessThanOrEqual(performance.now() - before + 1);
  } finally {
    source.close();
  }
});

test("without DISPLAY the server that listens is named to the owner, and not used", async () => {
  const rejection = await rejectionOf(createX11Providers().window, {});
  expect(rejection.reason).toBe("DISPLAY is not set.");
  expect(rejection.remedy).toMatch(new RegExp(`X servers are listening on .*${rig.display}\\b`));
});

describe("a server that wants a cookie", () => {
  /** An entry of an Xauthority file for every host, Xau(3). */
  const entry = (display: string, cookie: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from([0xff, 0xff]),
      ...["", display, "MIT-MAGIC-COOKIE-1", cookie].map((field) => {
        const bytes = Buffer.from(field);
        return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
      }),
    ]);

  let home: string;
  let guarded: XRig;
  // Bytes of every kind: a cookie is no text.
  const right = Buffer.from(Array.from({ length: 16 }, (_, index) => index * 17));

  beforeEach(async () => {
    home = mkdtempSync(path.join(tmpdir(), "activityd-cookie-"));
    writeFileSync(path.join(home, "server"), entry("", right));
    guarded = await openXRig(path.join(home, "server"));
  });

  afterEach(async () => {
    await guarded.close();
    rmSync(home, { recursive: true, force: true });
  });

  test("is shown the one of its display, from XAUTHORITY or from the home folder", async () => {
    const number = guarded.display.slice(1);
    const file = path.join(home, ".Xauthority");
    const other = Buffer.alloc(16, 9);
    writeFileSync(file, Buffer.concat([entry(`${number}9`, other), entry(number, right)]));
    const unset = { DISPLAY: guarded.display, HOME: home };
    for (const env of [unset, { ...unset, HOME: "/nonexistent", XAUTHORITY: file }]) {
      const { source } = await openRecorded(createX11Providers().window, env);
      expect(await source.snapshot()).toEqual({ ok: true, value: null });
      source.close();
    }
  });

  test("and is shown a wrong one or none says so, with what to do", async () => {
    const file = path.join(home, ".Xauthority");
    for (const content of [
      entry("", Buffer.alloc(16, 9)),
      Buffer.from("garbage"),
      Buffer.alloc(0),
    ]) {
      writeFileSync(file, content);
      const env = { DISPLAY: guarded.display, XAUTHORITY: file };
      const rejection = await rejectionOf(createX11Providers().window, env);
      expect(rejection.reason).toContain(
        `The X server on display ${guarded.display} cannot be used`,
      );
      expect(rejection.remedy).toContain("XAUTHORITY");
    }
  });
});

test("window and input share one connection, which ends with the last of them", async () => {
  const providers = createX11Providers();
  const context = sourceContext(rig.env);
  const [window, input] = [
    await providers.window.open(context),
    await providers.input.open(context),
  ];
  if (!("source" in window) || !("source" in input)) throw new Error("not opened");
  const socketCount = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length;
  const shared = socketCount();
  window.source.close();
  expect(socketCount()).toBe(shared);
  expect((await input.source.snapshot()).ok).toBe(true);
  input.source.close();
  await until("the connection is closed", () => socketCount() === shared - 1);
});

test("a frozen server is unknown, not lost, and is read again when it goes on", async () => {
  await rig.startWindowManager("openbox");
  const client = await rig.openClient();
  await client.activate(await client.open({ title: "patience" }));
  const { source, untilTold, lost } = await openRecorded(createX11Providers().window, rig.env);
  try {
    await untilTold("the window", (value) => value?.title === "patience");
    rig.freezeServer();
    expect(await source.snapshot()).toMatchObject({ ok: false });
    rig.thawServer();
    expect(await source.snapshot()).toMatchObject({ ok: true, value: { title: "patience" } });
    expect(lost()).toBeNull();
  } finally {
    rig.thawServer();
    source.close();
    client.close();
  }
});

test("capture goes on when the window manager comes, dies and comes again", async () => {
  const client = await rig.openClient();
  const [left, right] = [
    await client.open({ title: "left" }),
    await client.open({ title: "right" }),
  ];
  await client.focus(left);
  const { source, untilTold, lost } = await openRecorded(createX11Providers().window, rig.env);
  try {
    await untilTold("left, by its focus", (value) => value?.title === "left");
    await client.focus(right);
    await untilTold("right, by its focus", (value) => value?.title === "right");
    for (const manager of ["openbox", "xfwm4"] as const) {
      const process = await rig.startWindowManager(manager);
      await client.activate(left);
      await untilTold(`left, by the word of ${manager}`, (value) => value?.title === "left");
      await client.activate(right);
      await untilTold(`right, by the word of ${manager}`, (value) => value?.title === "right");
      await rig.processes.stop(process, "SIGKILL");
      // What the dead manager said last stays on the root window and must not be believed.
      await client.focus(left);
      await untilTold("left, by its focus again", (value) => value?.title === "left");
      await client.focus(right);
      await untilTold("right, by its focus again", (value) => value?.title === "right");
    }
    expect(lost()).toBeNull();
  } finally {
    source.close();
    client.close();
  }
});

describe("a server that is killed and started again", () => {
  test("is captured again within two seconds of its return", async () => {
    await rig.startWindowManager("openbox");
    const before = await rig.openClient();
    await before.activate(await before.open({ title: "before" }));
    const told: SourceResult<WindowSample>[] = [];
    const states: SourceStatus["state"][] = [];
    const keeper = createSourceKeeper({
      kind: "window",
      providers: [createX11Providers().window],
      context: sourceContext(rig.env),
      onSample: (result) => told.push(result),
      onState: (status) => states.push(status.state),
    });
    const untilTitle = (title: string): Promise<true> =>
      until(title, () => {
        const last = told.at(-1);
        return last?.ok === true && last.value?.title === title;
      });
    try {
      await keeper.start();
      await untilTitle("before");
      await rig.killServer();
      await until("the loss", () => keeper.status().state === "lost");
      expect(told.at(-1)?.ok).toBe(false);
      // Long enough for the backoff to have grown: the return must be noticed, not waited for.
      await new Promise((resolve) => {
        setTimeout(resolve, 4_000);
      });
      await rig.startServer();
      const returned = performance.now();
      await until("live again", () => keeper.status().state === "live");
      expect(performance.now() - returned).toBeLessThan(2_000);
      await rig.startWindowManager("openbox");
      const after = await rig.openClient();
      await after.activate(await after.open({ title: "after" }));
      await untilTitle("after");
      expect(states).toEqual(["live", "lost", "live"]);
      after.close();
    } finally {
      keeper.close();
      before.close();
    }
  });
});
