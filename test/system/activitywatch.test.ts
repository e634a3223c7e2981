/** Watchers that we did not write, and windows that their tabs tell of, against a real daemon. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../helpers/free-port.ts";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";
import { openXRig } from "./x-rig.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const open: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

/** A daemon that serves the watchers, and how to ask it. */
async function openServer(env: Readonly<Record<string, string>> = {}, port = 0) {
  const number = port === 0 ? await freePort() : port;
  const daemon = openDaemonRig(
    createProcesses(),
    env,
    `[activitywatch]\nenabled = true\ntesting = true\nport = ${number}\n`,
  );
  open.push(daemon);
  await daemon.start();
  // The port for the watchers opens a moment after the socket.
  await until("the watchers' port", () =>
    fetch(`http://127.0.0.1:${number}/api/0/info`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${number}/api/0${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return text === "" ? null : JSON.parse(text);
  };
  const beat = (bucket: string, data: object): Promise<unknown> =>
    ask("POST", `/buckets/${bucket}/heartbeat?pulsetime=80`, {
      timestamp: new Date().toISOString(),
      duration: 0,
      data,
    });
  return { daemon, ask, beat };
}

async function textOfNow(daemon: DaemonRig): Promise<string> {
  return (await daemon.run(["now"])).out;
}

describe("clients that we did not write", () => {
  it("aw-client's own tests pass", async () => {
    await openServer({}, 5666);
    const { status, stdout, stderr } = spawnSync(
      "npx",
      ["mocha", "node_modules/aw-client/out/test/test.js"],
      {
        cwd: ROOT,
        encoding: "utf8",
      },
    );
    expect(stdout + stderr).toContain("8 passing");
    expect(status).toBe(0);
  });
});

describe("a tab", () => {
  it("gives its window the page, and a private one hides the window", async () => {
    const x = await openXRig();
    open.push(x);
    await x.startWindowManager("openbox");
    const { daemon, ask, beat } = await openServer(x.env);
    const client = await x.openClient();
    const window = await client.open({
      title: "Recipe for bread — Mozilla Firefox",
      app: "firefox",
    });
    await client.activate(window);
    await until("the window is seen", async () =>
      (await textOfNow(daemon)).includes("Recipe for bread"),
    );
    await ask("POST", "/buckets/aw-watcher-web-firefox", {
      client: "aw-client-web",
      type: "web.tab.current",
      hostname: "h",
    });
    await beat("aw-watcher-web-firefox", {
      url: "https://bread.example/rye?token=abc#top",
      title: "Recipe for bread",
      audible: false,
      incognito: false,
      tabCount: 3,
    });
    const block = await until("the page stands with the window", async () => {
      const text = await textOfNow(daemon);
      return text.includes("bread.example/rye") ? text : null;
    });
    expect(block).not.toContain("token");
    await beat("aw-watcher-web-firefox", {
      url: "https://secret.example/",
      title: "Secret",
      audible: false,
      incognito: true,
      tabCount: 1,
    });
    await client.setTitle(window, "Secret — Mozilla Firefox");
    await until("the window is hidden", async () =>
      (await textOfNow(daemon)).includes("withheld by a privacy rule"),
    );
    const { events } = await daemon.api.events({ fromUs: 0 });
    expect(JSON.stringify(events)).not.toContain("ecret");
    expect(JSON.stringify(await ask("GET", "/export"))).not.toContain("ecret");
    client.close();
  });
});

describe("an editor", () => {
  it("is told in the block with file and project, and what it does not know is left out", async () => {
    const { daemon, ask, beat } = await openServer();
    await ask("POST", "/buckets/aw-watcher-vscode_h", {
      client: "aw-watcher-vscode",
      type: "app.editor.activity",
      hostname: "h",
    });
    await beat("aw-watcher-vscode_h", {
      file: "/src/shop/cart.ts",
      project: "/src/shop",
      language: "typescript",
      branch: "unknown",
    });
    expect(await textOfNow(daemon)).toContain('- Editing: vscode: "cart.ts" in "shop"\n');
  });
});

describe("watchers where nothing of our own can see", () => {
  it("tell the window, the player and presence; what a rule withholds of them stays withheld", async () => {
    const { daemon, ask, beat } = await openServer();
    for (const [bucket, type] of [
      ["aw-watcher-window_h", "currentwindow"],
      ["aw-watcher-media-player_h", "currently-playing"],
      ["aw-watcher-afk_h", "afkstatus"],
    ]) {
      await ask("POST", `/buckets/${bucket}`, { client: "c", type, hostname: "h" });
    }
    await beat("aw-watcher-afk_h", { status: "not-afk" });
    await beat("aw-watcher-window_h", { app: "gedit", title: "notes.txt" });
    await beat("aw-watcher-media-player_h", { player: "mpv", title: "Song", artist: "Band" });
    const text = await until("both are told", async () => {
      const now = await textOfNow(daemon);
      return now.includes("notes.txt") && now.includes("Song") ? now : null;
    });
    expect(text).toContain("gedit");
    await beat("aw-watcher-window_h", { app: "KeePassXC", title: "Secret.kdbx" });
    await until("the window before is told no more as in front", async () =>
      (await textOfNow(daemon)).includes("withheld by a privacy rule"),
    );
    await beat("aw-watcher-window_h", { app: "gedit", title: "other.txt" });
    const later = await until("the next is told", async () => {
      const now = await textOfNow(daemon);
      return now.includes("other.txt") ? now : null;
    });
    expect(later).not.toContain("Secret");
  });
});

describe("histories", () => {
  it("imported twice give the same counts, and a file's ids overwrite nothing", async () => {
    const { ask } = await openServer();
    await ask("POST", "/buckets/mine", { client: "c", type: "test", hostname: "h" });
    await ask("POST", "/buckets/mine/events", [
      { timestamp: "2026-01-01T00:00:00Z", duration: 1, data: { mine: true } },
    ]);
    const file = {
      buckets: {
        other: {
          id: "other",
          type: "test",
          client: "c",
          hostname: "h",
          events: [
            { id: 1, timestamp: "2026-01-02T00:00:00Z", duration: 5, data: { n: 1 } },
            { timestamp: "broken" },
          ],
        },
      },
    };
    expect(await ask("POST", "/import", file)).toEqual({ added: 1, repeated: 0, skipped: 1 });
    expect(await ask("POST", "/import", file)).toEqual({ added: 0, repeated: 1, skipped: 1 });
    expect(await ask("GET", "/buckets/mine/events")).toMatchObject([{ data: { mine: true } }]);
  });
});

/** Holds the port as a service manager does, and starts and stops a daemon on it at a word. */
const HOLDER = `
import os, signal, socket, sys
held = socket.socket()
held.bind(("127.0.0.1", int(sys.argv[1])))
held.listen(512)
os.dup2(held.fileno(), 3)
os.set_inheritable(3, True)
print("held", flush=True)
pid = 0
for word in sys.stdin:
    if word.strip() == "start":
        pid = os.fork()
        if pid == 0:
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="activitywatch")
            os.execvp(sys.argv[2], sys.argv[2:])
    else:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        print("stopped", flush=True)
`;

describe("a restart", () => {
  it("loses no heartbeat where the service manager holds the port", async () => {
    const port = await freePort();
    const processes = createProcesses();
    const daemon = openDaemonRig(
      processes,
      {},
      `[activitywatch]\nenabled = true\nport = ${port}\n`,
    );
    open.push(daemon);
    const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
    const holder = spawn("python3", ["-c", HOLDER, String(port), process.execPath, main, "start"], {
      env: { ...process.env, ACTIVITYD_HOME: daemon.home },
      stdio: ["pipe", "pipe", "ignore"],
    });
    const ended = once(holder, "exit");
    const send = async (n: number): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/0/buckets/b/heartbeat?pulsetime=0`, {
        method: "POST",
        headers: { "content-type": "application/json", connection: "close" },
        body: JSON.stringify({ timestamp: new Date().toISOString(), duration: 0, data: { n } }),
      });
      await answer.text();
      return answer.status;
    };
    try {
      await once(holder.stdout, "data");
      holder.stdin.write("start\n");
      await fetch(`http://127.0.0.1:${port}/api/0/buckets/b`, {
        method: "POST",
        body: JSON.stringify({ client: "c", type: "test", hostname: "h" }),
      });
      const over = new AbortController();
      const statuses: Promise<number>[] = [];
      const sending = (async () => {
        for (let n = 0; !over.signal.aborted; n += 1) {
          statuses.push(send(n));
          await new Promise((resolve) => {
            setTimeout(resolve, 5);
          });
        }
      })();
      for (let turn = 0; turn < 2; turn += 1) {
        await until("some heartbeats were sent", () => statuses.length > 20 * (turn + 1));
        holder.stdin.write("stop\n");
        await once(holder.stdout, "data");
        holder.stdin.write("start\n");
      }
      const before = statuses.length;
      await until("heartbeats go on", () => statuses.length > before + 20);
      over.abort();
      await sending;
      const answered = await Promise.all(statuses);
      expect(new Set(answered)).toEqual(new Set([200]));
      const count = await fetch(`http://127.0.0.1:${port}/api/0/buckets/b/events/count`);
      expect(await count.json()).toBe(answered.length);
    } finally {
      holder.stdin.write("stop\n");
      holder.stdin.end();
      await ended;
    }
  });
});

