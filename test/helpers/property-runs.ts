/**
 * How often a property is tried: `local` times at the desk, 100,000 times where `CI` is set, or as often
 * as `ACTIVITYD_PROPERTY_RUNS` says. `atMost` bounds what is slow by nature, such as a database per run.
 */
export function propertyRuns(local: number, atMost = 100_000): number {
  const asked = Number(process.env["ACTIVITYD_PROPERTY_RUNS"] ?? "");
  if (Number.isSafeInteger(asked) && asked > 0) return Math.min(asked, atMost);
  return process.env["CI"] === undefined ? local : atMost;
}
