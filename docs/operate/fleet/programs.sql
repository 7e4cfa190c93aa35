-- SPDX-License-Identifier: Apache-2.0
-- One row a program of the last 30 days, however many hosts ran it: what it needs, and which hosts are odd and why.
SELECT job, commit, session, module, memory_space, host_count, needed_min_bytes, needed_median_bytes, needed_max_bytes,
    capacity_bytes, odd_host_count, odd_hosts
FROM memviewd.programs_since(now() - interval '30 days')
ORDER BY odd_host_count > 0 DESC, last_at DESC, job, module, memory_space
LIMIT 1000;
