/**
 * Values that came over a message bus: their plain form, and readers for it. What another program sends may
 * have any type, whatever its interface promises: each reader gives the value, or null when it is not of
 * the kind asked for.
 */

/** The class the D-Bus library wraps variants in. */
export interface VariantClass {
  readonly prototype: { readonly value: unknown };
}

/** Values without variants: dictionaries become Maps, 64-bit integers become numbers where they fit. */
export function toPlainList(values: readonly unknown[], Variant: VariantClass): readonly unknown[] {
  return values.map((value) => toPlain(value, Variant));
}

/** A text; null for anything else. Object paths and signatures are texts too. */
export function readText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A truth value; null for anything else: 0 and 1 are numbers here. */
export function readFlag(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

/** A finite number. 64-bit integers beyond 2^53 lose their last digits, which no caller here minds. */
export function readNumber(value: unknown): number | null {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The texts of a list; a single text counts as a list of one (players send both); null for anything else. */
export function readTexts(value: unknown): readonly string[] | null {
  if (typeof value === "string") return [value];
  if (!Array.isArray(value)) return null;
  const items: readonly unknown[] = value;
  return items.filter((item): item is string => typeof item === "string");
}

/** A dictionary with text keys, as `a{sv}` arrives; null for anything else. */
export function readDictionary(value: unknown): ReadonlyMap<string, unknown> | null {
  return value instanceof Map ? value : null;
}

/** Bodies are at most 64 levels deep by the protocol, so recursion is safe. */
function toPlain(value: unknown, Variant: VariantClass): unknown {
  if (isVariant(value, Variant)) return toPlain(value.value, Variant);
  if (typeof value === "bigint") {
    const near = Number(value);
    return Number.isSafeInteger(near) ? near : value;
  }
  if (Array.isArray(value)) return toPlainList(value, Variant);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return new Map(Object.entries(value).map(([key, inner]) => [key, toPlain(inner, Variant)]));
}

/**
 * Not `instanceof`: the library writes dictionary keys into an object, so an entry named `__proto__` makes
 * the whole dictionary an instance of what it holds.
 */
function isVariant(value: unknown, Variant: VariantClass): value is { readonly value: unknown } {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.getPrototypeOf(value) === Variant.prototype
  );
}
