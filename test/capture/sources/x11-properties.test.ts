/** Windows are strangers: whatever they set in the properties that are read, reading is no error. */
import { afterAll, beforeAll, expect, test } from "vitest";
import fc from "fast-check";
import { createX11Providers } from "../../../src/capture/sources/x11.ts";
import { propertyRuns } from "../../helpers/property-runs.ts";
import { openRecorded } from "../../helpers/source-recorder.ts";
import { openXTestClient, type XTestClient } from "../../helpers/x-client.ts";
import { startJsXServer, type JsXServer } from "../../helpers/x-js-server.ts";

let server: JsXServer;
let client: XTestClient;

beforeAll(async () => {
  server = await startJsXServer();
  client = await openXTestClient(server.port);
});

afterAll(async () => {
  client.close();
  await server.close();
});

const PROPERTIES = [
  "_NET_WM_NAME",
  "WM_NAME",
  "WM_CLASS",
  "WM_CLIENT_MACHINE",
  "_NET_WM_PID",
] as const;
const TYPES = ["STRING", "UTF8_STRING", "COMPOUND_TEXT", "CARDINAL", "ATOM", "NOT_A_TYPE"] as const;

const property = fc.record({
  name: fc.constantFrom(...PROPERTIES),
  type: fc.constantFrom(...TYPES),
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    // Escape sequences of compound text, broken UTF-8, zeros.
    fc
      .array(fc.constantFrom(0x1b, 0x25, 0x47, 0x40, 0xe2, 0x82, 0x00, 0x41), { maxLength: 20 })
      .map((bytes) => Uint8Array.from(bytes)),
  ),
});

test("any bytes under any type give a title or an unreadable one, never an error", async () => {
  const window = await client.open({ title: "start" });
  await client.focus(window);
  const { source } = await openRecorded(createX11Providers().window, { DISPLAY: server.display });
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(property, { minLength: 1, maxLength: 5 }), async (properties) => {
        for (const name of PROPERTIES) await client.setText(window, name, "STRING", null);
        // Without a class a window that is found by its focus belongs to no application.
        await client.setNumbers(window, "WM_STATE", "WM_STATE", [1, 0]);
        for (const { name, type, bytes } of properties) {
          await client.setText(window, name, type, Buffer.from(bytes));
        }
        const result = await source.snapshot();
        if (!result.ok || result.value === null) throw new Error(JSON.stringify(result));
        const { app, title, pid } = result.value;
        expect(app.length).toBeGreaterThan(0);
        expect(title === null || Buffer.from(title).toString() === title).toBe(true);
        expect(pid === null || pid > 0).toBe(true);
      }),
      { numRuns: propertyRuns(60, 1_000) },
    );
  } finally {
    source.close();
  }
});
