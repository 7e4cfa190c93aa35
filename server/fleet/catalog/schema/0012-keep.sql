-- SPDX-License-Identifier: Apache-2.0
-- What is older than so many months goes: CALL memviewd.keep(12), by cron or pg_cron, outside of a transaction.
--
-- Rows whose file was modified before that are removed, a thousand files at a time, each committed, so that memviewd index and pages
-- wait for little and what was done stays when it is stopped. `files` stay: a file that is still in its bucket is known, and not read
-- again. A regression that has less than three commits before it now, as the rule that finds it needs (level_steps.h), goes with
-- them: else it would be told as gone.
--
-- No partitions: rows are found and replaced by their id, which a table in partitions by month has only with the month, and a file
-- that is written anew in another month would have rows in two.
CREATE PROCEDURE memviewd.keep(months integer)
LANGUAGE plpgsql AS $$
DECLARE
    before constant timestamptz := pg_catalog.now() - pg_catalog.make_interval(months => keep.months);
    batch record;
    old text[];
    touched text[];
    series text[];
BEGIN
    IF keep.months IS NULL OR keep.months < 1 THEN
        RAISE EXCEPTION 'memviewd.keep wants the number of months, 1 or more';
    END IF;
    FOR batch IN
        SELECT pg_catalog.array_agg(file_id) AS ids
        FROM (SELECT file_id, (pg_catalog.row_number() OVER (ORDER BY modified_at, file_id) - 1) / 1000 AS at
              FROM memviewd.files WHERE modified_at < before AND row_count > 0) AS numbered
        GROUP BY at ORDER BY at
    LOOP
        old := ARRAY(SELECT file_id FROM memviewd.files WHERE file_id = ANY (batch.ids) AND modified_at < before ORDER BY file_id FOR UPDATE);
        touched := ARRAY(SELECT DISTINCT point_id FROM memviewd.rows WHERE file_id = ANY (old));
        series := ARRAY(SELECT DISTINCT memviewd.series_id(job, module, kind, memory_space) FROM memviewd.rows WHERE file_id = ANY (old));
        DELETE FROM memviewd.rows WHERE file_id = ANY (old);
        UPDATE memviewd.files SET row_count = 0 WHERE file_id = ANY (old);
        PERFORM memviewd.points_refresh(touched);
        DELETE FROM memviewd.regressions AS r
        WHERE memviewd.series_id(r.job, r.module, r.kind, r.memory_space) = ANY (series) AND 3 > (
            SELECT pg_catalog.count(*) FROM memviewd.points AS own JOIN memviewd.points AS earlier ON earlier.job = own.job
                AND earlier.module IS NOT DISTINCT FROM own.module AND earlier.kind = own.kind
                AND earlier.memory_space IS NOT DISTINCT FROM own.memory_space AND earlier.first_at < own.first_at
            WHERE own.point_id = memviewd.point_id(r.job, r.module, r.kind, r.memory_space, r.commit));
        COMMIT;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE memviewd.keep(integer) IS 'Removes the rows of files that were modified more than so many months ago';
