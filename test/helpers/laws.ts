/**
 * A law as a test: a property tried many times from a seed that is printed, so that a failure anywhere can be
 * repeated with `ACTIVITYD_PROPERTY_SEED`.
 */
import { assert, type IProperty } from "fast-check";
import { expect, test } from "vitest";
import { propertyRuns } from "./property-runs.ts";

/** The seed of every law of this process. */
export const LAW_SEED = Number(
  process.env["ACTIVITYD_PROPERTY_SEED"] ?? Math.floor(Math.random() * 0x7fff_ffff),
);

/** How often a law is tried: some hundred times at the desk, 100,000 times in CI. */
export const LAW_RUNS = propertyRuns(300);

export function law<Values>(name: string, property: IProperty<Values>): void {
  test.each([name])("%s", { timeout: 900_000 }, () => {
    expect(() => assert(property, { numRuns: LAW_RUNS, seed: LAW_SEED })).not.toThrow();
  });
}
