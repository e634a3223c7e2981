/** Wall clocks, each written once: the number of a zone and its offset, made when there is none. */
import { ActivityError } from "../errors.ts";
import type { EventSpan } from "../capture/events.ts";
import type { StoreDatabase } from "./database.ts";

/** Gives the id of the zone of a span. Must run inside a transaction. */
export function createZones(
  database: StoreDatabase,
): (span: Pick<EventSpan, "timeZone" | "utcOffsetMinutes">) => number {
  const addZone = database.prepare(
    `INSERT INTO zone(id, name, utc_offset_minutes)
      VALUES((SELECT coalesce(max(id) + 1, 0) FROM zone), ?, ?) ON CONFLICT DO NOTHING`,
  );
  const findZone = database.prepare<{ id: number }>(
    "SELECT id FROM zone WHERE name = ? AND utc_offset_minutes = ?",
  );
  return ({ timeZone, utcOffsetMinutes }) => {
    const known = findZone.get(timeZone, utcOffsetMinutes);
    if (known !== undefined) return known.id;
    addZone.run(timeZone, utcOffsetMinutes);
    const added = findZone.get(timeZone, utcOffsetMinutes);
    if (added === undefined) {
      throw new ActivityError("internal", "A zone vanished as it was written.");
    }
    return added.id;
  };
}
