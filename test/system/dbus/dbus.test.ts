import { createServer } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Bus, openBus } from "../../../src/capture/sources/dbus.ts";
import { readDictionary } from "../../../src/capture/sources/dbus-values.ts";
import type { Blindness } from "../../../src/capture/sources/source.ts";
import { until } from "../../helpers/until.ts";
import { type BusService, openBusService, Variant } from "../fakes/bus-service.ts";
import { openPrivateBus, type PrivateBus } from "../fakes/private-bus.ts";

let daemon: PrivateBus;
let service: BusService;
const lost: Blindness[] = [];
const opened: Bus[] = [];

beforeEach(async () => {
  daemon = await openPrivateBus();
  service = await openBusService(daemon.address, "org.test.Service");
});

afterEach(async () => {
  for (const bus of opened.splice(0)) bus.close();
  lost.length = 0;
  service.close();
  await daemon.close();
});

async function connect(): Promise<Bus> {
  const result = await openBus("session", daemon.env, (why) => lost.push(why));
  if ("rejected" in result) throw new Error(result.rejected.reason);
  opened.push(result.bus);
  return result.bus;
}

const target = {
  destination: "org.test.Service",
  path: "/org/test",
  interface: "org.test.Iface",
  member: "Method",
} as const;

describe("opening a bus", () => {
  it("says which variable to set when there is no session bus", async () => {
    const result = await openBus("session", {}, () => {});
    expect(result).toEqual({
      rejected: {
        reason: "The session bus is not reachable: its address is not known.",
        remedy:
          "Start activityd inside the desktop session, or set DBUS_SESSION_BUS_ADDRESS for it.",
      },
    });
  });

  it("is rejected when nothing listens at the address", async () => {
    const env = { DBUS_SYSTEM_BUS_ADDRESS: "unix:path=/nonexistent/activityd-bus" };
    const result = await openBus("system", env, () => {});
    expect(result).toMatchObject({
      rejected: { reason: expect.stringContaining("nothing listens on") },
    });
  });

  it("is rejected when the other side hangs up during the greeting", async () => {
    const directory = mkdtempSync(join(tmpdir(), "activityd-bus-"));
    const server = createServer((socket) => socket.end()).listen(`${directory}/bus`);
    const result = await openBus("session", { XDG_RUNTIME_DIR: directory }, () => {});
    expect(result).toMatchObject({ rejected: { reason: expect.stringContaining("closed") } });
    server.close();
    rmSync(directory, { recursive: true });
  });

  it("never starts a program that the address names", async () => {
    const env = { DBUS_SESSION_BUS_ADDRESS: "unixexec:path=/usr/bin/false" };
    expect(await openBus("session", env, () => {})).toHaveProperty("rejected");
  });

  it("takes the first usable entry of a list and undoes its escapes", async () => {
    const escaped = daemon.address.replaceAll("-", "%2d");
    const env = { DBUS_SESSION_BUS_ADDRESS: `autolaunch:;${escaped},guid=00` };
    const result = await openBus("session", env, () => {});
    expect(result).toHaveProperty("bus.uniqueName", expect.stringMatching(/^:\d+\.\d+$/));
    if ("bus" in result) result.bus.close();
  });
});

describe("a call", () => {
  it("gives the body without variants, dictionaries as maps and 64-bit integers as numbers", async () => {
    service.answer("org.test.Iface.Method", "xta{sv}", () => [
      -5n,
      18_446_744_073_709_551_615n,
      {
        title: new Variant("s", "漢字 👩‍💻"),
        length: new Variant("x", 123_456_789_012n),
        artists: new Variant("as", ["a", "b"]),
        nested: new Variant("v", new Variant("b", true)),
        ["__proto__"]: new Variant("s", "harmless"),
      },
    ]);
    const reply = await (await connect()).call(target);
    if (!reply.ok) throw new Error(reply.error);
    const [negative, huge, dictionary] = reply.body;
    expect(negative).toBe(-5);
    expect(huge).toBe(18_446_744_073_709_551_615n);
    const entries = readDictionary(dictionary);
    expect(entries?.get("title")).toBe("漢字 👩‍💻");
    expect(entries?.get("length")).toBe(123_456_789_012);
    expect(entries?.get("artists")).toEqual(["a", "b"]);
    expect(entries?.get("nested")).toBe(true);
  });

  it("answers with the error name when the other side refuses", async () => {
    service.refuse("org.test.Iface.Method", "org.test.Error.No");
    expect(await (await connect()).call(target)).toMatchObject({
      ok: false,
      error: "org.test.Error.No",
    });
  });

  it("answers when nobody owns the name", async () => {
    const reply = await (await connect()).call({ ...target, destination: "org.test.Nobody" });
    expect(reply).toMatchObject({
      ok: false,
      error: "org.freedesktop.DBus.Error.NameHasNoOwner",
    });
  });

  it("answers 'disconnected' at once when the bus goes away meanwhile, and after", async () => {
    const bus = await connect();
    // Held back until the daemon is gone.
    let asked = false;
    service.answer("org.test.Iface.Method", "", () => {
      asked = true;
      throw new Error("no answer");
    });
    const pending = bus.call({ ...target, member: "Nothing", destination: bus.uniqueName });
    const waiting = bus.call(target);
    await until("the call to arrive", () => asked);
    await pending;
    await daemon.kill();
    // The fake's library answers a failed handler with an error, or nothing came before the end.
    expect(await waiting).toMatchObject({ ok: false });
    await until("the loss", () => lost.length === 1);
    expect(await bus.call(target)).toMatchObject({ ok: false, error: "disconnected" });
  });
});

