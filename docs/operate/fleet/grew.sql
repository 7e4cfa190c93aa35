-- SPDX-License-Identifier: Apache-2.0
-- Which job grew, with which commit? Steps of the last 90 days that last: the regressions that `memviewd index --catalog` found, by the
-- rule of the page Fleet.
SELECT job, module, memory_space, configuration, first_at, commit_before AS before_commit, commit, before_bytes, after_bytes AS needed_bytes,
    grown_bytes, grown_percent, user_name
FROM memviewd.current_regressions
WHERE kind = 'module' AND first_at > now() - interval '90 days'
ORDER BY grown_bytes DESC
LIMIT 100;
