-- SPDX-License-Identifier: Apache-2.0
-- Whose memory is it, by job, over time? The largest module of each job and week; a category that is added later comes by itself.
WITH weeks AS (
    SELECT DISTINCT ON (job, date_trunc('week', last_at)) date_trunc('week', last_at) AS week, job, module, point_id
    FROM memviewd.points
    WHERE kind = 'module' AND needed_bytes IS NOT NULL AND last_at > now() - interval '26 weeks'
    ORDER BY job, date_trunc('week', last_at), needed_bytes DESC
)
SELECT w.week, w.job, w.module, regexp_replace(c.key, '^category_(.*)_bytes$', '\1') AS category, c.value::bigint AS bytes
FROM weeks AS w JOIN memviewd.points AS p USING (point_id)
CROSS JOIN LATERAL jsonb_each_text(to_jsonb(p)) AS c
WHERE c.key LIKE 'category\_%\_bytes' AND c.value::bigint > 0
ORDER BY w.week, w.job, bytes DESC;
