-- SPDX-License-Identifier: Apache-2.0
-- Which hosts differ? The same job, commit and module on several hosts, of the last 30 days: those that are further from the
-- median of their peers than the largest of 1 MiB, 1 % and four robust standard deviations, the threshold of the page. Limits and
-- programs that differ are in memviewd.programs.
WITH hosts AS (
    SELECT r.point_id, r.host, max(r.needed_bytes) AS needed_bytes
    FROM memviewd.points AS p JOIN memviewd.rows AS r USING (point_id)
    WHERE p.last_at > now() - interval '30 days' AND p.host_count > 2 AND r.needed_bytes IS NOT NULL AND r.host IS NOT NULL
    GROUP BY r.point_id, r.host
), medians AS (
    SELECT point_id, percentile_disc(0.5) WITHIN GROUP (ORDER BY needed_bytes) AS median_bytes
    FROM hosts GROUP BY point_id
), thresholds AS (
    SELECT h.point_id, m.median_bytes, greatest(1048576, m.median_bytes / 100, round(4 * 1.4826 *
        percentile_disc(0.5) WITHIN GROUP (ORDER BY abs(h.needed_bytes - m.median_bytes)))::bigint) AS threshold_bytes
    FROM hosts AS h JOIN medians AS m USING (point_id) GROUP BY h.point_id, m.median_bytes
)
SELECT p.job, p.commit, p.module, p.memory_space, h.host, h.needed_bytes, m.median_bytes,
    h.needed_bytes - m.median_bytes AS off_bytes
FROM hosts AS h JOIN thresholds AS m USING (point_id) JOIN memviewd.points AS p USING (point_id)
WHERE abs(h.needed_bytes - m.median_bytes) > m.threshold_bytes
ORDER BY abs(h.needed_bytes - m.median_bytes) DESC
LIMIT 100;
