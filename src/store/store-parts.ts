/** What reads and writes an open database, put together. It promises that the file is let go of where one of them fails. */
import { openDatabase, type StoreDatabase } from "./database.ts";
import { createDocuments, type Documents } from "./documents.ts";
import { createEventReader, type EventReader } from "./event-reader.ts";
import { createEventWriter, type EventWriter } from "./event-writer.ts";
import { recoveringError } from "./failures.ts";
import { createVisits, type Visits } from "./visits.ts";

export interface StoreParts {
  readonly database: StoreDatabase;
  readonly documents: Documents;
  readonly visits: Visits;
  readonly writer: EventWriter;
  readonly reader: EventReader;
}

/** `isDamaged`: the file is left alone until it is recovered. */
export function openStoreParts(
  path: string,
  isDamaged: boolean,
  onDamage: (damage: string) => boolean,
): StoreParts {
  const left = isDamaged ? { leftFor: recoveringError } : {};
  const database = openDatabase({ path, tolerant: true, onDamage, ...left });
  try {
    const documents = createDocuments(database);
    const visits = createVisits(database);
    const writer = createEventWriter(database, documents, visits);
    return { database, documents, visits, writer, reader: createEventReader(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}
