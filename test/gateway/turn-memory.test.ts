import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openTurnMemory } from "../../src/gateway/turn-memory.ts";
import { silentLog } from "../../src/log.ts";
import { createTempHome } from "../helpers/temp-home.ts";

function openFile() {
  const path = join(createTempHome(), "gateway", "turns.jsonl");
  return { path, open: () => openTurnMemory(path, silentLog) };
}

describe("what was put before a turn", () => {
  test("is known again after a restart, and that it was nothing too", () => {
    const { path, open } = openFile();
    const before = open();
    before.keep("a", "# block\n---\n\n", 1);
    before.keep("b", "", 2);
    const after = open();
    expect(after.recall("a")).toEqual({ injected: "# block\n---\n\n", atUs: 1 });
    expect(after.recall("b")).toEqual({ injected: "", atUs: 2 });
    expect(after.recall("c")).toBeNull();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("survives a line that a crash tore, and lines that are none", () => {
    const { path, open } = openFile();
    open().keep("a", "x", 1);
    appendFileSync(path, 'null\n["b",2]\n["c",3,"y"]\n["d",4,"z');
    const memory = open();
    expect([memory.recall("a"), memory.recall("c"), memory.recall("d")]).toEqual([
      { injected: "x", atUs: 1 },
      { injected: "y", atUs: 3 },
      null,
    ]);
  });

  test("is forgotten when the file is removed, while the gateway runs", () => {
    const { path, open } = openFile();
    const memory = open();
    memory.keep("a", "x", 1);
    rmSync(path);
    expect(memory.recall("a")).toBeNull();
    memory.keep("b", "y", 2);
    expect(open().recall("a")).toBeNull();
    expect(open().recall("b")).not.toBeNull();
  });

  test("of two gateways on one file is not lost to either", () => {
    const { open } = openFile();
    const one = open();
    one.keep("a", "x", 1);
    const two = open();
    two.keep("b", "y", 2);
    one.keep("c", "z", 3);
    expect(one.recall("a")).not.toBeNull();
    const later = open();
    expect(["a", "b", "c"].map((key) => later.recall(key)?.injected)).toEqual(["x", "y", "z"]);
  });

  test("of two gateways that both start without a file is not lost to either", () => {
    const { open } = openFile();
    const [one, two] = [open(), open()];
    one.keep("a", "x", 1);
    two.keep("b", "y", 2);
    one.keep("c", "z", 3);
    const later = open();
    expect(["a", "b", "c"].map((key) => later.recall(key)?.injected)).toEqual(["x", "y", "z"]);
  });

  test("is forgotten by both gateways when one of them has begun a new file already", () => {
    // On a disk: there a new file gets the number of the one that was removed, in memory it never does.
    const folder = mkdtempSync(join(existsSync("/var/tmp") ? "/var/tmp" : tmpdir(), "activityd-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "turns.jsonl");
    const [one, two] = [openTurnMemory(path, silentLog), openTurnMemory(path, silentLog)];
    for (let round = 1; round <= 20; round += 1) {
      one.keep(`old ${round}`, "x", 1);
      expect(two.recall(`old ${round}`)).not.toBeNull();
      rmSync(path);
      one.keep(`new ${round}`, "y", 2);
      expect([one.recall(`old ${round}`), two.recall(`old ${round}`)]).toEqual([null, null]);
      rmSync(path);
      expect(two.recall(`new ${round}`)).toBeNull();
    }
  });

  test("stays bounded, and the oldest goes first", () => {
    const { path, open } = openFile();
    const memory = open();
    for (let turn = 0; turn < 9_000; turn += 1) memory.keep(`k${turn}`, "x".repeat(100), turn);
    expect(memory.recall("k0")).toBeNull();
    expect(memory.recall("k8999")).not.toBeNull();
    memory.keep("large", "y".repeat(1_990_000), 1);
    expect(memory.recall("k8000")).toBeNull();
    expect(readFileSync(path, "utf8").split("\n").length).toBeLessThan(8_100);
  });

  test.each([
    ["many", 9_000, "x"],
    ["long", 9_000, "x".repeat(1_000)],
  ])("is kept while its conversation goes on, however %s others are", (_how, count, injected) => {
    const { path, open } = openFile();
    const memory = open();
    memory.keep("first", "# block\n---\n\n", 7);
    const lost: number[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      memory.keep(`other ${turn}`, injected, turn);
      if (turn % 100 === 0 && memory.recall("first") === null) lost.push(turn);
    }
    expect(lost).toEqual([]);
    expect(memory.recall("other 0")).toBeNull();
    expect(open().recall("first")).toEqual({ injected: "# block\n---\n\n", atUs: 7 });
    expect(statSync(path).size).toBeLessThan(5_000_000);
  });

  test("that cannot be kept on disk is kept in memory, and said", () => {
    const path = join(createTempHome(), "turns.jsonl");
    mkdirSync(path);
    writeFileSync(join(path, "x"), "");
    const said: string[] = [];
    const warn = (message: string) => void said.push(message);
    const memory = openTurnMemory(path, { ...silentLog, warn });
    memory.keep("a", "x", 1);
    expect(memory.recall("a")).toEqual({ injected: "x", atUs: 1 });
    expect(said[0]).toContain("cannot be kept on disk");
  });
});
