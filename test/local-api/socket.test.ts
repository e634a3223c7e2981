import { chmodSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { inheritedSocketFd, listenPrivately } from "../../src/local-api/socket.ts";
import { failureOf } from "../contract/activity-api.ts";
import { createTempHome } from "../helpers/temp-home.ts";

function openServer() {
  const server = createServer((_request, response) => response.end("alive"));
  onTestFinished(() => {
    server.close();
  });
  return server;
}

/** A server of another process, which is killed at the end of the test at the latest. */
async function startServer(path: string): Promise<ChildProcess> {
  const script = `require("node:http").createServer().listen(${JSON.stringify(path)}, () => console.log("up"))`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  await once(child.stdout, "data");
  return child;
}

describe("the path of the socket", () => {
  test("is refused on Windows, where it would be open to others", async () => {
    const path = join(createTempHome(), "run", "activityd.sock");
    const error = await failureOf(listenPrivately(openServer(), path, "win32"));
    expect(error.code).toBe("platform_unsupported");
  });

  test("too long for the kernel is refused before listening, with its length", async () => {
    const path = join(createTempHome(), "x".repeat(120), "activityd.sock");
    const error = await failureOf(listenPrivately(openServer(), path));
    expect(error.code).toBe("socket_path_too_long");
    expect(error.message).toContain(String(Buffer.byteLength(path)));
    expect(lstatSync(join(path, ".."), { throwIfNoEntry: false })).toBeUndefined();
  });

  test("of exactly the longest length is served in full", async () => {
    const home = createTempHome();
    const maxBytes = process.platform === "darwin" ? 103 : 107;
    const path = join(home, "y".repeat(maxBytes - Buffer.byteLength(home) - 1));
    await listenPrivately(openServer(), path);
    expect(lstatSync(path).isSocket()).toBe(true);
  });
});

describe("who may reach the socket", () => {
  test("the directory is made for the owner alone and the socket too", async () => {
    const path = join(createTempHome(), "run", "activityd.sock");
    await listenPrivately(openServer(), path);
    expect(lstatSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
  });

  test("a directory that is open to others is refused with the command that closes it", async () => {
    const directory = join(createTempHome(), "run");
    mkdirSync(directory);
    chmodSync(directory, 0o755);
    const error = await failureOf(listenPrivately(openServer(), join(directory, "a.sock")));
    expect(error.code).toBe("socket_unsafe");
    expect(error.hint).toBe(`Close it with: chmod 700 ${directory}`);
  });

  test("a directory that is there for everybody is left to them", async () => {
    const directory = join(createTempHome(), "shared");
    mkdirSync(directory);
    chmodSync(directory, 0o1777);
    const error = await failureOf(listenPrivately(openServer(), join(directory, "a.sock")));
    expect(error.code).toBe("socket_unsafe");
    expect(error.hint).toBe("Choose a directory of your own with ACTIVITYD_SOCKET.");
  });

  test("a directory that is a link is refused", async () => {
    const home = createTempHome();
    mkdirSync(join(home, "real"), { mode: 0o700 });
    symlinkSync(join(home, "real"), join(home, "run"));
    const error = await failureOf(listenPrivately(openServer(), join(home, "run", "a.sock")));
    expect(error.code).toBe("socket_unsafe");
  });

  test("a directory that cannot be made is told in one sentence", async () => {
    const home = createTempHome();
    writeFileSync(join(home, "file"), "");
    const error = await failureOf(
      listenPrivately(openServer(), join(home, "file", "run", "a.sock")),
    );
    expect(error.code).toBe("socket_unsafe");
    expect(error.message).toBe(`Cannot make ${join(home, "file", "run")}: ENOTDIR.`);
  });

  test("a file in the directory's place is refused", async () => {
    const home = createTempHome();
    writeFileSync(join(home, "run"), "");
    const error = await failureOf(listenPrivately(openServer(), join(home, "run", "a.sock")));
    expect(error.code).toBe("socket_unsafe");
    expect(error.message).toContain("is not a directory");
  });

  test("a file in the socket's place is refused and left alone", async () => {
    const path = join(createTempHome(), "a.sock");
    writeFileSync(path, "precious");
    const error = await failureOf(listenPrivately(openServer(), path));
    expect(error.code).toBe("socket_unsafe");
    expect(lstatSync(path).isFile()).toBe(true);
  });
});

describe("a socket that is there already", () => {
  test("is never taken from a daemon that answers", async () => {
    const path = join(createTempHome(), "a.sock");
    await listenPrivately(openServer(), path);
    const error = await failureOf(listenPrivately(openServer(), path));
    expect(error.code).toBe("socket_in_use");
    expect(error.hint).toContain("activityd stop");
  });

  test("is never taken from a daemon that is too busy to answer, and not waited for without end", async () => {
    const path = join(createTempHome(), "a.sock");
    const frozen = await startServer(path);
    frozen.kill("SIGSTOP");
    const error = await failureOf(listenPrivately(openServer(), path));
    expect(error.code).toBe("socket_in_use");
    expect(lstatSync(path).isSocket()).toBe(true);
  });

  test("is never taken from one that closes what comes without a word", async () => {
    const path = join(createTempHome(), "a.sock");
    const mute = createServer();
    mute.on("connection", (socket) => socket.destroy());
    onTestFinished(() => {
      mute.close();
    });
    await listenPrivately(mute, path);
    const error = await failureOf(listenPrivately(openServer(), path));
    expect(error.code).toBe("socket_in_use");
    expect(lstatSync(path).isSocket()).toBe(true);
  });

  test("is waited for when its daemon was killed and the system has not put away its socket yet", async () => {
    const path = join(createTempHome(), "a.sock");
    const dying = await startServer(path);
    // Frozen, it takes connections and answers none, as one does whose end has begun.
    dying.kill("SIGSTOP");
    const server = openServer();
    const listening = listenPrivately(server, path);
    await setTimeout(100);
    dying.kill("SIGKILL");
    await listening;
    expect(server.listening).toBe(true);
  });

  test("is replaced when its daemon was killed", async () => {
    const path = join(createTempHome(), "a.sock");
    const killed = await startServer(path);
    killed.kill("SIGKILL");
    await once(killed, "exit");
    expect(lstatSync(path).isSocket()).toBe(true);
    const server = openServer();
    await listenPrivately(server, path);
    expect(server.listening).toBe(true);
  });
});

describe("socket activation", () => {
  test.each([
    [{ LISTEN_PID: "41", LISTEN_FDS: "1" }, 3],
    [{ LISTEN_PID: "40", LISTEN_FDS: "1" }, null],
    [{ LISTEN_PID: "41" }, null],
    [{}, null],
  ])("%j gives descriptor %j to process 41", (env, fd) => {
    expect(inheritedSocketFd(env, 41)).toBe(fd);
  });

  test.each([
    ["activityd.socket:activitywatch", 3, 4],
    ["activitywatch:activityd.socket", 4, 3],
    ["activitywatch", null, 3],
    ["activityd.socket", 3, null],
  ])("of %s the local API gets %j and the watchers %j", (names, api, watchers) => {
    const count = String(names.split(":").length);
    const env = { LISTEN_PID: "41", LISTEN_FDS: count, LISTEN_FDNAMES: names };
    expect(inheritedSocketFd(env, 41)).toBe(api);
    expect(inheritedSocketFd(env, 41, "activitywatch")).toBe(watchers);
  });
});
