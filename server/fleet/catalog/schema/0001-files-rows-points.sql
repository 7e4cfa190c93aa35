-- SPDX-License-Identifier: Apache-2.0
-- What is in docs/operate/fleet.md as tables. Everything here is public: dashboards and people read it, so a column is never renamed nor
-- given another meaning; a later file adds columns. The columns of `rows` are those of `memviewd index`, in its order (a test
-- holds them against each other): *_bytes are bigint, texts are text, compared by their bytes: quicker, and the same on
-- every system, whose indexes a newer C library then cannot put out of order.

CREATE SCHEMA IF NOT EXISTS memviewd;
COMMENT ON SCHEMA memviewd IS 'What the memory of accelerators was filled with, written by memviewd index --catalog';

-- Which of these files was applied, and when; the largest number is the version of the schema.
CREATE TABLE memviewd.schema_version (
    version integer PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- One for each file that was looked at.
CREATE TABLE memviewd.files (
    file_id text COLLATE "C" PRIMARY KEY,
    logdir text COLLATE "C" NOT NULL,
    file text COLLATE "C" NOT NULL,
    file_bytes bigint,
    modified_at timestamptz,
    content_sha256 text COLLATE "C",
    state text COLLATE "C" NOT NULL, -- digest of all that its rows depend on: while it is the same, the file is not read again
    row_count bigint NOT NULL,
    indexed_at timestamptz NOT NULL DEFAULT now(),
    gone_at timestamptz -- when a scan did not find it any more; its rows stay
);
CREATE INDEX files_gone ON memviewd.files (gone_at) WHERE gone_at IS NOT NULL;

-- Which point a row belongs to. Each part is told from the others by its length, and a part that is not known from an empty
-- one. The conversion to UTF-8 depends on the encoding of the database alone, which never changes: hence IMMUTABLE.
CREATE FUNCTION memviewd.point_id(job text, module text, kind text, memory_space text, commit text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(
        coalesce(pg_catalog.length($1) || ':' || $1, '-') || coalesce(pg_catalog.length($2) || ':' || $2, '-')
        || coalesce(pg_catalog.length($3) || ':' || $3, '-') || coalesce(pg_catalog.length($4) || ':' || $4, '-')
        || coalesce(pg_catalog.length($5) || ':' || $5, '-'), 'UTF8')), 'hex');
END
$$;

