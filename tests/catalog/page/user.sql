-- SPDX-License-Identifier: Apache-2.0
-- All series of one user over a year.
\set user random(0, 39)
SELECT job, module, count(*), min(needed_bytes), max(needed_bytes) FROM memviewd.points
WHERE user_name = 'user' || :user AND last_at > timestamptz '2026-09-27' - interval '1 year' GROUP BY job, module;
