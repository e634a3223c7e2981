import { describe, expect, it } from "vitest";
import { resolvePaths } from "../src/paths.ts";

describe("the socket", () => {
  it.each([
    [{ ACTIVITYD_SOCKET: "/x/a.sock", RUNTIME_DIRECTORY: "/run/r" }, "/x/a.sock"],
    [
      { RUNTIME_DIRECTORY: "/run/r:/run/activityd", XDG_RUNTIME_DIR: "/run/user/7" },
      "/run/activityd/activityd.sock",
    ],
    // A client that is a service itself.
    [
      { RUNTIME_DIRECTORY: "/run/user/7/assistant", XDG_RUNTIME_DIR: "/run/user/7" },
      "/run/user/7/activityd/activityd.sock",
    ],
    [
      { ACTIVITYD_SOCKET: "", XDG_RUNTIME_DIR: "/run/user/7" },
      "/run/user/7/activityd/activityd.sock",
    ],
    [{ XDG_RUNTIME_DIR: "/run/user/7" }, "/run/user/7/activityd/activityd.sock"],
    [{ ACTIVITYD_HOME: "/trial", XDG_RUNTIME_DIR: "/run/user/7" }, "/trial/run/activityd.sock"],
  ])("for %j is %s", (env, path) => {
    expect(resolvePaths(env).socketPath).toBe(path);
  });

  it("lies beside the logs when the login has no runtime folder", () => {
    const { socketPath, logDirectory } = resolvePaths({ XDG_RUNTIME_DIR: "" });
    expect(socketPath).toBe(`${logDirectory}/run/activityd.sock`);
  });
});

describe("ACTIVITYD_HOME", () => {
  it("moves everything under one folder", () => {
    const places = Object.values(resolvePaths({ ACTIVITYD_HOME: "/trial" }));
    expect(places.filter((place) => !place.startsWith("/trial/"))).toEqual([]);
  });

  // A daemon and those who ask it may stand in different folders, and each tells the other where it keeps things.
  it("may be said as seen from the folder one stands in", () => {
    const { dataDirectory, socketPath } = resolvePaths({
      ACTIVITYD_HOME: "trial",
      ACTIVITYD_SOCKET: "a.sock",
    });
    expect(dataDirectory).toBe(`${process.cwd()}/trial/data`);
    expect(socketPath).toBe(`${process.cwd()}/a.sock`);
  });
});
