/** What a failure of NATS means to the owner. */
import { describe, expect, it } from "vitest";
import {
  explainTrouble,
  mustBeNewEnough,
  noteOnVersion,
  TroubleError,
} from "../../../src/hub/nats/trouble.ts";

const CONTEXT = { place: "tls://hub.example:4222", key: "UABC" };

describe("trouble", () => {
  it("of a network is waited out", () => {
    for (const code of ["ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENOTFOUND", "ETIMEDOUT"]) {
      const error = Object.assign(new Error("x"), { code });
      expect(explainTrouble(new Error("y", { cause: error }), CONTEXT).state).toBe("away");
    }
  });

  it("of a cluster that is finding itself is waited out", () => {
    const error = Object.assign(new Error("x"), { name: "JetStreamApiError", code: 10_008 });
    expect(explainTrouble(error, CONTEXT)).toMatchObject({
      state: "away",
      reason: 'JetStream answers "x"',
    });
  });

  it.each([10_002, 10_023, 10_047, 10_077])("of a full hub is told as such (%i)", (code) => {
    const error = Object.assign(new Error("x"), { name: "JetStreamApiError", code });
    expect(explainTrouble(error, CONTEXT)).toMatchObject({
      state: "refused",
      reason: "it has no room left",
    });
  });

  it("of a certificate names its code and the setting", () => {
    const error = Object.assign(new Error("x"), { code: "SELF_SIGNED_CERT_IN_CHAIN" });
    const { state, reason, remedy } = explainTrouble(error, CONTEXT);
    expect(state).toBe("refused");
    expect(reason).toContain("SELF_SIGNED_CERT_IN_CHAIN");
    expect(remedy).toContain("ca_file");
  });

  it.each(["CERT_NOT_YET_VALID", "CERT_HAS_EXPIRED"])("%s has to do with clocks", (code) => {
    const error = Object.assign(new Error("x"), { code });
    const { reason, remedy } = explainTrouble(error, CONTEXT);
    expect(reason).toContain(code);
    expect(remedy).toContain("clock of this device");
  });

  it("that has its own words keeps them", () => {
    const trouble = { state: "refused", reason: "a", remedy: "b" } as const;
    expect(explainTrouble(new TroubleError(trouble), CONTEXT)).toBe(trouble);
  });

  it("of anything else is waited out", () => {
    expect(explainTrouble("what", CONTEXT).state).toBe("away");
  });
});

describe("versions of nats-server", () => {
  it.each(["2.9.10", "2.10.7", "2.12.6", "2.13.0", "2.13.9", "1.4.1", "no number", ""])(
    "%j is told to have holes",
    (version) => {
      expect(noteOnVersion(version)?.remedy).toContain("2.12.7");
    },
  );

  it.each(["2.12.7", "2.12.11", "2.14.0", "2.14.3-beta", "2.15.1", "3.0.0"])(
    "%j is not worth a word",
    (version) => {
      expect(noteOnVersion(version)).toBeNull();
    },
  );

  it("before 2.9 is refused, with what to install", () => {
    expect(() => mustBeNewEnough("2.8.4", "tls://hub.example:4222")).toThrow("too old");
    expect(() => mustBeNewEnough("2.9.0", "tls://hub.example:4222")).not.toThrow();
  });
});
