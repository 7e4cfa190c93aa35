-- SPDX-License-Identifier: Apache-2.0
-- What will fail next? A straight line through what each module needed with the commits of the last 60 days: when it meets
-- what the device has. At least five commits, and a line that explains four fifths of what is seen: one step explains three quarters at most.
SELECT job, module, memory_space, configuration, commits, needed_bytes, capacity_bytes, bytes_a_day,
    round((capacity_bytes - needed_bytes) / bytes_a_day, 1) AS days_left
FROM (
    SELECT job, module, memory_space, configuration, count(*) AS commits,
        (array_agg(needed_bytes ORDER BY first_at DESC))[1] AS needed_bytes,
        (array_agg(capacity_bytes ORDER BY first_at DESC))[1] AS capacity_bytes,
        round(regr_slope(needed_bytes, extract(epoch FROM first_at) / 86400)::numeric) AS bytes_a_day,
        regr_r2(needed_bytes, extract(epoch FROM first_at) / 86400) AS explained
    FROM memviewd.points
    WHERE kind = 'module' AND needed_bytes IS NOT NULL AND first_at > now() - interval '60 days'
    GROUP BY job, module, memory_space, configuration
) AS series
WHERE commits >= 5 AND bytes_a_day > 0 AND explained > 0.8 AND needed_bytes <= capacity_bytes
ORDER BY days_left
LIMIT 50;
