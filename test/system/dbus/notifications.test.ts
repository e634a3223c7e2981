import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { notifications } from "../../../src/capture/sources/notifications.ts";
import { openRecorded, sourceContext, type SourceRecorder } from "../../helpers/source-recorder.ts";
import { until } from "../../helpers/until.ts";
import { type BusService, openBusService, Variant } from "../fakes/bus-service.ts";
import { openPrivateBus, type PrivateBus } from "../fakes/private-bus.ts";

const NAME = "org.freedesktop.Notifications";

let daemon: PrivateBus;
let server: BusService;
let sender: BusService;
const recordings: SourceRecorder<"notification">[] = [];

beforeEach(async () => {
  daemon = await openPrivateBus();
  server = await openBusService(daemon.address, NAME, "org.gtk.Notifications");
  server.answer(`${NAME}.Notify`, "u", () => [7]);
  server.answer("org.gtk.Notifications.AddNotification", "", () => []);
  sender = await openBusService(daemon.address);
});

afterEach(async () => {
  for (const { source } of recordings.splice(0)) source.close();
  server.close();
  sender.close();
  await daemon.close();
});

async function listen(): Promise<SourceRecorder<"notification">> {
  const recording = await openRecorded(notifications, daemon.env);
  recordings.push(recording);
  return recording;
}

async function notify(
  app: string,
  summary: string,
  options: { body?: string; replaces?: number; hints?: Record<string, Variant> } = {},
): Promise<unknown> {
  const { body = "", replaces = 0, hints = {} } = options;
  const args = [app, replaces, "", summary, body, [], hints, -1];
  const path = "/org/freedesktop/Notifications";
  const [id] = await sender.call(NAME, path, NAME, "Notify", "susssasa{sv}i", args);
  return id;
}

describe("notifications", () => {
  it("are told by application and summary while the sender is answered as ever", async () => {
    const { told } = await listen();
    expect(await notify("Signal", "Alice 👩‍💻", { body: "meet me at 5" })).toBe(7);
    await until("the notification", () => told.length > 0);
    expect(told).toEqual([{ ok: true, value: { app: "Signal", summary: "Alice 👩‍💻" } }]);
  });

  it("never carry the body", async () => {
    const { told } = await listen();
    await notify("Mail", "Subject", { body: "a very secret body" });
    await until("the notification", () => told.length > 0);
    expect(JSON.stringify(told)).not.toContain("secret");
  });

  it("that update one already told are told only when the summary changed", async () => {
    const { told } = await listen();
    await notify("Browser", "Downloading");
    await notify("Browser", "Downloading", { replaces: 7, body: "41 %" });
    await notify("Browser", "Downloading", { replaces: 7, body: "42 %" });
    await notify("Browser", "Done", { replaces: 7 });
    await notify("Browser", "Downloading");
    await until("three notifications", () => told.length >= 3);
    expect(told.map((result) => result.ok && result.value?.summary)).toEqual([
      "Downloading",
      "Done",
      "Downloading",
    ]);
  });

  it("of GTK applications are told too", async () => {
    const { told } = await listen();
    await sender.call(
      "org.gtk.Notifications",
      "/org/gtk/Notifications",
      "org.gtk.Notifications",
      "AddNotification",
      "ssa{sv}",
      [
        "org.gnome.Fractal",
        "id-1",
        { title: new Variant("s", "Bob"), body: new Variant("s", "secret") },
      ],
    );
    await until("the notification", () => told.length > 0);
    expect(told).toEqual([{ ok: true, value: { app: "org.gnome.Fractal", summary: "Bob" } }]);
  });

  it("that only show the volume, or are malformed, are no notifications", async () => {
    const { told } = await listen();
    const hints = { "x-canonical-private-synchronous": new Variant("s", "volume") };
    await notify("osd", "Volume", { hints });
    await notify("blank", "  ");
    await sender.call(NAME, "/org/freedesktop/Notifications", NAME, "Notify", "i", [1]);
    await notify("Signal", "last");
    await until("the last one", () => told.length > 0);
    expect(told).toEqual([{ ok: true, value: { app: "Signal", summary: "last" } }]);
  });

  it("are null in a snapshot: what was sent is told once", async () => {
    const { source } = await listen();
    expect(await source.snapshot()).toEqual({ ok: true, value: null });
  });

  it("are rejected with the error where the bus refuses monitors", async () => {
    const strict = await openPrivateBus({ refuseMonitors: true });
    const opened = await notifications.open(sourceContext(strict.env));
    expect(opened).toMatchObject({
      rejected: {
        reason:
          "The session bus refuses to be monitored (org.freedesktop.DBus.Error.AccessDenied).",
      },
    });
    await strict.close();
  });

  it("are lost once with the bus", async () => {
    const { lost, lossCount } = await listen();
    await daemon.kill();
    await until("the loss", lost);
    expect(lossCount()).toBe(1);
  });
});
