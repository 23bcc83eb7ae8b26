-- A message is known by its entry's number, and its text is in that entry.

CREATE TABLE messages (
    number INTEGER PRIMARY KEY,
    sender TEXT NOT NULL,
    thread INTEGER NOT NULL,
    key    TEXT
);

CREATE UNIQUE INDEX messages_key ON messages (sender, key) WHERE key IS NOT NULL;

-- One for each recipient.

CREATE TABLE letters (
    number       INTEGER NOT NULL,
    recipient    TEXT NOT NULL,
    delivered_at INTEGER,
    hand         TEXT,
    read_at      INTEGER,
    PRIMARY KEY (number, recipient)
) WITHOUT ROWID;

CREATE INDEX letters_unread ON letters (recipient) WHERE read_at IS NULL;
