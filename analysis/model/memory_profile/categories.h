/* SPDX-License-Identifier: Apache-2.0
 * categories.h: whose memory the blocks of an allocator snapshot are, by their stacks and by how long they live.
 *
 * A stack says what the program was doing when the block was allocated (plan/torch_phase.h); of the same stack a block
 * that is freed within the step of the optimizer is a temporary, one that outlives it is state. So each allocation has
 * a category and a rule (category_rules.def, torch_…), kept as a guess of what it is. What an exception frees after a
 * request failed is judged as what is there where a recording ends. What was there before the recording began has the
 * category of its own stack where the snapshot has one, of its free, else of sizes; else it is unknown. Time: each
 * event once, and a search in the runs of forward, backward and optimizer. Memory: a copy of the table of kinds (struct
 * memory_what), and what is kept of the blocks. */
#pragma once

#include "model/memory_profile/model.h"
#include "plan/torch_phase.h"

/* Fills guesses, block_choices, and `before`, `at_peak` and `at_failure` of the pools. Nothing without a snapshot. */
void memory_profile_categories_make(struct memory_profile *profile, struct arena *arena);
/* The category of an allocation, or of a free of what was there before; UNKNOWN without one. */
struct category_choice memory_profile_categories_of(const struct memory_profile *profile, uint32_t event);
/* The same of a kind of allocation. */
enum category memory_profile_categories_of_what(const struct memory_profile *profile, const struct memory_what *what);
/* Those that hold anything, the largest first; returns how many. */
uint32_t memory_profile_categories_order(const struct memory_profile_category_sum *sums,
                                         enum category order[CATEGORY_COUNT]);
/* Behind the words of a category: "", " (guess)" or " (part guess)"; static storage. */
const char *memory_profile_categories_guess_words(enum category category,
                                                  const struct memory_profile_category_sum *sum);
/* Adds what is live after the first `count` events of the pool to `sums`, CATEGORY_COUNT of them. With UNKNOWN, which
 * also counts what no event explains, they add up to what is in use. False if there are no categories. */
bool memory_profile_categories_at(const struct memory_profile_pool *pool, uint32_t count,
                                  struct memory_profile_category_sum *sums);
/* Of these sums, the part that was live before the recording and is freed after the first `count` events. */
void memory_profile_categories_freed(const struct memory_profile_pool *pool, uint32_t count,
                                     struct memory_profile_category_sum *sums);
/* Adds bytes of one choice; negative ones take away. */
void memory_profile_categories_add(struct memory_profile_category_sum *sums, struct category_choice choice,
                                   int64_t bytes, int64_t count);
