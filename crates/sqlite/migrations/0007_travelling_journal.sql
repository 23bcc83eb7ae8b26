-- Entries have a form, and are found by their id. What people call a message or a
-- reservation is its number among those of its project:
--
--   kind        key                owner                  value
--   number      what is counted    its project            the last number
--   delivery    the recipient                             JSON: who, when, which letters
--   newer       what was changed                          the entry, which only a newer consort understands
--
-- The entries themselves are rewritten by `former.rs`, and the projections made anew.

ALTER TABLE journal ADD COLUMN format INTEGER NOT NULL DEFAULT 2;
CREATE INDEX journal_id ON journal (id);

DROP TABLE letters;
CREATE TABLE letters (
    message   BLOB NOT NULL,
    recipient TEXT NOT NULL,
    seq       INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    sender    TEXT NOT NULL,
    thread    BLOB NOT NULL,
    key       TEXT,
    read_at   INTEGER,
    PRIMARY KEY (message, recipient)
) WITHOUT ROWID;

CREATE INDEX letters_unread ON letters (recipient, seq, number, read_at) WHERE read_at IS NULL;
CREATE INDEX letters_number ON letters (number);
CREATE INDEX letters_key ON letters (key) WHERE key IS NOT NULL;

DELETE FROM facts WHERE kind = 'hand';
