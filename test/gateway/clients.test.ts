/** Clients that we did not write, through the gateway, against an upstream that streams in splinters. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, stepCountIs, streamText as streamWithAi, tool } from "ai";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { VOICE_TURN_DIRECTIVE } from "../../src/gateway/voice-steering.ts";
import { blockNumber, openGatewayRig, TOKEN, type GatewayRig } from "../helpers/gateway-rig.ts";
import {
  chatChunk,
  sendJson,
  sendSplinters,
  startStream,
  streamText,
  writeSplinters,
} from "../helpers/openai-upstream.ts";

const REPLY = "Grüß Gott 🎉 — čau, 你好.";
const QUESTION = "wie heißt das? 🎈";
const IMAGE = "data:image/png;base64,iVBORw0KGgo=";

/** What the clients have in common: a question, with an image or without, streamed or not, spoken or not. */
interface Asked {
  readonly text: string;
  readonly chunks: readonly string[];
}

interface Client {
  readonly ask: (rig: GatewayRig, options?: { voice?: boolean }) => Promise<string>;
  readonly stream: (rig: GatewayRig, options?: { voice?: boolean }) => Promise<Asked>;
  readonly askWithImage: (rig: GatewayRig) => Promise<string>;
}

const voiceHeaders = (voice: boolean | undefined): Record<string, string> =>
  voice === true ? { "activityd-turn": "voice" } : {};

const openai = ({ gateway }: GatewayRig) =>
  new OpenAI({ baseURL: gateway.address, apiKey: TOKEN, maxRetries: 0 });

const openaiClient: Client = {
  ask: async (rig, { voice } = {}) => {
    const completion = await openai(rig).chat.completions.create(
      { model: "m", messages: [{ role: "user", content: QUESTION }] },
      { headers: voiceHeaders(voice) },
    );
    return completion.choices[0]?.message.content ?? "";
  },
  stream: async (rig, { voice } = {}) => {
    const stream = await openai(rig).chat.completions.create(
      { model: "m", messages: [{ role: "user", content: QUESTION }], stream: true },
      { headers: voiceHeaders(voice) },
    );
    const chunks: string[] = [];
    for await (const chunk of stream) chunks.push(chunk.choices[0]?.delta.content ?? "");
    return { text: chunks.join(""), chunks };
  },
  askWithImage: async (rig) => {
    const content = [
      { type: "text" as const, text: QUESTION },
      { type: "image_url" as const, image_url: { url: IMAGE } },
    ];
    const completion = await openai(rig).chat.completions.create({
      model: "m",
      messages: [{ role: "user", content }],
    });
    return completion.choices[0]?.message.content ?? "";
  },
};

const aiModel = ({ gateway }: GatewayRig, voice?: boolean) =>
  createOpenAICompatible({
    name: "gateway",
    baseURL: gateway.address,
    apiKey: TOKEN,
    includeUsage: true,
    headers: voiceHeaders(voice),
  })("m");

const aiClient: Client = {
  ask: async (rig, { voice } = {}) =>
    (await generateText({ model: aiModel(rig, voice), prompt: QUESTION, maxRetries: 0 })).text,
  stream: async (rig, { voice } = {}) => {
    const chunks: string[] = [];
    const { textStream } = streamWithAi({
      model: aiModel(rig, voice),
      prompt: QUESTION,
      maxRetries: 0,
    });
    for await (const chunk of textStream) chunks.push(chunk);
    return { text: chunks.join(""), chunks };
  },
  askWithImage: async (rig) => {
    const { text } = await generateText({
      model: aiModel(rig),
      maxRetries: 0,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: QUESTION },
            { type: "image", image: IMAGE },
          ],
        },
      ],
    });
    return text;
  },
};

const langchain = ({ gateway }: GatewayRig, voice?: boolean) =>
  new ChatOpenAI({
    model: "m",
    apiKey: TOKEN,
    maxRetries: 0,
    configuration: { baseURL: gateway.address, defaultHeaders: voiceHeaders(voice) },
  });

