/** Doctor before states of the machine that only root can make, in a mount namespace of its own. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createTempHome } from "../helpers/temp-home.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

test("a record on a file system that became read-only is told as that, with what mends it", () => {
  const home = createTempHome();
  const data = join(home, "data");
  mkdirSync(data, { mode: 0o700 });
  const script = [
    'mount -t tmpfs -o ro,mode=700 tmpfs "$1"',
    'node "$2" doctor --json',
    'mount -o remount,rw "$(findmnt -n -o TARGET --target "$1")" && touch "$1/written"',
  ].join("\n");
  const out = execFileSync("unshare", ["--mount", "sh", "-c", script, "sh", data, MAIN], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: home, ACTIVITYD_HOME: home },
  });
  const findings = out
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  expect(findings).toContainEqual({
    state: "problem",
    id: "data-unwritable",
    what: `The file system that holds ${data} is read-only, so nothing is recorded and no daemon can start.`,
    remedy: `See why in: sudo dmesg; then: sudo mount -o remount,rw "$(findmnt -n -o TARGET --target ${data})"`,
  });
  expect(findings).not.toContainEqual(expect.objectContaining({ id: "database-unreadable" }));
});

/** What doctor, asked by a user who is nobody else, says of what cannot be written. */
function doctorOf(home: string, env: Record<string, string>): readonly unknown[] {
  const { stdout } = spawnSync(process.execPath, [MAIN, "doctor", "--json"], {
    encoding: "utf8",
    uid: 60_001,
    gid: 60_001,
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "", HOME: home, ...env },
  });
  return stdout
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}

test("a folder above the record's that is closed is named with what opens it", () => {
  const home = createTempHome();
  chownSync(home, 60_001, 60_001);
  mkdirSync(join(home, ".local"));
  expect(doctorOf(home, {})).toContainEqual({
    state: "problem",
    id: "data-unwritable",
    what: `The record's folder ${home}/.local/share/activityd cannot be made or reached, so no daemon can start: ${home}/.local belongs to user 0 and is closed to you (60001).`,
    remedy: `Make it yours: sudo chown "$(id -u):$(id -g)" ${home}/.local && chmod u+rwx ${home}/.local`,
  });
  chownSync(join(home, ".local"), 60_001, 60_001);
  chmodSync(join(home, ".local"), 0o500);
  expect(doctorOf(home, {})).toContainEqual(
    expect.objectContaining({
      id: "data-unwritable",
      remedy: `Let yourself: chmod u+rwx ${home}/.local`,
    }),
  );
});

test("nobody is told to make a folder of the machine their own", () => {
  const home = createTempHome();
  chownSync(home, 60_001, 60_001);
  mkdirSync(join(home, "data"));
  chownSync(join(home, "data"), 60_001, 60_001);
  const places = { XDG_DATA_HOME: "/no-such-place", XDG_STATE_HOME: "/no-such-place" };
  const findings = doctorOf(home, places);
  expect(findings).toContainEqual(
    expect.objectContaining({
      id: "data-unwritable",
      remedy: "Do without XDG_DATA_HOME, or give it a folder of your own: unset XDG_DATA_HOME",
    }),
  );
  expect(JSON.stringify(findings)).not.toMatch(/chown|chmod/);
  mkdirSync(join(home, "data", "activityd"), { mode: 0o700 });
  chownSync(join(home, "data", "activityd"), 60_001, 60_001);
  expect(doctorOf(home, { ...places, XDG_DATA_HOME: join(home, "data") })).toContainEqual(
    expect.objectContaining({
      id: "log-unwritable",
      remedy: "Do without XDG_STATE_HOME, or give it a folder of your own: unset XDG_STATE_HOME",
    }),
  );
});
