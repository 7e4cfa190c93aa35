-- SPDX-License-Identifier: Apache-2.0
-- One rule of what a regression is, for the page, the webhook, SQL and dashboards: what `memviewd index --catalog` found by it and
-- would find again. One that goes away, for its commit was measured again or got another job, stays as a row, so that it is told
-- once; one that comes back has the same id.
ALTER TABLE memviewd.regressions ADD COLUMN gone_at timestamptz; -- null: it is there

-- Those that are there, and when the first of their commit was seen.
CREATE VIEW memviewd.current_regressions AS
SELECT r.job, r.module, r.kind, r.memory_space, coalesce(p.first_at, r.found_at) AS first_at, r.commit_before, r.commit, p.user_name,
    r.before_bytes, r.after_bytes, r.after_bytes - r.before_bytes AS grown_bytes,
    round(100.0 * (r.after_bytes - r.before_bytes) / nullif(r.before_bytes, 0), 1) AS grown_percent,
    r.noise_bytes, r.threshold_bytes, r.found_at, r.id, p.row_id
FROM memviewd.regressions AS r
LEFT JOIN memviewd.points AS p ON p.point_id = memviewd.point_id(r.job, r.module, r.kind, r.memory_space, r.commit)
WHERE r.gone_at IS NULL;