-- One for each module, allocator, failure and series of device profiles of each file.
CREATE TABLE memviewd.rows (
    schema_version integer NOT NULL,
    id text COLLATE "C" PRIMARY KEY,
    file_id text COLLATE "C" NOT NULL REFERENCES memviewd.files ON DELETE CASCADE,
    logdir text COLLATE "C" NOT NULL,
    file text COLLATE "C" NOT NULL,
    file_bytes bigint,
    modified_at timestamptz,
    content_sha256 text COLLATE "C",
    job text COLLATE "C",
    commit text COLLATE "C",
    user_name text COLLATE "C",
    labels jsonb NOT NULL,
    kind text COLLATE "C" NOT NULL,
    session text COLLATE "C",
    session_id text COLLATE "C",
    host text COLLATE "C",
    module text COLLATE "C",
    program_id text COLLATE "C",
    failure bigint,
    error_code text COLLATE "C",
    error text COLLATE "C",
    verdict text COLLATE "C",
    fits text COLLATE "C",
    cause text COLLATE "C",
    cause_sentence text COLLATE "C",
    cause_bytes bigint,
    program text COLLATE "C",
    memory_space text COLLATE "C",
    device text COLLATE "C",
    needed_bytes bigint,
    capacity_bytes bigint,
    capacity_source text COLLATE "C",
    over_bytes bigint,
    free_bytes bigint,
    where_bytes bigint,
    where_arguments_bytes bigint,
    where_outputs_bytes bigint,
    where_temporaries_bytes bigint,
    where_constants_bytes bigint,
    where_program_bytes bigint,
    where_reserved_bytes bigint,
    where_arrays_bytes bigint,
    where_fragmentation_bytes bigint,
    where_free_bytes bigint,
    where_others_bytes bigint,
    peak_bytes bigint,
    category_parameter_bytes bigint,
    category_optimizer_state_bytes bigint,
    category_cache_bytes bigint,
    category_batch_bytes bigint,
    category_rng_bytes bigint,
    category_input_bytes bigint,
    category_other_bytes bigint,
    category_copy_of_argument_bytes bigint,
    category_constant_bytes bigint,
    category_saved_activation_bytes bigint,
    category_gradient_bytes bigint,
    category_gradient_accumulator_bytes bigint,
    category_optimizer_temporary_bytes bigint,
    category_collective_bytes bigint,
    category_output_bytes bigint,
    category_workspace_bytes bigint,
    category_unknown_bytes bigint,
    category_rest_bytes bigint,
    pattern_logits_bytes bigint,
    pattern_attention_scores_bytes bigint,
    pattern_saved_activations_bytes bigint,
    pattern_scan_residuals_bytes bigint,
    pattern_no_donation_bytes bigint,
    pattern_donation_unused_bytes bigint,
    pattern_cache_copy_bytes bigint,
    pattern_batch_not_split_bytes bigint,
    pattern_gathered_activation_bytes bigint,
    pattern_gathered_parameters_bytes bigint,
    pattern_replicated_bytes bigint,
    pattern_gradient_accumulator_bytes bigint,
    pattern_all_gradients_bytes bigint,
    pattern_parameter_cast_copy_bytes bigint,
    pattern_prefill_logits_bytes bigint,
    pattern_mask_bytes bigint,
    pattern_constant_bytes bigint,
    pattern_repeat_bytes bigint,
    pattern_padding_bytes bigint,
    largest_group text COLLATE "C",
    largest_group_source text COLLATE "C",
    largest_group_bytes bigint,
    advice text COLLATE "C",
    advice_change text COLLATE "C",
    advice_saves_bytes bigint,
    advice_lands_at_bytes bigint,
    advice_confidence text COLLATE "C",
    allocator_peak_bytes bigint,
    live_arrays_bytes bigint,
    notes text COLLATE "C",
    -- Not of the index: the point that the row belongs to.
    point_id text COLLATE "C" NOT NULL GENERATED ALWAYS AS (memviewd.point_id(job, module, kind, memory_space, commit)) STORED
);
CREATE INDEX rows_file ON memviewd.rows (file_id);
CREATE INDEX rows_point ON memviewd.rows (point_id, needed_bytes DESC NULLS LAST);

-- One for each job, module, kind, memory space and commit: what a curve over time is drawn from. Of rows with a verdict.
-- Columns that `rows` has, too, are those of the row with the largest needed_bytes (of equal ones the newest).
CREATE TABLE memviewd.points (
    point_id text COLLATE "C" PRIMARY KEY,
    job text COLLATE "C",
    commit text COLLATE "C",
    user_name text COLLATE "C",
    kind text COLLATE "C" NOT NULL,
    session_id text COLLATE "C",
    host text COLLATE "C",
    module text COLLATE "C",
    verdict text COLLATE "C",
    fits text COLLATE "C",
    cause text COLLATE "C",
    program text COLLATE "C",
    memory_space text COLLATE "C",
    device text COLLATE "C",
    needed_bytes bigint,
    capacity_bytes bigint,
    over_bytes bigint,
    where_bytes bigint,
    where_arguments_bytes bigint,
    where_outputs_bytes bigint,
    where_temporaries_bytes bigint,
    where_constants_bytes bigint,
    where_program_bytes bigint,
    where_reserved_bytes bigint,
    where_arrays_bytes bigint,
    where_fragmentation_bytes bigint,
    where_free_bytes bigint,
    where_others_bytes bigint,
    peak_bytes bigint,
    category_parameter_bytes bigint,
    category_optimizer_state_bytes bigint,
    category_cache_bytes bigint,
    category_batch_bytes bigint,
    category_rng_bytes bigint,
    category_input_bytes bigint,
    category_other_bytes bigint,
    category_copy_of_argument_bytes bigint,
    category_constant_bytes bigint,
    category_saved_activation_bytes bigint,
    category_gradient_bytes bigint,
    category_gradient_accumulator_bytes bigint,
    category_optimizer_temporary_bytes bigint,
    category_collective_bytes bigint,
    category_output_bytes bigint,
    category_workspace_bytes bigint,
    category_unknown_bytes bigint,
    category_rest_bytes bigint,
    pattern_logits_bytes bigint,
    pattern_attention_scores_bytes bigint,
    pattern_saved_activations_bytes bigint,
    pattern_scan_residuals_bytes bigint,
    pattern_no_donation_bytes bigint,
    pattern_donation_unused_bytes bigint,
    pattern_cache_copy_bytes bigint,
    pattern_batch_not_split_bytes bigint,
    pattern_gathered_activation_bytes bigint,
    pattern_gathered_parameters_bytes bigint,
    pattern_replicated_bytes bigint,
    pattern_gradient_accumulator_bytes bigint,
    pattern_all_gradients_bytes bigint,
    pattern_parameter_cast_copy_bytes bigint,
    pattern_prefill_logits_bytes bigint,
    pattern_mask_bytes bigint,
    pattern_constant_bytes bigint,
    pattern_repeat_bytes bigint,
    pattern_padding_bytes bigint,
    row_id text COLLATE "C" NOT NULL, -- rows.id of that row
    first_at timestamptz, -- modified_at of the oldest and of the newest file
    last_at timestamptz,
    row_count bigint NOT NULL,
    host_count bigint NOT NULL, -- hosts that are known by name
    needed_min_bytes bigint, -- the largest is needed_bytes
    peak_min_bytes bigint,
    peak_max_bytes bigint
);
CREATE INDEX points_job ON memviewd.points (job, last_at);
CREATE INDEX points_last ON memviewd.points (last_at);

