/* SPDX-License-Identifier: Apache-2.0
 * advice_patch.c: advice as changes of the user's source files. */
#include "verdict/advice.h"

#include "patch/patch.h"
#include "whatif/call.h"

static struct patch donation_of(const struct advice *advice, const struct patch_asked *asked, const char *text)
{
    struct arena *arena = advice->facts->arena;
    bool *flags = arena_array(arena, bool, (size_t)asked->plan->argument_count + 1);
    struct change change;
    struct err err = ERR_INIT;
    if (change_read(str_of(text), &change, &err))
        call_donated(asked->start, &change, flags);
    return patch_donate(asked, flags);
}

/* False: no patch is written for such a change. */
static bool patch_of(const struct advice *advice, const struct patch_asked *asked, const struct verdict_advice *item,
                     struct patch *out)
{
    if (strcmp(item->change, "donate=all") == 0)
        *out = donation_of(advice, asked, item->change);
    else if (strcmp(item->change, "checkpoint=*") == 0)
        *out = patch_checkpoint(asked);
    else if (strcmp(item->change, "cast=mu:bf16") == 0)
        *out = patch_optimizer(asked);
    else
        return false;
    return true;
}

void advice_patch(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct patch_asked asked = {
        .sources = facts->parts->around.sources,
        .plan = facts->parts->plan,
        .start = &advice->start,
        .space = facts->space,
        .scratch = facts->scratch,
        .arena = facts->arena,
    };
    for (uint32_t i = 0; i < advice->count && asked.sources != NULL && advice->has_program; i++) {
        struct verdict_advice *item = &advice->items[i];
        struct patch patch;
        if (item->change == NULL || torch_advice_is(item) || !patch_of(advice, &asked, item, &patch))
            continue;
        struct patch *kept = arena_array(facts->arena, struct patch, 1);
        *kept = patch;
        item->patch = kept;
    }
}
