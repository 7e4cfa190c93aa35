/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/regions.h"

#include "plan/category.h"
#include "whatif/regions_loops.h"
#include "whatif/regions_period.h"
#include "whatif/regions_read.h"

#include <limits.h>

/* A scope: a part of an op name between slashes and brackets. */
struct scope {
    struct str text;
    uint64_t kind, whole; /* hashes: without its numbers, and with them */
    bool has_number;
};

/* What transformations put around a scope; going forward and backward it differs. */
static bool is_wrapper(struct str text)
{
    static const char *const words[] = {"jit",  "jvp",   "transpose",   "vmap", "pjit",       "while",
                                        "body", "remat", "closed_call", "cond", "checkpoint", "rematted_computation",
                                        NULL};
    return text.length == 0 || str_is_one_of(text, words);
}

static struct scope scope_of(struct str text)
{
    struct scope scope = {.text = text, .kind = hash_number(text.length > 0, 1)};
    for (size_t i = 0; i < text.length;) {
        size_t to = i, digits = str_digits(text, i);
        while (digits == 0 && to < text.length && str_digits(text, to) == 0)
            to++;
        scope.has_number = scope.has_number || digits > 0;
        scope.kind = digits > 0 ? hash_number('#', scope.kind) : hash_bytes(text.data + i, to - i, scope.kind);
        i = digits > 0 ? i + digits : to;
    }
    scope.whole = hash_bytes(text.data, text.length, scope.kind);
    return scope;
}

/* Characters between scopes: in op names, whose last part is the operation and no scope, and in paths of arguments. */
static const bool NAME_DIVIDERS[UCHAR_MAX + 1] = {[0] = true, ['/'] = true, ['('] = true, [')'] = true};
static const bool PATH_DIVIDERS[UCHAR_MAX + 1] = {
    [0] = true,   ['/'] = true, ['('] = true, [')'] = true, ['['] = true,  [']'] = true,
    ['{'] = true, ['}'] = true, ['.'] = true, ['"'] = true, ['\''] = true,
};

struct divided {
    struct str name;
    const bool *dividers;  /* by letter */
    bool is_path, is_bias; /* of an argument; of one that is a vector */
    uint64_t above;        /* for a path: a hash of the kinds of its parts so far */
};

/* The next scope from *at on. A number alone in a path has its own kind below each name: the 0 in state[0]['layers'][3]
 * is no layer, though its 3 is one. */
static bool scope_next(struct divided *divided, size_t *at, struct scope *out)
{
    struct str name = divided->name;
    while (*at < name.length) {
        size_t from = *at, to = from;
        while (to < name.length && !divided->dividers[(unsigned char)name.data[to]])
            to++;
        *at = to + 1;
        if (to == name.length && !divided->is_path)
            return false;
        struct str text = {name.data + from, to - from};
        if (is_wrapper(text))
            continue;
        *out = scope_of(text);
        if (divided->is_path)
            divided->above = out->kind = hash_number(out->kind, divided->above);
        return true;
    }
    return false;
}

/* ---- which scopes repeat ---- */

struct repeated {
    uint64_t first; /* the whole of the one that came first */
    bool is_repeated;
};

struct builder {
    struct arena *arena;
    struct repeated *kinds;
    size_t kind_capacity, region_capacity;
    struct map map_of_kinds, map_of_regions;
};

static bool is_kind(const void *context, uint64_t value)
{
    (void)context, (void)value;
    return true; /* the hashes are as good as the scopes: a mistake would only join two layers */
}

static void kinds_note(struct builder *builder, struct divided name)
{
    struct scope scope;
    for (size_t at = 0; scope_next(&name, &at, &scope);) {
        bool is_new;
        if (!scope.has_number)
            continue;
        uint32_t kind = map_number(&builder->map_of_kinds, scope.kind, is_kind, NULL, &is_new);
        if (is_new) {
            builder->kinds =
                arena_grown(builder->arena, builder->kinds, kind + 1, &builder->kind_capacity, sizeof(*builder->kinds));
            builder->kinds[kind] = (struct repeated){scope.whole, false};
        }
        builder->kinds[kind].is_repeated =
            builder->kinds[kind].is_repeated || builder->kinds[kind].first != scope.whole;
    }
}

