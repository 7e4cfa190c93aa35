-- SPDX-License-Identifier: Apache-2.0
-- For a million rows: processes that write different points do not wait for each other, and what a page asks of all jobs is found
-- by an index, the newest first.

-- Where the row lies that a point is of: without asking `rows`.
ALTER TABLE memviewd.points ADD COLUMN logdir text COLLATE "C", ADD COLUMN file text COLLATE "C", ADD COLUMN program_id text COLLATE "C";
UPDATE memviewd.points AS p SET (logdir, file, program_id) = (r.logdir, r.file, r.program_id) FROM memviewd.rows AS r WHERE r.id = p.row_id;

-- Equal times are told apart by their id, which is sorted then; so is each index a third of what it would be with it.
CREATE INDEX points_commit ON memviewd.points (commit);
CREATE INDEX rows_newest ON memviewd.rows (modified_at DESC NULLS LAST);
CREATE INDEX rows_user ON memviewd.rows (user_name, modified_at DESC NULLS LAST);
CREATE INDEX rows_host ON memviewd.rows (host, modified_at DESC NULLS LAST);
CREATE INDEX rows_labels ON memviewd.rows USING gin (labels jsonb_path_ops);

-- As it was, but for its locks: each point's own row is locked, in one order, instead of one of sixteen parts of all points. One that
-- is not there yet is made for that, and what two make at the same time one waits for.
CREATE OR REPLACE FUNCTION memviewd.points_refresh(wanted text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    copied text;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'memviewd.points_refresh wants a READ COMMITTED transaction';
    END IF;
    INSERT INTO memviewd.points (point_id, kind, row_id, row_count, host_count)
    SELECT id, '', '', 0, 0 FROM (SELECT DISTINCT id COLLATE "C" AS id FROM unnest(wanted) AS id ORDER BY 1) AS sorted
    ON CONFLICT (point_id) DO UPDATE SET row_count = 0 WHERE false; -- locks it nevertheless
    SELECT string_agg(quote_ident(p.attname), ', ' ORDER BY p.attnum) INTO STRICT copied
    FROM pg_attribute p JOIN pg_attribute r ON r.attname = p.attname
    WHERE p.attrelid = 'memviewd.points'::regclass AND p.attnum > 0 AND NOT p.attisdropped
        AND r.attrelid = 'memviewd.rows'::regclass AND r.attnum > 0 AND NOT r.attisdropped;
    DELETE FROM memviewd.points WHERE point_id = ANY (wanted);
    EXECUTE format($insert$
        INSERT INTO memviewd.points (%1$s, row_id, first_at, last_at, row_count, host_count, needed_min_bytes,
            peak_min_bytes, peak_max_bytes)
        SELECT %2$s, largest.id, all_rows.first_at, all_rows.last_at, all_rows.row_count, all_rows.host_count,
            all_rows.needed_min_bytes, all_rows.peak_min_bytes, all_rows.peak_max_bytes
        FROM (SELECT point_id, min(modified_at) AS first_at, max(modified_at) AS last_at, count(*) AS row_count,
                  count(DISTINCT host) AS host_count, min(needed_bytes) AS needed_min_bytes,
                  min(peak_bytes) AS peak_min_bytes, max(peak_bytes) AS peak_max_bytes
              FROM memviewd.rows WHERE point_id = ANY ($1) AND verdict IS NOT NULL GROUP BY point_id) AS all_rows
        CROSS JOIN LATERAL (SELECT * FROM memviewd.rows AS one
              WHERE one.point_id = all_rows.point_id AND verdict IS NOT NULL
              ORDER BY needed_bytes DESC NULLS LAST, modified_at DESC NULLS LAST, id LIMIT 1) AS largest
        $insert$, copied, regexp_replace(copied, '(^|, )', '\1largest.', 'g')) USING wanted;
END
$$;
