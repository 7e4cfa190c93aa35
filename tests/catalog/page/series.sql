-- SPDX-License-Identifier: Apache-2.0
-- All commits of one job, with the categories.
\set job random(0, 499)
SELECT * FROM memviewd.points WHERE job = 'job' || :job AND kind = 'module' ORDER BY first_at;
