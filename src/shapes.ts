/**
 * The library that checks the shape of what comes from outside, in its small form: each start of the daemon pays for
 * what it loads. It promises that whoever sent what does not fit is told so in English.
 */
import * as z from "zod/mini";

// Compiled checks pay off after hundreds of uses, and most shapes are used once.
z.config({ ...z.locales.en(), jitless: true });

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
