/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/split.h"

static bool is_whole(const struct split *split, int64_t size)
{
    for (uint32_t i = 0; i < split->whole_count; i++)
        if (split->whole_sizes[i] == size)
            return true;
    return false;
}

bool split_takes(const struct split *split, int64_t size)
{
    return size > 0 && size % split->devices == 0 && !is_whole(split, size);
}

void split_read(const struct variant *variant, int64_t devices, struct split *out)
{
    const struct dimensions *dimensions = &variant->dimensions;
    *out = (struct split){.devices = devices};
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        uint32_t at = variant->plan->arguments[i].instruction_at, dimension;
        for (uint32_t nth = 0; at != HLO_NONE && (dimension = dimensions_of(dimensions, at, nth)) != HLO_NONE; nth++)
            if (dimensions->is_cut[dimensions_class(dimensions, dimension)] &&
                split_takes(out, variant->sizes[dimension]) && out->whole_count < SPLIT_SIZES_MAX)
                out->whole_sizes[out->whole_count++] = variant->sizes[dimension];
    }
}

const char *split_whole_text(const struct split *split, struct arena *arena)
{
    const char *text = "";
    for (uint32_t i = 0; i < split->whole_count; i++)
        text = arena_format(arena, "%s%s%lld", text, i > 0 ? ", " : "", (long long)split->whole_sizes[i]);
    return text;
}
