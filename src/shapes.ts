/**
 * The library that checks the shape of what comes from outside, in its small form: each start of the daemon pays for
 * what it loads. It promises that whoever sent what does not fit is told what is wrong with it, in words that go on a
 * sentence such as `The field "session" does not fit: it is empty.`
 */
import * as z from "zod/mini";

// Compiled checks pay off after hundreds of uses, and most shapes are used once.
z.config({ localeError: tellFault, jitless: true });

export { z };

/** A text of so many UTF-16 units. */
export function text(minUnits: number, maxUnits: number): z.ZodMiniString {
  const bounded = z.string().check(z.maxLength(maxUnits));
  return minUnits === 0 ? bounded : bounded.check(z.minLength(minUnits));
}

/** A whole number, both bounds included. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): z.ZodMiniNumberFormat {
  return z.int().check(z.minimum(min), z.maximum(max));
}

/** What is absent counts as `value`. */
export function withDefault<Shape extends z.ZodMiniType>(
  shape: Shape,
  value: z.core.util.NoUndefined<z.output<Shape>>,
): z.ZodMiniDefault<Shape> {
  // oxlint-disable-next-line no-underscore-dangle -- `default` is no name a module can export.
  return z._default(shape, value);
}

/** A setting, with the value that holds where the file says none and the sentence that explains it. */
export function setting<Shape extends z.ZodMiniType>(
  shape: Shape,
  value: z.core.util.NoUndefined<z.output<Shape>>,
  description: string,
): z.ZodMiniDefault<Shape> {
  // A check with the sentence would make the whole shape once more.
  z.globalRegistry.add(shape, { description });
  return withDefault(shape, value);
}

function tellFault(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "it is missing";
      if (issue.expected === "int" && typeof issue.input === "number") return TYPES.int;
      return `${nameOf(issue.expected)}, not ${typeOf(issue.input)}`;
    case "invalid_value":
      return `expected ${oneOf(issue.values.map((value) => JSON.stringify(value)))}`;
    case "too_small":
      if (issue.origin === "string" || issue.origin === "array") {
        if (issue.minimum === 1) return "it is empty";
        return issue.origin === "string"
          ? `shorter than ${issue.minimum} characters`
          : `fewer than ${issue.minimum} items`;
      }
      return `below ${issue.minimum}`;
    case "too_big":
      if (issue.origin === "string") return `longer than ${issue.maximum} characters`;
      if (issue.origin === "array")
        return `more than ${issue.maximum} ${issue.maximum === 1 ? "item" : "items"}`;
      return `above ${issue.maximum}`;
    case "invalid_format":
      return issue.format === "url" ? "expected an address" : "it does not fit";
    case "unrecognized_keys":
      return `there is no ${oneOf(issue.keys.map((key) => JSON.stringify(key)))}`;
    case "invalid_union":
      // The shapes before the last are those for nothing, such as an empty text.
      return issue.errors.at(-1)?.[0]?.message ?? "it does not fit";
    default:
      return "it does not fit";
  }
}

const TYPES = {
  string: "expected a text",
  number: "expected a number",
  int: "expected a whole number",
  boolean: "expected true or false",
  array: "expected a list",
  object: "expected an object",
  record: "expected an object",
} as const;

function nameOf(expected: string): string {
  const names: Readonly<Record<string, string>> = TYPES;
  return names[expected] ?? `expected ${expected}`;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string":
      return "a text";
    case "number":
      return Number.isNaN(value) ? "NaN" : "a number";
    case "boolean":
      return String(value);
    default:
      return "an object";
  }
}

/** `"a", "b" or "c"`. */
function oneOf(values: readonly string[]): string {
  const last = values.at(-1) ?? "";
  return values.length < 2 ? last : `${values.slice(0, -1).join(", ")} or ${last}`;
}
