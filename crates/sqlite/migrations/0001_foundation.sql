-- Few tables and fewer indexes: every process that opens the store reads the
-- whole schema, and a hook is such a process.

CREATE TABLE journal (
    seq     INTEGER PRIMARY KEY,
    id      BLOB NOT NULL,
    at      INTEGER NOT NULL,
    project TEXT,
    actor   TEXT NOT NULL,
    changes TEXT NOT NULL
);

-- Projections: written only by applying entries.

CREATE TABLE repositories (
    repository TEXT PRIMARY KEY,
    project    TEXT NOT NULL,
    name       TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE agents (
    session     TEXT PRIMARY KEY,
    name        TEXT NOT NULL COLLATE NOCASE,
    pid         INTEGER NOT NULL,
    host        TEXT NOT NULL,
    agent       TEXT NOT NULL,
    left_at     INTEGER,
    left_reason TEXT
) WITHOUT ROWID;

CREATE UNIQUE INDEX agents_name ON agents (name) WHERE left_at IS NULL;

-- What the configuration files say, for those who cannot afford to read them.

CREATE TABLE settings (
    scope TEXT NOT NULL,
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (scope, key)
) WITHOUT ROWID;