static uint32_t region_of(struct builder *builder, struct regions *regions, struct divided name)
{
    struct scope scope, below;
    uint64_t path = 0;
    for (size_t at = 0; scope_next(&name, &at, &scope);) {
        uint64_t kind = scope.has_number ? map_find(&builder->map_of_kinds, scope.kind, is_kind, NULL) : MAP_FREE;
        path = hash_number(scope.whole, path);
        if (kind == MAP_FREE || !builder->kinds[kind].is_repeated)
            continue;
        /* Among w1, b1, w2 and b2 the matrices mark two layers, and b1 belongs to the one that computes with it. */
        if (name.is_bias && !scope_next(&name, &at, &below))
            return HLO_NONE;
        bool is_new;
        uint32_t region = map_number(&builder->map_of_regions, path, is_kind, NULL, &is_new);
        if (is_new) {
            regions->items = arena_grown(builder->arena, regions->items, region + 1, &builder->region_capacity,
                                         sizeof(*regions->items));
            regions->items[region] = (struct region){scope.text, scope.kind};
            regions->count = region + 1;
        }
        return region;
    }
    return HLO_NONE;
}

static struct divided op_name_of(const struct graph *graph, uint32_t at)
{
    return (struct divided){graph_op_name_end(graph, at), NAME_DIVIDERS, false, false, 0};
}

static void builder_init(struct builder *builder, struct arena *arena)
{
    *builder = (struct builder){.arena = arena};
    map_init(&builder->map_of_kinds, arena, 64);
    map_init(&builder->map_of_regions, arena, 64);
}

/* ---- layers without scopes: by the parameters that they read ---- */

static bool has_one_array(const struct dimensions *dimensions, uint32_t at)
{
    return at != HLO_NONE && leaves_count(&dimensions->leaves, at) == 1;
}

/* Stacked, one slice for each round of a loop: its layers are the rounds. */
static bool is_scanned(const struct dimensions *dimensions, uint32_t at)
{
    uint32_t first = at == HLO_NONE ? HLO_NONE : dimensions_of(dimensions, at, 0);
    return first != HLO_NONE && dimensions->is_scanned[dimensions_class(dimensions, first)];
}

static bool is_bias(const struct plan_argument *argument)
{
    struct shape_array shape;
    return shape_array_read(argument->shape, &shape) && shape.rank < 2;
}

static void parameters_label(const struct variant *variant, struct builder *builder, struct regions *layers,
                             uint32_t *of)
{
    const struct plan *plan = variant->plan;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < plan->argument_count; i++) {
            const struct plan_argument *argument = &plan->arguments[i];
            struct divided path = {argument->path, PATH_DIVIDERS, true, is_bias(argument), 0};
            if ((argument->choice.category != CATEGORY_PARAMETER && argument->choice.category != CATEGORY_INPUT) ||
                is_scanned(&variant->dimensions, argument->instruction_at))
                continue;
            if (pass == 0) {
                kinds_note(builder, path);
                continue;
            }
            if (!has_one_array(&variant->dimensions, argument->instruction_at))
                continue;
            of[i] = region_of(builder, layers, path);
            if (of[i] == HLO_NONE && argument->choice.category == CATEGORY_PARAMETER && !path.is_bias)
                of[i] = REGION_OUTSIDE;
        }
}

static struct regions_parameters *parameters_find(const struct variant *variant)
{
    struct arena *arena = variant->findings->arena;
    const struct plan *plan = variant->plan;
    struct regions_parameters *found = arena_array(arena, struct regions_parameters, 1);
    struct builder builder;
    struct regions layers = {NULL, NULL, 0};
    uint32_t *of = arena_raw(arena, ((size_t)plan->argument_count + 1) * sizeof(*of));
    memset(of, 0xff, ((size_t)plan->argument_count + 1) * sizeof(*of));
    builder_init(&builder, arena);
    parameters_label(variant, &builder, &layers, of);
    regions_period_join(plan, &layers, of, arena);
    *found = (struct regions_parameters){plan, of, layers.items, layers.count};
    return found;
}

/* The compiled program, in the order of its schedule. */
static void regions_by_parameters(const struct variant *variant, struct regions *out)
{
    struct arena *arena = variant->findings->arena;
    const struct plan *plan = variant->plan;
    uint32_t count = plan->hlo.instruction_count;
    uint32_t *positions = arena_raw(arena, ((size_t)count + 1) * sizeof(*positions));
    for (uint32_t at = 0; at < count; at++) {
        uint32_t scheduled = variant_scheduled(variant, at);
        positions[at] = scheduled == HLO_NONE ? HLO_NONE : plan->schedule.position_of_instruction[scheduled];
    }
    const struct regions_program program = {
        .graph = plan->graph,
        .dimensions = &variant->dimensions,
        .positions = positions,
        .position_count = plan->schedule.length,
    };
    variant->findings->by_parameters = parameters_find(variant);
    regions_read(&program, variant->findings->by_parameters, arena, out);
}

/* ---- both ---- */

