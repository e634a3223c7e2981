import { expect, test } from "vitest";
import type { WindowSample } from "../../src/capture/events.ts";
import { withPage } from "../../src/capture/page.ts";
import { createPrivacyGate } from "../../src/capture/privacy.ts";
import { DEFAULT_PRIVACY } from "../../src/capture/privacy/rules.ts";

const NOW_US = Date.parse("2026-11-30T12:00:00Z") * 1000;
const page = { title: "Bread", url: "https://bread.example/rye", private: false, atUs: NOW_US };

function window(app: string, title: string, executable: string | null = null): WindowSample {
  return { app, title, executable, url: null, pid: null, private: null };
}

test("a window that its browser tells of is known not to be private, though the browser sets no mark", () => {
  const gate = createPrivacyGate({ ...DEFAULT_PRIVACY, unmarked_browsers: "app-only" });
  const stored = (sample: WindowSample) => gate.window(withPage(sample, page, NOW_US), NOW_US);
  expect(stored(window("chromium", "Bread - Chromium"))).toMatchObject({
    facts: { title: "Bread - Chromium", place: "bread.example/rye" },
  });
  expect(gate.unmarkedBrowsers()).toEqual([]);
  expect(stored(window("chromium", "News - Chromium"))).toMatchObject({ facts: { title: null } });
  expect(gate.unmarkedBrowsers()).toEqual(["chromium"]);
});

test("a private tab hides the windows of a browser that is known by its executable alone", () => {
  const hidden = { ...page, private: true };
  const own = window("work", "Bread", "/usr/lib/firefox-esr/firefox-esr");
  expect(withPage(own, hidden, NOW_US).private).toBe(true);
  expect(withPage(window("work", "Bread"), hidden, NOW_US).private).toBeNull();
});
