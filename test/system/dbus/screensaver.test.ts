import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createScreensaver } from "../../../src/capture/sources/screensaver.ts";
import { until } from "../../helpers/until.ts";
import { type BusService, openBusService } from "../fakes/bus-service.ts";
import { openPrivateBus, type PrivateBus } from "../fakes/private-bus.ts";
import { contextWith, record } from "../fakes/recording.ts";

let daemon: PrivateBus;
let service: BusService;

beforeEach(async () => {
  daemon = await openPrivateBus();
  service = await openBusService(daemon.address);
});

afterEach(async () => {
  service.close();
  await daemon.close();
});

const DESKTOPS = ["gnome", "cinnamon", "mate", "xfce", "freedesktop"] as const;

describe.each(DESKTOPS)("the screen locker of %s", (desktop) => {
  const provider = createScreensaver(desktop);
  const name = `org.${desktop}.ScreenSaver`;

  it("tells the lock as it comes and goes, and leaves sleep unknown", async () => {
    let active = false;
    service.answer(`${name}.GetActive`, "b", () => [active]);
    await service.own(name);
    const { source, latest, lost } = await record(provider, contextWith(daemon.env));
    const open = { locked: false, asleep: null, idleInhibited: null };
    expect(await source.snapshot()).toEqual({ ok: true, value: open });
    active = true;
    service.emit("/org/any/ScreenSaver", name, "ActiveChanged", "b", [true]);
    await expect.poll(latest).toEqual({ ...open, locked: true });
    expect(await source.snapshot()).toEqual({ ok: true, value: { ...open, locked: true } });
    await service.release(name);
    await until("the loss", () => lost.length > 0);
    source.close();
  });

  it("is passed over when it is absent or does not know whether it is active", async () => {
    const context = contextWith(daemon.env);
    expect(await provider.open(context)).toHaveProperty("rejected");
    await service.own(name);
    expect(await provider.open(context)).toHaveProperty("rejected");
  });
});
