/* SPDX-License-Identifier: Apache-2.0
 * categories_before.h: whose memory is what was there before the recording began and is never freed in it; part of
 * categories.h. */
#pragma once

#include "model/memory_profile/categories_runs.h"

/* The size that PyTorch gives cuBLAS to work in, where CUBLAS_WORKSPACE_CONFIG says nothing: 2 × 4096 KiB and 8 × 16
 * KiB. Source: ATen/cuda/CublasHandlePool.cpp. */
bool memory_profile_categories_is_cublas(int64_t bytes);
/* The category of a block that outlives the phase in which its stack was recorded. */
struct category_choice memory_profile_categories_kept(const struct deciding *deciding, uint32_t stack);
/* Fills block_choices and `before` of the pools; `deciding` has one for each pool. */
void memory_profile_categories_before_make(struct memory_profile *profile, struct deciding *deciding,
                                           struct arena *arena);
