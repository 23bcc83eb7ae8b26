-- What is read of knowledge: made from the journal, safe to delete, and in a file
-- of its own, because hooks read the whole schema of the store they open.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

-- Every entity with all that was said of it.
CREATE TABLE entities (
    scope TEXT NOT NULL,
    id    TEXT NOT NULL,
    body  TEXT NOT NULL,
    PRIMARY KEY (scope, id)
) WITHOUT ROWID;

-- All entities of one name as one.
CREATE TABLE known (
    scope  TEXT NOT NULL,
    kind   TEXT NOT NULL,
    name   TEXT NOT NULL,
    number INTEGER NOT NULL,
    -- Those that were not taken back.
    ids    TEXT NOT NULL,
    -- Its paths in `leans`.
    paths  TEXT NOT NULL,
    -- Since when it is stale.
    stale  INTEGER,
    -- What it weighs for a session that starts, and what that is told of it.
    weight REAL,
    line   TEXT,
    PRIMARY KEY (scope, kind, name)
) WITHOUT ROWID;

-- What they say, several to a block (`block.rs`).
CREATE TABLE blocks (
    scope TEXT NOT NULL,
    kind  TEXT NOT NULL,
    first TEXT NOT NULL,
    rows  BLOB NOT NULL,
    PRIMARY KEY (scope, kind, first)
) WITHOUT ROWID;

CREATE UNIQUE INDEX known_number ON known (number);

CREATE INDEX known_weight ON known (scope, kind, weight DESC, line) WHERE weight IS NOT NULL;

-- `within` has tokens for scope and kind, to search in those alone.
CREATE VIRTUAL TABLE words USING fts5 (name, text, within, content = '', contentless_delete = 1, tokenize = 'porter unicode61');

-- What leans on which file, and which names a relationship ties together.
CREATE TABLE leans (
    scope TEXT NOT NULL,
    path  TEXT NOT NULL,
    kind  TEXT NOT NULL,
    name  TEXT NOT NULL,
    PRIMARY KEY (scope, path, kind, name)
) WITHOUT ROWID;

CREATE TABLE ends (
    scope TEXT NOT NULL,
    name  TEXT NOT NULL,
    link  TEXT NOT NULL,
    PRIMARY KEY (scope, name, link)
) WITHOUT ROWID;

-- Batches that are recorded only once.
CREATE TABLE keys (
    scope TEXT NOT NULL,
    key   TEXT NOT NULL,
    seq   INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) WITHOUT ROWID;
