-- One table for whatever is small and found by its key: every table is read by
-- every process that opens the store, and a hook is such a process.
--
--   kind        key                owner                  value
--   repository  its path           its project            the project's name
--   setting     its name           its scope              its value
--   hold        the resource       project, tab, holder   JSON
--   task        spec, tab, its id  who has it in hand     JSON

CREATE TABLE facts (
    kind  TEXT NOT NULL,
    key   TEXT NOT NULL,
    owner TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, key, owner)
) WITHOUT ROWID;

INSERT INTO facts SELECT 'repository', repository, project, name FROM repositories;
INSERT INTO facts SELECT 'setting', key, scope, value FROM settings;
DROP TABLE repositories;
DROP TABLE settings;
