-- SPDX-License-Identifier: Apache-2.0
-- Two configurations of one job (devices, mesh, batch) are two series: that one needs more than the other is no regression. Rows
-- without a configuration, as all were until now, keep the points and series that they had.

ALTER TABLE memviewd.rows ADD COLUMN configuration text COLLATE "C";
ALTER TABLE memviewd.points ADD COLUMN configuration text COLLATE "C";
ALTER TABLE memviewd.series_changes ADD COLUMN configuration text COLLATE "C";
ALTER TABLE memviewd.regressions ADD COLUMN configuration text COLLATE "C";

-- As that without a configuration where it is not known.
CREATE FUNCTION memviewd.point_id(job text, module text, kind text, memory_space text, commit text, configuration text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(
        coalesce(pg_catalog.length($1) || ':' || $1, '-') || coalesce(pg_catalog.length($2) || ':' || $2, '-')
        || coalesce(pg_catalog.length($3) || ':' || $3, '-') || coalesce(pg_catalog.length($4) || ':' || $4, '-')
        || coalesce(pg_catalog.length($5) || ':' || $5, '-') || coalesce(pg_catalog.length($6) || ':' || $6, ''), 'UTF8')), 'hex');
END
$$;
CREATE FUNCTION memviewd.series_id(job text, module text, kind text, memory_space text, configuration text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT memviewd.point_id($1, $2, $3, $4, NULL, $5) $$;

-- As it was, but for its inner columns, which are named: then it does not hold rows.point_id, which is made anew below.
CREATE OR REPLACE VIEW memviewd.programs AS
SELECT p.job, p.commit, p.logdir, p.session, p.module, p.memory_space, p.user_name, p.last_at, p.host_count,
    p.needed_min_bytes, p.needed_median_bytes, p.needed_max_bytes, p.peak_max_bytes, p.capacity_bytes, p.program_id,
    odd.odd_host_count, odd.odd_hosts, p.session_id
FROM (
    SELECT h.job, h.commit, h.logdir, h.session, h.module, h.memory_space, max(h.user_name) AS user_name,
        max(h.session_id) AS session_id, max(h.modified_at) AS last_at, count(*) AS host_count,
        min(h.needed_bytes) AS needed_min_bytes, max(h.needed_bytes) AS needed_max_bytes, max(h.peak_bytes) AS peak_max_bytes,
        floor(percentile_cont(0.5) WITHIN GROUP (ORDER BY h.needed_bytes))::bigint AS needed_median_bytes,
        mode() WITHIN GROUP (ORDER BY h.capacity_bytes) AS capacity_bytes,
        mode() WITHIN GROUP (ORDER BY h.program_id) AS program_id,
        array_agg(h.host ORDER BY h.host) AS hosts, array_agg(h.needed_bytes ORDER BY h.host) AS needed,
        array_agg(h.capacity_bytes ORDER BY h.host) AS capacities, array_agg(h.program_id ORDER BY h.host) AS programs
    FROM (
        SELECT DISTINCT ON (job, commit, logdir, session, module, memory_space, host) job, commit, logdir, session, session_id,
            module, memory_space, host, user_name, modified_at, needed_bytes, peak_bytes, capacity_bytes, program_id
        FROM memviewd.rows
        WHERE kind = 'module' AND verdict IS NOT NULL AND needed_bytes IS NOT NULL AND host IS NOT NULL
        ORDER BY job, commit, logdir, session, module, memory_space, host, needed_bytes DESC, id
    ) AS h
    GROUP BY h.job, h.commit, h.logdir, h.session, h.module, h.memory_space
) AS p
CROSS JOIN LATERAL (
    SELECT greatest(1048576, p.needed_median_bytes / 100, CASE WHEN p.host_count > 2 THEN
        round(4 * 1.4826 * floor(percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(one - p.needed_median_bytes))))::bigint END) AS bytes
    FROM unnest(p.needed) AS one
) AS threshold
CROSS JOIN LATERAL (
    SELECT (SELECT one FROM unnest(p.capacities) AS one WHERE one IS NOT NULL GROUP BY one
            HAVING count(*) * 2 > cardinality(array_remove(p.capacities, NULL))) AS capacity_bytes,
        (SELECT one FROM unnest(p.programs) AS one WHERE one IS NOT NULL GROUP BY one
            HAVING count(*) * 2 > cardinality(array_remove(p.programs, NULL))) AS program_id
) AS usual
CROSS JOIN LATERAL (
    SELECT count(*) AS odd_host_count, coalesce(jsonb_agg(jsonb_build_object('host', one.host, 'needed_bytes', one.needed_bytes,
        'off_bytes', one.off_bytes, 'capacity_bytes', one.capacity_bytes, 'program_id', one.program_id,
        'reason', CASE WHEN one.capacity_bytes <> usual.capacity_bytes THEN 'another limit'
            WHEN one.program_id <> usual.program_id THEN 'another program' ELSE 'another plan' END)
        ORDER BY abs(one.off_bytes) DESC, one.host), '[]') AS odd_hosts
    FROM (
        SELECT host, needed_bytes, capacity_bytes, program_id, needed_bytes -
            CASE WHEN p.host_count = 2 THEN p.needed_min_bytes + p.needed_max_bytes - needed_bytes ELSE p.needed_median_bytes END AS off_bytes
        FROM unnest(p.hosts, p.needed, p.capacities, p.programs) AS each (host, needed_bytes, capacity_bytes, program_id)
    ) AS one
    WHERE p.host_count > 1 AND (abs(one.off_bytes) > threshold.bytes OR one.capacity_bytes <> usual.capacity_bytes
        OR one.program_id <> usual.program_id)
) AS odd;
COMMENT ON VIEW memviewd.programs IS 'One row a program of a session, with how its hosts differ and why';

