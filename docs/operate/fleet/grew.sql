-- SPDX-License-Identifier: Apache-2.0
-- Which job grew, with which commit? Each commit against the one before it, of the last 90 days: more than 2 % of growth.
SELECT job, module, memory_space, first_at, before_commit, commit, before_bytes, needed_bytes,
    needed_bytes - before_bytes AS grown_bytes,
    round(100.0 * (needed_bytes - before_bytes) / before_bytes, 1) AS grown_percent
FROM (
    SELECT *, lag(commit) OVER series AS before_commit, lag(needed_bytes) OVER series AS before_bytes
    FROM memviewd.points
    WHERE kind = 'module' AND needed_bytes IS NOT NULL AND last_at > now() - interval '90 days'
    WINDOW series AS (PARTITION BY job, module, memory_space ORDER BY first_at, point_id)
) AS steps
WHERE before_bytes > 0 AND needed_bytes > before_bytes * 1.02
ORDER BY grown_bytes DESC
LIMIT 100;
