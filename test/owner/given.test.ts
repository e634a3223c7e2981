import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { OwnerText } from "../../src/context/turn.ts";
import { ingressUntrusted } from "../../src/context/turn.ts";
import { openTurnMemory } from "../../src/gateway/turn-memory.ts";
import { silentLog } from "../../src/log.ts";
import { expireGiven } from "../../src/owner/given.ts";
import { resolvePaths } from "../../src/paths.ts";
import { openConversations } from "../../src/tui/conversations.ts";
import { createTempHome } from "../helpers/temp-home.ts";

function openAll() {
  const paths = resolvePaths({ ACTIVITYD_HOME: createTempHome() });
  const memory = openTurnMemory(paths.gatewayTurnsFile, silentLog);
  const conversations = openConversations(paths.chatFolder, paths.chatModelFolder);
  const say = (id: string, text: string, atUs: number): void => {
    const turn = { role: "user" as const, ownerText: owner(text), atUs };
    conversations.append(id, { ...turn, modelText: `block of ${atUs}\n${text}` });
  };
  return { paths, memory, conversations, say };
}

const owner = (text: string): OwnerText => ingressUntrusted(text).visible;

test("what was given before the oldest event left goes from the gateway's turns, which hears of it", () => {
  const { paths, memory } = openAll();
  memory.keep("old", "block of 10", 10);
  memory.keep("new", "block of 20", 20);
  expireGiven(paths, 15);
  expect([memory.recall("old"), memory.recall("new")?.injected]).toEqual([null, "block of 20"]);
  expect(readFileSync(paths.gatewayTurnsFile, "utf8")).not.toContain("block of 10");
  expireGiven(paths, 30);
  expect([existsSync(paths.gatewayTurnsFile), memory.recall("new")]).toEqual([false, null]);
});

test("and from the turns of a chat, whose words stay", () => {
  const { paths, conversations, say } = openAll();
  say("one", "first", 10);
  say("one", "second", 20);
  say("two", "only", 11);
  expireGiven(paths, 15);
  const told = ["one", "two"].flatMap((id) => conversations.read(id));
  expect(told.map(({ ownerText, modelText }) => [ownerText, modelText])).toEqual([
    ["first", null],
    ["second", "block of 20\nsecond"],
    ["only", null],
  ]);
  expect(existsSync(join(paths.chatModelFolder, "two.jsonl"))).toBe(false);
});

test("a line that is none goes too, and where nothing was given nothing happens", () => {
  const { paths, memory } = openAll();
  expireGiven(paths, 15);
  memory.keep("new", "block", 20);
  writeFileSync(paths.gatewayTurnsFile, `${readFileSync(paths.gatewayTurnsFile, "utf8")}["torn`);
  expireGiven(paths, 15);
  expect(readFileSync(paths.gatewayTurnsFile, "utf8")).toBe('["new",20,"block"]\n');
});
