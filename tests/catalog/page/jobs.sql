-- SPDX-License-Identifier: Apache-2.0
-- The newest point of each series of the last 90 days.
SELECT DISTINCT ON (job, module, memory_space) job, module, memory_space, commit, needed_bytes, capacity_bytes, last_at
FROM memviewd.points WHERE kind = 'module' AND last_at > timestamptz '2026-09-27' - interval '90 days'
ORDER BY job, module, memory_space, last_at DESC;