/* The op names that differ: many instructions have one, and each is divided once. */
struct names {
    struct map map; /* by hash, as those of the builder */
    uint32_t *of;   /* by instruction; HLO_NONE: without a number, so that it is in no layer */
    uint32_t *regions;
    uint32_t count;
};

static bool has_number(struct str name)
{
    for (size_t i = 0; i < name.length; i++)
        if (name.data[i] >= '0' && name.data[i] <= '9')
            return true;
    return false;
}

static struct names names_note(const struct graph *graph, struct builder *builder)
{
    struct arena *arena = builder->arena;
    uint32_t count = graph->hlo->instruction_count;
    struct names names = {.of = arena_raw(arena, ((size_t)count + 1) * sizeof(*names.of))};
    map_init(&names.map, arena, 64);
    for (uint32_t at = 0; at < count; at++) {
        struct divided name = op_name_of(graph, at);
        bool is_new;
        arena_work(arena, name.name.length / 8);
        names.of[at] = HLO_NONE;
        if (!has_number(name.name))
            continue;
        names.of[at] = map_number(&names.map, hash_bytes(name.name.data, name.name.length, 0), is_kind, NULL, &is_new);
        if (!is_new)
            continue;
        names.count++;
        kinds_note(builder, name);
    }
    names.regions = arena_array(arena, uint32_t, (size_t)names.count + 1);
    return names;
}

void regions_build(const struct graph *graph, struct arena *arena, struct regions *out)
{
    struct builder builder;
    uint32_t count = graph->hlo->instruction_count, met_count = 0;
    builder_init(&builder, arena);
    *out = (struct regions){.of = arena_array(arena, uint32_t, (size_t)count + 1)};
    struct names names = names_note(graph, &builder);
    for (uint32_t at = 0; at < count; at++) {
        uint32_t name = names.of[at];
        if (name != HLO_NONE && name == met_count) { /* they are numbered as they are met */
            names.regions[name] = region_of(&builder, out, op_name_of(graph, at));
            met_count++;
        }
        out->of[at] = name == HLO_NONE ? HLO_NONE : names.regions[name];
    }
}

const struct regions *regions_by_scopes(const struct variant *variant)
{
    struct variant_findings *findings = variant->findings;
    if (findings->by_scopes == NULL) {
        struct regions *regions = arena_array(findings->arena, struct regions, 1);
        regions_build(variant->plan->graph, findings->arena, regions);
        findings->by_scopes = regions;
    }
    return findings->by_scopes;
}

/* Without layers inside of a scan's rounds. */
static const struct regions *outside_of_scans(const struct variant *variant, const struct regions *regions)
{
    struct arena *arena = variant->findings->arena;
    struct regions *outside = arena_array(arena, struct regions, 1);
    return regions_loops_clear(variant->plan->graph, regions, arena, outside) ? outside : regions;
}

/* How many products of the backward pass are in a layer; *all: how many there are. */
static uint32_t products_told(const struct regions *regions, const struct graph *graph, uint32_t *all)
{
    uint32_t told = 0;
    *all = 0;
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++)
        if (graph_op(graph, at) == GRAPH_DOT && graph_phase(graph, at) == GRAPH_BACKWARD) {
            told += regions->of[at] != HLO_NONE;
            ++*all;
        }
    return told;
}

/* Scopes tell the layers where most of what is computed is in one of them: heads with numbers beside layers without are
 * no layers. */
static bool tells_layers(const struct regions *regions, const struct graph *graph)
{
    uint32_t all, told = products_told(regions, graph, &all);
    return told > 0 && told >= all / 2;
}

const struct regions *regions_by_any(const struct variant *variant)
{
    struct variant_findings *findings = variant->findings;
    const struct graph *graph = variant->plan->graph;
    if (findings->by_any != NULL)
        return findings->by_any;
    const struct regions *by_scopes = regions_by_scopes(variant);
    findings->by_any = graph->has_backward ? outside_of_scans(variant, by_scopes) : by_scopes;
    if (!graph->has_backward || tells_layers(by_scopes, graph))
        return findings->by_any;
    struct regions *regions = arena_array(findings->arena, struct regions, 1);
    regions_by_parameters(variant, regions);
    const struct regions *by_parameters = outside_of_scans(variant, regions);
    uint32_t all;
    if (by_parameters != regions || products_told(by_scopes, graph, &all) > 0) {
        if (products_told(by_parameters, graph, &all) <= products_told(findings->by_any, graph, &all)) {
            findings->by_parameters = NULL;
            return findings->by_any;
        }
    }
    return findings->by_any = by_parameters;
}

const struct regions_parameters *regions_parameters(const struct variant *variant)
{
    regions_by_any(variant);
    return variant->findings->by_parameters;
}
