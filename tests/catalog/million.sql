-- SPDX-License-Identifier: Apache-2.0
-- A million sessions, as a lab has them after some years, for measuring: 500 jobs of two modules, 200 commits each, on five hosts.
-- Figures are made up, but move as real ones do: by job, slowly with the commits, a little by host.
INSERT INTO memviewd.files (file_id, logdir, file, file_bytes, modified_at, content_sha256, state, row_count)
SELECT md5(n::text), '/profiles', format('job%s/c%s/plugins/profile/run%s/host%s.xplane.pb', n % 500, n / 2500 % 200, n / 500000, n / 500 % 5),
    100000000 + n, timestamptz '2024-01-01' + (n / 500) * interval '12 hours' + (n % 500) * interval '1 minute', repeat(md5(n::text), 2), md5('s' || n), 1
FROM generate_series(0, 999999) AS n;

DO $$
DECLARE
    parts text; -- of where, category and pattern: shares of what is needed
BEGIN
    SELECT string_agg(format('CASE WHEN %s %% 3 = 0 THEN 0 ELSE needed / %s END AS %I', ordinal_position, 40 + ordinal_position, column_name), ', ') INTO parts
    FROM information_schema.columns
    WHERE table_schema = 'memviewd' AND table_name = 'rows' AND column_name ~ '^(where|category|pattern)_.*_bytes$';
    EXECUTE format($insert$
        INSERT INTO memviewd.rows (schema_version, id, file_id, logdir, file, file_bytes, modified_at, content_sha256, job, commit, user_name, labels, kind, session,
            session_id, host, module, program_id, verdict, fits, cause, program, memory_space, device, needed_bytes, capacity_bytes, over_bytes, free_bytes, peak_bytes,
            advice, advice_change, advice_saves_bytes, %s)
        SELECT 1, md5('r' || n), file_id, logdir, file, file_bytes, modified_at, content_sha256, 'job' || n %% 500, 'c' || n / 2500 %% 200, 'user' || n %% 40,
            jsonb_build_object('job', 'job' || n %% 500, 'commit', 'c' || n / 2500 %% 200, 'user', 'user' || n %% 40,
                'cluster', (ARRAY['eu', 'us', 'asia'])[n %% 3 + 1], 'team', 'team' || n %% 20, 'queue', 'q' || n %% 50), 'module', 'run' || n / 500000,
            left(md5('s' || n), 12), 'host' || n / 500 %% 5, 'jit_' || CASE WHEN n / 500000 = 0 THEN 'train_step' ELSE 'eval_step' END, n,
            'Needs so much where so much is available.', CASE WHEN needed > 16911433728 THEN 'no' ELSE 'yes' END, CASE WHEN needed > 16911433728 THEN 'temporaries' END,
            'jit_train_step', 'HBM', 'TPU v5e', needed, 16911433728, greatest(needed - 16911433728, 0), greatest(16911433728 - needed, 0), needed * 9 / 10,
            'donate the state', 'donate=all', needed / 10, %s
        FROM (SELECT row_number() OVER (ORDER BY file_bytes) - 1 AS n, * FROM memviewd.files) AS f,
            LATERAL (SELECT (6 + n %% 500 %% 10)::bigint * 1073741824 + (n / 2500 %% 200) * (n %% 7) * 1000000 + (n / 500 %% 5) * 4096 AS needed) AS made,
            LATERAL (SELECT %s) AS parts
        $insert$,
        (SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) FROM information_schema.columns
         WHERE table_schema = 'memviewd' AND table_name = 'rows' AND column_name ~ '^(where|category|pattern)_.*_bytes$'),
        (SELECT string_agg('parts.' || quote_ident(column_name), ', ' ORDER BY ordinal_position) FROM information_schema.columns
         WHERE table_schema = 'memviewd' AND table_name = 'rows' AND column_name ~ '^(where|category|pattern)_.*_bytes$'),
        parts);
END
$$;
-- In the order of time, as runs of memviewd index write them: 2,500 files are one commit of each job.
DO $$
BEGIN
    FOR batch IN 0..399 LOOP
        PERFORM memviewd.points_refresh(array(SELECT DISTINCT point_id FROM memviewd.rows
            WHERE file_id = ANY (array(SELECT md5(n::text) FROM generate_series(batch * 2500, batch * 2500 + 2499) AS n))));
    END LOOP;
END
$$;
ANALYZE memviewd.files, memviewd.rows, memviewd.points;
