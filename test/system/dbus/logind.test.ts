import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLogindSession, logindIdle } from "../../../src/capture/sources/logind.ts";
import type { SourceContext } from "../../../src/capture/sources/source.ts";
import { createFakeClock, type FakeClock } from "../../helpers/fake-clock.ts";
import { openRecorded, sourceContext, type SourceRecorder } from "../../helpers/source-recorder.ts";
import { until } from "../../helpers/until.ts";
import { openBusService, Variant } from "../fakes/bus-service.ts";
import { type FakeLogin1, openFakeLogin1, SESSION_PATH } from "../fakes/login1.ts";
import { openPrivateBus, type PrivateBus } from "../fakes/private-bus.ts";

let daemon: PrivateBus;
let login1: FakeLogin1;
let clock: FakeClock;
let context: SourceContext;
const recordings: { readonly source: { readonly close: () => void } }[] = [];

beforeEach(async () => {
  daemon = await openPrivateBus();
  login1 = await openFakeLogin1(daemon.address);
  clock = createFakeClock("2026-11-30T09:00:00Z");
  context = sourceContext(daemon.env, clock);
});

afterEach(async () => {
  for (const { source } of recordings.splice(0)) source.close();
  login1.close();
  await daemon.close();
});

async function recordSession(confirmLockWithinMs?: number): Promise<SourceRecorder<"session">> {
  const recording = await openRecorded(createLogindSession(confirmLockWithinMs), daemon.env);
  recordings.push(recording);
  return recording;
}

const awake = { locked: false, asleep: false, idleInhibited: false };