describe("the port", () => {
  it("that somebody holds is named before anything is changed", async () => {
    const { daemon } = await openServer();
    const port =
      /port = (\d+)/.exec(
        execFileSync("cat", [`${daemon.home}/config.toml`], { encoding: "utf8" }),
      )?.[1] ?? "";
    const other = openDaemonRig(
      createProcesses(),
      {},
      `[activitywatch]\nenabled = true\ntesting = true\nport = ${port}\n`,
    );
    open.push(other);
    const started = await other.run(["start"]);
    expect(started.code).toBe(1);
    expect(started.talk).toContain(`Port ${port} of this machine is taken`);
  });

  it("answers a query that never ends with an error, and heartbeats meanwhile", async () => {
    const { daemon, ask, beat } = await openServer();
    await ask("POST", "/buckets/b", { client: "c", type: "test", hostname: "h" });
    await beat("b", { title: `${"a".repeat(40)}!` });
    const slow = ask("POST", "/query", {
      query: ['RETURN = filter_keyvals_regex(query_bucket("b"), "title", "^(a+)+$");'],
      timeperiods: ["2020-01-01T00:00:00Z/2100-01-01T00:00:00Z"],
    });
    const startedAt = performance.now();
    await beat("b", { title: "quick" });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    // The thread of the query leaves the processor to all others of the daemon.
    const { pid } = await daemon.api.status();
    await until("a thread stands back", () => niceThreads(pid) > 0);
    expect(await slow).toMatchObject({ message: expect.stringContaining("did not end within") });
  });
});

/** How many threads of a process have a lower priority than usual; field 19 of proc_pid_stat(5). */
function niceThreads(pid: number): number {
  const niceness = readdirSync(`/proc/${pid}/task`).map((thread) => {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
    } catch {
      // It ended since it was listed.
      return 0;
    }
  });
  return niceness.filter((each) => each > 0).length;
}
