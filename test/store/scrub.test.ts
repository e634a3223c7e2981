import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/store/database.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { createTempHome } from "../helpers/temp-home.ts";

describe("scrubbing", () => {
  it("removes every deleted text from the file and changes nothing that is stored", async () => {
    const home = createTempHome();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ size: fc.nat({ max: 9000 }), keep: fc.boolean() }), { maxLength: 60 }),
        async (rows) => {
          round += 1;
          const path = join(home, `${round}.db`);
          const database = openDatabase({ path });
          const add = database.prepare(
            "INSERT INTO document(id, hash, kind, app, title) VALUES(?, ?, ?, ?, ?)",
          );
          for (const [index, { size, keep }] of rows.entries()) {
            add.run(
              index,
              index,
              "window",
              keep ? "kept" : "gone",
              `${keep ? "kept" : "gone"}-`.repeat(size / 5),
            );
          }
          database.execute("DELETE FROM document WHERE app = 'gone'");
          const dump = database.prepare("SELECT * FROM document").all();
          expect(await database.scrub()).toBe(true);
          expect(database.prepare("SELECT * FROM document").all()).toEqual(dump);
          expect(database.prepare("PRAGMA integrity_check").get()).toEqual({
            integrity_check: "ok",
          });
          database.close();
          expect(readFileSync(path, "latin1")).not.toContain("gone-");
        },
      ),
      { numRuns: propertyRuns(15, 60) },
    );
  });
});
