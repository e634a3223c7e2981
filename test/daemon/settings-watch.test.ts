import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { watchSettings } from "../../src/daemon/settings-watch.ts";
import { silentLog } from "../../src/log.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { until } from "../helpers/until.ts";

function openWatch(file: string) {
  let calls = 0;
  const watcher = watchSettings(file, () => (calls += 1), silentLog);
  onTestFinished(watcher.close);
  return { calls: () => calls, keep: watcher.keep };
}

describe("a change of the settings", () => {
  test("is noticed when the file comes to be, is written, is replaced as editors do, and goes", async () => {
    const file = join(createTempHome(), "settings", "config.toml");
    const watch = openWatch(file);
    const steps = [
      () => writeFileSync(file, "a = 1\n"),
      () => writeFileSync(file, "a = 2\n"),
      () => {
        writeFileSync(`${file}.new`, "a = 3\n");
        renameSync(`${file}.new`, file);
      },
      () => rmSync(file),
    ];
    for (const [index, step] of steps.entries()) {
      step();
      await until(`call ${index + 1}`, () => watch.calls() > index);
      expect(watch.calls()).toBe(index + 1);
    }
  });

  test("is noticed in the file that a link leads to, and the link's own change too", async () => {
    const home = createTempHome();
    const file = join(home, "config.toml");
    for (const name of ["one", "two"]) {
      mkdirSync(join(home, name));
      writeFileSync(join(home, name, "a.toml"), "a = 1\n");
    }
    symlinkSync(join("one", "a.toml"), file);
    const watch = openWatch(file);
    const steps = [
      () => writeFileSync(join(home, "one", "a.toml"), "a = 2\n"),
      () => {
        symlinkSync(join("two", "a.toml"), `${file}.new`);
        renameSync(`${file}.new`, file);
      },
      () => writeFileSync(join(home, "two", "a.toml"), "a = 3\n"),
    ];
    for (const [index, step] of steps.entries()) {
      step();
      await until(`call ${index + 1}`, () => watch.calls() > index);
      expect(watch.calls()).toBe(index + 1);
    }
  });

  test("is told once for several writes at once, and not for other files beside it", async () => {
    const home = createTempHome();
    const file = join(home, "config.toml");
    const watch = openWatch(file);
    mkdirSync(join(home, "data"));
    writeFileSync(join(home, "other.toml"), "x");
    for (let n = 0; n < 5; n++) writeFileSync(file, `a = ${n}\n`);
    await until("the call", () => watch.calls() > 0);
    writeFileSync(join(home, "other.toml"), "y");
    writeFileSync(file, "a = 9\n");
    await until("the second call", () => watch.calls() > 1);
    expect(watch.calls()).toBe(2);
  });

  test("is noticed in a folder that was put in the place of the watched one, from the next look on", async () => {
    const home = createTempHome();
    const file = join(home, "settings", "config.toml");
    const watch = openWatch(file);
    renameSync(join(home, "settings"), join(home, "settings.old"));
    expect(watch.keep()).toBe(false);
    mkdirSync(join(home, "settings"));
    writeFileSync(file, "a = 1\n");
    expect(watch.keep()).toBe(true);
    expect(watch.calls()).toBeGreaterThan(0);
    expect(watch.keep()).toBe(false);
    const before = watch.calls();
    writeFileSync(file, "a = 2\n");
    await until("the change", () => watch.calls() > before);
  });
});
