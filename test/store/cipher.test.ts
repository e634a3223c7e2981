/** The key of an encrypted data folder, in a file. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { layKey } from "../../src/store/cipher.ts";
import { createTempHome } from "../helpers/temp-home.ts";

function openFolder() {
  const folder = join(createTempHome(), "keys");
  return { folder, path: join(folder, "activityd.key") };
}

describe("a key in a file", () => {
  it("is made for its owner alone, with nothing beside it, and kept from then on", () => {
    const { folder, path } = openFolder();
    layKey({ keyIn: "file", path });
    const key = readFileSync(path, "utf8");
    expect(key).toMatch(/^[0-9a-f]{64}\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["activityd.key"]);
    layKey({ keyIn: "file", path });
    expect(readFileSync(path, "utf8")).toBe(key);
  });

  it.each(["activityd.key", "activityd.key.new"])(
    "is made where one who was cut off left an empty %s",
    (name) => {
      const { folder, path } = openFolder();
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, name), "");
      layKey({ keyIn: "file", path });
      expect(readFileSync(path, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
      expect(readdirSync(folder)).toEqual(["activityd.key"]);
    },
  );

  it("is not laid over what is something else", () => {
    const { folder, path } = openFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, "my diary");
    expect(() => layKey({ keyIn: "file", path })).toThrow(`${path} is there and holds no key`);
    expect(readFileSync(path, "utf8")).toBe("my diary");
    expect(existsSync(`${path}.new`)).toBe(false);
  });
});
