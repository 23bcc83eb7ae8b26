-- Entries have a form, and are found by their id. What people call a message or a
-- reservation is its number among those of its project:
--
--   kind        key                owner                  value
--   number      what is counted    its project            the last number
--   delivery    the recipient                             JSON: who, when, which letters
--   override    the resource       project, tab, consort  JSON: a hold that lets everyone write
--   newer       what was changed                          the entry, which only a newer consort understands
--
-- The entries themselves are rewritten by `former.rs`, and the projections made anew.

ALTER TABLE journal ADD COLUMN format INTEGER NOT NULL DEFAULT 2;
CREATE INDEX journal_id ON journal (id);

DROP TABLE agents;
CREATE TABLE agents (
    session      TEXT PRIMARY KEY,
    name         TEXT NOT NULL COLLATE NOCASE,
    kind         TEXT NOT NULL,
    project      TEXT NOT NULL,
    project_name TEXT NOT NULL,
    branch       TEXT,
    model        TEXT,
    joined_at    INTEGER NOT NULL,
    machine      TEXT NOT NULL,
    pid          INTEGER NOT NULL,
    start        TEXT NOT NULL,
    tty          TEXT,
    program      TEXT NOT NULL,
    cwd          TEXT NOT NULL,
    worktree     TEXT NOT NULL,
    more         TEXT,
    left_at      INTEGER,
    left_reason  TEXT
) WITHOUT ROWID;

CREATE INDEX agents_present ON agents (name, pid, left_at) WHERE left_at IS NULL;

DROP TABLE letters;
CREATE TABLE letters (
    message   BLOB NOT NULL,
    recipient TEXT NOT NULL,
    seq       INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    sender    TEXT NOT NULL,
    thread    BLOB NOT NULL,
    priority  INTEGER NOT NULL,
    key       TEXT,
    read_at   INTEGER,
    PRIMARY KEY (message, recipient)
) WITHOUT ROWID;

CREATE INDEX letters_unread ON letters (recipient, priority DESC, seq, number, read_at) WHERE read_at IS NULL;
CREATE INDEX letters_number ON letters (number);
CREATE INDEX letters_key ON letters (key) WHERE key IS NOT NULL;

DELETE FROM facts WHERE kind = 'hand';
