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
INSERT INTO "agents" VALUES('s1','Falcon',@PID@,'@HOST@','{"session":"s1","name":"Falcon","kind":"claude","process":{"pid":@PID@,"start":"@START@","program":"python3"},"host":"@HOST@","project":{"id":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","name":"shop"},"cwd":"@PROJECT@","worktree":"@PROJECT@","branch":"main","model":null,"terminal":{"pane":null,"tmux":null,"window":null,"program":null},"joined_at":@SECONDS@031}',NULL,NULL);
INSERT INTO "agents" VALUES('s2','Raven',@PID@,'@HOST@','{"session":"s2","name":"Raven","kind":"codex","process":{"pid":@PID@,"start":"@START@","program":"python3"},"host":"@HOST@","project":{"id":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","name":"shop"},"cwd":"@PROJECT@","worktree":"@PROJECT@","branch":"main","model":null,"terminal":{"pane":null,"tmux":null,"window":null,"program":null},"joined_at":@SECONDS@038}',NULL,NULL);
INSERT INTO "agents" VALUES('s3','Wren',@PID@,'@HOST@','{"session":"s3","name":"Wren","kind":"codex","process":{"pid":@PID@,"start":"@START@","program":"python3"},"host":"@HOST@","project":{"id":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","name":"shop"},"cwd":"@PROJECT@","worktree":"@PROJECT@","branch":"main","model":null,"terminal":{"pane":null,"tmux":null,"window":null,"program":null},"joined_at":@SECONDS@041}',@SECONDS@217,'"asked"');
CREATE TABLE facts (
    kind  TEXT NOT NULL,
    key   TEXT NOT NULL,
    owner TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, key, owner)
) WITHOUT ROWID;
INSERT INTO "facts" VALUES('hand','agent:s1','','[{"at":@SECONDS@145,"hand":{"pid":1505,"start":"f51640a0-3716506"},"numbers":[12]}]');
INSERT INTO "facts" VALUES('hand','agent:s2','','[{"at":@SECONDS@155,"hand":{"pid":1509,"start":"f51640a0-3716507"},"numbers":[13]}]');
INSERT INTO "facts" VALUES('hand','agent:s3','','[{"at":@SECONDS@117,"hand":{"pid":1484,"start":"f51640a0-3716504"},"numbers":[14]}]');
INSERT INTO "facts" VALUES('hold','file:docs/','commit:1e333cce507648aa350b31a2b4b5bf029752e256	agent:s1','{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","resource":"file:docs/","holder":"agent:s1","label":"Falcon (claude on main)","strength":"blocking","mode":"exclusive","reason":"the layout","since":@SECONDS@048,"worktree":"@PROJECT@","generation":5}');
INSERT INTO "facts" VALUES('hold','file:src/','commit:1e333cce507648aa350b31a2b4b5bf029752e256	agent:s1','{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","resource":"file:src/","holder":"agent:s1","label":"Falcon (claude on main)","strength":"blocking","mode":"exclusive","reason":"the layout","since":@SECONDS@048,"worktree":"@PROJECT@","generation":5}');
INSERT INTO "facts" VALUES('hold','topic:auth','commit:1e333cce507648aa350b31a2b4b5bf029752e256	agent:s2','{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","resource":"topic:auth","holder":"agent:s2","label":"Raven (codex on main)","strength":"advisory","mode":"exclusive","since":@SECONDS@073,"worktree":"@PROJECT@","generation":7,"contest":{"by":"agent:s3","label":"Wren (codex on main)","at":@SECONDS@080,"until":@SECONDS@080}}');
INSERT INTO "facts" VALUES('prediction','000000000021','ended','{"number":21,"at":@SECONDS@151,"pair":[{"session":"s1","name":"Falcon"},{"session":"s2","name":"Raven"}],"signal":{"kind":"approaching","confidence":0.8,"distance":5,"topics":["cookie","handling","session"]},"ended":{"outcome":"occurred","how":"both went on with cookie","at":@SECONDS@163}}');
INSERT INTO "facts" VALUES('prediction','000000000026','ended','{"number":26,"at":@SECONDS@172,"pair":[{"session":"s1","name":"Falcon"},{"session":"s2","name":"Raven"}],"signal":{"kind":"mutual_deepening","confidence":0.9,"distance":1,"topics":["cookie","handling","session"]},"ended":{"outcome":"occurred","how":"both went on with cookie","at":@SECONDS@183}}');
INSERT INTO "facts" VALUES('repository','@PROJECT@/.git','commit:1e333cce507648aa350b31a2b4b5bf029752e256','shop');
INSERT INTO "facts" VALUES('setting','pruned_at',':consort','@SECONDS@031');
INSERT INTO "facts" VALUES('setting','replica',':consort','{"host":"@HOST@","name":8629653960041095}');
INSERT INTO "facts" VALUES('store','id','','5e1c2426762f30a5efdc2636c7565351');
INSERT INTO "facts" VALUES('tally','29','','{"threshold":0.35,"all":{"prevented":0,"occurred":2,"false_positive":0,"expired":0},"round":{"prevented":0,"occurred":2,"false_positive":0,"expired":0}}');
INSERT INTO "facts" VALUES('task','commit:1e333cce507648aa350b31a2b4b5bf029752e256	spec.md	task-01','','{"spec":{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","path":"spec.md"},"id":"TASK-01","state":{"done":{"who":"agent:s2","name":"Raven","at":@SECONDS@127}},"generation":16}');
INSERT INTO "facts" VALUES('task','commit:1e333cce507648aa350b31a2b4b5bf029752e256	spec.md	task-02','agent:s2','{"spec":{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","path":"spec.md"},"id":"TASK-02","state":{"claimed":{"who":"agent:s2","name":"Raven","at":@SECONDS@134}},"generation":18}');
CREATE TABLE journal (
    seq     INTEGER PRIMARY KEY,
    id      BLOB NOT NULL,
    at      INTEGER NOT NULL,
    project TEXT,
    actor   TEXT NOT NULL,
    changes TEXT NOT NULL
);
INSERT INTO "journal" VALUES(1,X'01A1E50ACE277F779B2B6071D4F316AF',@SECONDS@031,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','consort','[{"presence":{"repository_seen":{"repository":"@PROJECT@/.git","project":{"id":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","name":"shop"}}}}]');
INSERT INTO "journal" VALUES(2,X'01A1E50ACE277184AD583B2CC5AAF160',@SECONDS@031,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s1','[{"presence":{"joined":{"session":"s1","name":"Falcon","kind":"claude","process":{"pid":@PID@,"start":"@START@","program":"python3"},"host":"@HOST@","project":{"id":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","name":"shop"},"cwd":"@PROJECT@","worktree":"@PROJECT@","branch":"main","model":null,"terminal":{"pane":null,"tmux":null,"window":null,"program":null},"joined_at":@SECONDS@031}}}]');
INSERT INTO "journal" VALUES(3,X'01A1E50ACE2E7D6F9EC2DF3BA460FE46',@SECONDS@038,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s2','[{"presence":{"joined":{"session":"s2","name":"Raven","kind":"codex","process":{"pid":@PID@,"start":"@START@","program":"python3"},"host":"@HOST@","project":{"id":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","name":"shop"},"cwd":"@PROJECT@","worktree":"@PROJECT@","branch":"main","model":null,"terminal":{"pane":null,"tmux":null,"window":null,"program":null},"joined_at":@SECONDS@038}}}]');
INSERT INTO "journal" VALUES(4,X'01A1E50ACE31725FB567EE738DA3BFB0',@SECONDS@041,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s3','[{"presence":{"joined":{"session":"s3","name":"Wren","kind":"codex","process":{"pid":@PID@,"start":"@START@","program":"python3"},"host":"@HOST@","project":{"id":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","name":"shop"},"cwd":"@PROJECT@","worktree":"@PROJECT@","branch":"main","model":null,"terminal":{"pane":null,"tmux":null,"window":null,"program":null},"joined_at":@SECONDS@041}}}]');
INSERT INTO "journal" VALUES(5,X'01A1E50ACE3870668D21EDF69366CE47',@SECONDS@048,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s1','[{"claims":{"held":{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","resource":"file:src/","holder":"agent:s1","label":"Falcon (claude on main)","strength":"blocking","mode":"exclusive","reason":"the layout","since":@SECONDS@048,"worktree":"@PROJECT@","generation":0}}},{"claims":{"held":{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","resource":"file:docs/","holder":"agent:s1","label":"Falcon (claude on main)","strength":"blocking","mode":"exclusive","reason":"the layout","since":@SECONDS@048,"worktree":"@PROJECT@","generation":0}}}]');
INSERT INTO "journal" VALUES(6,X'01A1E50ACE44736BA7DA5CBD111BB48F',@SECONDS@060,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s1','[{"claims":{"held":{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","resource":"file:src/","holder":"agent:s1","label":"Falcon (claude on main)","strength":"blocking","mode":"exclusive","reason":"the layout","since":@SECONDS@048,"worktree":"@PROJECT@","generation":5}}}]');
INSERT INTO "journal" VALUES(7,X'01A1E50ACE517E44A9B2363DA5D8F81A',@SECONDS@073,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s2','[{"claims":{"held":{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","resource":"topic:auth","holder":"agent:s2","label":"Raven (codex on main)","strength":"advisory","mode":"exclusive","since":@SECONDS@073,"worktree":"@PROJECT@","generation":0}}}]');
INSERT INTO "journal" VALUES(8,X'01A1E50ACE5879CA9D8C4E61B828D388',@SECONDS@080,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s3','[{"claims":{"contested":{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","resource":"topic:auth","holder":"agent:s2","contest":{"by":"agent:s3","label":"Wren (codex on main)","at":@SECONDS@080,"until":@SECONDS@080}}}},{"messages":{"sent":{"from":{"who":"agent:s3","name":"Wren","kind":"codex","project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","branch":"main","details":"in @PROJECT@"},"to":[{"who":"agent:s2","name":"Raven"}],"type":"question","priority":"urgent","text":"I need topic:auth, which you hold. If you are done with it: consort release ''topic:auth''. If you still need it: consort claim ''topic:auth''; otherwise it may be taken in 120 s."}}}]');
INSERT INTO "journal" VALUES(9,X'01A1E50ACE5F71118D38C91FB127138E',@SECONDS@087,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s1','[{"messages":{"sent":{"from":{"who":"agent:s1","name":"Falcon","kind":"claude","project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","branch":"main","details":"in @PROJECT@"},"to":[{"who":"agent:s2","name":"Raven"}],"type":"info","priority":"normal","text":"read long ago"}}}]');
INSERT INTO "journal" VALUES(10,X'01A1E50ACE6C78C18DD6AF90F13AF3B9',@SECONDS@100,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s2','[{"messages":{"delivered":{"to":"agent:s2","numbers":[8,9],"hand":{"pid":1468,"start":"f51640a0-3716502"}}}}]');
INSERT INTO "journal" VALUES(11,X'01A1E50ACE6D7542B043329BE7B24788',@SECONDS@101,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s2','[{"messages":{"read":{"to":"agent:s2","numbers":[8,9]}}}]');
INSERT INTO "journal" VALUES(12,X'01A1E50ACE7778C6803F9A54ECE70EBD',@SECONDS@111,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s2','[{"messages":{"sent":{"from":{"who":"agent:s2","name":"Raven","kind":"codex","project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","branch":"main","details":"in @PROJECT@"},"to":[{"who":"agent:s1","name":"Falcon"}],"type":"info","priority":"normal","text":"an answer","reply_to":9,"thread":9}}}]');
INSERT INTO "journal" VALUES(13,X'01A1E50ACE7A79C5837E066778922EAB',@SECONDS@114,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s1','[{"messages":{"sent":{"from":{"who":"agent:s1","name":"Falcon","kind":"claude","project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","branch":"main","details":"in @PROJECT@"},"to":[{"who":"agent:s2","name":"Raven"}],"type":"info","priority":"normal","text":"an old letter"}}}]');
INSERT INTO "journal" VALUES(14,X'01A1E50ACE7C764D810D61CBDCA8C332',@SECONDS@116,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s1','[{"messages":{"sent":{"from":{"who":"agent:s1","name":"Falcon","kind":"claude","project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","branch":"main","details":"in @PROJECT@"},"to":[{"who":"agent:s3","name":"Wren"},{"who":"person","name":"the person"}],"type":"info","priority":"normal","text":"delivered by a hook"}}}]');
INSERT INTO "journal" VALUES(15,X'01A1E50ACE7D7B47B3EC3A9675DDBC26',@SECONDS@117,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s3','[{"messages":{"delivered":{"to":"agent:s3","numbers":[14],"hand":{"pid":1484,"start":"f51640a0-3716504"}}}}]');
INSERT INTO "journal" VALUES(16,X'01A1E50ACE8574988FACB33244CDDA2A',@SECONDS@125,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s2','[{"tasks":{"claimed":{"spec":{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","path":"spec.md"},"id":"TASK-01","worker":{"who":"agent:s2","name":"Raven","at":@SECONDS@125}}}}]');
INSERT INTO "journal" VALUES(17,X'01A1E50ACE8772398A8288CB1D6C38FA',@SECONDS@127,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s2','[{"tasks":{"completed":{"spec":{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","path":"spec.md"},"id":"TASK-01","worker":{"who":"agent:s2","name":"Raven","at":@SECONDS@127}}}}]');
INSERT INTO "journal" VALUES(18,X'01A1E50ACE8E770AB6B4B9A09466D6CE',@SECONDS@134,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s2','[{"tasks":{"claimed":{"spec":{"project":"commit:1e333cce507648aa350b31a2b4b5bf029752e256","path":"spec.md"},"id":"TASK-02","worker":{"who":"agent:s2","name":"Raven","at":@SECONDS@134}}}}]');
INSERT INTO "journal" VALUES(19,X'01A1E50ACE967FB5A54876DE01EDE674',@SECONDS@142,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s1','[{"knowledge":{"edited":{"writer":8629653960041095,"by":{"name":"Falcon","kind":"claude","commit":"1e333cce507648aa350b31a2b4b5bf029752e256"},"edits":[{"entity":"01a1e50a-ce96-7687-ac6d-57fae608ebdd","set":{"field":"kind","value":"principle"}},{"entity":"01a1e50a-ce96-7687-ac6d-57fae608ebdd","set":{"field":"name","value":"small-steps"}},{"entity":"01a1e50a-ce96-7687-ac6d-57fae608ebdd","set":{"field":"description","value":"Commit early"}}]}}}]');
INSERT INTO "journal" VALUES(20,X'01A1E50ACE9978BABF8AF6282AE3DB2E',@SECONDS@145,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s1','[{"messages":{"delivered":{"to":"agent:s1","numbers":[12],"hand":{"pid":1505,"start":"f51640a0-3716506"}}}}]');
INSERT INTO "journal" VALUES(21,X'01A1E50ACE9F7F47884ECDD087A82C02',@SECONDS@151,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','consort','[{"convergence":{"predicted":{"pair":[{"session":"s1","name":"Falcon"},{"session":"s2","name":"Raven"}],"signal":{"kind":"approaching","confidence":0.8,"distance":5,"topics":["cookie","handling","session"]}}}}]');
INSERT INTO "journal" VALUES(22,X'01A1E50ACE9F72E38B46A66D8F430C0F',@SECONDS@151,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','consort','[{"messages":{"sent":{"from":{"who":"consort","name":"consort"},"to":[{"who":"agent:s1","name":"Falcon"}],"type":"info","priority":"normal","text":"Raven is also about cookie, handling, session: coordinate before you go on (`consort send Raven \"…\"`, `consort explain prediction 21`).","key":"prediction 21 to s1"}}}]');
INSERT INTO "journal" VALUES(23,X'01A1E50ACEA37DC1B0582FAEA1547ED8',@SECONDS@155,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s2','[{"messages":{"delivered":{"to":"agent:s2","numbers":[13],"hand":{"pid":1509,"start":"f51640a0-3716507"}}}}]');
INSERT INTO "journal" VALUES(24,X'01A1E50ACEA57E1E9F82F361E2E68ADB',@SECONDS@157,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s1','[{"messages":{"delivered":{"to":"agent:s1","numbers":[22],"hand":{"pid":1513,"start":"f51640a0-3716508"}}}}]');
INSERT INTO "journal" VALUES(25,X'01A1E50ACEAB7C7A872FDB25FAC89A65',@SECONDS@163,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','consort','[{"convergence":{"resolved":{"number":21,"outcome":"occurred","how":"both went on with cookie","tally":{"threshold":0.35,"all":{"prevented":0,"occurred":1,"false_positive":0,"expired":0},"round":{"prevented":0,"occurred":1,"false_positive":0,"expired":0}}}}},{"messages":{"dropped":{"to":"agent:s1","numbers":[22]}}}]');
INSERT INTO "journal" VALUES(26,X'01A1E50ACEB4799AA30F5032E46DD8A0',@SECONDS@172,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','consort','[{"convergence":{"predicted":{"pair":[{"session":"s1","name":"Falcon"},{"session":"s2","name":"Raven"}],"signal":{"kind":"mutual_deepening","confidence":0.9,"distance":1,"topics":["cookie","handling","session"]}}}}]');
INSERT INTO "journal" VALUES(27,X'01A1E50ACEB47DD58DAA4D42D5F79310',@SECONDS@172,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','consort','[{"messages":{"sent":{"from":{"who":"consort","name":"consort"},"to":[{"who":"agent:s1","name":"Falcon"}],"type":"info","priority":"normal","text":"Raven is deepening in cookie, handling, session, as you are: coordinate before you go on (`consort send Raven \"…\"`, `consort explain prediction 26`).","key":"prediction 26 to s1"}}}]');
INSERT INTO "journal" VALUES(28,X'01A1E50ACEBB79D78E747E154080F2F1',@SECONDS@179,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','agent:s1','[{"messages":{"delivered":{"to":"agent:s1","numbers":[27],"hand":{"pid":1530,"start":"f51640a0-3716510"}}}}]');
INSERT INTO "journal" VALUES(29,X'01A1E50ACEBF7CF79117E638BDCEF945',@SECONDS@183,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','consort','[{"convergence":{"resolved":{"number":26,"outcome":"occurred","how":"both went on with cookie","tally":{"threshold":0.35,"all":{"prevented":0,"occurred":2,"false_positive":0,"expired":0},"round":{"prevented":0,"occurred":2,"false_positive":0,"expired":0}}}}},{"messages":{"dropped":{"to":"agent:s1","numbers":[27]}}}]');
INSERT INTO "journal" VALUES(30,X'01A1E50ACEE17FC3A88CD508461E5E9F',@SECONDS@217,'commit:1e333cce507648aa350b31a2b4b5bf029752e256','person','[{"presence":{"left":{"session":"s3","reason":"asked"}}}]');
CREATE TABLE letters (
    number       INTEGER NOT NULL,
    recipient    TEXT NOT NULL,
    sender       TEXT NOT NULL,
    thread       INTEGER NOT NULL,
    key          TEXT,
    read_at      INTEGER,
    PRIMARY KEY (number, recipient)
) WITHOUT ROWID;
INSERT INTO "letters" VALUES(8,'agent:s2','agent:s3',8,NULL,@SECONDS@101);
INSERT INTO "letters" VALUES(9,'agent:s2','agent:s1',9,NULL,@SECONDS@101);
INSERT INTO "letters" VALUES(12,'agent:s1','agent:s2',9,NULL,NULL);
INSERT INTO "letters" VALUES(13,'agent:s2','agent:s1',13,NULL,NULL);
INSERT INTO "letters" VALUES(14,'agent:s3','agent:s1',14,NULL,NULL);
INSERT INTO "letters" VALUES(14,'person','agent:s1',14,NULL,NULL);
CREATE INDEX letters_key ON letters (key) WHERE key IS NOT NULL;
CREATE INDEX letters_unread ON letters (recipient, number, read_at) WHERE read_at IS NULL;
CREATE INDEX agents_present ON agents (name, pid, left_at) WHERE left_at IS NULL;
PRAGMA user_version=6;
COMMIT;
