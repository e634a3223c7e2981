/**
 * Windows of other devices in a stretch of the record, to be drawn beside this one's. It promises times by this
 * device's clock, as far as the others' are known, and stretches of one device that do not meet.
 */
import type { StoreDatabase } from "../database.ts";
import { clockLeadUs, createDeviceReader } from "../devices.ts";
import { VISIT_REACH_US } from "../event-rows.ts";
import type { Stretch } from "./thinning.ts";
import { IS_WINDOW } from "../stored-facts.ts";

export interface ElsewhereStretches {
  /** The name of the device. */
  readonly device: string;
  /** By start, clipped to the range; the key is that of the document. */
  readonly stretches: readonly Stretch[];
}

/** @param isCoarse Whether visits will do, in which short interruptions are bridged: they are fewer. */
export function readElsewhere(
  database: StoreDatabase,
  { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number },
  isCoarse: boolean,
): readonly ElsewhereStretches[] {
  const rows = database.prepare<Stretch>(isCoarse ? VISITS : WINDOWS);
  return createDeviceReader(database)
    .all()
    .map((device) => {
      const leadUs = clockLeadUs(device) ?? 0;
      const [first, last] = [fromUs + leadUs, toUs + leadUs];
      const found = rows.all(device.key, first - VISIT_REACH_US, last, first);
      const stretches = found.flatMap(({ key, startUs, endUs, activeUs }): readonly Stretch[] => {
        const shownUs = Math.max(startUs - leadUs, fromUs);
        const untilUs = Math.min(endUs - leadUs, toUs);
        if (untilUs <= shownUs) return [];
        const share = (untilUs - shownUs) / (endUs - startUs);
        const inside = Math.round(activeUs * share);
        return [{ key, startUs: shownUs, endUs: untilUs, activeUs: inside }];
      });
      return { device: device.name, stretches };
    });
}

const WINDOWS = `SELECT start_us AS startUs, start_us + duration_us AS endUs, duration_us AS activeUs,
    label.document_id AS key
  FROM remote_event JOIN label ON label.id = label_id
  WHERE device_key = ? AND start_us >= ? AND start_us < ? AND start_us + duration_us > ?
    AND ${IS_WINDOW} AND label.document_id IS NOT NULL ORDER BY start_us`;

const VISITS = `SELECT start_us AS startUs, start_us + span_us AS endUs, active_us AS activeUs,
    document_id AS key
  FROM remote_visit
  WHERE device_key = ? AND start_us >= ? AND start_us < ? AND start_us + span_us > ? ORDER BY start_us`;
