/**
 * Interning: what was seen is written once and found again through a 64-bit hash. It promises that equal
 * facts give one label.
 */
import type { EventFacts, EventKind } from "../capture/events.ts";
import { ActivityError } from "../errors.ts";
import type { StoreDatabase } from "./database.ts";
import {
  documentHash,
  FACTS_COLUMNS,
  isSameStored,
  KIND_CODES,
  KIND_MASK,
  labelHash,
  toStored,
  type DocumentText,
  type FactsRow,
} from "./stored-facts.ts";

export interface Label {
  readonly id: number;
  /** Null for kinds that speak of the machine, not of something that was looked at. */
  readonly documentId: number | null;
}

export interface Documents {
  /** The label of these facts, made when there is none. Must run inside a transaction. */
  readonly intern: (facts: EventFacts) => Label;
  /** The document that stands for an application as a whole, made when there is none. Same condition. */
  readonly internApp: (app: string) => number;
  /** Notes the labels that are given out from now on, until `stop`. */
  readonly trackInterned: () => { readonly seen: ReadonlySet<number>; readonly stop: () => void };
}

/** Interning over one database; one per writer. */
export function createDocuments(database: StoreDatabase): Documents {
  const findLabel = database.prepare<FactsRow & { document_id: number | null }>(
    `SELECT ${FACTS_COLUMNS}, label.document_id AS document_id
       FROM label LEFT JOIN document ON document.id = label.document_id WHERE label.hash = ?`,
  );
  const addLabel = database.prepare(
    "INSERT INTO label(id, hash, document_id, title, facts) VALUES(?, ?, ?, ?, ?)",
  );
  const lastLabel = database.prepare<{ id: number | null }>("SELECT max(id) AS id FROM label");
  const findDocument = database.prepare<DocumentRow>(
    "SELECT id, kind, app, title, place FROM document WHERE hash = ?",
  );
  const addDocument = database.prepare<{ id: number }>(
    "INSERT INTO document(hash, kind, app, title, place) VALUES(?, ?, ?, ?, ?) RETURNING id",
  );

  const tracked = new Set<Set<number>>();
  /** Labels given out lately by their facts: a person goes to and fro between a few windows. */
  const recent = new Map<string, RecentLabel>();
  const isStill = database.prepare("SELECT 1 FROM label WHERE id = ? AND hash = ?");

  const givenOut = (label: Label): Label => {
    for (const seen of tracked) seen.add(label.id);
    return label;
  };

  const remember = (key: string, hash: bigint, label: Label): Label => {
    if (recent.size >= REMEMBERED_LABELS) recent.clear();
    recent.set(key, { label, hash });
    return givenOut(label);
  };

  const internDocument = (kind: EventKind, { app, title, place }: DocumentText): number => {
    const hash = documentHash(kind, { app, title, place });
    const known = findDocument
      .all(hash)
      .find(
        (row) => row.kind === kind && row.app === app && row.title === title && row.place === place,
      );
    if (known !== undefined) return known.id;
    const added = addDocument.get(hash, kind, app, title, place);
    if (added === undefined)
      throw new ActivityError("internal", "A new document came back without an id.");
    return added.id;
  };

  return {
    intern: (facts) => {
      // Another order of the fields is another key, which costs a look-up and nothing else.
      const key = JSON.stringify(facts);
      const lately = recent.get(key);
      if (lately !== undefined) {
        // It may have been erased or undone since, and its number given to another.
        if (isStill.get(lately.label.id, lately.hash) !== undefined) return givenOut(lately.label);
        recent.delete(key);
      }
      const stored = toStored(facts);
      const { document, rawTitle, rest } = stored;
      const hash = labelHash(facts.kind, stored);
      const known = findLabel.all(hash).find((row) => isSameStored(facts.kind, stored, row));
      if (known !== undefined) {
        return remember(key, hash, { id: known.label_id, documentId: known.document_id });
      }
      const documentId = document === null ? null : internDocument(facts.kind, document);
      const sequence = Math.floor((lastLabel.get()?.id ?? 0) / (KIND_MASK + 1)) + 1;
      const id = sequence * (KIND_MASK + 1) + KIND_CODES[facts.kind];
      addLabel.run(id, hash, documentId, rawTitle, rest);
      return remember(key, hash, { id, documentId });
    },
    internApp: (app) => internDocument("window", { app, title: null, place: null }),
    trackInterned: () => {
      const seen = new Set<number>();
      tracked.add(seen);
      return {
        seen,
        stop: () => {
          tracked.delete(seen);
        },
      };
    },
  };
}

const REMEMBERED_LABELS = 256;

interface RecentLabel {
  readonly label: Label;
  readonly hash: bigint;
}

interface DocumentRow extends DocumentText {
  readonly id: number;
  readonly kind: string;
}
