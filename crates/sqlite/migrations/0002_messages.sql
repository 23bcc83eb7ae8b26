-- One letter for each recipient of a message. A message is known by its entry's
-- number, and its text is in that entry.

CREATE TABLE letters (
    number       INTEGER NOT NULL,
    recipient    TEXT NOT NULL,
    sender       TEXT NOT NULL,
    thread       INTEGER NOT NULL,
    key          TEXT,
    delivered_at INTEGER,
    hand         TEXT,
    read_at      INTEGER,
    PRIMARY KEY (number, recipient)
) WITHOUT ROWID;

CREATE INDEX letters_unread ON letters (recipient) WHERE read_at IS NULL;

CREATE INDEX letters_key ON letters (key) WHERE key IS NOT NULL;
