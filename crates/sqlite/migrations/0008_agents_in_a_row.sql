-- What is only ever read of an agent as a whole is one text: a hook at the start of a session
-- reads everyone who is here, and every process that opens the store reads the names of all
-- columns. `old_formats.rs` fills it.

ALTER TABLE agents RENAME TO former_agents;
DROP INDEX agents_present;

CREATE TABLE agents (
    session     TEXT PRIMARY KEY,
    name        TEXT NOT NULL COLLATE NOCASE,
    pid         INTEGER NOT NULL,
    rest        TEXT NOT NULL,
    left_at     INTEGER,
    left_reason TEXT
) WITHOUT ROWID;

CREATE INDEX agents_present ON agents (name, pid, left_at) WHERE left_at IS NULL;
