import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { appendRule, setKeys } from "../src/config-edit.ts";
import { readConfig } from "../src/config.ts";
import { createTempHome } from "./helpers/temp-home.ts";

function fileWith(text: string | null): string {
  const file = join(createTempHome(), "config.toml");
  if (text !== null) writeFileSync(file, text);
  return file;
}

const enabledIn = (text: string | null): string => {
  const file = fileWith(text);
  setKeys(file, "activitywatch", { enabled: true }, {});
  expect(readConfig(file, {}).activitywatch.enabled).toBe(true);
  return readFileSync(file, "utf8");
};

describe("setting a key", () => {
  test.each([
    [null, "[activitywatch]\nenabled = true\n"],
    ["", "[activitywatch]\nenabled = true\n"],
    ["[capture]\nmedia = false\n", "[capture]\nmedia = false\n\n[activitywatch]\nenabled = true\n"],
    ["[capture]\nmedia = false", "[capture]\nmedia = false\n\n[activitywatch]\nenabled = true\n"],
    [
      "[activitywatch]\nport = 1\n[store]\n",
      "[activitywatch]\nenabled = true\nport = 1\n[store]\n",
    ],
    [
      "[ activitywatch ] # watchers\nport = 1\n",
      "[ activitywatch ] # watchers\nenabled = true\nport = 1\n",
    ],
  ])("%j becomes %j", (before, after) => {
    expect(enabledIn(before)).toBe(after);
  });

  test("keeps what the owner wrote behind the value", () => {
    expect(enabledIn("[activitywatch]\nenabled = false  # not yet\n[store]\n")).toBe(
      "[activitywatch]\nenabled = true  # not yet\n[store]\n",
    );
    const file = fileWith('[hub]\nfolder = "/a#b" # where\n');
    setKeys(file, "hub", { folder: "/c#d" }, {});
    expect(readFileSync(file, "utf8")).toBe('[hub]\nfolder = "/c#d" # where\n');
  });

  test("replaces a value of several lines as a whole", () => {
    const file = fileWith(
      '[hub]\nservers = [\n  "nats://a",\n  "nats://b",\n]\nfolder = "/x"\n[store]\nkeep_days = 9\n',
    );
    setKeys(file, "hub", { servers: ["nats://c"] }, {});
    expect(readFileSync(file, "utf8")).toBe(
      '[hub]\nservers = [ "nats://c" ]\nfolder = "/x"\n[store]\nkeep_days = 9\n',
    );
  });

  test("ends its lines as the file does, and leaves a mark at its beginning", () => {
    expect(enabledIn("\uFEFF[activitywatch]\r\nenabled = false # x\r\n\r\n[store]\r\n")).toBe(
      "\uFEFF[activitywatch]\r\nenabled = true # x\r\n\r\n[store]\r\n",
    );
    expect(enabledIn("[store]\r\nkeep_days = 9\r\n")).toBe(
      "[store]\r\nkeep_days = 9\r\n\r\n[activitywatch]\r\nenabled = true\r\n",
    );
  });

  test.each(["activitywatch = { port = 1 }\n", "activitywatch.port = 1\n"])(
    "in a table written as %j says so and changes nothing",
    (text) => {
      const file = fileWith(text);
      expect(() => setKeys(file, "activitywatch", { enabled: true }, {})).toThrow(
        /written in a way that no command can add to/,
      );
      expect(readFileSync(file, "utf8")).toBe(text);
    },
  );

  test("in a file that was wrong before says what was wrong, and changes nothing", () => {
    const file = fileWith("[capture]\nmedia = 7\n");
    expect(() => setKeys(file, "activitywatch", { enabled: true }, {})).toThrow(
      /config\.toml:2: capture\.media/,
    );
    expect(readFileSync(file, "utf8")).toBe("[capture]\nmedia = 7\n");
  });
});

test("a rule is added with the line ends of the file", () => {
  const file = fileWith("[capture]\r\nmedia = false\r\n");
  appendRule(file, { action: "drop", app: "slack" }, {});
  expect(readFileSync(file, "utf8")).toBe(
    '[capture]\r\nmedia = false\r\n\r\n[[privacy.rules]]\r\naction = "drop"\r\napp = "slack"\r\n',
  );
  expect(readConfig(file, {}).privacy.rules).toHaveLength(1);
});

test("a file that is a link stays one, and what it leads to is changed", () => {
  const home = createTempHome();
  mkdirSync(join(home, "dotfiles"));
  const kept = join(home, "dotfiles", "activityd.toml");
  const file = join(home, "config.toml");
  symlinkSync(join("dotfiles", "activityd.toml"), file);
  setKeys(file, "activitywatch", { enabled: true }, {});
  appendRule(file, { action: "drop", app: "slack" }, {});
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readFileSync(kept, "utf8")).toBe(
    '[activitywatch]\nenabled = true\n\n[[privacy.rules]]\naction = "drop"\napp = "slack"\n',
  );
});

test("bytes that are no UTF-8 are told with their line, and stay", () => {
  const file = fileWith(null);
  const bytes = Buffer.from('[hub]\n# caf\xe9\nfolder = "/x"\n', "latin1");
  writeFileSync(file, bytes);
  expect(() => readConfig(file, {})).toThrow(`${file}:2: this is not UTF-8, as TOML has to be.`);
  expect(() => setKeys(file, "hub", { folder: "/y" }, {})).toThrow(/not UTF-8/);
  expect(readFileSync(file)).toEqual(bytes);
});
