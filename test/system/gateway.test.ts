/** The gateway and the voice as their users start them: the built command, a real daemon, an unmodified client. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { VOICE_TURN_DIRECTIVE } from "../../src/gateway/voice-steering.ts";
import { readDocExamples } from "../helpers/doc-examples.ts";
import { filesBelow } from "../helpers/files-below.ts";
import { openUpstreamStub, streamText } from "../helpers/openai-upstream.ts";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses, type Processes } from "./processes.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

function openRig(): { rig: DaemonRig; processes: Processes } {
  const processes = createProcesses();
  // No display: windows cannot be seen, which the block says. That is enough of a block here.
  const rig = openDaemonRig(processes, {});
  onTestFinished(rig.close);
  return { rig, processes };
}

/** Starts `activityd gateway` in the rig's home and gives what it printed. */
async function startGateway(
  { rig, processes }: ReturnType<typeof openRig>,
  upstream: URL,
  given: Readonly<Record<string, string>> = {},
): Promise<{ address: string; token: string; talk: () => string }> {
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: rig.home,
    ACTIVITYD_HOME: rig.home,
    ...given,
  };
  const args = ["gateway", "--upstream", upstream.href, "--port", "0", "--form", "exact", "--json"];
  const child = processes.start(process.execPath, [MAIN, ...args], { env, withOutput: true });
  let talk = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (talk += text));
  const printed = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").once("data", resolve);
    child.once("exit", () => reject(new Error(`the gateway ended: ${talk}`)));
  });
  return { ...JSON.parse(printed), talk: () => talk };
}

describe("activityd gateway", () => {
  test("serves an unmodified client with the daemon, and without it", async () => {
    const started = openRig();
    const upstream = await openUpstreamStub(streamText("Good morning."));
    const { address, token, talk } = await startGateway(started, upstream.url);
    const client = new OpenAI({ baseURL: address, apiKey: token, maxRetries: 0 });
    const ask = async (content: string) => {
      const stream = await client.chat.completions.create({
        model: "m",
        messages: [{ role: "user", content }],
        stream: true,
      });
      let text = "";
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
      return text;
    };

    expect(await ask("first")).toBe("Good morning.");
    expect(await ask("second")).toBe("Good morning.");
    expect(upstream.seen[1]?.text).not.toContain("Device Activity");
    await until("it is told", () => talk().includes("daemon does not answer"));
    expect(talk().match(/daemon does not answer/g)).toHaveLength(1);

    await started.rig.start();
    expect(await ask("third")).toBe("Good morning.");
    expect(upstream.seen[2]?.text).toContain("# Device Activity (exact, real-time)\\n- Now: ");
  });

  test("takes a variable that is set to nothing for none, and a key without its line end", async () => {
    const started = openRig();
    const upstream = await openUpstreamStub(streamText("Good morning."));
    const { address, token } = await startGateway(started, upstream.url, {
      ACTIVITYD_GATEWAY_TOKEN: "",
      ACTIVITYD_UPSTREAM_KEY: "sk-upstream\n",
    });
    expect(token).toMatch(/^adg_/);
    const ask = (headers: Record<string, string>) => fetch(`${address}/models`, { headers });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ authorization: `Bearer ${token}` })).status).toBe(200);
    expect(upstream.seen.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer sk-upstream",
    ]);
  });

  test("leaves no sentence of the directive anywhere after a voice turn", async () => {
    const started = openRig();
    await started.rig.start();
    const upstream = await openUpstreamStub(streamText(`${VOICE_TURN_DIRECTIVE} Good morning.`));
    const { address, token } = await startGateway(started, upstream.url);
    const client = new OpenAI({ baseURL: address, apiKey: token, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "hello" }];
    const answer = await client.chat.completions.create({ model: "m+voice", messages });
    expect(answer.choices[0]?.message.content).toBe("Good morning.");
    expect(upstream.seen[0]?.text).toContain(VOICE_TURN_DIRECTIVE);
    const exported = await started.rig.run(["export"]);
    const ledger = await started.rig.run(["ledger"]);
    await started.processes.close();

    const sentences = VOICE_TURN_DIRECTIVE.split(/(?<=[.:]) /);
    for (const sentence of sentences) expect(exported.out + ledger.out).not.toContain(sentence);
    const files = filesBelow(started.rig.home);
    expect(files.length).toBeGreaterThan(3);
    for (const { path, bytes } of files) {
      const leaked = sentences.filter((sentence) => bytes.includes(sentence));
      expect({ path, leaked }).toEqual({ path, leaked: [] });
    }
  });
});

describe("the examples of docs/gateway.md", () => {
  const PAGE = new URL("../../docs/gateway.md", import.meta.url);

  test("do what the page shows", async () => {
    const started = openRig();
    const { home } = started.rig;
    const upstream = await openUpstreamStub(streamText("Good morning."));
    const { address, token } = await startGateway(started, upstream.url);
    const bin = join(home, "bin");
    mkdirSync(bin);
    writeFileSync(
      join(bin, "activityd"),
      `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`,
      {
        mode: 0o755,
      },
    );
    const env = {
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      HOME: home,
      ACTIVITYD_HOME: home,
      OPENAI_BASE_URL: address,
      OPENAI_API_KEY: token,
    };
    const examples = readDocExamples(PAGE);
    expect(examples.length).toBeGreaterThan(4);
    for (const { command, output } of examples) {
      const { stdout } = await promisify(execFile)("sh", ["-c", command], { env, cwd: home });
      // Bytes of a file end without the line end that stands on the page.
      expect({ command, stdout: stdout.trimEnd() }).toEqual({ command, stdout: output.trimEnd() });
    }
  });
});

describe("activityd speak", () => {
  test("makes sound of what comes on stdin", async () => {
    const { rig } = openRig();
    const one = join(rig.home, "one.wav");
    const three = join(rig.home, "three.wav");
    const short = await rig.run(["speak", "--out", one], "Good morning.\n");
    const long = await rig.run(["speak", "--out", three], "Good morning. It rains. Take a coat.\n");
    expect([short.code, long.code, short.talk]).toEqual([0, 0, ""]);
    const wav = readFileSync(one);
    expect(wav.subarray(0, 4).toString()).toBe("RIFF");
    expect(wav.readUInt32LE(4)).toBe(wav.byteLength - 8);
    expect(statSync(three).size).toBeGreaterThan(wav.byteLength * 1.5);
    expect(loudest(wav)).toBeGreaterThan(1_000);
  });

  test("does not say an echoed directive", async () => {
    const { rig } = openRig();
    const plain = join(rig.home, "plain.wav");
    const echoed = join(rig.home, "echoed.wav");
    await rig.run(["speak", "--out", plain], "Good morning.");
    await rig.run(["speak", "--out", echoed], `${VOICE_TURN_DIRECTIVE} Good morning.`);
    expect(statSync(echoed).size).toBe(statSync(plain).size);
    const nothing = await rig.run(["speak", "--out", echoed], VOICE_TURN_DIRECTIVE);
    expect(nothing.talk).toContain("nothing was said");
  });
});

/** The largest sample of a 16-bit WAV file. */
function loudest(wav: Buffer): number {
  let most = 0;
  for (let at = 44; at + 1 < wav.byteLength; at += 2)
    most = Math.max(most, Math.abs(wav.readInt16LE(at)));
  return most;
}
