/* SPDX-License-Identifier: Apache-2.0
 * remedy.h: what helps against errors of frameworks, drivers, servers and hosts, and what the figures of their texts
 * say of it; for advice*.c and remedy*.c alone. The rows are in remedy.def. */
#pragma once

#include "verdict/advice.h"

struct remedy {
    enum verdict_advice_kind kind;
    uint32_t effort;
    const char *title, *call, *reason; /* NULL: `make` says it */
    /* Sets what the figures of the text say: bytes, evidence, how sure, whether it fits, and what the row leaves open.
     * False: they do not speak for it. The item comes as a guess that nothing is known of. */
    bool (*make)(const struct advice *advice, struct verdict_advice *item);
};

/* Adds what remedy.def has for the failure, if there is one. */
void remedy_find(struct advice *advice);
/* What is to be said of all advice for a text that no plan belongs to; NULL: nothing. */
const char *remedy_sentence(const struct advice *advice);

/* What is missing: asked for and not free; -1: not known. */
int64_t remedy_short_bytes(const struct advice *advice);
/* What PyTorch's allocator has reserved and not given out; 0: none, or not known. */
int64_t remedy_kept_bytes(const struct advice *advice);
/* "24.00 GiB"; of a figure that the text does not state "". */
const char *remedy_size(const struct advice *advice, enum oom_figure_at at);

/* As `make` of struct remedy, in remedy_*.c. */
bool remedy_torch_pieces(const struct advice *advice, struct verdict_advice *item);
bool remedy_of_cause(const struct advice *advice, struct verdict_advice *item);
bool remedy_unless_known(const struct advice *advice, struct verdict_advice *item);
bool remedy_own_limit(const struct advice *advice, struct verdict_advice *item);
bool remedy_pool_limit(const struct advice *advice, struct verdict_advice *item);
bool remedy_torch_allowed(const struct advice *advice, struct verdict_advice *item);
bool remedy_smaller_request(const struct advice *advice, struct verdict_advice *item);
bool remedy_evaluation(const struct advice *advice, struct verdict_advice *item);
bool remedy_xpu_pieces(const struct advice *advice, struct verdict_advice *item);
bool remedy_loader(const struct advice *advice, struct verdict_advice *item);
bool remedy_data_set(const struct advice *advice, struct verdict_advice *item);
bool remedy_share_less(const struct advice *advice, struct verdict_advice *item);
bool remedy_hami(const struct advice *advice, struct verdict_advice *item);
bool remedy_torch_refused(const struct advice *advice, struct verdict_advice *item);
bool remedy_mps_limit(const struct advice *advice, struct verdict_advice *item);
bool remedy_others(const struct advice *advice, struct verdict_advice *item);
bool remedy_context(const struct advice *advice, struct verdict_advice *item);
bool remedy_bfc_pieces(const struct advice *advice, struct verdict_advice *item);
bool remedy_one_request(const struct advice *advice, struct verdict_advice *item);
bool remedy_stages(const struct advice *advice, struct verdict_advice *item);
bool remedy_dynamic_shared(const struct advice *advice, struct verdict_advice *item);
bool remedy_nccl(const struct advice *advice, struct verdict_advice *item);
bool remedy_shared(const struct advice *advice, struct verdict_advice *item);
bool remedy_metal_buffer(const struct advice *advice, struct verdict_advice *item);
bool remedy_of_weights(const struct advice *advice, struct verdict_advice *item);
bool remedy_of_share(const struct advice *advice, struct verdict_advice *item);
bool remedy_vllm_length(const struct advice *advice, struct verdict_advice *item);
bool remedy_vllm_more(const struct advice *advice, struct verdict_advice *item);
bool remedy_vllm_start(const struct advice *advice, struct verdict_advice *item);
bool remedy_vllm_others(const struct advice *advice, struct verdict_advice *item);
bool remedy_vllm_split(const struct advice *advice, struct verdict_advice *item);
bool remedy_cache_halved(const struct advice *advice, struct verdict_advice *item);
bool remedy_tgi_tokens(const struct advice *advice, struct verdict_advice *item);
bool remedy_numpy_half(const struct advice *advice, struct verdict_advice *item);
bool remedy_java(const struct advice *advice, struct verdict_advice *item);
bool remedy_wrong_size(const struct advice *advice, struct verdict_advice *item);
bool remedy_group_limit(const struct advice *advice, struct verdict_advice *item);
bool remedy_host_full(const struct advice *advice, struct verdict_advice *item);
bool remedy_host_room(const struct advice *advice, struct verdict_advice *item);
bool remedy_killed(const struct advice *advice, struct verdict_advice *item);
bool remedy_slurm(const struct advice *advice, struct verdict_advice *item);
bool remedy_ray(const struct advice *advice, struct verdict_advice *item);

/* Did the host refuse so little that it was full before? */
bool remedy_is_small_of_host(const struct advice *advice);
