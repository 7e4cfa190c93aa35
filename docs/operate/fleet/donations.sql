-- SPDX-License-Identifier: Apache-2.0
-- Who lacks donations? The newest commit of each module of the last 30 days: results that could take the memory of an argument.
SELECT job, user_name, module, configuration, commit, last_at, pattern_no_donation_bytes, pattern_donation_unused_bytes, needed_bytes
FROM (
    SELECT DISTINCT ON (job, module, memory_space, configuration) *
    FROM memviewd.points
    WHERE kind = 'module' AND last_at > now() - interval '30 days'
    ORDER BY job, module, memory_space, configuration, first_at DESC
) AS newest
WHERE pattern_no_donation_bytes > 0 OR pattern_donation_unused_bytes > 0
ORDER BY coalesce(pattern_no_donation_bytes, 0) + coalesce(pattern_donation_unused_bytes, 0) DESC
LIMIT 100;
