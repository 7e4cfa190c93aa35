-- SPDX-License-Identifier: Apache-2.0
-- Which hosts differ? The same job, commit and module on several hosts, of the last 30 days, whatever the batch of each (of another
-- mesh or number of devices they are others): by the rule of the page. Of three or more, those that are further from the median than
-- the largest of 1 MiB, 1 % and four robust standard deviations; of two that are more than 1 MiB and 1 % apart both. Limits and
-- programs that differ are in memviewd.programs.
WITH places AS (
    SELECT job, commit, module, kind, memory_space, split_part(configuration, ', batch ', 1) AS compiled_for, array_agg(point_id) AS point_ids
    FROM memviewd.points
    WHERE last_at > now() - interval '30 days' AND job IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6
    HAVING max(needed_bytes) - min(needed_min_bytes) > 1048576
), hosts AS (
    SELECT p.job, p.commit, p.module, p.memory_space, p.kind, p.compiled_for, r.host, max(r.needed_bytes) AS needed_bytes
    FROM places AS p JOIN memviewd.rows AS r ON r.point_id = ANY (p.point_ids)
    WHERE r.needed_bytes IS NOT NULL AND r.host IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7
), peers AS (
    SELECT job, commit, module, memory_space, array_agg(host) AS hosts, array_agg(needed_bytes) AS needed, count(*) AS host_count,
        min(needed_bytes) + max(needed_bytes) AS both_bytes, floor(percentile_cont(0.5) WITHIN GROUP (ORDER BY needed_bytes))::bigint AS median_bytes
    FROM hosts GROUP BY job, commit, module, kind, memory_space, compiled_for HAVING count(*) > 1
)
SELECT p.job, p.commit, p.module, p.memory_space, one.host, one.needed_bytes, one.usual_bytes, one.needed_bytes - one.usual_bytes AS off_bytes
FROM peers AS p CROSS JOIN LATERAL (
    SELECT greatest(1048576, p.median_bytes / 100, CASE WHEN p.host_count > 2 THEN round(4 * 1.4826 *
        floor(percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(each - p.median_bytes))))::bigint END) AS bytes FROM unnest(p.needed) AS each
) AS threshold CROSS JOIN LATERAL (
    SELECT host, needed_bytes, CASE WHEN p.host_count = 2 THEN p.both_bytes - needed_bytes ELSE p.median_bytes END AS usual_bytes
    FROM unnest(p.hosts, p.needed) AS each (host, needed_bytes)
) AS one
WHERE abs(one.needed_bytes - one.usual_bytes) > threshold.bytes
ORDER BY abs(one.needed_bytes - one.usual_bytes) DESC
LIMIT 100;
