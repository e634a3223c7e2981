import { describe, expect, it } from "vitest";
import { createOwnerHub, toForgetRequest } from "../../src/owner/hub.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";

const NOW = Date.parse("2026-11-27T12:00:00Z") * 1000;
const HOUR = 3_600_000_000;

describe("a wish that was made on another device", () => {
  const wish = { fromUs: null, toUs: null, app: "Code", match: null, atUs: NOW };

  it("means here what it meant there, as long as it is fresh", () => {
    expect(toForgetRequest(wish, NOW + 1_000_000)).toEqual({ app: "Code" });
  });

  it("means nothing that came after it, once it was on its way for a while", () => {
    expect(toForgetRequest(wish, NOW + HOUR)).toEqual({ app: "Code", fromUs: 0, toUs: NOW });
  });

  it("keeps its span, and its words", () => {
    const spanned = { fromUs: NOW - HOUR, toUs: null, app: null, match: "secret", atUs: NOW };
    expect(toForgetRequest(spanned, NOW)).toEqual({
      match: "secret",
      fromUs: NOW - HOUR,
      toUs: NOW,
    });
  });
});

describe("the hub beside the daemon", () => {
  it("is told what was forgotten here, and says how it stands", async () => {
    const told: unknown[] = [];
    const hub = createHubOf();
    const wish = {
      span: { fromUs: 1, toUs: 2 },
      isMeant: null,
      app: null,
      match: null,
      byRules: false,
    };
    // Without a hub there is nobody to tell.
    hub.tell(wish, []);
    await expect(hub.change({ action: "rotate" })).rejects.toMatchObject({ code: "not_found" });
    hub.attach({
      self: () => ({ name: "desk", kind: null }),
      request: async () => ({
        ...(await createHubOf().answer()),
        waiting: 3,
      }),
      forgotten: (...given) => told.push(given),
      problems: () => [{ reason: "r", remedy: "" }],
      notes: () => [],
    });
    hub.tell(wish, [{ deviceKey: 1, startUs: 5 }]);
    expect(told).toEqual([
      [{ fromUs: 1, toUs: 2, app: null, match: null, atUs: NOW }, [{ deviceKey: 1, startUs: 5 }]],
    ]);
    expect(hub.self()?.name).toBe("desk");
    expect([(await hub.answer()).waiting, hub.problems()]).toEqual([
      3,
      [{ reason: "r", remedy: "" }],
    ]);
  });

  it("is none any more once it was left, whatever state it was in", async () => {
    const asked: unknown[] = [];
    const hub = createHubOf();
    const none = await hub.answer();
    hub.attach({
      self: () => ({ name: "desk", kind: null }),
      request: async (request) => {
        asked.push(request);
        return none;
      },
      forgotten: () => {},
      problems: () => [],
      notes: () => [],
    });
    expect(await hub.change({ action: "leave" })).toEqual(none);
    expect([asked, hub.self()]).toEqual([[{ action: "leave" }], null]);
    await expect(hub.change({ action: "rotate" })).rejects.toMatchObject({ code: "not_found" });
    await expect(hub.change({ action: "leave" })).rejects.toMatchObject({ code: "not_found" });
    // The settings name none any more, and the record is still that of several devices.
    const leftOver = createHubOf(async () => true);
    expect(await leftOver.change({ action: "leave" })).toEqual(none);
  });
});

function createHubOf(leaveRecords = async () => false) {
  return createOwnerHub(createFakeClock("2026-11-27T12:00:00Z"), leaveRecords);
}
