-- What is held, by whom. What is only ever read whole is one JSON column; an
-- empty project is the whole machine.

CREATE TABLE holds (
    resource TEXT NOT NULL,
    project  TEXT NOT NULL,
    holder   TEXT NOT NULL,
    hold     TEXT NOT NULL,
    PRIMARY KEY (resource, project, holder)
) WITHOUT ROWID;

-- What has happened to a task; its holder is whoever has it in hand.

CREATE TABLE tasks (
    task   TEXT PRIMARY KEY,
    spec   TEXT NOT NULL,
    holder TEXT,
    record TEXT NOT NULL
) WITHOUT ROWID;