describe("the loss of a bus", () => {
  it("is told once, with its reason", async () => {
    await connect();
    await daemon.kill();
    await until("the loss", () => lost.length > 0);
    await daemon.restart();
    await connect();
    expect(lost).toHaveLength(1);
    expect(lost[0]?.reason).toMatch(/^The session bus is not reachable: /);
  });

  it("is not told for a bus that was closed", async () => {
    const bus = await connect();
    bus.close();
    bus.close();
    await daemon.kill();
    expect(await bus.call(target)).toMatchObject({ ok: false, error: "disconnected" });
    expect(lost).toEqual([]);
  });

  it("follows a listener that throws, and is told instead of thrown", async () => {
    const bus = await connect();
    await bus.onSignal({ interface: "org.test.Iface", member: "Changed" }, () => {
      throw new Error("broken listener");
    });
    service.emit("/org/test", "org.test.Iface", "Changed");
    await until("the loss", () => lost.length === 1);
    expect(lost[0]?.reason).toContain("broken listener");
  });
});

describe("signals", () => {
  it("reach the listener until it is ended", async () => {
    const bus = await connect();
    const heard: unknown[] = [];
    const match = { sender: "org.test.Service", interface: "org.test.Iface", member: "Changed" };
    const end = await bus.onSignal(match, (signal) => heard.push(...signal.body));
    service.emit("/org/test", "org.test.Iface", "Changed", "s", ["one"]);
    await until("the signal", () => heard.length === 1);
    end();
    service.emit("/org/test", "org.test.Iface", "Changed", "s", ["two"]);
    // A call after it: by the order of the bus the second signal would be here before the answer.
    service.answer("org.test.Iface.Method", "", () => []);
    await bus.call(target);
    expect(heard).toEqual(["one"]);
  });

  it("of another sender are not taken for those of the named one", async () => {
    const bus = await connect();
    const heard: unknown[] = [];
    const match = { sender: "org.test.Service", interface: "org.test.Iface", member: "Changed" };
    await bus.onSignal(match, (signal) => heard.push(...signal.body));
    const impostor = await openBusService(daemon.address);
    impostor.emit("/org/test", "org.test.Iface", "Changed", "s", ["false"], bus.uniqueName);
    await impostor.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId");
    service.emit("/org/test", "org.test.Iface", "Changed", "s", ["true"]);
    await until("the signal", () => heard.length > 0);
    expect(heard).toEqual(["true"]);
    impostor.close();
  });

  it("are heard from a new owner of the name", async () => {
    const bus = await connect();
    const heard: unknown[] = [];
    const match = { sender: "org.test.Service", interface: "org.test.Iface", member: "Changed" };
    await bus.onSignal(match, (signal) => heard.push(...signal.body));
    service.close();
    service = await openBusService(daemon.address, "org.test.Service");
    await until("the new owner", async () => {
      return (await bus.nameOwner("org.test.Service")) === service.uniqueName;
    });
    service.emit("/org/test", "org.test.Iface", "Changed", "s", ["again"]);
    await until("the signal", () => heard.length > 0);
    expect(heard).toEqual(["again"]);
  });
});

describe("names", () => {
  it("tell each owner that comes and goes, also below a namespace", async () => {
    const bus = await connect();
    const seen: string[] = [];
    const note = (name: string, owner: string | null): void => {
      seen.push(`${name} ${owner === null ? "gone" : "owned"}`);
    };
    await bus.onNameOwner("org.test.Players", note, { namespace: true });
    await bus.onNameOwner("org.test.One", note);
    await service.own("org.test.Players.vlc");
    await service.own("org.test.PlayersNot");
    await service.own("org.test.One");
    await service.release("org.test.Players.vlc");
    await until("three changes", () => seen.length >= 3);
    expect(seen).toEqual([
      "org.test.Players.vlc owned",
      "org.test.One owned",
      "org.test.Players.vlc gone",
    ]);
  });
});

describe("a method of ours", () => {
  it("can be called by its unique name and answers", async () => {
    const bus = await connect();
    const heard: unknown[] = [];
    const method = { path: "/sink", interface: "org.test.Sink", member: "Active" };
    bus.onCall(method, (call) => heard.push(call.sender, ...call.body));
    const reply = await service.call(bus.uniqueName, "/sink", "org.test.Sink", "Active", "si", [
      "title",
      7,
    ]);
    expect(reply).toEqual([]);
    expect(heard).toEqual([service.uniqueName, "title", 7]);
  });
});

describe("a monitor", () => {
  it("hears calls between others and disturbs none of them", async () => {
    const bus = await connect();
    const heard: string[] = [];
    const rules = ["type='method_call',interface='org.test.Iface'"];
    const reply = await bus.monitor(rules, (message) => {
      if (message.type === "call") heard.push(`${message.member} ${String(message.body[0])}`);
    });
    expect(reply.ok).toBe(true);
    service.answer("org.test.Iface.Method", "s", () => ["the real answer"]);
    const caller = await openBusService(daemon.address);
    for (const text of ["one", "two"]) {
      const answer = await caller.call(
        "org.test.Service",
        "/org/test",
        "org.test.Iface",
        "Method",
        "s",
        [text],
      );
      expect(answer).toEqual(["the real answer"]);
    }
    await until("both calls", () => heard.length === 2);
    expect(heard).toEqual(["Method one", "Method two"]);
    expect(lost).toEqual([]);
    caller.close();
  });
});
