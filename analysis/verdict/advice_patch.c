/* SPDX-License-Identifier: Apache-2.0
 * advice_patch.c: advice as changes of the user's source files. */
#include "verdict/advice.h"

#include "patch/patch.h"
#include "whatif/call.h"

struct patching {
    struct patch_asked asked;
    const struct patch_files *files; /* NULL: no patch needed them yet */
};

static const struct patch_files *files_of(struct patching *patching)
{
    if (patching->files == NULL)
        patching->files = patch_files_open(&patching->asked);
    return patching->files;
}

static struct patch donation_of(struct patching *patching, const char *text)
{
    const struct patch_asked *asked = &patching->asked;
    bool *flags = arena_array(asked->arena, bool, (size_t)asked->plan->argument_count + 1);
    struct change change;
    struct err err = ERR_INIT;
    if (change_read(str_of(text), &change, &err))
        call_donated(asked->start, &change, flags);
    return patch_donate(files_of(patching), flags);
}

/* False: no patch is written for such a change. */
static bool patch_of(struct patching *patching, const struct verdict_advice *item, struct patch *out)
{
    if (strcmp(item->change, "donate=all") == 0)
        *out = donation_of(patching, item->change);
    else if (strcmp(item->change, "checkpoint=*") == 0)
        *out = patch_checkpoint(files_of(patching));
    else if (strcmp(item->change, "cast=mu:bf16") == 0)
        *out = patch_optimizer(files_of(patching));
    else
        return false;
    return true;
}

void advice_patch(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    struct patching patching = {.asked = {
                                    .sources = facts->parts->around.sources,
                                    .plan = facts->parts->plan,
                                    .start = &advice->start,
                                    .space = facts->space,
                                    .scratch = facts->scratch,
                                    .arena = facts->arena,
                                }};
    for (uint32_t i = 0; i < advice->count && patching.asked.sources != NULL && advice->has_program; i++) {
        struct verdict_advice *item = &advice->items[i];
        struct patch patch;
        if (item->change == NULL || torch_advice_is(item) || !patch_of(&patching, item, &patch))
            continue;
        struct patch *kept = arena_array(facts->arena, struct patch, 1);
        *kept = patch;
        item->patch = kept;
        if (patch.diff != NULL && patch.call != NULL)
            item->call = patch.call;
    }
}
