import { describe, expect, it, test } from "vitest";
import { integer, text, z } from "../src/shapes.ts";

/** What is said of the first thing that does not fit. */
function said(shape: z.ZodMiniType, value: unknown): string | undefined {
  return shape.safeParse(value).error?.issues[0]?.message;
}

describe("what does not fit is told in words", () => {
  test.each([
    ["nothing where something must be", text(0, 9), undefined, "it is missing"],
    ["a number for a text", text(0, 9), 5, "expected a text, not a number"],
    ["null for a list", z.array(z.string()), null, "expected a list, not null"],
    ["a list for an object", z.object({}), [], "expected an object, not a list"],
    ["an object for a yes or no", z.boolean(), {}, "expected true or false, not an object"],
    ["a broken number for a whole one", integer(0), 1.5, "expected a whole number"],
    ["an empty text", text(1, 9), "", "it is empty"],
    ["a text that is too short", text(3, 9), "ab", "shorter than 3 characters"],
    ["a text that is too long", text(0, 3), "abcd", "longer than 3 characters"],
    ["a number below its bound", integer(10, 20), 9, "below 10"],
    ["a number above its bound", integer(10, 20), 21, "above 20"],
    ["an empty list", z.array(z.string()).check(z.minLength(1)), [], "it is empty"],
    ["a long list", z.array(z.string()).check(z.maxLength(1)), ["", ""], "more than 1 item"],
    ["none of those there are", z.enum(["a", "b", "c"]), "d", 'expected "a", "b" or "c"'],
    ["not the one there is", z.literal("a"), "d", 'expected "a"'],
    ["a key that there is not", z.strictObject({}), { a: 1, b: 2 }, 'there is no "a" or "b"'],
    ["no address", z.url(), "x y", "expected an address"],
    ["the last of several shapes", z.union([z.literal(""), z.url()]), "x", "expected an address"],
    ["anything else", z.string().check(z.regex(/^a$/)), "b", "it does not fit"],
  ])("%s", (_name, shape, value, words) => {
    expect(said(shape, value)).toBe(words);
  });

  it("in words of its own where a shape has some", () => {
    expect(said(z.string().check(z.regex(/^a$/, "expected an a")), "b")).toBe("expected an a");
  });
});
