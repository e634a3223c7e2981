import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../src/make-folder.ts";
import { createTempHome } from "./helpers/temp-home.ts";

describe("a folder that is made", () => {
  it("has all above it made too, for this user alone", () => {
    const home = createTempHome();
    makeFolder(join(home, "a", "b", "c"));
    for (const name of ["a", "a/b", "a/b/c"])
      expect(statSync(join(home, name)).mode & 0o777).toBe(0o700);
  });

  it("is left as it is when it is there, also behind a link", () => {
    const home = createTempHome();
    mkdirSync(join(home, "there"));
    chmodSync(join(home, "there"), 0o755);
    symlinkSync(join(home, "there"), join(home, "link"));
    makeFolder(join(home, "there"));
    makeFolder(join(home, "link"));
    makeFolder("/");
    expect(statSync(join(home, "there")).mode & 0o777).toBe(0o755);
  });

  // Where `mkdir` says that something is missing though all above is there, `recursive` never ends.
  it("is refused at once where the system takes none", () => {
    expect(() => makeFolder("/proc/activityd/data")).toThrow(/mkdir '\/proc/);
  });

  it("is refused where something else is in its place, or above it", () => {
    const home = createTempHome();
    writeFileSync(join(home, "file"), "");
    symlinkSync("/nowhere-at-all", join(home, "nowhere"));
    expect(() => makeFolder(join(home, "file"))).toThrow(/EEXIST/);
    expect(() => makeFolder(join(home, "nowhere"))).toThrow(/EEXIST/);
    expect(() => makeFolder(join(home, "file", "data"))).toThrow(/ENOTDIR/);
  });
});
