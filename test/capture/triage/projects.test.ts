import { describe, expect, it } from "vitest";
import { createProjects, type Projects } from "../../../src/capture/triage/projects.ts";
import type { ActivityHistory } from "../../../src/store/history.ts";
import { createMemoryHistory, type RecordedWindow } from "../../helpers/memory-history.ts";

const MINUTE_US = 60_000_000;
const T0 = Date.parse("2026-11-02T09:00:00Z") * 1000;

const GARDEN = ["Bed plan.ods", "Seed list.odt", "Compost basics - RHS"];
const CHOIR = ["Concert order.odt", "Ticket sales.ods", "Warm-up exercises - Choraline"];

function show(title: string, minute: number, minutes: number): RecordedWindow {
  const app = title.includes(".od")
    ? "LibreOffice"
    : title.includes(" - ")
      ? "Firefox"
      : "Nautilus";
  const startUs = T0 + minute * MINUTE_US;
  return {
    app,
    title,
    startUs,
    endUs: startUs + minutes * MINUTE_US,
    ...(app === "Firefox" ? { place: `example.org/${title.length}` } : {}),
  };
}

/** Ten days, each an hour of the garden and an hour of the choir, with the news looked at in both. */
function record(days = 10): readonly RecordedWindow[] {
  const windows: RecordedWindow[] = [];
  for (let day = 0; day < days; day += 1) {
    for (const [block, documents] of [
      [0, [...GARDEN, "allotment"]],
      [180, [...CHOIR, "Documents"]],
    ] as const) {
      const start = day * 1440 + block;
      for (let step = 0; step < 12; step += 1) {
        windows.push(show(documents[(step + day) % documents.length] ?? "", start + step * 5, 4));
        if (step % 4 === 0) windows.push(show("World news - live", start + step * 5 + 4, 1));
      }
    }
  }
  return windows;
}

function titles(projects: Projects, history: ActivityHistory): readonly (readonly string[])[] {
  return projects
    .all()
    .map(({ documentIds }) => history.documents(documentIds).map(({ title }) => title ?? ""))
    .map((list) => [...list].sort())
    .sort((a, b) => ((a[0] ?? "") < (b[0] ?? "") ? -1 : 1));
}

describe("projects", () => {
  it("are learned from what is looked at in the same stretches, without what is looked at in all", () => {
    const history = createMemoryHistory(record());
    const projects = createProjects();
    projects.refresh(history, T0 + 11 * 1440 * MINUTE_US);
    expect(titles(projects, history)).toEqual([[...GARDEN, "allotment"].sort(), [...CHOIR].sort()]);
    const names = new Set(projects.all().map(({ name }) => name));
    expect(names).toEqual(new Set(["allotment", null]));
  });

  it("are the same however the visits came in", () => {
    const history = createMemoryHistory(record());
    const whole = createProjects();
    whole.refresh(history, T0 + 11 * 1440 * MINUTE_US);
    const steps = createProjects();
    let caughtUp = false;
    while (!caughtUp) caughtUp = steps.refresh(history, T0 + 11 * 1440 * MINUTE_US, 7);
    expect(titles(steps, history)).toEqual(titles(whole, history));
  });

  it("take in a new file of a named workspace at once", () => {
    const files = ["cart.ts", "view.ts"].map((file, index) => ({
      app: "Code",
      title: `${file} — shop — Visual Studio Code`,
      startUs: T0 + index * MINUTE_US,
      endUs: T0 + (index + 1) * MINUTE_US,
    }));
    const projects = createProjects();
    const before = createMemoryHistory(files.slice(0, 1));
    projects.refresh(before, T0 + 10 * MINUTE_US);
    const after = createMemoryHistory(files);
    projects.refresh(after, T0 + 10 * MINUTE_US);
    expect(projects.of(2)?.name).toBe("shop");
    expect(titles(projects, after)).toEqual([["cart.ts — shop", "view.ts — shop"]]);
  });

  it("know a repository by the address of its page, and no project in a call or a chat", () => {
    const windows = [
      {
        app: "Firefox",
        title: "Issues",
        place: "github.com/ana/shop/issues",
        startUs: T0,
        endUs: T0 + 1e8,
      },
      { app: "zoom", title: "Call with Ines — Zoom Meeting", startUs: T0 + 1e9, endUs: T0 + 2e9 },
      { app: "Slack", title: "shop.ts — team", startUs: T0 + 3e9, endUs: T0 + 4e9 },
    ];
    const projects = createProjects();
    projects.refresh(createMemoryHistory(windows), T0 + 1e10);
    expect(projects.of(1)?.name).toBe("shop");
    expect(projects.kindOf(2)).toBe("call");
    expect(projects.kindOf(3)).toBe("chat");
    expect(projects.of(2)).toBeNull();
    expect(projects.of(3)).toBeNull();
    expect(projects.ofKind("call")).toEqual([2]);
  });
});
