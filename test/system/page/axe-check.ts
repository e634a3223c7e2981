/** Looks with axe for what keeps people who do not see, or do not use a mouse, from a page as it stands. */
import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe finds, in words: the rule, where, and what is wrong. Throws when it looked at next to nothing. */
export async function violations(page: Page): Promise<string[]> {
  // The page's policy for content lets no script in; what the browser's debugger evaluates is none.
  await page.evaluate(`${axe.source};0`);
  return page.evaluate(async () => {
    const checker: unknown = Reflect.get(globalThis, "axe");
    if (typeof checker !== "object" || checker === null) throw new Error("axe is not there");
    if (!("run" in checker) || typeof checker.run !== "function") throw new Error("axe cannot run");
    const found = (await checker.run(document, { resultTypes: ["violations"] })) as {
      violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
      passes: unknown[];
    };
    if (found.passes.length < 10) throw new Error("axe looked at next to nothing");
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`),
    );
  });
}
