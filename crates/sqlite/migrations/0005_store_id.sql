-- Which store this is, so that files beside it can say whose they are.
--
--   kind        key                owner                  value
--   store       id                                        32 hexadecimal digits

INSERT OR IGNORE INTO facts VALUES ('store', 'id', '', lower(hex(randomblob(16))));

-- What the person has accepted that loosens protection. What is in force already in
-- the user's own file counts as accepted.
--
--   kind        key                owner                  value
--   accepted    the setting        its scope              its value

INSERT OR IGNORE INTO facts
    SELECT 'accepted', key, owner, value FROM facts
    WHERE kind = 'setting' AND owner = '' AND (key LIKE 'claims.%' OR key LIKE 'privacy.%');
