-- SPDX-License-Identifier: Apache-2.0
-- What was seen in the last week, of whatever job, the largest first.
SELECT p.job, p.commit, p.module, p.needed_bytes, r.session_id, r.file FROM memviewd.points AS p JOIN memviewd.rows AS r ON r.id = p.row_id
WHERE p.last_at > timestamptz '2026-09-27' - interval '7 days' ORDER BY p.needed_bytes DESC LIMIT 100;
