-- SPDX-License-Identifier: Apache-2.0
-- Whose memory is it, by job, over time? The largest module of each job and week. One name after the other is much faster than
-- all columns that there are; the tests hold that none is missing.
WITH weeks AS (
    SELECT DISTINCT ON (job, date_trunc('week', last_at)) date_trunc('week', last_at) AS week, *
    FROM memviewd.points
    WHERE kind = 'module' AND needed_bytes IS NOT NULL AND last_at > now() - interval '26 weeks'
    ORDER BY job, date_trunc('week', last_at), needed_bytes DESC
)
SELECT w.week, w.job, w.module, c.category, c.bytes
FROM weeks AS w CROSS JOIN LATERAL (VALUES
    ('parameter', w.category_parameter_bytes), ('optimizer_state', w.category_optimizer_state_bytes),
    ('cache', w.category_cache_bytes), ('batch', w.category_batch_bytes), ('rng', w.category_rng_bytes),
    ('input', w.category_input_bytes), ('other', w.category_other_bytes),
    ('copy_of_argument', w.category_copy_of_argument_bytes), ('constant', w.category_constant_bytes),
    ('saved_activation', w.category_saved_activation_bytes), ('gradient', w.category_gradient_bytes),
    ('gradient_accumulator', w.category_gradient_accumulator_bytes),
    ('optimizer_temporary', w.category_optimizer_temporary_bytes), ('collective', w.category_collective_bytes),
    ('output', w.category_output_bytes), ('workspace', w.category_workspace_bytes),
    ('unknown', w.category_unknown_bytes), ('rest', w.category_rest_bytes)
) AS c (category, bytes)
WHERE c.bytes > 0
ORDER BY w.week, w.job, c.bytes DESC;
