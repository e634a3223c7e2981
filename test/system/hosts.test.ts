/** Hosts that we did not write: the MCP library's own client, and a hook as Claude Code calls it. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { tokenBound } from "../../src/context/tokens.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";
import { openTestTerminal } from "./terminal-rig.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const TOOLS = [
  "current_activity",
  "list_events",
  "pause_recording",
  "recall_activity",
  "search_activity",
];

const open: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function openDaemon(): Promise<DaemonRig> {
  const daemon = openDaemonRig(createProcesses(), {});
  open.push(daemon);
  await daemon.start();
  await until("the state of the machine is recorded", async () =>
    (await daemon.run(["now"])).out.includes("- System: "),
  );
  return daemon;
}

async function openStdioClient(daemon: DaemonRig): Promise<Client> {
  const client = new Client({ name: "test host", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, "mcp"],
      env: { ACTIVITYD_HOME: daemon.home, PATH: process.env["PATH"] ?? "" },
    }),
  );
  open.push(client);
  return client;
}

it("whoever types activityd mcp by hand is told what waits there, and leaves it", async () => {
  // The shell goes on, as one that is typed in does.
  const around = (command: string): string => `trap : INT; ${command}`;
  const env = { ACTIVITYD_HOME: createTempHome() };
  const terminal = openTestTerminal(["mcp"], env, 120, 10, around);
  const screen = await until("it says so", () => /waits for a host.*HOST/s.exec(terminal.screen()));
  expect(screen[0]).toContain("activityd mcp install HOST");
  terminal.type("C-c");
  // The terminal says which key ended it.
  await until("it ended", () => terminal.screenWith("^Cended"));
});

describe("an MCP host", () => {
  it("over stdio finds five small tools and two resources, and gets the block", async () => {
    const client = await openStdioClient(await openDaemon());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS);
    expect(tokenBound(JSON.stringify(tools))).toBeLessThan(1_500);
    const result = await client.callTool({ name: "current_activity", arguments: {} });
    expect(result.structuredContent).toMatchObject({
      text: expect.stringContaining("# Device Activity (exact, real-time)\n- Now: "),
      truncated: false,
    });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["activity://now"]);
    const { contents } = await client.readResource({ uri: "activity://now" });
    expect(contents[0]).toMatchObject({ text: expect.stringContaining("# Device Activity") });
  });

  it("gets a digest, search results and events, and its use stands in the ledger", async () => {
    const daemon = await openDaemon();
    const client = await openStdioClient(daemon);
    const recalled = await client.callTool({
      name: "recall_activity",
      arguments: { question: "what was I doing with the penguin brochure?" },
    });
    expect(recalled.structuredContent).toMatchObject({
      text: expect.stringContaining("nothing recorded"),
    });
    const found = await client.callTool({
      name: "search_activity",
      arguments: { words: "penguin" },
    });
    expect(found.structuredContent).toMatchObject({ text: "Nothing was found." });
    const listed = await client.callTool({ name: "list_events", arguments: { since: "1h" } });
    expect(listed.isError).not.toBe(true);
    const { entries } = await daemon.api.ledger({});
    expect(entries.map(({ client: name }) => name)).toContain("test host");
  });

  it("is told what is wrong as an answer that the model can tell", async () => {
    const daemon = await openDaemon();
    const client = await openStdioClient(daemon);
    const wrong = await client.callTool({
      name: "list_events",
      arguments: { since: "yesterdayish" },
    });
    expect(wrong).toMatchObject({ isError: true });
    expect(JSON.stringify(wrong.content)).toContain("Cannot read since");
    const backwards = await client.callTool({
      name: "list_events",
      arguments: { since: "1h", until: "2h" },
    });
    expect(JSON.stringify(backwards.content)).toContain("since 1h, until 2h");
    await daemon.run(["stop"]);
    const { pid } = await daemon.api.status().catch(() => ({ pid: 0 }));
    if (pid !== 0) process.kill(pid, "SIGTERM");
    await until("the daemon is away", async () => (await daemon.run(["now"])).code === 3);
    const away = await client.callTool({ name: "current_activity", arguments: {} });
    expect(JSON.stringify(away.content)).toContain("activityd start");
  });

  it("pauses the recording when it is asked to", async () => {
    const daemon = await openDaemon();
    const client = await openStdioClient(daemon);
    await client.callTool({ name: "pause_recording", arguments: { minutes: 5 } });
    expect((await daemon.api.status()).paused).not.toBeNull();
  });

  it("never shortens a pause of its owner's", async () => {
    const daemon = await openDaemon();
    const client = await openStdioClient(daemon);
    const pause = (minutes: number) =>
      client.callTool({ name: "pause_recording", arguments: { minutes } });
    await daemon.api.pause({ minutes: 60 });
    const { paused } = await daemon.api.status();
    const kept = await pause(1);
    expect((await daemon.api.status()).paused).toEqual(paused);
    expect(kept.structuredContent).toMatchObject({
      text: "Recording was paused already, for longer than that; it stays so.",
    });
    await pause(120);
    expect((await daemon.api.status()).paused?.untilUs).toBeGreaterThan(paused?.untilUs ?? 0);
    await daemon.api.pause({});
    await pause(1);
    expect((await daemon.api.status()).paused?.untilUs).toBeNull();
  });

  it("that closes its end at once gets its answers all the same", async () => {
    const daemon = await openDaemon();
    const { code, out } = await daemon.run(
      ["mcp"],
      [
        {
          id: 1,
          method: "initialize",
          params: {
            protocolVersion: "2025-06-18",
            capabilities: {},
            clientInfo: { name: "pipe", version: "1" },
          },
        },
        { method: "notifications/initialized" },
        { id: 2, method: "tools/call", params: { name: "current_activity", arguments: {} } },
        { id: 3, method: "ping" },
      ]
        .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
        .join(""),
    );
    const answers = out
      .trimEnd()
      .split("\n")
      .map((line): { id: number } => JSON.parse(line));
    expect([code, new Set(answers.map(({ id }) => id))]).toEqual([0, new Set([1, 2, 3])]);
    expect(out).toContain("# Device Activity (exact, real-time)");
  });

  it("over HTTP needs the token and the exact host", async () => {
    const daemon = await openDaemon();
    const processes = createProcesses();
    open.push(processes);
    const server = processes.start(
      process.execPath,
      [MAIN, "mcp", "--http", "--port", "0", "--json"],
      {
        env: { ACTIVITYD_HOME: daemon.home },
        withOutput: true,
      },
    );
    let text = "";
    server.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    const { address, token } = await until("its address", () =>
      text.includes("\n") ? (JSON.parse(text) as { address: string; token: string }) : null,
    );
    const client = new Client({ name: "http host", version: "1" });
    const headers = { authorization: `Bearer ${token}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }),
    );
    open.push(client);
    expect((await client.listTools()).tools).toHaveLength(5);
    const ask = (given: Record<string, string>): Promise<Response> =>
      fetch(address, {
        method: "POST",
        headers: { "content-type": "application/json", ...given },
        body: "{}",
      });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ ...headers, origin: "https://evil.example" })).status).toBe(403);
    const rebound = await daemon.run(["version"]).then(() =>
      import("node:http").then(
        ({ request }) =>
          new Promise<number>((resolve, reject) => {
            const { port } = new URL(address);
            request(
              {
                port,
                host: "127.0.0.1",
                path: "/mcp",
                method: "POST",
                headers: { ...headers, host: "evil.example" },
              },
              (answer) => {
                answer.resume();
                resolve(answer.statusCode ?? 0);
              },
            )
              .once("error", reject)
              .end("{}");
          }),
      ),
    );
    expect(rebound).toBe(403);
  });
});

describe("a hook before each turn", () => {
  const ask = (daemon: DaemonRig, prompt: string) =>
    daemon.run(
      ["hook", "claude-code"],
      JSON.stringify({ prompt, session_id: "a", hook_event_name: "UserPromptSubmit" }),
    );

  it("gives the block for a question about what was done, and nothing for thanks", async () => {
    const daemon = await openDaemon();
    // Late is the same as nothing, by design: on a machine that is busy with other tests it is asked again.
    const asked = await until("an answer within the deadline", async () => {
      const result = await ask(daemon, "what did I have open with the penguin brochure?");
      expect(result).toMatchObject({ code: 0, talk: "" });
      return result.out === "" ? null : result;
    });
    expect(asked.out).toContain("# Device Activity (relevant, distilled by fast triage)\n");
    expect(asked.out.endsWith("\n---\n\n")).toBe(true);
    expect(await ask(daemon, "thanks, that was great")).toEqual({ code: 0, out: "", talk: "" });
  });

  it("reads input with a byte order mark, and a prompt of megabytes with the question behind it", async () => {
    const daemon = await openDaemon();
    const answered = (input: string) =>
      until("an answer within the deadline", async () => {
        const { out } = await daemon.run(["hook", "claude-code"], input);
        return out === "" ? null : out;
      });
    const question = "what did I have open with the penguin brochure?";
    const input = (prompt: string) => JSON.stringify({ prompt, session_id: "a" });
    expect(await answered(`\ufeff${input(question)}`)).toContain("# Device Activity");
    const paste = "lorem ipsum dolor sit amet ".repeat(60_000);
    expect(await answered(input(`${paste}\n${question}`))).toContain("# Device Activity");
  });

  it("says nothing and fails nothing when the daemon is away or the input is none of ours", async () => {
    const daemon = openDaemonRig(createProcesses(), {});
    open.push(daemon);
    expect(await ask(daemon, "what was I doing?")).toEqual({ code: 0, out: "", talk: "" });
    expect(await daemon.run(["hook", "claude-code"], "not json")).toEqual({
      code: 0,
      out: "",
      talk: "",
    });
    expect(await daemon.run(["hook", "claude-code"], "")).toEqual({ code: 0, out: "", talk: "" });
  });
});