ALTER TABLE memviewd.rows DROP COLUMN point_id,
    ADD COLUMN point_id text COLLATE "C" NOT NULL
        GENERATED ALWAYS AS (memviewd.point_id(job, module, kind, memory_space, commit, configuration)) STORED;
CREATE INDEX rows_point ON memviewd.rows (point_id, needed_bytes DESC NULLS LAST);

CREATE OR REPLACE VIEW memviewd.settled_series AS
SELECT series_id, job, module, kind, memory_space, max(settled_at) AS settled_at, bool_or(run_id IS NULL) AS was_before, configuration
FROM memviewd.series_changes GROUP BY series_id, job, module, kind, memory_space, configuration
HAVING bool_or(settled_at IS NOT NULL) AND NOT bool_or(settled_at IS NULL AND changed_at > now() - interval '1 day');

CREATE OR REPLACE VIEW memviewd.current_regressions AS
SELECT r.job, r.module, r.kind, r.memory_space, coalesce(p.first_at, r.found_at) AS first_at, r.commit_before, r.commit, p.user_name,
    r.before_bytes, r.after_bytes, r.after_bytes - r.before_bytes AS grown_bytes,
    round(100.0 * (r.after_bytes - r.before_bytes) / nullif(r.before_bytes, 0), 1) AS grown_percent,
    r.noise_bytes, r.threshold_bytes, r.found_at, r.id, p.row_id, r.configuration
FROM memviewd.regressions AS r
LEFT JOIN memviewd.points AS p ON p.point_id = memviewd.point_id(r.job, r.module, r.kind, r.memory_space, r.commit, r.configuration)
WHERE r.gone_at IS NULL;

CREATE OR REPLACE PROCEDURE memviewd.keep(months integer)
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
        series := ARRAY(SELECT DISTINCT memviewd.series_id(job, module, kind, memory_space, configuration) FROM memviewd.rows WHERE file_id = ANY (old));
        DELETE FROM memviewd.rows WHERE file_id = ANY (old);
        UPDATE memviewd.files SET row_count = 0 WHERE file_id = ANY (old);
        PERFORM memviewd.points_refresh(touched);
        DELETE FROM memviewd.regressions AS r
        WHERE memviewd.series_id(r.job, r.module, r.kind, r.memory_space, r.configuration) = ANY (series) AND 3 > (
            SELECT pg_catalog.count(*) FROM memviewd.points AS own JOIN memviewd.points AS earlier ON earlier.job = own.job
                AND earlier.module IS NOT DISTINCT FROM own.module AND earlier.kind = own.kind
                AND earlier.memory_space IS NOT DISTINCT FROM own.memory_space
                AND earlier.configuration IS NOT DISTINCT FROM own.configuration AND earlier.first_at < own.first_at
            WHERE own.point_id = memviewd.point_id(r.job, r.module, r.kind, r.memory_space, r.commit, r.configuration));
        COMMIT;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE memviewd.keep(integer) IS 'Removes the rows of files that were modified more than so many months ago';
