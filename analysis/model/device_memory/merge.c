/* SPDX-License-Identifier: Apache-2.0 */
#include "model/device_memory/merge.h"

#include "base/map.h"
#include "base/sum.h"
#include "model/device_memory/columns.h"

#include <assert.h>
#include <math.h>

enum { BLOCK = 4096 };

struct merger {
    struct arena *arena;
    const struct merge_options *options;
    struct pprof *out;
    struct map function_table, mapping_table, location_table, set_table, sample_table;
    /* of the profile that is being taken in: its numbers in `out` */
    const struct pprof *from;
    uint32_t *functions, *mappings, *locations, *sets;
    uint32_t types[PPROF_TYPES_MAX];  /* its column of each type of `out` */
    int64_t factors[PPROF_TYPES_MAX]; /* from the unit of that column to that of `out`, which is no coarser */
    double scales[PPROF_TYPES_MAX];
    bool is_base;
    /* a sample or location while it is looked for */
    const uint32_t *stack;
    uint32_t depth, set;
    struct pprof_location location;
    const struct pprof_line *lines;
};

/* ---- columns ---- */

/* The types that all profiles have, in the order of the first. */
static bool common_types(const struct profile_set *set, struct merger *merger, struct err *err)
{
    const struct pprof *first = NULL;
    for (uint32_t i = 0; i < set->count && first == NULL; i++)
        first = set->items[i].pprof;
    if (first == NULL)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "none of the profiles could be read");
    struct pprof *out = merger->out;
    const struct pprof **profiles = arena_array(merger->arena, const struct pprof *, set->count);
    for (uint32_t i = 0; i < set->count; i++)
        profiles[i] = set->items[i].pprof;
    out->types = arena_array(merger->arena, struct pprof_type, (size_t)first->type_count + 1);
    for (uint32_t type = 0; type < first->type_count; type++) {
        bool has_all = true;
        for (uint32_t i = 0; i < set->count && has_all; i++)
            has_all = profiles[i] == NULL || columns_find(profiles[i], first->types, type) != PPROF_NONE;
        if (type == first->default_type && has_all)
            out->default_type = out->type_count;
        if (has_all)
            out->types[out->type_count++] = (struct pprof_type){
                first->types[type].name, columns_finest_unit(profiles, set->count, first->types, type)};
    }
    return out->type_count > 0 ||
           err_set(err, ERR_argument, ERR_NO_OFFSET, "the profiles have no sample type in common");
}

static void find_columns(struct merger *merger)
{
    const struct pprof *from = merger->from;
    for (uint32_t type = 0; type < merger->out->type_count; type++) {
        merger->types[type] = columns_find(from, merger->out->types, type);
        merger->factors[type] = columns_factor(from, merger->types[type], &merger->out->types[type]);
    }
}

/* ---- tables ---- */

static bool is_function(const void *context, uint64_t at)
{
    const struct merger *merger = context;
    const struct pprof_function *known = &merger->out->functions[at];
    const struct pprof_function *new = &merger->out->functions[merger->out->function_count];
    return known->start_line == new->start_line &&str_equal(known->name, new->name) &&
           str_equal(known->system_name, new->system_name) && str_equal(known->file, new->file);
}

static void take_functions(struct merger *merger)
{
    struct pprof *out = merger->out;
    for (uint32_t i = 0; i < merger->from->function_count; i++) {
        const struct pprof_function *function = &merger->from->functions[i];
        uint64_t hash = map_hash_text(merger->arena, function->file, (uint64_t)function->start_line);
        hash = map_hash_text(merger->arena, function->name, hash);
        out->functions[out->function_count] = *function;
        bool is_new;
        merger->functions[i] = map_number(&merger->function_table, hash, is_function, merger, &is_new);
        out->function_count += is_new;
    }
}

static uint64_t mapping_pages(const struct pprof_mapping *mapping)
{
    return (mapping->end - mapping->begin + BLOCK - 1) / BLOCK;
}

