import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyEdits, findValue, insertFirst } from "../../src/gateway/json-edit.ts";

function at(json: string, ...path: (string | number)[]): string | null {
  const span = findValue(json, path);
  return span === null ? null : json.slice(span.start, span.end);
}

describe("a value in a JSON text", () => {
  test.each<[string, (string | number)[], string | null]>([
    ['{"a":1,"b":[10,{"c":"x"}]}', ["b", 1, "c"], '"x"'],
    [' { "a" : [ 1 , 2 ] } ', ["a", 1], "2"],
    ['{"a":9007199254740993}', ["a"], "9007199254740993"],
    ['{"a":1,"a":2}', ["a"], "2"],
    ['{"\\u0061":true}', ["a"], "true"],
    ['{"a":"\\\\","b":"]}\\""}', ["b"], '"]}\\""'],
    ['{"a":[]}', ["a", 0], null],
    ['{"a":[1]}', ["a", 1], null],
    ["{}", ["a"], null],
    ["[]", ["a"], null],
    ['"text"', [0], null],
    ["null", [], "null"],
  ])("%j at %j is %j", (json, path, text) => {
    expect(at(json, ...path)).toBe(text);
  });

  test("is the one JSON.parse would find, however the text is written", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
        const json = JSON.stringify({ before: "x", value, after: [value] }, null, indent);
        expect(JSON.parse(at(json, "value") ?? "")).toEqual(JSON.parse(JSON.stringify(value)));
        expect(JSON.parse(at(json, "after", 0) ?? "")).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("is found in linear time and without recursion in a nest of a million", () => {
    const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000);
    expect(at(`{"a":${deep},"b":1}`, "b")).toBe("1");
  });
});

describe("an edit", () => {
  test("leaves every other byte as it was", () => {
    const json = '{"seed" : 9007199254740993,"content":"old", "x":1.0,"x":2}';
    const span = findValue(json, ["content"]);
    expect(span).not.toBeNull();
    if (span === null) return;
    expect(applyEdits(json, [{ span, text: '"new"' }])).toBe(
      '{"seed" : 9007199254740993,"content":"new", "x":1.0,"x":2}',
    );
  });

  test.each([
    ["[]", "[0]"],
    ["[ ]", "[0 ]"],
    ["[1]", "[0,1]"],
  ])("inserts before the first item of %j", (json, expected) => {
    const edit = insertFirst(json, { start: 0, end: json.length }, "0");
    expect(applyEdits(json, [edit])).toBe(expected);
  });

  test("among others is made where it was meant, in whatever order they are given", () => {
    const edits = [
      { span: { start: 3, end: 4 }, text: "C" },
      { span: { start: 1, end: 2 }, text: "AAA" },
    ];
    expect(applyEdits("[1,2]", edits)).toBe("[AAA,C]");
  });
});
