/** The commands between an assistant and its model: `gateway` and `speak`. */
import { dirname } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { ContextForm } from "../../api.ts";
import { systemClock } from "../../clock.ts";
import { ActivityError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { optionOf } from "../command-tree.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";
import { parseWebAddress } from "../typed-values.ts";

/** The port clients find the gateway on, start after start. */
const DEFAULT_PORT = 7117;

const FORMS: readonly ContextForm[] = ["exact", "digest", "auto"];

interface GatewayFlags {
  readonly upstream: string;
  readonly port: string;
  readonly form: string;
  readonly off: readonly string[];
  readonly allowOrigin: readonly string[];
  readonly upstreamKeyEnv: string;
  readonly json?: boolean;
}

export const registerGatewayCommands: RegisterCommands = (program, io, finish) => {
  program
    .command("gateway")
    .description("give the block to any client that speaks the OpenAI protocol, until interrupted")
    .requiredOption(
      "--upstream <url>",
      "the address of the model, such as http://127.0.0.1:11434/v1",
    )
    .option("--port <number>", "the port on 127.0.0.1 (0: any that is free)", String(DEFAULT_PORT))
    .addOption(optionOf("--form <form>", "which block turns get", FORMS).default("auto"))
    .option(
      "--off <client>",
      "leave this client's requests as they are (may be repeated)",
      collect,
      [],
    )
    .option("--allow-origin <origin>", "let this page or program in (may be repeated)", collect, [])
    .option(
      "--upstream-key-env <name>",
      "the environment variable with the upstream's key",
      "ACTIVITYD_UPSTREAM_KEY",
    )
    .option("--json", "print address and token as JSON")
    .action((flags: GatewayFlags) => finish(runGateway(io, flags)));
  program
    .command("speak")
    .description(
      "read stdin aloud, sentence by sentence; an echo of the voice directive is left out",
    )
    .option("--out <file>", "speak into a WAV file instead of the room")
    .option("--voice <name>", "a voice of the system's speech program")
    .action((flags: { out?: string; voice?: string }) => finish(runSpeak(io, flags)));
};

function collect(value: string, values: readonly string[]): readonly string[] {
  return [...values, value];
}

async function runGateway(io: CliIo, flags: GatewayFlags): Promise<ExitCode> {
  const upstream = parseUpstream(flags.upstream);
  const port = parsePort(flags.port);
  const form = parseForm(flags.form);
  // Many small pieces pass through and none stays: the young generation need not grow for them.
  setFlagsFromString("--semi-space-growth-factor=1");
  const [{ openGateway }, { openTurnMemory }, { readOrMakeToken }, { connectActivity }] =
    await Promise.all([
      import("../../gateway/openai-http.ts"),
      import("../../gateway/turn-memory.ts"),
      import("../../gateway/access.ts"),
      import("../../local-api/client.ts"),
    ]);
  const { gatewayTurnsFile, socketPath } = io.paths();
  const tokenFile = `${dirname(gatewayTurnsFile)}/token`;
  const log = logTo(io);
  const token = secretIn(io.env, "ACTIVITYD_GATEWAY_TOKEN") ?? readOrMakeToken(tokenFile);
  const turns = connectActivity({ socketPath, onVersionSkew: log.warn });
  const gateway = await openGateway({
    upstream,
    upstreamKey: secretIn(io.env, flags.upstreamKeyEnv),
    turns,
    memory: openTurnMemory(gatewayTurnsFile, log),
    token,
    port,
    form,
    offClients: flags.off,
    allowedOrigins: flags.allowOrigin,
    clock: systemClock,
    log,
  });
  const { address } = gateway;
  io.out(
    flags.json === true
      ? `${JSON.stringify({ address, port: Number(new URL(address).port), token })}\n`
      : `OPENAI_BASE_URL=${address}\nOPENAI_API_KEY=${token}\n`,
  );
  await untilInterrupted();
  await gateway.close();
  await turns.close();
  return 0;
}

async function runSpeak(
  io: CliIo,
  flags: { readonly out?: string; readonly voice?: string },
): Promise<ExitCode> {
  const [{ createSentenceSplitter, openSpeaker, toSpokenText }, { makeLeakStripper }] =
    await Promise.all([
      import("../../gateway/speech.ts"),
      import("../../gateway/voice-steering.ts"),
    ]);
  const speaker = openSpeaker({
    platform: process.platform,
    env: io.env,
    outFile: flags.out ?? null,
    voice: flags.voice ?? null,
  });
  const stripper = makeLeakStripper();
  const splitter = createSentenceSplitter();
  const sayAll = async (sentences: readonly string[]): Promise<void> => {
    for (const sentence of sentences) {
      const text = toSpokenText(sentence);
      if (text !== "") await speaker.say(text);
    }
  };
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin)
    await sayAll(splitter.push(stripper.push(String(chunk))));
  await sayAll(splitter.push(stripper.flush()));
  await sayAll(splitter.flush());
  speaker.close();
  if (stripper.empty) {
    io.talk(
      stripper.removed
        ? "activityd: nothing was said: the reply was nothing but the directive. Ask again."
        : "activityd: nothing was said: there was no text.",
    );
  }
  return 0;
}

/** A variable that is set to nothing is none, and the line end of the file that it came from is no part of a key. */
function secretIn(env: CliIo["env"], name: string): string | null {
  return env[name]?.trim() || null;
}

function parseUpstream(text: string): URL {
  return parseWebAddress(
    text,
    "The upstream",
    "Name the address of the model, such as --upstream http://127.0.0.1:11434/v1",
  );
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new ActivityError(
    "bad_request",
    `The port ${JSON.stringify(text)} is no number from 0 to 65535.`,
    `Leave --port out for ${DEFAULT_PORT}.`,
  );
}

function parseForm(text: string): ContextForm {
  const form = FORMS.find((one) => one === text);
  if (form !== undefined) return form;
  throw new ActivityError(
    "bad_request",
    `There is no form ${JSON.stringify(text)}.`,
    `Use one of: ${FORMS.join(", ")}.`,
  );
}

function logTo(io: CliIo): Log {
  const say = (message: string, fields?: object): void =>
    io.talk(fields === undefined ? message : `${message} ${JSON.stringify(fields)}`);
  return { info: say, warn: say, error: say };
}

function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => resolve());
  });
}