/* Mappings are one when they have the same size in pages, offset and build id (else file). */
static bool is_mapping(const void *context, uint64_t at)
{
    const struct merger *merger = context;
    const struct pprof_mapping *known = &merger->out->mappings[at];
    const struct pprof_mapping *new = &merger->out->mappings[merger->out->mapping_count];
    bool has_build_id = known->build_id.length > 0 || new->build_id.length > 0;
    return mapping_pages(known) == mapping_pages(new) && known->offset == new->offset &&
           (has_build_id ? str_equal(known->build_id, new->build_id) : str_equal(known->file, new->file));
}

static void take_mappings(struct merger *merger)
{
    struct pprof *out = merger->out;
    for (uint32_t i = 0; i < merger->from->mapping_count; i++) {
        const struct pprof_mapping *mapping = &merger->from->mappings[i];
        uint64_t hash = hash_number(mapping_pages(mapping), mapping->offset);
        out->mappings[out->mapping_count] = *mapping;
        bool is_new;
        merger->mappings[i] = map_number(&merger->mapping_table, hash, is_mapping, merger, &is_new);
        out->mapping_count += is_new;
    }
}

static uint64_t relative_address(const struct pprof *pprof, const struct pprof_location *location)
{
    return location->mapping == PPROF_NONE ? location->address
                                           : location->address - pprof->mappings[location->mapping].begin;
}

static bool is_location(const void *context, uint64_t at)
{
    const struct merger *merger = context;
    const struct pprof *out = merger->out;
    const struct pprof_location *known = &out->locations[at], *new = &merger->location;
    if (known->mapping != new->mapping || known->line_count != new->line_count || known->is_folded != new->is_folded ||
        relative_address(out, known) != new->address)
        return false;
    for (uint32_t i = 0; i < known->line_count; i++) {
        const struct pprof_line *a = &out->lines[known->first_line + i], *b = &merger->lines[i];
        if (a->function != merger->functions[b->function] || a->line != b->line || a->column != b->column)
            return false;
    }
    return true;
}

/* Takes in one location; its address in merger->location is relative while it is looked for. */
static uint32_t take_location(struct merger *merger, const struct pprof_location *from)
{
    struct pprof *out = merger->out;
    uint64_t hash = from->line_count;
    merger->lines = merger->from->lines + from->first_line;
    merger->location = *from;
    merger->location.address = relative_address(merger->from, from);
    if (from->mapping != PPROF_NONE)
        merger->location.mapping = merger->mappings[from->mapping];
    for (uint32_t i = 0; i < from->line_count; i++)
        hash = hash_number((uint64_t)merger->lines[i].line << 32 | merger->functions[merger->lines[i].function], hash);
    hash = hash_number(merger->location.address, hash);
    bool is_new;
    uint32_t at = map_number(&merger->location_table, hash, is_location, merger, &is_new);
    if (!is_new)
        return at;
    struct pprof_location *location = &out->locations[out->location_count++];
    *location = merger->location;
    if (location->mapping != PPROF_NONE)
        location->address += out->mappings[location->mapping].begin;
    location->first_line = out->line_count;
    for (uint32_t i = 0; i < from->line_count; i++) {
        out->lines[out->line_count] = merger->lines[i];
        out->lines[out->line_count++].function = merger->functions[merger->lines[i].function];
    }
    return at;
}

static bool is_set(const void *context, uint64_t at)
{
    const struct merger *merger = context;
    const struct pprof *out = merger->out, *from = merger->from;
    const struct pprof_label_set *known = &out->sets[at], *new = &from->sets[merger->set];
    bool is_equal = known->count == new->count;
    for (uint32_t i = 0; is_equal && i < known->count; i++) {
        const struct pprof_label *a = &out->labels[known->first + i], *b = &from->labels[new->first + i];
        is_equal = a->is_number == b->is_number && a->number == b->number && str_equal(a->key, b->key) &&
                   str_equal(a->text, b->text) && str_equal(a->unit, b->unit);
    }
    return is_equal;
}