const langchainClient: Client = {
  ask: async (rig, { voice } = {}) => (await langchain(rig, voice).invoke(QUESTION)).text,
  stream: async (rig, { voice } = {}) => {
    const chunks: string[] = [];
    for await (const chunk of await langchain(rig, voice).stream(QUESTION)) chunks.push(chunk.text);
    return { text: chunks.join(""), chunks };
  },
  askWithImage: async (rig) => {
    const content = [
      { type: "text", text: QUESTION },
      { type: "image_url", image_url: { url: IMAGE } },
    ];
    return (await langchain(rig).invoke([{ role: "user", content }])).text;
  },
};

describe.each<[string, Client]>([
  ["the openai client", openaiClient],
  ["the Vercel AI SDK", aiClient],
  ["LangChain.js", langchainClient],
])("%s", (_name, client) => {
  test("gets its answer whole, and the upstream the composed turn", async () => {
    const rig = await openGatewayRig();
    rig.upstream.answerWith(streamText(REPLY));
    expect(await client.ask(rig)).toBe(REPLY);
    expect(JSON.stringify(rig.upstream.seen[0]?.body)).toContain(
      JSON.stringify(`${blockNumber(1)}${QUESTION}`).slice(1, -1),
    );
  });

  test("gets its answer as a stream, in the pieces the model gave", async () => {
    const rig = await openGatewayRig();
    rig.upstream.answerWith(streamText(REPLY));
    const { text, chunks } = await client.stream(rig);
    expect(text).toBe(REPLY);
    expect(chunks.length).toBeGreaterThan(3);
  });

  test("sends its image on", async () => {
    const rig = await openGatewayRig();
    rig.upstream.answerWith(streamText(REPLY));
    expect(await client.askWithImage(rig)).toBe(REPLY);
    const body = JSON.stringify(rig.upstream.seen[0]?.body);
    expect(body).toContain(IMAGE);
    expect(body).toContain("Device Activity");
  });

  test("of a voice turn sees no word of the directive, streamed or not", async () => {
    const rig = await openGatewayRig();
    rig.upstream.answerWith(streamText(`${VOICE_TURN_DIRECTIVE}\n\n${REPLY}`));
    expect(await client.ask(rig, { voice: true })).toBe(REPLY);
    const { text, chunks } = await client.stream(rig, { voice: true });
    expect(text).toBe(REPLY);
    expect(chunks.join("")).not.toContain("owner hears");
    expect(JSON.stringify(rig.upstream.seen[0]?.body)).toContain(VOICE_TURN_DIRECTIVE);
  });

  test("gets its answers without a daemon as well", async () => {
    const rig = await openGatewayRig();
    rig.daemon.setAway(true);
    rig.upstream.answerWith(streamText(REPLY));
    expect(await client.ask(rig)).toBe(REPLY);
    expect((await client.stream(rig)).text).toBe(REPLY);
  });

  test("is told of a busy upstream", async () => {
    const rig = await openGatewayRig();
    const busy = { error: { message: "slow down", type: "rate_limit", param: null, code: "busy" } };
    rig.upstream.answerWith((_request, response) =>
      sendJson(response, 429, busy, { "retry-after": "0" }),
    );
    await expect(client.ask(rig)).rejects.toMatchObject({
      message: expect.stringContaining("slow down"),
    });
  });

  test("is told of a wrong token", async () => {
    const rig = await openGatewayRig({ token: "another" });
    await expect(client.ask(rig)).rejects.toMatchObject({
      message: expect.stringContaining("The token is wrong."),
    });
  });
});

describe("an error in the middle of a stream", () => {
  const failing = (fault: string) => async (rig: GatewayRig) => {
    rig.upstream.answerWith(async (_request, response) => {
      startStream(response);
      await writeSplinters(response, chatChunk({ content: "Hello" }) + fault);
      if (fault === "") response.destroy();
      else response.end();
    });
    return rig;
  };
  const overloaded = `data: ${JSON.stringify({ error: { message: "overloaded", type: "server_error", param: null, code: null } })}\n\n`;

  test("reaches the openai client as an error", async () => {
    const rig = await failing(overloaded)(await openGatewayRig());
    await expect(openaiClient.stream(rig)).rejects.toThrow(/overloaded/);
  });

  test("reaches the AI SDK as an error part", async () => {
    const rig = await failing(overloaded)(await openGatewayRig());
    const kinds: string[] = [];
    const { fullStream } = streamWithAi({
      model: aiModel(rig),
      prompt: QUESTION,
      maxRetries: 0,
      onError: () => {},
    });
    for await (const part of fullStream) kinds.push(part.type);
    expect(kinds).toContain("error");
  });

  test("that the upstream had no time for reaches the client as one too", async () => {
    const rig = await failing("")(await openGatewayRig());
    await expect(openaiClient.stream(rig)).rejects.toThrow(/broke off|terminated/);
    await expect(langchainClient.stream(rig)).rejects.toThrow(/broke off|terminated/);
  });
});

