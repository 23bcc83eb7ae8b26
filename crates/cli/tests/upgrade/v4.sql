BEGIN TRANSACTION;
CREATE TABLE agents (
    session     TEXT PRIMARY KEY,
    name        TEXT NOT NULL COLLATE NOCASE,
    pid         INTEGER NOT NULL,
    host        TEXT NOT NULL,
    agent       TEXT NOT NULL,
    left_at     INTEGER,
    left_reason TEXT
) WITHOUT ROWID;
INSERT INTO "agents" VALUES('s1','Falcon',@PID@,'@HOST@','{"session":"s1","name":"Falcon","kind":"claude","process":{"pid":@PID@,"start":"@START@","program":"sleep"},"host":"@HOST@","project":{"id":"commit:43a2710130a108cf0d3766b921c259468a655990","name":"shop"},"cwd":"@PROJECT@","worktree":"@PROJECT@","branch":"main","model":null,"terminal":{"pane":null,"tmux":null,"window":null,"program":null},"joined_at":@SECONDS@949}',NULL,NULL);
INSERT INTO "agents" VALUES('s2','Raven',@PID@,'@HOST@','{"session":"s2","name":"Raven","kind":"codex","process":{"pid":@PID@,"start":"@START@","program":"sleep"},"host":"@HOST@","project":{"id":"commit:43a2710130a108cf0d3766b921c259468a655990","name":"shop"},"cwd":"@PROJECT@","worktree":"@PROJECT@","branch":"main","model":null,"terminal":{"pane":null,"tmux":null,"window":null,"program":null},"joined_at":@SECONDS@954}',NULL,NULL);
CREATE TABLE facts (
    kind  TEXT NOT NULL,
    key   TEXT NOT NULL,
    owner TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, key, owner)
) WITHOUT ROWID;
INSERT INTO "facts" VALUES('hold','file:src/','commit:43a2710130a108cf0d3766b921c259468a655990	agent:s1','{"project":"commit:43a2710130a108cf0d3766b921c259468a655990","resource":"file:src/","holder":"agent:s1","label":"Falcon (claude on main)","strength":"blocking","mode":"exclusive","reason":"the parser","since":@SECONDS@958,"worktree":"@PROJECT@","generation":4}');
INSERT INTO "facts" VALUES('hold','topic:auth','commit:43a2710130a108cf0d3766b921c259468a655990	agent:s1','{"project":"commit:43a2710130a108cf0d3766b921c259468a655990","resource":"topic:auth","holder":"agent:s1","label":"Falcon (claude on main)","strength":"advisory","mode":"exclusive","since":@SECONDS@961,"worktree":"@PROJECT@","generation":5}');
INSERT INTO "facts" VALUES('repository','@PROJECT@/.git','commit:43a2710130a108cf0d3766b921c259468a655990','shop');
INSERT INTO "facts" VALUES('setting','pruned_at',':consort','@SECONDS@948');
INSERT INTO "facts" VALUES('task','commit:43a2710130a108cf0d3766b921c259468a655990	spec.md	task-01','agent:s2','{"spec":{"project":"commit:43a2710130a108cf0d3766b921c259468a655990","path":"spec.md"},"id":"TASK-01","state":{"claimed":{"who":"agent:s2","name":"Raven","at":@SECONDS@972}},"generation":10}');
CREATE TABLE journal (
    seq     INTEGER PRIMARY KEY,
    id      BLOB NOT NULL,
    at      INTEGER NOT NULL,
    project TEXT,
    actor   TEXT NOT NULL,
    changes TEXT NOT NULL
);
INSERT INTO "journal" VALUES(1,X'01A1E3CF09E577F8BB32206CB41AAC85',@SECONDS@949,'commit:43a2710130a108cf0d3766b921c259468a655990','consort','[{"presence":{"repository_seen":{"repository":"@PROJECT@/.git","project":{"id":"commit:43a2710130a108cf0d3766b921c259468a655990","name":"shop"}}}}]');
INSERT INTO "journal" VALUES(2,X'01A1E3CF09E576F68802E3AEC66421F6',@SECONDS@949,'commit:43a2710130a108cf0d3766b921c259468a655990','agent:s1','[{"presence":{"joined":{"session":"s1","name":"Falcon","kind":"claude","process":{"pid":@PID@,"start":"@START@","program":"sleep"},"host":"@HOST@","project":{"id":"commit:43a2710130a108cf0d3766b921c259468a655990","name":"shop"},"cwd":"@PROJECT@","worktree":"@PROJECT@","branch":"main","model":null,"terminal":{"pane":null,"tmux":null,"window":null,"program":null},"joined_at":@SECONDS@949}}}]');
INSERT INTO "journal" VALUES(3,X'01A1E3CF09EA7909B2900A6C5B8B371A',@SECONDS@954,'commit:43a2710130a108cf0d3766b921c259468a655990','agent:s2','[{"presence":{"joined":{"session":"s2","name":"Raven","kind":"codex","process":{"pid":@PID@,"start":"@START@","program":"sleep"},"host":"@HOST@","project":{"id":"commit:43a2710130a108cf0d3766b921c259468a655990","name":"shop"},"cwd":"@PROJECT@","worktree":"@PROJECT@","branch":"main","model":null,"terminal":{"pane":null,"tmux":null,"window":null,"program":null},"joined_at":@SECONDS@954}}}]');
INSERT INTO "journal" VALUES(4,X'01A1E3CF09EE7D13A1412AD73BA482AA',@SECONDS@958,'commit:43a2710130a108cf0d3766b921c259468a655990','agent:s1','[{"claims":{"held":{"project":"commit:43a2710130a108cf0d3766b921c259468a655990","resource":"file:src/","holder":"agent:s1","label":"Falcon (claude on main)","strength":"blocking","mode":"exclusive","reason":"the parser","since":@SECONDS@958,"worktree":"@PROJECT@","generation":0}}}]');
INSERT INTO "journal" VALUES(5,X'01A1E3CF09F173E5A2961C1A6C612AB3',@SECONDS@961,'commit:43a2710130a108cf0d3766b921c259468a655990','agent:s1','[{"claims":{"held":{"project":"commit:43a2710130a108cf0d3766b921c259468a655990","resource":"topic:auth","holder":"agent:s1","label":"Falcon (claude on main)","strength":"advisory","mode":"exclusive","since":@SECONDS@961,"worktree":"@PROJECT@","generation":0}}}]');
INSERT INTO "journal" VALUES(6,X'01A1E3CF09F4739FB951B9FB169D8AE9',@SECONDS@964,'commit:43a2710130a108cf0d3766b921c259468a655990','agent:s1','[{"messages":{"sent":{"from":{"who":"agent:s1","name":"Falcon","kind":"claude","project":"commit:43a2710130a108cf0d3766b921c259468a655990","branch":"main","details":"in @PROJECT@"},"to":[{"who":"agent:s2","name":"Raven"}],"type":"info","priority":"normal","text":"an old letter"}}}]');
INSERT INTO "journal" VALUES(7,X'01A1E3CF09F677669E80C56FD5DDAB5B',@SECONDS@966,'commit:43a2710130a108cf0d3766b921c259468a655990','agent:s2','[{"messages":{"sent":{"from":{"who":"agent:s2","name":"Raven","kind":"codex","project":"commit:43a2710130a108cf0d3766b921c259468a655990","branch":"main","details":"in @PROJECT@"},"to":[{"who":"agent:s1","name":"Falcon"}],"type":"info","priority":"normal","text":"a read letter"}}}]');
INSERT INTO "journal" VALUES(8,X'01A1E3CF09F971FAA16177638A6E5084',@SECONDS@969,'commit:43a2710130a108cf0d3766b921c259468a655990','agent:s1','[{"messages":{"delivered":{"to":"agent:s1","numbers":[7],"hand":{"pid":12446,"start":"f51640a0-1647089"}}}}]');
INSERT INTO "journal" VALUES(9,X'01A1E3CF09F97C768BB8EF8B3B7993C2',@SECONDS@969,'commit:43a2710130a108cf0d3766b921c259468a655990','agent:s1','[{"messages":{"read":{"to":"agent:s1","numbers":[7]}}}]');
INSERT INTO "journal" VALUES(10,X'01A1E3CF09FC73ECB108EF2C6CFFC380',@SECONDS@972,'commit:43a2710130a108cf0d3766b921c259468a655990','agent:s2','[{"tasks":{"claimed":{"spec":{"project":"commit:43a2710130a108cf0d3766b921c259468a655990","path":"spec.md"},"id":"TASK-01","worker":{"who":"agent:s2","name":"Raven","at":@SECONDS@972}}}}]');
CREATE TABLE letters (
    number       INTEGER NOT NULL,
    recipient    TEXT NOT NULL,
    sender       TEXT NOT NULL,
    thread       INTEGER NOT NULL,
    key          TEXT,
    read_at      INTEGER,
    PRIMARY KEY (number, recipient)
) WITHOUT ROWID;
INSERT INTO "letters" VALUES(6,'agent:s2','agent:s1',6,NULL,NULL);
INSERT INTO "letters" VALUES(7,'agent:s1','agent:s2',7,NULL,@SECONDS@969);
CREATE INDEX letters_key ON letters (key) WHERE key IS NOT NULL;
CREATE INDEX letters_unread ON letters (recipient, number, read_at) WHERE read_at IS NULL;
CREATE INDEX agents_present ON agents (name, pid, left_at) WHERE left_at IS NULL;
PRAGMA user_version = 4;
COMMIT;
