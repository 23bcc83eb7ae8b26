-- Which store this is, so that files beside it can say whose they are.
--
--   kind        key                owner                  value
--   store       id                                        32 hexadecimal digits

INSERT OR IGNORE INTO facts VALUES ('store', 'id', '', lower(hex(randomblob(16))));
