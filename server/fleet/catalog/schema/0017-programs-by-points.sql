-- SPDX-License-Identifier: Apache-2.0
-- memviewd.programs_since as it was, but that its points are found by their index again: a condition that may also be none, as of the
-- view memviewd.programs, hid it from the planner, which read all rows.
CREATE OR REPLACE FUNCTION memviewd.programs_since(since timestamptz) RETURNS TABLE (
    job text, commit text, logdir text, session text, module text, memory_space text, user_name text, last_at
    timestamptz, host_count bigint, needed_min_bytes bigint, needed_median_bytes bigint, needed_max_bytes bigint,
    peak_max_bytes bigint, capacity_bytes bigint, program_id text, odd_host_count bigint, odd_hosts jsonb,
    session_id text)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
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
        FROM (
            SELECT of.point_id FROM memviewd.points AS of
            WHERE of.kind = 'module' AND of.last_at > coalesce(programs_since.since - interval '1 day', '-infinity')
            UNION ALL
            SELECT of.point_id FROM memviewd.points AS of
            WHERE of.kind = 'module' AND of.last_at IS NULL AND programs_since.since IS NULL
        ) AS seen
        JOIN memviewd.rows USING (point_id)
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
) AS odd
WHERE programs_since.since IS NULL OR p.last_at > programs_since.since
$$;
