import fc from "fast-check";
import { expect, test } from "vitest";
import { pageRefusal } from "../../src/web/access.ts";

const PORT = 5630;
const OWN = `http://127.0.0.1:${PORT}`;

/** Headers as browsers and others may send them, ours among them more often than chance would have it. */
const asked = fc.record({
  method: fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"),
  url: fc.oneof(
    fc.constantFrom("/", "/api/v1/status", "/api/page/end", "/open?key=x"),
    fc.webUrl(),
    fc.string(),
  ),
  headers: fc.record(
    {
      host: fc.oneof(fc.constant(`127.0.0.1:${PORT}`), fc.domain(), fc.string()),
      origin: fc.oneof(fc.constant(OWN), fc.constant("null"), fc.webUrl(), fc.string()),
      "sec-fetch-site": fc.constantFrom("none", "same-origin", "same-site", "cross-site"),
      "sec-fetch-mode": fc.constantFrom("navigate", "cors", "no-cors", "same-origin", "websocket"),
      "sec-fetch-dest": fc.constantFrom("document", "iframe", "empty", "script", "object", "embed"),
    },
    { requiredKeys: [] },
  ),
});

test("whatever is let by names this very host and no other origin, and changes nothing without naming ours", () => {
  let admitted = 0;
  fc.assert(
    fc.property(asked, (request) => {
      if (pageRefusal(request, PORT) !== null) return;
      admitted += 1;
      const { host, origin, ...fetched } = request.headers;
      expect(host).toBe(`127.0.0.1:${PORT}`);
      expect([OWN, undefined]).toContain(origin);
      expect(request.url.startsWith("/")).toBe(true);
      const isReading = request.method === "GET" || request.method === "HEAD";
      expect(isReading || origin === OWN).toBe(true);
      const isFramed =
        fetched["sec-fetch-mode"] === "navigate" && fetched["sec-fetch-dest"] !== "document";
      expect(isFramed).toBe(false);
      const site = fetched["sec-fetch-site"] ?? "none";
      const isOurs = site === "none" || site === "same-origin";
      expect(isOurs || (isReading && !request.url.startsWith("/api/"))).toBe(true);
    }),
    { numRuns: 3000 },
  );
  expect(admitted).toBeGreaterThan(20);
});

test("a page of ours may ask, with or without what browsers say of its way", () => {
  const host = `127.0.0.1:${PORT}`;
  const own = {
    host,
    origin: OWN,
    "sec-fetch-site": "same-origin",
    "sec-fetch-mode": "cors",
    "sec-fetch-dest": "empty",
  };
  expect(pageRefusal({ method: "POST", url: "/api/v1/pause", headers: own }, PORT)).toBeNull();
  expect(
    pageRefusal({ method: "POST", url: "/api/v1/pause", headers: { host, origin: OWN } }, PORT),
  ).toBeNull();
  expect(pageRefusal({ method: "GET", url: "/api/v1/status", headers: { host } }, PORT)).toBeNull();
});