describe("a tool call", () => {
  const callChunks =
    chatChunk({
      role: "assistant",
      tool_calls: [
        { index: 0, id: "t1", type: "function", function: { name: "weather", arguments: "" } },
      ],
    }) +
    ['{"ci', 'ty":"Kö', 'ln"}']
      .map((part) => chatChunk({ tool_calls: [{ index: 0, function: { arguments: part } }] }))
      .join("") +
    chatChunk({}, "tool_calls") +
    "data: [DONE]\n\n";

  test("and its result make one turn with one block for the AI SDK", async () => {
    const rig = await openGatewayRig();
    rig.upstream.answerWith((request, response) =>
      JSON.stringify(request.body).includes('"role":"tool"')
        ? sendSplinters(
            response,
            chatChunk({ content: "Rain." }) + chatChunk({}, "stop") + "data: [DONE]\n\n",
          )
        : sendSplinters(response, callChunks),
    );
    const cities: string[] = [];
    const { text } = streamWithAi({
      model: aiModel(rig),
      prompt: QUESTION,
      stopWhen: stepCountIs(3),
      tools: {
        weather: tool({
          description: "Weather",
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }) => {
            cities.push(city);
            return "rain";
          },
        }),
      },
    });
    expect(await text).toBe("Rain.");
    expect(cities).toEqual(["Köln"]);
    expect(rig.daemon.asked).toHaveLength(1);
    const turns = rig.upstream.seen.map((request) =>
      JSON.stringify(request.body).match(/number \d/g),
    );
    expect(turns).toEqual([["number 1"], ["number 1"]]);
  });

  test("streams to the openai client with its arguments in order", async () => {
    const rig = await openGatewayRig();
    rig.upstream.answerWith((_request, response) => sendSplinters(response, callChunks));
    const stream = await openai(rig).chat.completions.create({
      model: "m",
      messages: [{ role: "user", content: QUESTION }],
      stream: true,
    });
    let given = "";
    for await (const chunk of stream) {
      given += chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? "";
    }
    expect(given).toBe('{"city":"Köln"}');
  });
});

describe("the responses API of the openai client", () => {
  test("gets its text, without the echo of a voice turn", async () => {
    const rig = await openGatewayRig();
    const whole = `${VOICE_TURN_DIRECTIVE} ${REPLY}`;
    const item = {
      id: "m1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: whole, annotations: [] }],
    };
    const at = { item_id: "m1", output_index: 0, content_index: 0 };
    const base = { id: "r1", object: "response", created_at: 1, model: "m", status: "completed" };
    const events = [
      { type: "response.created", response: { ...base, output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      {
        type: "response.content_part.added",
        ...at,
        part: { type: "output_text", text: "", annotations: [] },
      },
      ...(whole.match(/[\s\S]{1,9}/gu) ?? []).map((delta) => ({
        type: "response.output_text.delta",
        ...at,
        delta,
      })),
      { type: "response.output_text.done", ...at, text: whole },
      { type: "response.content_part.done", ...at, part: item.content[0] },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { ...base, output: [item] } },
    ];
    rig.upstream.answerWith((request, response) =>
      JSON.stringify(request.body).includes('"stream":true')
        ? sendSplinters(
            response,
            events
              .map(
                (data, index) =>
                  `event: ${data.type}\ndata: ${JSON.stringify({ ...data, sequence_number: index })}\n\n`,
              )
              .join(""),
          )
        : sendJson(response, 200, { ...base, output: [item] }),
    );
    const client = openai(rig);
    const answer = await client.responses.create({ model: "m+voice", input: QUESTION });
    expect(answer.output_text).toBe(REPLY);
    const stream = client.responses.stream({ model: "m+voice", input: QUESTION });
    let text = "";
    for await (const event of stream)
      if (event.type === "response.output_text.delta") text += event.delta;
    expect(text).toBe(REPLY);
    expect((await stream.finalResponse()).output_text).toBe(REPLY);
  });
});