static void take_sets(struct merger *merger)
{
    struct pprof *out = merger->out;
    const struct pprof *from = merger->from;
    for (merger->set = 0; merger->set < from->set_count; merger->set++) {
        const struct pprof_label_set *set = &from->sets[merger->set];
        uint64_t hash = set->count;
        for (uint32_t i = 0; i < set->count; i++) {
            const struct pprof_label *label = &from->labels[set->first + i];
            hash = map_hash_text(merger->arena, label->key, hash + (uint64_t)label->number);
            hash = map_hash_text(merger->arena, label->text, hash);
        }
        bool is_new;
        uint32_t at = map_number(&merger->set_table, hash, is_set, merger, &is_new);
        if (is_new) {
            out->sets[out->set_count++] = (struct pprof_label_set){out->label_count, set->count};
            for (uint32_t i = 0; i < set->count; i++)
                out->labels[out->label_count++] = from->labels[set->first + i];
        }
        merger->sets[merger->set] = at;
    }
}

/* ---- samples ---- */

static bool is_sample(const void *context, uint64_t at)
{
    const struct merger *merger = context;
    const struct pprof *out = merger->out;
    uint32_t begin = out->stack_starts[at], depth = out->stack_starts[at + 1] - begin;
    bool is_apart = merger->options->keeps_base_apart && out->is_base[at] != merger->is_base;
    arena_work(merger->arena, depth);
    return !is_apart && depth == merger->depth && out->label_sets[at] == merger->set &&
           (depth == 0 || memcmp(out->stacks + begin, merger->stack, depth * sizeof(*merger->stack)) == 0);
}

/* The value of a column as it is to be added. */
static int64_t value_of(const struct merger *merger, const int64_t *values, uint32_t type)
{
    int64_t value = columns_in_unit(values[merger->types[type]], merger->factors[type]);
    if (merger->is_base)
        return value == INT64_MIN ? INT64_MAX : -value;
    if (merger->scales[type] == 1)
        return value;
    return sum_of_real(round((double)value * merger->scales[type]));
}

/* Is anything left of a sample? Scaling looks only at the columns that it changes, as in pprof. */
static bool is_kept(const struct merger *merger, const int64_t *values)
{
    bool is_any = false, is_scaled = false, has_scaled = false;
    for (uint32_t type = 0; type < merger->out->type_count; type++) {
        bool is_there = value_of(merger, values, type) != 0;
        is_any |= is_there;
        is_scaled |= merger->scales[type] != 1;
        has_scaled |= merger->scales[type] != 1 && is_there;
    }
    return is_any && (has_scaled || !is_scaled);
}

static void take_sample(struct merger *merger, uint32_t sample)
{
    const struct pprof *from = merger->from;
    struct pprof *out = merger->out;
    const int64_t *values = from->values + (size_t)sample * from->type_count;
    uint32_t begin = from->stack_starts[sample], *stack = out->stacks + out->stack_starts[out->sample_count];
    bool is_unknown = from->is_unknown != NULL && from->is_unknown[sample];
    if (!is_kept(merger, values) && !is_unknown)
        return;
    merger->depth = from->stack_starts[sample + 1] - begin;
    merger->stack = stack;
    merger->set = merger->sets[from->label_sets[sample]];
    uint64_t hash = hash_number(merger->set, merger->options->keeps_base_apart && merger->is_base);
    for (uint32_t i = 0; i < merger->depth; i++) {
        stack[i] = merger->locations[from->stacks[begin + i]];
        hash = hash_number(stack[i], hash);
    }
    bool is_new;
    uint32_t at = map_number(&merger->sample_table, hash, is_sample, merger, &is_new);
    if (is_new) {
        out->label_sets[at] = merger->set;
        out->is_base[at] = merger->is_base;
        out->stack_starts[++out->sample_count] = out->stack_starts[at] + merger->depth;
        out->depth_max = merger->depth > out->depth_max ? merger->depth : out->depth_max;
    }
    out->is_unknown[at] |= is_unknown;
    int64_t *sums = out->values + (size_t)at * out->type_count;
    for (uint32_t type = 0; type < out->type_count; type++)
        sums[type] = pprof_add(sums[type], value_of(merger, values, type));
    if (!merger->options->pairs_base || !merger->is_base)
        return;
    sums = out->base_values + (size_t)at * out->type_count;
    for (uint32_t type = 0; type < out->type_count; type++)
        sums[type] = pprof_add(sums[type], pprof_negated(value_of(merger, values, type)));
}

