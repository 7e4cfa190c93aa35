-- SPDX-License-Identifier: Apache-2.0
-- When all that was there has been looked at: one process may have written the first half of a commit while another has not
-- come to the second. Steps are looked for in series that are settled (memviewd.settled_series) alone; docs/operate/fleet.md has the rule.

-- One for each `memviewd index --catalog` that came to write. Those of the same logdirs and shard_count are parts of one work.
CREATE TABLE memviewd.index_runs (
    run_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    logdirs text[] COLLATE "C" NOT NULL, -- in order, each once
    shard bigint NOT NULL, -- from 0
    shard_count bigint NOT NULL,
    began_at timestamptz NOT NULL, -- before it listed any file
    finished_at timestamptz, -- all its files are in the catalog; null: under way, ended by a fault, killed, or not all could be listed
    is_round_end boolean NOT NULL DEFAULT false -- the last part of a round: all parts had finished then
);
CREATE INDEX index_runs_finished ON memviewd.index_runs (finished_at);

-- What the points of one job, module, kind and memory space are told by: that of their point without a commit.
CREATE FUNCTION memviewd.series_id(job text, module text, kind text, memory_space text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT memviewd.point_id($1, $2, $3, $4, NULL) $$;

-- Series whose points changed and in which nobody has looked for steps since; one for each run that changed them, and each
-- logdir whose files did.
CREATE TABLE memviewd.series_changes (
    series_id text COLLATE "C" NOT NULL,
    job text COLLATE "C" NOT NULL,
    module text COLLATE "C",
    kind text COLLATE "C" NOT NULL,
    memory_space text COLLATE "C",
    logdir text COLLATE "C", -- null: was there before runs were kept
    run_id bigint REFERENCES memviewd.index_runs ON DELETE CASCADE, -- null: alike
    changed_at timestamptz NOT NULL, -- the last time
    settled_at timestamptz, -- a round was complete that covers it
    UNIQUE (series_id, run_id, logdir)
);
CREATE INDEX series_changes_run ON memviewd.series_changes (run_id);

INSERT INTO memviewd.series_changes (series_id, job, module, kind, memory_space, changed_at, settled_at)
SELECT memviewd.series_id(job, module, kind, memory_space), job, module, kind, memory_space, now(), now()
FROM (SELECT DISTINCT job, module, kind, memory_space FROM memviewd.points WHERE job IS NOT NULL) AS series;

-- Steps upwards that last, each once: what is told of is what is not here yet.
CREATE TABLE memviewd.regressions (
    id text COLLATE "C" PRIMARY KEY, -- of its notice, too; the same whenever it is found again
    job text COLLATE "C" NOT NULL,
    module text COLLATE "C",
    kind text COLLATE "C",
    memory_space text COLLATE "C",
    commit text COLLATE "C", -- the first of the new level
    commit_before text COLLATE "C",
    before_bytes bigint NOT NULL, -- medians of the commits before and after
    after_bytes bigint NOT NULL,
    noise_bytes bigint NOT NULL,
    threshold_bytes bigint NOT NULL, -- what the step had to exceed
    found_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX regressions_job ON memviewd.regressions (job, found_at);

-- A series is settled when a round covers a change of it and no other change is open. Changes that are open for more than
-- a day hold nothing up: whoever made them will not come back.
CREATE VIEW memviewd.settled_series AS
SELECT series_id, job, module, kind, memory_space, max(settled_at) AS settled_at, bool_or(run_id IS NULL) AS was_before
FROM memviewd.series_changes GROUP BY series_id, job, module, kind, memory_space
HAVING bool_or(settled_at IS NOT NULL) AND NOT bool_or(settled_at IS NULL AND changed_at > now() - interval '1 day');

-- Says that a run has finished; true: it was the last part of a round. A round is one run of each part that began after the
-- last round of the same logdirs and parts, the earliest finished at most a day ago.
-- A round covers a change by files of its logdirs that was made before the round began: before all of its runs, of each part the
-- last, were begun; or that a run of the same parts made which has finished, or of whose part another one began later and finished.
CREATE FUNCTION memviewd.index_run_finish(finished bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    run memviewd.index_runs;
    last_round_at timestamptz;
    part_count bigint;
    round_began_at timestamptz;
BEGIN
    LOCK TABLE memviewd.index_runs IN SHARE ROW EXCLUSIVE MODE; -- of two that end at once the second one sees the first
    UPDATE memviewd.index_runs SET finished_at = clock_timestamp() WHERE run_id = finished RETURNING * INTO STRICT run;
    SELECT coalesce(max(finished_at), '-infinity') INTO last_round_at FROM memviewd.index_runs
    WHERE is_round_end AND logdirs = run.logdirs AND shard_count = run.shard_count;
    SELECT count(*), min(began_at) INTO part_count, round_began_at
    FROM (SELECT max(began_at) AS began_at FROM memviewd.index_runs
          WHERE finished_at > run.finished_at - interval '1 day' AND began_at > last_round_at
              AND logdirs = run.logdirs AND shard_count = run.shard_count GROUP BY shard) AS parts;
    IF part_count < run.shard_count THEN
        RETURN false;
    END IF;
    UPDATE memviewd.index_runs SET is_round_end = true WHERE run_id = finished;
    -- Locked in order, as all that write to the table do; of those alone, for a row that is committed meanwhile would be out of it.
    WITH locked AS MATERIALIZED (
        SELECT change.series_id, change.run_id, change.logdir FROM memviewd.series_changes AS change
        WHERE change.settled_at IS NULL AND change.run_id IS NOT NULL AND change.logdir = ANY (run.logdirs)
        ORDER BY change.series_id, change.run_id, change.logdir FOR UPDATE OF change)
    UPDATE memviewd.series_changes AS change SET settled_at = clock_timestamp()
    FROM locked JOIN memviewd.index_runs AS by ON by.run_id = locked.run_id
    LEFT JOIN (SELECT shard, max(began_at) AS began_at FROM memviewd.index_runs
               WHERE finished_at IS NOT NULL AND logdirs = run.logdirs AND shard_count = run.shard_count GROUP BY shard) AS part
        ON part.shard = by.shard AND by.logdirs = run.logdirs AND by.shard_count = run.shard_count
    WHERE change.series_id = locked.series_id AND change.run_id = locked.run_id AND change.logdir = locked.logdir
        AND (change.changed_at < round_began_at
             OR (part.shard IS NOT NULL AND (by.finished_at IS NOT NULL OR part.began_at > change.changed_at)));
    RETURN true;
END
$$;
