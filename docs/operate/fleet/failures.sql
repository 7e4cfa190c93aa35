-- SPDX-License-Identifier: Apache-2.0
-- What ran out of memory lately, and what would help?
SELECT p.last_at, p.job, p.commit, p.user_name, p.host, p.memory_space, p.cause, p.verdict, r.advice, r.advice_saves_bytes,
    r.logdir, r.file
FROM memviewd.points AS p JOIN memviewd.rows AS r ON r.id = p.row_id
WHERE p.kind = 'failure' AND p.last_at > now() - interval '30 days'
ORDER BY p.last_at DESC
LIMIT 100;
