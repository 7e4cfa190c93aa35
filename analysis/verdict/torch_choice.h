/* SPDX-License-Identifier: Apache-2.0
 * torch_choice.h: which of several allocator snapshots goes with an error text of PyTorch: which are read and in what
 * order, which one is taken, and the sentence that says so or why none was. Whoever has the files reads them.
 *
 * In:     names of files and, one after the other, what was read of them.
 * Order:  of the text's own name first, else as they come; TORCH_CHOICE_READ_MAX at most.
 * Taken:  the one that shares most figures with the text; of equals that of the text's name, then the first.
 * Memory: none but the struct; names are borrowed. */
#pragma once

#include "base/arena.h"
#include "exchange/around.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oom_meaning;    /* model/oom/model.h */
struct memory_profile; /* model/memory_profile/model.h */

/* May a snapshot say more of the failure? False: the text is of no allocator of PyTorch. */
bool torch_choice_may(const struct oom_meaning *failure);
/* Which of `names` to read, as places in it, into `order` of `count`. Out: how many. */
size_t torch_choice_order(struct torch_choice *choice, const char *const *names, size_t count, size_t *order);
/* How many figures failure and trace share (at least 1), with `reason`, one clause in the arena, why; 0: they are not
 * of one failure, because of the reason. */
uint32_t torch_choice_shares(const struct oom_meaning *failure, const struct memory_profile *trace, struct arena *arena,
                             const char **reason);
/* The next one in that order, or (shares 0) why it is of no use. True: it takes the place of what was taken before. */
bool torch_choice_take(struct torch_choice *choice, const char *name, uint32_t shares, const char *reason);
/* Whole sentences; NULL: none was read. */
const char *torch_choice_sentence(const struct torch_choice *choice, struct arena *arena);
