-- Who has handed over what is one fact for each recipient, not one on each of its
-- letters: a hook hands over dozens at once.
--
--   kind        key                owner                  value
--   hand        the recipient                             JSON: who, when, which letters

INSERT INTO facts
    SELECT 'hand', recipient, '', json_group_array(json(over) ORDER BY at, first)
    FROM (SELECT recipient, delivered_at AS at, min(number) AS first,
                 json_object('at', delivered_at, 'hand', json(hand),
                             'numbers', json_group_array(number ORDER BY number)) AS over
          FROM letters WHERE json_valid(hand) AND read_at IS NULL
          GROUP BY recipient, delivered_at, hand)
    GROUP BY recipient;

ALTER TABLE letters DROP COLUMN delivered_at;
ALTER TABLE letters DROP COLUMN hand;

-- What is unread and who is present is told by an index alone if it holds all that
-- is asked for, also what its own condition says. Otherwise every row is looked up.

DROP INDEX letters_unread;
CREATE INDEX letters_unread ON letters (recipient, number, read_at) WHERE read_at IS NULL;

DROP INDEX agents_name;
CREATE INDEX agents_present ON agents (name, pid, left_at) WHERE left_at IS NULL;
