/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/torch_choice.h"

#include "model/memory_profile/model.h"
#include "model/oom/meaning.h"
#include "verdict/torch_join.h"

#include <stdio.h>
#include <string.h>

/* What a failed request of the text's size counts more than figures alone, which other runs may have, too. */
enum { OF_REQUEST = 4 };

bool torch_choice_may(const struct oom_meaning *failure)
{
    return failure != NULL && failure->failure->family == OOM_FAMILY_torch_gpu;
}

/* "rank0" of "rank0.pickle.gz" and of "rank0.log". */
static bool is_named_alike(const char *a, const char *b)
{
    size_t length = a != NULL ? strcspn(a, ".") : 0;
    return length > 0 && strcspn(b, ".") == length && strncmp(a, b, length) == 0;
}

size_t torch_choice_order(struct torch_choice *choice, const char *const *names, size_t count, size_t *order)
{
    size_t ordered = 0;
    for (int named = 1; named >= 0; named--)
        for (size_t at = 0; at < count; at++)
            if (is_named_alike(choice->text, names[at]) == named && ordered < TORCH_CHOICE_READ_MAX)
                order[ordered++] = at;
    choice->left_count = count - ordered;
    return ordered;
}

uint32_t torch_choice_shares(const struct oom_meaning *failure, const struct memory_profile *trace, struct arena *arena,
                             const char **reason)
{
    struct torch_join join = {.reason = "it is not a PyTorch allocator snapshot"};
    if (trace->events.snapshot != NULL)
        torch_join_find(failure->failure, trace, arena, &join);
    *reason = join.reason;
    return join.pool != NULL ? 1 + join.agree_count + (join.failure != NULL ? OF_REQUEST : 0) : 0;
}

bool torch_choice_take(struct torch_choice *choice, const char *name, uint32_t shares, const char *reason)
{
    const bool is_named = is_named_alike(choice->text, name);
    if (shares == 0) {
        if (choice->refused == NULL) {
            choice->refused = name;
            snprintf(choice->why_not, sizeof(choice->why_not), "%s", reason);
        }
        return false;
    }
    choice->fitting_count++;
    if (choice->taken != NULL &&
        (shares < choice->shares || (shares == choice->shares && is_named <= choice->is_named)))
        return false;
    choice->taken = name;
    choice->shares = shares;
    choice->is_named = is_named;
    snprintf(choice->reason, sizeof(choice->reason), "%s", reason);
    return true;
}

const char *torch_choice_sentence(const struct torch_choice *choice, struct arena *arena)
{
    if (choice->taken == NULL && choice->refused == NULL)
        return NULL;
    const char *left =
        choice->left_count == 0 ? "" : arena_format(arena, " %zu more were not examined.", choice->left_count);
    if (choice->taken == NULL)
        return arena_format(arena, "The allocator snapshot %s is here and was not used: %s.%s", choice->refused,
                            choice->why_not, left);
    const char *why = choice->fitting_count < 2 ? ""
                      : choice->is_named ? " Several match; this one shares most figures with the text, and its name."
                                         : " Several match; this one shares most figures with the text.";
    const char *refused =
        choice->refused == NULL ? "" : arena_format(arena, " %s was not used: %s.", choice->refused, choice->why_not);
    return arena_format(arena, "The allocator snapshot %s belongs to this failure: %s.%s%s%s", choice->taken,
                        choice->reason, why, refused, left);
}
