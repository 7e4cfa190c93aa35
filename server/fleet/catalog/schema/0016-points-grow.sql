-- SPDX-License-Identifier: Apache-2.0
-- A point grows by what is new, instead of being made anew from all of its rows: of jobs without a commit, and of rows without labels,
-- a point has as many rows as the catalog has files.

-- Has a point a host already?
CREATE INDEX rows_point_host ON memviewd.rows (point_id, host);

-- Makes points as memviewd.points_refresh makes them, where all that changed since is: these files, which had no rows, have some. Points
-- are locked in the same order. Of a table that it takes for small, or a host that it takes for frequent, the planner would read all rows.
CREATE FUNCTION memviewd.points_add(files text[], wanted text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    copied text;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'memviewd.points_add wants a READ COMMITTED transaction';
    END IF;
    INSERT INTO memviewd.points (point_id, kind, row_id, row_count, host_count)
    SELECT id, '', '', 0, 0 FROM (SELECT DISTINCT id COLLATE "C" AS id FROM unnest(wanted) AS id ORDER BY 1) AS sorted
    ON CONFLICT (point_id) DO UPDATE SET row_count = 0 WHERE false; -- locks it nevertheless
    SELECT string_agg(quote_ident(p.attname), ', ' ORDER BY p.attnum) INTO STRICT copied
    FROM pg_attribute p JOIN pg_attribute r ON r.attname = p.attname
    WHERE p.attrelid = 'memviewd.points'::regclass AND p.attnum > 0 AND NOT p.attisdropped
        AND r.attrelid = 'memviewd.rows'::regclass AND r.attnum > 0 AND NOT r.attisdropped;
    EXECUTE format($update$
        WITH added AS MATERIALIZED (
            SELECT r.* FROM unnest($1) AS f (id) CROSS JOIN LATERAL (
                SELECT point_id, id, host, modified_at, needed_bytes, peak_bytes FROM memviewd.rows AS own
                WHERE own.file_id = f.id AND verdict IS NOT NULL OFFSET 0) AS r -- by their index, whatever is known of how many there are
            WHERE r.point_id = ANY ($2)
        ), sums AS (
            SELECT point_id, min(modified_at) AS first_at, max(modified_at) AS last_at, count(*) AS row_count,
                min(needed_bytes) AS needed_min_bytes, min(peak_bytes) AS peak_min_bytes, max(peak_bytes) AS peak_max_bytes
            FROM added GROUP BY point_id
        ), hosts AS (
            SELECT point_id, count(*) AS host_count
            FROM (SELECT DISTINCT point_id, host FROM added WHERE host IS NOT NULL) AS one
            WHERE (SELECT true FROM memviewd.rows AS r WHERE r.point_id = one.point_id AND r.host = one.host
                AND r.verdict IS NOT NULL AND r.file_id <> ALL ($1) LIMIT 1) IS NULL
            GROUP BY point_id
        ), first AS (
            SELECT DISTINCT ON (point_id) point_id, id
            FROM (SELECT point_id, id, modified_at, needed_bytes FROM added UNION ALL
                  SELECT r.point_id, r.id, r.modified_at, r.needed_bytes
                  FROM memviewd.points AS p JOIN memviewd.rows AS r ON r.id = p.row_id WHERE p.point_id = ANY ($2)) AS one
            ORDER BY point_id, needed_bytes DESC NULLS LAST, modified_at DESC NULLS LAST, id
        )
        UPDATE memviewd.points AS p SET (%1$s, row_id, first_at, last_at, row_count, host_count, needed_min_bytes, peak_min_bytes,
            peak_max_bytes) = (SELECT %2$s, largest.id, least(p.first_at, sums.first_at), greatest(p.last_at, sums.last_at),
            p.row_count + sums.row_count, p.host_count + coalesce(hosts.host_count, 0),
            least(p.needed_min_bytes, sums.needed_min_bytes), least(p.peak_min_bytes, sums.peak_min_bytes),
            greatest(p.peak_max_bytes, sums.peak_max_bytes))
        FROM sums JOIN first USING (point_id) JOIN memviewd.rows AS largest USING (id) LEFT JOIN hosts ON hosts.point_id = sums.point_id
        WHERE p.point_id = sums.point_id
        $update$, copied, regexp_replace(copied, '(^|, )', '\1largest.', 'g')) USING files, wanted;
    DELETE FROM memviewd.points WHERE point_id = ANY (wanted) AND row_count = 0; -- of rows without a verdict alone
END
$$;
COMMENT ON FUNCTION memviewd.points_add(text[], text[]) IS 'Adds the rows of files that had none before to these points';
