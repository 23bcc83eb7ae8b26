-- The files beside the database changed their form: a program that knows the former
-- ones must not write here.
SELECT 1;