describe("the session by logind", () => {
  it("reports its first state at the start", async () => {
    const { told } = await recordSession();
    expect(told).toEqual([{ ok: true, value: awake }]);
  });

  it("is asleep from the announcement of a suspend until the resume", async () => {
    const { told, latest, source } = await recordSession();
    login1.prepareForSleep(true);
    await expect.poll(() => latest()?.asleep).toBe(true);
    login1.prepareForSleep(false);
    await expect.poll(() => latest()?.asleep).toBe(false);
    expect(told.map((result) => result.ok && result.value?.asleep)).toEqual([false, true, false]);
    expect(await source.snapshot()).toEqual({ ok: true, value: awake });
  });

  it("is locked from the request on, and unlocked by the counter-request", async () => {
    const { latest } = await recordSession();
    login1.lock();
    await expect.poll(() => latest()?.locked).toBe(true);
    login1.unlock();
    await expect.poll(() => latest()?.locked).toBe(false);
  });

  it("follows the hint that the desktop sets, whoever asked for the lock", async () => {
    const { told, latest } = await recordSession();
    login1.lock();
    login1.setSession({ LockedHint: new Variant("b", true) });
    await expect.poll(() => latest()?.locked).toBe(true);
    login1.setSession({ LockedHint: new Variant("b", false) });
    await expect.poll(() => latest()?.locked).toBe(false);
    expect(told).toHaveLength(3);
  });

  it("ends a lock that no desktop confirms", async () => {
    const { told, latest } = await recordSession(30);
    login1.lock();
    await until("the lock", () => told.length >= 2);
    await expect.poll(() => latest()?.locked).toBe(false);
    expect(told.map((result) => result.ok && result.value?.locked)).toEqual([false, true, false]);
  });

  it("keeps a confirmed lock for as long as the hint says so", async () => {
    // So long that a busy machine hears of the hint within it.
    const confirmMs = 500;
    const { latest, told } = await recordSession(confirmMs);
    login1.lock();
    login1.setSession({ LockedHint: new Variant("b", true) });
    // A second request whose confirmation can only run out: the hint stays the desktop's word.
    login1.lock();
    login1.setManager({ BlockInhibited: new Variant("s", "idle") });
    await expect.poll(() => latest()?.idleInhibited).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 2 * confirmMs));
    expect(latest()?.locked).toBe(true);
    expect(told.filter((result) => result.ok && result.value?.locked === false)).toHaveLength(1);
  });

  it("counts as locked while another user has the screen", async () => {
    const { latest } = await recordSession();
    login1.setSession({ Active: new Variant("b", false) });
    await expect.poll(() => latest()?.locked).toBe(true);
    login1.setSession({ Active: new Variant("b", true) });
    await expect.poll(() => latest()?.locked).toBe(false);
  });

  it("says when an application asks that the screen stay on", async () => {
    const { latest } = await recordSession();
    login1.setManager({ BlockInhibited: new Variant("s", "sleep:idle") });
    await expect.poll(() => latest()?.idleInhibited).toBe(true);
    login1.setManager({ BlockInhibited: new Variant("s", "sleep") });
    await expect.poll(() => latest()?.idleInhibited).toBe(false);
  });

  it("reads again what was only named as changed, and takes values of a wrong type as unknown", async () => {
    const { latest } = await recordSession();
    login1.setSession({ LockedHint: new Variant("s", "yes") });
    await expect.poll(() => latest()?.locked).toBe(null);
    login1.service.serve(SESSION_PATH, "org.freedesktop.login1.Session", {
      LockedHint: new Variant("b", true),
    });
    login1.service.emit(
      SESSION_PATH,
      "org.freedesktop.DBus.Properties",
      "PropertiesChanged",
      "sa{sv}as",
      ["org.freedesktop.login1.Session", {}, ["LockedHint"]],
    );
    await expect.poll(() => latest()?.locked).toBe(true);
  });

  it("does not believe signals of anyone but logind", async () => {
    const { told, source } = await recordSession();
    const impostor = await openBusService(daemon.address);
    impostor.emit(
      "/org/freedesktop/login1",
      "org.freedesktop.login1.Manager",
      "PrepareForSleep",
      "b",
      [true],
    );
    await impostor.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId");
    await source.snapshot();
    expect(told).toEqual([{ ok: true, value: awake }]);
    impostor.close();
  });

  it("knows sleep but no lock where this user has no session", async () => {
    login1.close();
    login1 = await openFakeLogin1(daemon.address, { hasSession: false });
    const { latest } = await recordSession();
    expect(latest()).toEqual({ locked: null, asleep: false, idleInhibited: false });
    login1.prepareForSleep(true);
    await expect.poll(() => latest()?.asleep).toBe(true);
  });

  it("is rejected with a remedy where there is no logind", async () => {
    login1.close();
    const opened = await createLogindSession().open(context);
    expect(opened).toEqual({
      rejected: {
        reason: "logind does not answer on the system bus.",
        remedy:
          "Lock and sleep are told by systemd-logind or elogind; install and start one of them.",
      },
    });
  });

  it.each([
    ["logind leaves the bus", () => Promise.resolve(login1.close())],
    ["the session ends", () => Promise.resolve(login1.removeSession())],
    ["the bus dies", () => daemon.kill()],
  ])("is lost once when %s", async (_, happens) => {
    const { lost, lossCount } = await recordSession();
    await happens();
    await until("the loss", lost);
    await daemon.kill();
    expect(lossCount()).toBe(1);
  });
});

describe("the idle hint of logind", () => {
  it("is unknown, not active, while no desktop maintains it", async () => {
    expect(await logindIdle.open(context)).toEqual({
      rejected: {
        reason: "The desktop has never told logind whether it is idle.",
        remedy: "",
      },
    });
  });

  it("counts from when the hint was set, and is zero while it is not", async () => {
    const sinceUs = BigInt(context.clock.nowUs() - 90_000_000);
    login1.setSession({
      IdleHint: new Variant("b", true),
      IdleSinceHint: new Variant("t", sinceUs),
    });
    const recording = await openRecorded(logindIdle, daemon.env, clock);
    recordings.push(recording);
    expect(await recording.source.snapshot()).toEqual({ ok: true, value: { idleMs: 90_000 } });
    login1.setSession({ IdleHint: new Variant("b", false) });
    await until("the end of idling", () => recording.latest()?.idleMs === 0);
  });
});
