/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/regions.h"

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
                                        "body", "remat", "closed_call", "cond", "checkpoint", "rematted_computation"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (str_equal(text, str_of(words[i])))
            return true;
    return text.length == 0;
}

static struct scope scope_of(struct str text)
{
    struct scope scope = {.text = text, .kind = hash_number(text.length > 0, 1)};
    for (size_t i = 0; i < text.length;) {
        size_t digits = str_digits(text, i);
        scope.has_number = scope.has_number || digits > 0;
        scope.kind = hash_number(digits > 0 ? '#' : (unsigned char)text.data[i], scope.kind);
        i += digits > 0 ? digits : 1;
    }
    scope.whole = hash_bytes(text.data, text.length, scope.kind);
    return scope;
}

/* The next scope from *at on; the operation's own name, which ends the text, is none. */
static bool scope_next(struct str name, size_t *at, struct scope *out)
{
    while (*at < name.length) {
        size_t from = *at, to = from;
        while (to < name.length && strchr("/()", name.data[to]) == NULL)
            to++;
        *at = to + 1;
        if (to == name.length)
            return false;
        struct str text = {name.data + from, to - from};
        if (is_wrapper(text))
            continue;
        *out = scope_of(text);
        return true;
    }
    return false;
}

/* ---- which scopes repeat ---- */

struct repeated {
    uint64_t hash, first; /* `first`: the whole of the one that came first */
    struct str text;
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

static void kinds_note(struct builder *builder, struct str name)
{
    struct scope scope;
    for (size_t at = 0; scope_next(name, &at, &scope);) {
        bool is_new;
        if (!scope.has_number)
            continue;
        uint32_t kind = map_number(&builder->map_of_kinds, scope.kind, is_kind, NULL, &is_new);
        if (is_new) {
            builder->kinds =
                arena_grown(builder->arena, builder->kinds, kind + 1, &builder->kind_capacity, sizeof(*builder->kinds));
            builder->kinds[kind] = (struct repeated){scope.kind, scope.whole, scope.text, false};
        }
        builder->kinds[kind].is_repeated =
            builder->kinds[kind].is_repeated || builder->kinds[kind].first != scope.whole;
    }
}

static uint32_t region_of(struct builder *builder, struct regions *regions, struct str name)
{
    struct scope scope;
    uint64_t path = 0;
    for (size_t at = 0; scope_next(name, &at, &scope);) {
        uint64_t kind = scope.has_number ? map_find(&builder->map_of_kinds, scope.kind, is_kind, NULL) : MAP_FREE;
        path = hash_number(scope.whole, path);
        if (kind == MAP_FREE || !builder->kinds[kind].is_repeated)
            continue;
        bool is_new;
        uint32_t region = map_number(&builder->map_of_regions, path, is_kind, NULL, &is_new);
        if (is_new) {
            regions->items = arena_grown(builder->arena, regions->items, region + 1, &builder->region_capacity,
                                         sizeof(*regions->items));
            regions->items[region] = (struct region){scope.text, builder->kinds[kind].text};
            regions->count = region + 1;
        }
        return region;
    }
    return HLO_NONE;
}

void regions_build(const struct graph *graph, struct arena *arena, struct regions *out)
{
    struct builder builder = {.arena = arena};
    uint32_t count = graph->hlo->instruction_count;
    *out = (struct regions){.of = arena_array(arena, uint32_t, (size_t)count + 1)};
    map_init(&builder.map_of_kinds, arena, 64);
    map_init(&builder.map_of_regions, arena, 64);
    for (uint32_t at = 0; at < count; at++) {
        arena_work(arena, graph_op_name_end(graph, at).length / 8);
        kinds_note(&builder, graph_op_name_end(graph, at));
    }
    for (uint32_t at = 0; at < count; at++)
        out->of[at] = region_of(&builder, out, graph_op_name_end(graph, at));
}