-- Makes these points anew from the rows. In the transaction that changed the rows: then they are right at any moment.
-- Transactions that change rows of one point at the same time come one after the other here, each of which sees what those
-- before it wrote: a statement of a READ COMMITTED transaction does. Few locks, for their number is limited on a server.
CREATE FUNCTION memviewd.points_refresh(wanted text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bucket integer;
    copied text;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'memviewd.points_refresh wants a READ COMMITTED transaction';
    END IF;
    FOR bucket IN SELECT DISTINCT ascii(id) FROM unnest(wanted) AS id ORDER BY 1 LOOP
        PERFORM pg_advisory_xact_lock(1835365494, bucket);
    END LOOP;
    SELECT string_agg(quote_ident(p.attname), ', ' ORDER BY p.attnum) INTO STRICT copied
    FROM pg_attribute p JOIN pg_attribute r ON r.attname = p.attname
    WHERE p.attrelid = 'memviewd.points'::regclass AND p.attnum > 0 AND NOT p.attisdropped
        AND r.attrelid = 'memviewd.rows'::regclass AND r.attnum > 0 AND NOT r.attisdropped;
    DELETE FROM memviewd.points WHERE point_id = ANY (wanted);
    EXECUTE format($insert$
        INSERT INTO memviewd.points (%1$s, row_id, first_at, last_at, row_count, host_count, needed_min_bytes,
            peak_min_bytes, peak_max_bytes)
        SELECT %2$s, largest.id, all_rows.first_at, all_rows.last_at, all_rows.row_count, all_rows.host_count,
            all_rows.needed_min_bytes, all_rows.peak_min_bytes, all_rows.peak_max_bytes
        FROM (SELECT point_id, min(modified_at) AS first_at, max(modified_at) AS last_at, count(*) AS row_count,
                  count(DISTINCT host) AS host_count, min(needed_bytes) AS needed_min_bytes,
                  min(peak_bytes) AS peak_min_bytes, max(peak_bytes) AS peak_max_bytes
              FROM memviewd.rows WHERE point_id = ANY ($1) AND verdict IS NOT NULL GROUP BY point_id) AS all_rows
        CROSS JOIN LATERAL (SELECT * FROM memviewd.rows AS one
              WHERE one.point_id = all_rows.point_id AND verdict IS NOT NULL
              ORDER BY needed_bytes DESC NULLS LAST, modified_at DESC NULLS LAST, id LIMIT 1) AS largest
        $insert$, copied, regexp_replace(copied, '(^|, )', '\1largest.', 'g')) USING wanted;
END
$$;

-- Forgets files that were gone before that moment, and their rows; how many.
CREATE FUNCTION memviewd.forget(gone_before timestamptz) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    forgotten text[];
    touched text[];
BEGIN
    SELECT coalesce(array_agg(file_id), '{}') INTO forgotten
    FROM (SELECT file_id FROM memviewd.files WHERE gone_at < gone_before ORDER BY file_id FOR UPDATE) AS gone;
    SELECT coalesce(array_agg(DISTINCT point_id), '{}') INTO touched FROM memviewd.rows WHERE file_id = ANY (forgotten);
    DELETE FROM memviewd.files WHERE file_id = ANY (forgotten);
    PERFORM memviewd.points_refresh(touched);
    RETURN cardinality(forgotten);
END
$$;
