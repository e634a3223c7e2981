import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  applyMcpInstall,
  MCP_HOSTS,
  planMcpInstall,
  type HostPlaces,
} from "../../src/mcp/install.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const COMMAND = { command: "/usr/bin/node", args: ["/opt/activityd/main.js", "mcp"], env: {} };

function openHome(): HostPlaces {
  const home = createTempHome();
  return { home, configDirectory: join(home, ".config"), platform: "linux" };
}

describe("installing into a host", () => {
  it.each(MCP_HOSTS)(
    "writes settings for %s where there are none, and a second run changes nothing",
    (host) => {
      const places = openHome();
      const change = planMcpInstall(host, COMMAND, places);
      expect(change.before).toBeNull();
      expect(applyMcpInstall(change)).toBeNull();
      expect(readFileSync(change.file, "utf8")).toContain('"activityd"');
      const again = planMcpInstall(host, COMMAND, places);
      expect(again.after).toBe(again.before);
    },
  );

  it("leaves what else stands there, in its order and indentation, and keeps the file as it was", () => {
    const places = openHome();
    const file = join(places.home, ".claude.json");
    const before =
      '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"other": {\n\t\t\t"command": "x"\n\t\t}\n\t},\n\t"z": [1]\n}\n';
    writeFileSync(file, before);
    const backup = applyMcpInstall(planMcpInstall("claude-code", COMMAND, places));
    expect(readFileSync(backup ?? "", "utf8")).toBe(before);
    expect(readFileSync(file, "utf8")).toBe(
      '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"other": {\n\t\t\t"command": "x"\n\t\t},\n\t\t"activityd": {\n\t\t\t"type": "stdio",\n\t\t\t"command": "/usr/bin/node",\n\t\t\t"args": [\n\t\t\t\t"/opt/activityd/main.js",\n\t\t\t\t"mcp"\n\t\t\t]\n\t\t}\n\t},\n\t"z": [\n\t\t1\n\t]\n}\n',
    );
  });

  it("leaves a link into a folder of dotfiles one, and the file behind it as readable as it was", () => {
    const places = openHome();
    const target = join(places.home, "dotfiles.json");
    writeFileSync(target, "{}");
    chmodSync(target, 0o644);
    // Of an owner whose new files are for nobody else.
    const umask = process.umask(0o077);
    onTestFinished(() => void process.umask(umask));
    const file = join(places.home, ".claude.json");
    symlinkSync("dotfiles.json", file);
    const backup = applyMcpInstall(planMcpInstall("claude-code", COMMAND, places));
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, "utf8")).toContain("activityd");
    expect(statSync(target).mode & 0o777).toBe(0o644);
    expect(readFileSync(backup ?? "", "utf8")).toBe("{}");
  });

  it("never overwrites the first backup", () => {
    const places = openHome();
    const file = join(places.home, ".claude.json");
    writeFileSync(file, '{"mine":1}');
    applyMcpInstall(planMcpInstall("claude-code", COMMAND, places));
    const backup = applyMcpInstall(
      planMcpInstall("claude-code", { ...COMMAND, args: ["moved"] }, places),
    );
    expect(readFileSync(backup ?? "", "utf8")).toBe('{"mine":1}');
  });

  it("keeps all of the old settings or leaves none for a disk that is full", () => {
    const places = openHome();
    const { file } = planMcpInstall("cursor", COMMAND, places);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "{}");
    // Every write to it is refused for want of room.
    symlinkSync("/dev/full", `${file}.before-activityd.new`);
    const change = planMcpInstall("cursor", COMMAND, places);
    expect(() => applyMcpInstall(change)).toThrow("ENOSPC");
    expect(existsSync(`${file}.before-activityd`)).toBe(false);
    expect(readFileSync(file, "utf8")).toBe("{}");
    const backup = applyMcpInstall(change);
    expect(readFileSync(backup ?? "", "utf8")).toBe("{}");
  });

  it.each([
    ["with comments", '{\n  // mine\n  "servers": {}\n}'],
    ["of another shape", '{"servers": 3}'],
    ["that are a list", "[]"],
  ])("leaves settings %s as they are and says what to add by hand", (_what, text) => {
    const places = openHome();
    const file = join(places.configDirectory, "Code", "User", "mcp.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    expect(() => planMcpInstall("vscode", COMMAND, places)).toThrow(/left as it is/);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(existsSync(`${file}.before-activityd`)).toBe(false);
  });
});
