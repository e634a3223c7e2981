/** The programs of docs/clients.md, run as they stand against a real daemon. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SHOWN = "the model gets the block\ngood morning\ngood morning\n";

/** The fenced program of a language. */
function readProgram(language: string): string {
  const page = readFileSync(join(ROOT, "docs/clients.md"), "utf8");
  const program = new RegExp(
    `^\`\`\`${language}\\n((?:// example|# example).*?)^\`\`\`$`,
    "ms",
  ).exec(page)?.[1];
  if (program === undefined) throw new Error(`docs/clients.md has no program in ${language}`);
  return program;
}

function isThere(command: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
}

const TOOLCHAINS = [
  { language: "js", command: "node", file: "example.mjs", args: [] },
  { language: "python", command: "python3", file: "example.py", args: [] },
  { language: "sh", command: "sh", file: "example.sh", args: [] },
  // Go is no tool of this project: its example is run where it is installed.
  ...(isThere("go") ? [{ language: "go", command: "go", file: "example.go", args: ["run"] }] : []),
];

describe("the client of docs/clients.md", () => {
  let daemon: DaemonRig;
  const folder = mkdtempSync(join(tmpdir(), "activityd-clients-"));

  beforeAll(async () => {
    daemon = openDaemonRig(createProcesses(), {});
    await daemon.start();
    // `import … from "activityd"` as in a project that installed it.
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(ROOT, join(folder, "node_modules", "activityd"));
  });
  afterAll(async () => {
    await daemon.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(TOOLCHAINS)(
    "in $language gives the model the block and the owner their words",
    ({ language, command, file, args }) => {
      writeFileSync(join(folder, file), readProgram(language));
      const shown = execFileSync(command, [...args, file], {
        cwd: folder,
        encoding: "utf8",
        env: { ...process.env, ACTIVITYD_SOCKET: daemon.socket },
      });
      expect(shown).toBe(SHOWN);
    },
  );
});
