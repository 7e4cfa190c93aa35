-- SPDX-License-Identifier: Apache-2.0
-- Which hosts differ? The same job, commit and module on several hosts, of the last 30 days: those that are more than 1 %
-- off the median of their peers.
WITH hosts AS (
    SELECT r.point_id, r.host, max(r.needed_bytes) AS needed_bytes
    FROM memviewd.points AS p JOIN memviewd.rows AS r USING (point_id)
    WHERE p.last_at > now() - interval '30 days' AND p.host_count > 2 AND r.needed_bytes IS NOT NULL AND r.host IS NOT NULL
    GROUP BY r.point_id, r.host
), medians AS (
    SELECT point_id, percentile_disc(0.5) WITHIN GROUP (ORDER BY needed_bytes) AS median_bytes
    FROM hosts GROUP BY point_id
)
SELECT p.job, p.commit, p.module, p.memory_space, h.host, h.needed_bytes, m.median_bytes,
    h.needed_bytes - m.median_bytes AS off_bytes
FROM hosts AS h JOIN medians AS m USING (point_id) JOIN memviewd.points AS p USING (point_id)
WHERE abs(h.needed_bytes - m.median_bytes) > m.median_bytes * 0.01
ORDER BY abs(h.needed_bytes - m.median_bytes) DESC
LIMIT 100;