/* Samples that came to nothing go. */
static void drop_nothing(const struct merge_options *options, struct pprof *out)
{
    uint32_t kept = 0, length = 0, type_count = out->type_count;
    for (uint32_t i = 0; i < out->sample_count; i++) {
        uint32_t begin = out->stack_starts[i], depth = out->stack_starts[i + 1] - begin;
        bool is_any = out->is_unknown[i] && options->keeps_base_apart;
        for (uint32_t type = 0; type < type_count; type++)
            is_any |= out->values[(size_t)i * type_count + type] != 0 ||
                      (out->base_values != NULL && out->base_values[(size_t)i * type_count + type] != 0);
        if (!is_any)
            continue;
        memmove(out->stacks + length, out->stacks + begin, depth * sizeof(*out->stacks));
        memmove(out->values + (size_t)kept * type_count, out->values + (size_t)i * type_count,
                type_count * sizeof(*out->values));
        if (out->base_values != NULL)
            memmove(out->base_values + (size_t)kept * type_count, out->base_values + (size_t)i * type_count,
                    type_count * sizeof(*out->base_values));
        out->label_sets[kept] = out->label_sets[i];
        out->is_base[kept] = out->is_base[i];
        out->is_unknown[kept] = out->is_unknown[i];
        out->stack_starts[kept++] = length;
        length += depth;
        out->stack_starts[kept] = length;
    }
    assert(length == out->stack_starts[kept]);
    out->sample_count = kept;
}

/* ---- all together ---- */

static void make_room(struct merger *merger, const struct profile_set *set)
{
    uint64_t functions = 0, mappings = 0, locations = 0, lines = 0, sets = 0, labels = 0, samples = 0, frames = 0;
    struct arena *arena = merger->arena;
    struct pprof *out = merger->out;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct pprof *pprof = set->items[i].pprof;
        if (pprof == NULL)
            continue;
        functions += pprof->function_count;
        mappings += pprof->mapping_count;
        locations += pprof->location_count;
        lines += pprof->line_count;
        sets += pprof->set_count;
        labels += pprof->label_count;
        samples += pprof->sample_count;
        frames += pprof->stack_starts[pprof->sample_count];
    }
    out->functions = arena_array(arena, struct pprof_function, functions + 1);
    out->mappings = arena_array(arena, struct pprof_mapping, mappings + 1);
    out->locations = arena_array(arena, struct pprof_location, locations + 1);
    out->lines = arena_array(arena, struct pprof_line, lines + 1);
    out->sets = arena_array(arena, struct pprof_label_set, sets + 1);
    out->labels = arena_array(arena, struct pprof_label, labels + 1);
    out->stack_starts = arena_array(arena, uint32_t, samples + 1);
    out->label_sets = arena_array(arena, uint32_t, samples + 1);
    out->is_base = arena_array(arena, bool, samples + 1);
    out->is_unknown = arena_array(arena, bool, samples + 1);
    out->values = arena_array(arena, int64_t, samples * out->type_count + 1);
    if (merger->options->pairs_base)
        out->base_values = arena_array(arena, int64_t, samples * out->type_count + 1);
    out->stacks = arena_raw(arena, (frames + out->depth_max + 1) * sizeof(*out->stacks));
    merger->functions = arena_array(arena, uint32_t, functions + 1);
    merger->mappings = arena_array(arena, uint32_t, mappings + 1);
    merger->locations = arena_array(arena, uint32_t, locations + 1);
    merger->sets = arena_array(arena, uint32_t, sets + 1);
    map_init(&merger->function_table, arena, 0);
    map_init(&merger->mapping_table, arena, 0);
    map_init(&merger->location_table, arena, 0);
    map_init(&merger->set_table, arena, 0);
    map_init(&merger->sample_table, arena, 0);
}

static void sum_columns(const struct profile_set *set, const struct merger *merger, bool is_base, double *sums)
{
    for (uint32_t type = 0; type < merger->out->type_count; type++) {
        int64_t sum = 0;
        for (uint32_t i = 0; i < set->count; i++) {
            const struct pprof *pprof = set->items[i].pprof;
            if (pprof == NULL || set->items[i].is_base != is_base)
                continue;
            uint32_t column = columns_find(pprof, merger->out->types, type);
            int64_t factor = columns_factor(pprof, column, &merger->out->types[type]);
            for (uint32_t sample = 0; sample < pprof->sample_count; sample++)
                sum =
                    pprof_add(sum, columns_in_unit(pprof->values[(size_t)sample * pprof->type_count + column], factor));
        }
        sums[type] = (double)sum;
    }
}

