-- SPDX-License-Identifier: Apache-2.0
-- The hosts of one commit of a job.
\set job random(0, 499)
\set commit random(0, 199)
SELECT r.host, max(r.needed_bytes) FROM memviewd.points AS p JOIN memviewd.rows AS r USING (point_id)
WHERE p.job = 'job' || :job AND p.commit = 'c' || :commit GROUP BY r.host;
