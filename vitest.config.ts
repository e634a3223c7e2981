import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** A folder in memory, with eight times the room that the temporary files of unit tests ever take at one time. */
const [MEMORY, ROOM_BYTES] = ["/dev/shm", 1024 * 1024 * 1024];

/**
 * Where the temporary files of unit tests lie: in memory, on a system that has room there and lets scripts run from there.
 * A thousand tests open databases of their own and close them: on a disk, half of the time went into waiting for it. That
 * what was written is on a disk is for the system tests.
 */
function inMemory(): { readonly TMPDIR?: string } {
  if (process.env["TMPDIR"] !== undefined || !existsSync("/proc/self/mounts")) return {};
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
  const options = mounts.map((line) => line.split(" ")).find(([, at]) => at === MEMORY)?.[3];
  if (options === undefined || options.split(",").includes("noexec")) return {};
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < ROOM_BYTES ? {} : { TMPDIR: MEMORY };
}

/**
 * Most of the program runs a few times in a test: V8 compiles it for speed later than it would, for a fifth less in all. Versions
 * after that of Node 20 do not know the word.
 */
function compileLater(): readonly string[] {
  const words = ["--interrupt-budget=600000"];
  return spawnSync(process.execPath, [...words, "--eval", "0"]).status === 0 ? words : [];
}

/** What a test asks is on this machine, whatever way its runner has out of it: clients that we did not write would go that way. */
const NO_PROXY = "localhost,127.0.0.1";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/system/**", "test/desktops/**"],
          // No test here needs a second; on a busy machine one may have to wait for its turn.
          testTimeout: 30_000,
          // What is typed into a chat is edited by Node's readline, which asks the process itself what its terminal can do.
          env: { ...inMemory(), TERM: "xterm-256color" },
          // Some wait for a child or for a time, during which another works. On two cores vitest would take one.
          maxWorkers: availableParallelism() + 1,
          execArgv: [...compileLater()],
          // No module of ours holds state, so files can share what is loaded: half of the time went into loading.
          isolate: false,
          // What TypeScript was made into is kept below node_modules, by its text: a seventh of the time went into that.
          experimental: { fsModuleCache: true },
          // Not Intl, which is kept by modules that are shared: a faked one takes the instant 0 for no instant.
          fakeTimers: {
            toFake: [
              "Date",
              "performance",
              "setTimeout",
              "clearTimeout",
              "setInterval",
              "clearInterval",
              "setImmediate",
              "clearImmediate",
            ],
          },
        },
      },
      {
        test: {
          name: "system",
          include: ["test/system/**/*.test.ts"],
          exclude: ["test/system/**/*.root.test.ts"],
          env: { NO_PROXY, no_proxy: NO_PROXY },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 10_000, interval: 10 } },
          // Each file starts its own X server, buses and daemons: two at a time is what two cores carry.
          maxWorkers: 2,
        },
      },
      {
        test: {
          // What only root can set up: other users, full disks, parted networks.
          name: "root",
          include: ["test/system/**/*.root.test.ts"],
          globalSetup: "test/system/as-root.ts",
          env: { NO_PROXY, no_proxy: NO_PROXY },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 10_000, interval: 10 } },
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "desktops",
          include: ["test/desktops/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // A shell that draws without a graphics card takes a core for itself.
          maxWorkers: 1,
          expect: { poll: { timeout: 10_000, interval: 10 } },
        },
      },
    ],
  },
});