static void find_scales(const struct profile_set *set, struct merger *merger)
{
    double sources[PPROF_TYPES_MAX], bases[PPROF_TYPES_MAX];
    for (uint32_t type = 0; type < PPROF_TYPES_MAX; type++)
        merger->scales[type] = 1;
    if (!merger->options->is_normalized)
        return;
    sum_columns(set, merger, false, sources);
    sum_columns(set, merger, true, bases);
    for (uint32_t type = 0; type < merger->out->type_count; type++)
        merger->scales[type] = sources[type] == 0 ? 0 : bases[type] / sources[type];
}

static void take_profile(struct merger *merger, const struct profile_set_item *item)
{
    merger->from = item->pprof;
    merger->is_base = item->is_base;
    find_columns(merger);
    take_functions(merger);
    take_mappings(merger);
    take_sets(merger);
    for (uint32_t i = 0; i < item->pprof->location_count; i++)
        merger->locations[i] = take_location(merger, &item->pprof->locations[i]);
    arena_work(merger->arena, item->pprof->stack_starts[item->pprof->sample_count]);
    for (uint32_t i = 0; i < item->pprof->sample_count; i++)
        take_sample(merger, i);
}

static void add_comments(const struct pprof *from, struct pprof *out)
{
    for (uint32_t i = 0; i < from->comment_count; i++) {
        bool is_known = false;
        for (uint32_t at = 0; at < out->comment_count && !is_known; at++)
            is_known = str_equal(out->comments[at], from->comments[i]);
        if (!is_known)
            out->comments[out->comment_count++] = from->comments[i];
    }
}

/* Drop rules are those of the first; times, periods and comments are joined as pprof joins them. */
static void merge_headers(const struct profile_set *set, struct arena *arena, struct pprof *out)
{
    size_t comment_count = 0;
    *out = (struct pprof){
        .drop_frames = {"", 0}, .keep_frames = {"", 0}, .doc_url = {"", 0}, .period_type = {{"", 0}, {"", 0}}};
    for (uint32_t i = 0; i < set->count; i++)
        comment_count += set->items[i].pprof != NULL ? set->items[i].pprof->comment_count : 0;
    arena_work(arena, comment_count * comment_count / 8);
    out->comments = arena_array(arena, struct str, comment_count + 1);
    for (uint32_t i = set->count; i-- > 0;) {
        const struct pprof *pprof = set->items[i].pprof;
        if (pprof == NULL)
            continue;
        out->drop_frames = pprof->drop_frames;
        out->keep_frames = pprof->keep_frames;
        out->doc_url = pprof->doc_url.length > 0 ? pprof->doc_url : out->doc_url;
        out->period_type = pprof->period_type;
        out->period = pprof->period > out->period ? pprof->period : out->period;
        out->depth_max = pprof->depth_max > out->depth_max ? pprof->depth_max : out->depth_max;
        out->duration_ns = pprof_add(out->duration_ns, pprof->duration_ns);
        if (out->time_ns == 0 || (pprof->time_ns != 0 && pprof->time_ns < out->time_ns))
            out->time_ns = pprof->time_ns;
    }
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].pprof != NULL)
            add_comments(set->items[i].pprof, out);
}

bool merge_profiles(const struct profile_set *set, const struct merge_options *options, struct arena *arena,
                    struct pprof *out, struct err *err)
{
    struct merger *merger = arena_array(arena, struct merger, 1);
    merger->arena = arena;
    merger->options = options;
    merger->out = out;
    merge_headers(set, arena, out);
    if (!common_types(set, merger, err))
        return false;
    make_room(merger, set);
    find_scales(set, merger);
    for (int round = 0; round < 2; round++) /* what is subtracted comes last */
        for (uint32_t i = 0; i < set->count; i++)
            if (set->items[i].pprof != NULL && set->items[i].is_base == (round == 1))
                take_profile(merger, &set->items[i]);
    drop_nothing(options, out);
    return true;
}
