-- SPDX-License-Identifier: Apache-2.0
-- What was found out by reading files and is in no row: which texts tell of no failure, what a memviewd.json says. A run that
-- meets the same file reads it not again. And by which memviewd rows were made, so that they can be made anew on purpose.

ALTER TABLE memviewd.files ADD COLUMN rules_version text COLLATE "C"; -- of the memviewd that made its rows; null: not known

CREATE TABLE memviewd.facts (
    fact_id text COLLATE "C" PRIMARY KEY, -- of the address of the file, and kind
    logdir text COLLATE "C" NOT NULL,
    file text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL, -- text, named, labels
    identity text COLLATE "C" NOT NULL, -- a digest of the size and times of the file, on a server of its ETag, too
    value text COLLATE "C" NOT NULL, -- for memviewd alone
    rules_version text COLLATE "C" NOT NULL, -- of the memviewd that found it out
    noted_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX facts_logdir ON memviewd.facts (logdir);

-- Ids are of the address of a file alone, so that it is one file below every root: of "/a" and "/a/b", too. Rows of modules
-- have their new ids when their files are read the next time, which a new digest of their state causes once.
CREATE FUNCTION pg_temp.id_of(VARIADIC texts text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(encode(sha256(string_agg(convert_to(one, 'UTF8') || '\x00'::bytea, ''::bytea ORDER BY place)), 'hex'), 32)
    FROM unnest(texts) WITH ORDINALITY AS all_texts (one, place)
$$;
CREATE TEMPORARY TABLE addressed ON COMMIT DROP AS
SELECT file_id, address, pg_temp.id_of(address) AS new_id,
    row_number() OVER (PARTITION BY address ORDER BY gone_at NULLS FIRST, indexed_at DESC, file_id) AS place
FROM (SELECT *, CASE WHEN right(logdir, length(file) + 1) = '/' || file THEN logdir
                     ELSE rtrim(logdir, '/') || '/' || file END AS address FROM memviewd.files) AS files;
CREATE TEMPORARY TABLE renamed ON COMMIT DROP AS
SELECT id AS old_id, pg_temp.id_of(address, kind, '', coalesce(failure, -1)::text) AS new_id
FROM memviewd.rows JOIN addressed USING (file_id) WHERE place = 1 AND kind <> 'module';
CREATE TEMPORARY TABLE doubled ON COMMIT DROP AS
SELECT DISTINCT point_id FROM memviewd.rows JOIN addressed USING (file_id) WHERE place > 1;

DELETE FROM memviewd.files WHERE file_id IN (SELECT file_id FROM addressed WHERE place > 1);
ALTER TABLE memviewd.rows DROP CONSTRAINT rows_file_id_fkey;
UPDATE memviewd.rows SET file_id = addressed.new_id FROM addressed WHERE rows.file_id = addressed.file_id;
UPDATE memviewd.files SET file_id = addressed.new_id FROM addressed WHERE files.file_id = addressed.file_id;
ALTER TABLE memviewd.rows ADD CONSTRAINT rows_file_id_fkey FOREIGN KEY (file_id) REFERENCES memviewd.files ON DELETE CASCADE;
UPDATE memviewd.rows SET id = renamed.new_id FROM renamed WHERE rows.id = renamed.old_id;
UPDATE memviewd.points SET row_id = renamed.new_id FROM renamed WHERE points.row_id = renamed.old_id;
UPDATE memviewd.notices SET id = renamed.new_id FROM renamed WHERE notices.id = renamed.old_id;
SELECT memviewd.points_refresh(coalesce((SELECT array_agg(point_id) FROM doubled), '{}'));
