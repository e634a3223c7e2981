import { afterAll, describe, expect, test } from "vitest";
import { headingBlock, readBlocks } from "../../src/context/markers.ts";
import { textOfParts } from "../../src/context/turn.ts";
import * as activityd from "../../src/index.ts";
import { LAW_RUNS, LAW_SEED, law } from "../helpers/laws.ts";
import { CONTRACT_CORNERS, CONTRACT_LAWS, readContractCases } from "./contract-suite.ts";

const cases = readContractCases();
const surface = { ...activityd, headingBlock, readBlocks, textOfParts };

describe("the contract of injected context, by example", () => {
  test.each(cases.map((each) => [each.name, each] as const))("%s", (_, { run, expected }) => {
    expect(run(surface)).toEqual(expected);
  });

  test("every example names the public report of the fault it guards against", () => {
    for (const { report } of cases) expect(report).toMatch(/^https:\/\/github\.com\/.+\/\d+$/);
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  });
});

describe("the contract of injected context, in its corners", () => {
  test.each(CONTRACT_CORNERS.map((each) => [each.name, each] as const))(
    "%s",
    (_, { given, expected }) => {
      expect(given(surface)).toEqual(expected);
    },
  );
});

describe("the contract of injected context, as law", () => {
  for (const { name, of } of CONTRACT_LAWS) law(name, of(surface));
});

afterAll(() => {
  console.log(
    `contract: ${cases.length} cases, ${CONTRACT_CORNERS.length} corners, ${CONTRACT_LAWS.length} laws of ${LAW_RUNS} runs each (seed ${LAW_SEED})`,
  );
});
