/**
 * The schema, as the list of steps that build it. It promises that a step, once released, never changes:
 * a database of any age becomes current by running the steps it has not seen.
 */

/** Marks the file as ours ("ACTV") for tools that look at unknown SQLite files. */
export const APPLICATION_ID = 0x41435456;

/** Step n brings a database of `user_version` n to n + 1. Append only. */
export const MIGRATIONS: readonly string[] = [
  `
  -- The wall clock on the owner's desk. Ids start at 0, which SQLite stores in no bytes at all.
  CREATE TABLE zone(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    utc_offset_minutes INTEGER NOT NULL,
    UNIQUE(name, utc_offset_minutes)
  ) STRICT;

  -- What was looked at, once per normalised (kind, app, title, place). For kinds other than windows and tabs
  -- the columns hold: editor (app, file, project), media (player, title, artist), notification (app, summary).
  CREATE TABLE document(
    id INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL,
    kind TEXT NOT NULL,
    app TEXT NOT NULL,
    title TEXT,
    place TEXT
  ) STRICT;
  CREATE INDEX document_hash ON document(hash);

  -- Facts as they were seen, once each. The title is kept here only where it differs from the document's;
  -- facts is JSON of what the document does not say. The kind stands in the low four bits of the id, so that
  -- an event tells its kind without a look at its label.
  CREATE TABLE label(
    id INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL,
    document_id INTEGER,
    title TEXT,
    facts TEXT,
    kind TEXT AS (CASE id & 15
      WHEN 0 THEN 'window' WHEN 1 THEN 'idle' WHEN 2 THEN 'lock' WHEN 3 THEN 'sleep' WHEN 4 THEN 'system'
      WHEN 5 THEN 'media' WHEN 6 THEN 'notification' WHEN 7 THEN 'gap' WHEN 8 THEN 'editor' WHEN 9 THEN 'tab'
    END) VIRTUAL
  ) STRICT;
  CREATE INDEX label_hash ON label(hash);
  CREATE INDEX label_document ON label(document_id);

  -- Clustered by start, which is also the id; a duration is shorter than an end.
  CREATE TABLE event(
    start_us INTEGER PRIMARY KEY,
    duration_us INTEGER NOT NULL CHECK(duration_us >= 0),
    label_id INTEGER NOT NULL,
    zone_id INTEGER NOT NULL
  ) STRICT;
  -- Windows are nearly all events and found by start; the rare kinds must not be searched for among them.
  CREATE INDEX event_kind ON event(label_id & 15, start_us) WHERE label_id & 15 <> 0;
  -- What may reach into a range from long before it.
  CREATE INDEX event_long ON event(start_us, duration_us) WHERE duration_us > 3600000000;

  -- Stretches of one window document with interruptions under 90 s bridged. id equals start_us.
  CREATE TABLE visit(
    start_us INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL,
    span_us INTEGER NOT NULL,
    active_us INTEGER NOT NULL,
    id INTEGER AS (start_us) VIRTUAL,
    end_us INTEGER AS (start_us + span_us) VIRTUAL
  ) STRICT;
  CREATE INDEX visit_document ON visit(document_id);

  -- Active window time, kept as it goes. local_day is the number 20261127 of the day on the owner's desk;
  -- utc_hour counts hours since 1970 UTC, so that any zone can be answered.
  CREATE TABLE day_total(
    local_day INTEGER NOT NULL,
    document_id INTEGER NOT NULL,
    active_us INTEGER NOT NULL,
    PRIMARY KEY(local_day, document_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE day(
    local_day INTEGER PRIMARY KEY,
    first_us INTEGER NOT NULL,
    active_us INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE hour_total(
    utc_hour INTEGER PRIMARY KEY,
    active_us INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE meta(
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- The index over distinct documents holds no second copy of their text.
  CREATE VIRTUAL TABLE document_fts USING fts5(
    app, title, place,
    content='document', content_rowid='id',
    tokenize='porter unicode61 remove_diacritics 2'
  );
  -- A deleted entry leaves no trace in the index.
  INSERT INTO document_fts(document_fts, rank) VALUES('secure-delete', 1);
  CREATE TRIGGER document_inserted AFTER INSERT ON document BEGIN
    INSERT INTO document_fts(rowid, app, title, place) VALUES(new.id, new.app, new.title, new.place);
  END;
  CREATE TRIGGER document_deleted AFTER DELETE ON document BEGIN
    INSERT INTO document_fts(document_fts, rowid, app, title, place)
      VALUES('delete', old.id, old.app, old.title, old.place);
  END;
  CREATE TRIGGER document_updated AFTER UPDATE ON document BEGIN
    INSERT INTO document_fts(document_fts, rowid, app, title, place)
      VALUES('delete', old.id, old.app, old.title, old.place);
    INSERT INTO document_fts(rowid, app, title, place) VALUES(new.id, new.app, new.title, new.place);
  END;
  `,
  `
  -- What clients were given; event_ids and reasons are JSON lists. The same bytes given again to the same
  -- client are one row with a count.
  CREATE TABLE ledger(
    id INTEGER PRIMARY KEY,
    first_us INTEGER NOT NULL,
    last_us INTEGER NOT NULL,
    times INTEGER NOT NULL,
    client TEXT,
    session TEXT,
    form TEXT NOT NULL,
    intent TEXT NOT NULL,
    source TEXT NOT NULL,
    text TEXT,
    tokens INTEGER NOT NULL,
    event_ids TEXT NOT NULL,
    reasons TEXT NOT NULL
  ) STRICT;
  CREATE INDEX ledger_last ON ledger(last_us);
  `,
  `
  -- What the model is to hear of with the next turn of a session. AUTOINCREMENT: the order of ids is the order
  -- of arrival also after the newest was taken out. told_to is the id of the request that got the row.
  CREATE TABLE session_event(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    text TEXT NOT NULL,
    key TEXT,
    dropped INTEGER NOT NULL,
    told_to TEXT,
    told_us INTEGER
  ) STRICT;
  CREATE INDEX session_event_session ON session_event(session, told_to, id);
  CREATE INDEX session_event_told ON session_event(told_us) WHERE told_us IS NOT NULL;
  `,
  `
  -- Buckets of other recorders' events. AUTOINCREMENT: an id that a client holds is never given to another event.
  -- longest_us bounds how far before a range an event of the bucket can begin.
  CREATE TABLE bucket(
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    client TEXT NOT NULL,
    hostname TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    data TEXT NOT NULL,
    longest_us INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE bucket_event(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bucket_key INTEGER NOT NULL,
    start_us INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX bucket_event_start ON bucket_event(bucket_key, start_us);
  CREATE TABLE bucket_setting(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  `,
  `
  -- With the label in it the index tells what a rare event is about: a search looks at thousands of them
  -- without reading one row.
  DROP INDEX event_kind;
  CREATE INDEX event_kind ON event(label_id & 15, start_us, label_id) WHERE label_id & 15 <> 0;
  `,
  `
  -- Where in the text strangers' characters stand, as a JSON list of starts and ends by turns; what the owner wrote.
  ALTER TABLE ledger ADD COLUMN untrusted TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE ledger ADD COLUMN owner_text TEXT;
  `,
  `
  -- One record over several devices. Empty, and touched by nobody, where there is no hub.

  -- What this device has to tell: events that changed since they were told. is_new: others know nothing of it yet.
  CREATE TABLE hub_change(event_id INTEGER PRIMARY KEY, is_new INTEGER NOT NULL) STRICT;
  -- Records that are sealed and not acknowledged yet: after a crash the very same bytes are sent.
  CREATE TABLE hub_message(seq INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
  -- How far the log of this device goes, and how far those of others were read. One row.
  CREATE TABLE hub_log(
    id INTEGER PRIMARY KEY CHECK(id = 1),
    device TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    cursor TEXT,
    told_us INTEGER NOT NULL
  ) STRICT;
  -- Records under a key that is not here yet.
  CREATE TABLE hub_held(
    id INTEGER PRIMARY KEY,
    device TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    carried_us INTEGER,
    UNIQUE(device, epoch, seq)
  ) STRICT;
  -- Records that were taken in. version: epoch and seq in one number. hash and previous tell a log that forks.
  CREATE TABLE hub_record(
    device_key INTEGER NOT NULL,
    version INTEGER NOT NULL,
    hash BLOB NOT NULL,
    previous BLOB NOT NULL,
    PRIMARY KEY(device_key, version)
  ) STRICT, WITHOUT ROWID;

  -- Other devices. The key is 1 or more: 0 stands for this one. offset_us: how far its clock is ahead.
  CREATE TABLE device(
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    sealing_key BLOB,
    version INTEGER NOT NULL,
    sent_us INTEGER,
    received_us INTEGER,
    offset_us INTEGER,
    trouble TEXT
  ) STRICT;
  -- Their events, under the start that they have there. The record of that version said so last.
  CREATE TABLE remote_event(
    device_key INTEGER NOT NULL,
    start_us INTEGER NOT NULL,
    duration_us INTEGER NOT NULL CHECK(duration_us >= 0),
    label_id INTEGER NOT NULL,
    zone_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    PRIMARY KEY(device_key, start_us)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX remote_event_start ON remote_event(start_us);
  -- What they erased, or what was forgotten for them, so that it stays away in whatever order records come.
  CREATE TABLE remote_erased(
    device_key INTEGER NOT NULL,
    from_us INTEGER NOT NULL,
    to_us INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY(device_key, from_us, to_us, version)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE remote_visit(
    device_key INTEGER NOT NULL,
    start_us INTEGER NOT NULL,
    document_id INTEGER NOT NULL,
    span_us INTEGER NOT NULL,
    active_us INTEGER NOT NULL,
    PRIMARY KEY(device_key, start_us)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX remote_visit_start ON remote_visit(start_us);
  -- Covers its table: else visits of one document are sought by going back through all of the device.
  CREATE INDEX remote_visit_document ON remote_visit(document_id, device_key, start_us, span_us, active_us);
  `,
  `
  -- What sort of machine a device says it is, one of a few words; null: it did not say.
  ALTER TABLE device ADD COLUMN kind TEXT;
  `,
  `
  -- The start is the row's id, which stands in each index anyway: it is written twice only where a search wants the
  -- label behind it, in the index of kinds that have documents (bits of 5, 6, 8, 9). All other kinds but windows
  -- stand in event_kind. A sum of bits is worked out for each row that is written, in a fifth of the time of IN.
  DROP INDEX event_kind;
  CREATE INDEX event_kind ON event(label_id & 15) WHERE (1 << (label_id & 15)) & 64670 <> 0;
  CREATE INDEX event_seen ON event(label_id & 15, start_us, label_id) WHERE (1 << (label_id & 15)) & 864 <> 0;
  `,
];
