import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ActivityEvent } from "../../src/capture/events.ts";
import { tokenBound } from "../../src/context/tokens.ts";
import {
  renderEvents,
  renderHits,
  RESULT_MAX_TOKENS,
  UNTRUSTED_NOTE,
} from "../../src/mcp/results.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { storable } from "../helpers/storable.ts";

const START_US = Date.parse("2026-11-27T09:00:00Z") * 1000;

function windowAt(minute: number, app: string, title: string): ActivityEvent {
  const startUs = START_US + minute * 60_000_000;
  return {
    kind: "window",
    id: startUs,
    startUs,
    endUs: startUs + 60_000_000,
    utcOffsetMinutes: 0,
    timeZone: "UTC",
    app: storable(app),
    title: storable(title),
    place: null,
  };
}

describe("a result", () => {
  it("tells events with their time and what they are", () => {
    const { text } = renderEvents([windowAt(0, "Code", "retry.ts")], "UTC", false);
    expect(text).toBe(`${UNTRUSTED_NOTE}\n- 27 Nov 2026 09:00–09:01 (1 min) Code: "retry.ts"`);
  });

  it("keeps the newest events when there are too many, and says so", () => {
    const events = Array.from({ length: 500 }, (_, minute) =>
      windowAt(minute, "Code", `file ${minute}`),
    );
    const { text, truncated } = renderEvents(events, "UTC", false);
    expect(truncated).toBe(true);
    expect(text).toContain('"file 499"');
    expect(text).not.toContain('"file 0"');
    expect(text).toContain("ask for a shorter range");
  });

  it("says that there is nothing rather than being empty", () => {
    expect(renderHits({ hits: [], truncated: false }, "UTC").text).toBe("Nothing was found.");
  });

  it("never outgrows its cap, and its spans cover exactly what strangers wrote, for any text", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(nastyText(), nastyText()), { maxLength: 60 }), (titles) => {
        const events = titles.map(([app, title], minute) => windowAt(minute, app, title));
        const { text, untrustedSpans } = renderEvents(events, "UTC", false);
        expect(tokenBound(text)).toBeLessThanOrEqual(RESULT_MAX_TOKENS);
        let trusted = "";
        let at = 0;
        for (const { start, end } of untrustedSpans) {
          trusted += text.slice(at, start);
          at = end;
        }
        trusted += text.slice(at);
        // What is left when the spans are taken out is of our own making, line for line.
        for (const line of trusted.split("\n").slice(1)) {
          expect(line).toMatch(
            /^(?:- 27 Nov 2026 \d\d:\d\d–\d\d:\d\d \(1 min\) : ""|\(There may be more: ask for a shorter range\.\)|)$/,
          );
        }
      }),
      { numRuns: propertyRuns(200, 2_000) },
    );
  });
});
