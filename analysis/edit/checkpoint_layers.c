/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/checkpoint_layers.h"

#include "base/select.h"
#include "edit/checkpoint_within.h"
#include "edit/inline.h"
#include "whatif/glob.h"
#include "whatif/regions_read.h"

#include <stdlib.h>

/* The order in which the entry was written; what it calls runs when it is called. */
static uint32_t *positions_of(const struct program *program, const struct checkpoint_layers *layers)
{
    const struct graph *graph = &layers->graph.graph;
    const struct hlo *hlo = graph->hlo;
    uint32_t *positions = arena_raw(program->arena, ((size_t)hlo->instruction_count + 1) * sizeof(*positions));
    for (uint32_t i = hlo->computation_count; i-- > 0;) { /* callers come after what they call */
        const struct hlo_computation *computation = &hlo->computations[i];
        uint32_t caller_at = graph->caller_of[i];
        for (uint32_t k = 0; k < computation->instruction_count; k++) {
            uint32_t at = computation->instruction_first + k;
            if (i == hlo->entry_at)
                positions[at] = k;
            else if (caller_at == HLO_NONE || hlo->instructions[caller_at].computation_at <= i)
                positions[at] = HLO_NONE;
            else
                positions[at] = positions[caller_at];
        }
    }
    return positions;
}

struct numbered {
    int64_t id;
    uint32_t at;
};

static int by_id(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    return ORDER(a->id, b->id);
}

/* JAX numbers instructions as the source runs; those of calls that were written out have greater ids than `last_id`. */
static void sources_find(const struct program *program, int64_t last_id, struct checkpoint_layers *out)
{
    const program_computation *entry = program->entry->computation;
    uint32_t count = 0;
    struct numbered *list = arena_array(program->arena, struct numbered, entry->n_instructions + 1);
    for (size_t i = 0; i < entry->n_instructions; i++)
        if (entry->instructions[i]->id <= last_id)
            list[count++] = (struct numbered){entry->instructions[i]->id, out->first + (uint32_t)i};
    arena_work(program->arena, select_work(count));
    qsort(list, count, sizeof *list, by_id);
    uint32_t *sources = arena_array(program->arena, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        sources[i] = list[i].at;
    out->sources = sources;
    out->source_count = count;
}

static void by_parameters(const struct program *program, const struct edit *edit, struct checkpoint_layers *out)
{
    struct dimensions *dimensions = arena_array(program->arena, struct dimensions, 1);
    dimensions_build(&out->graph.graph, program->arena, dimensions);
    const struct regions_program of = {
        .graph = &out->graph.graph,
        .dimensions = dimensions,
        .positions = positions_of(program, out),
        .position_count = (uint32_t)program->entry->computation->n_instructions,
        .is_as_written = true,
        .sources = out->sources,
        .source_count = out->source_count,
    };
    regions_read(&of, edit->layers, program->arena, &out->regions);
}

/* A gradient within what is differentiated: "jvp(vmap(transpose(jvp())))". */
static bool is_nested(const char *name)
{
    for (const char *at = name; (at = strstr(at, "jvp(")) != NULL; at++) {
        const char *inner = strstr(at, "transpose(");
        if (inner != NULL && inner < at + strcspn(at, "/"))
            return true;
    }
    return false;
}

/* Else names do not tell what goes forward, and what would be computed again is not what the person would. */
static bool has_one_gradient(const struct program *program)
{
    const program_computation *entry = program->entry->computation;
    for (size_t i = 0; i < entry->n_instructions; i++) {
        const Xla__OpMetadata *metadata = entry->instructions[i]->metadata;
        if (metadata == NULL)
            continue;
        arena_work(program->arena, strlen(metadata->op_name) / 8);
        if (is_nested(metadata->op_name))
            return err_set(program->err, ERR_unsupported, ERR_NO_OFFSET,
                           "checkpoint: %s differentiates a gradient, and without scopes it cannot be told what goes "
                           "forward",
                           entry->instructions[i]->name);
    }
    return true;
}

static int64_t last_id_of(const struct program *program)
{
    const program_computation *entry = program->entry->computation;
    int64_t last = -1;
    for (size_t i = 0; i < entry->n_instructions; i++)
        last = entry->instructions[i]->id > last ? entry->instructions[i]->id : last;
    return last;
}

bool checkpoint_layers_find(struct program *program, const struct edit *edit, struct checkpoint_layers *out)
{
    bool is_by_parameters = edit->layers != NULL;
    int64_t last_id = last_id_of(program);
    if ((is_by_parameters && !inline_every(program, program->entry)) || !program_graph_build(program, &out->graph))
        return false;
    out->first = program_graph_first(program, &out->graph, program->entry);
    if (is_by_parameters && !has_one_gradient(program))
        return false;
    if (is_by_parameters) {
        sources_find(program, last_id, out);
        by_parameters(program, edit, out);
        checkpoint_within_label(program, edit->layers, out);
    } else {
        regions_build(&out->graph.graph, program->arena, &out->regions);
    }
    return true;
}

uint32_t checkpoint_layers_of(const struct program *program, const struct edit *edit,
                              const struct checkpoint_layers *layers, size_t place)
{
    uint32_t at = layers->first + (uint32_t)place, region = layers->regions.of[at];
    if (region == HLO_NONE || str_equal(edit->scopes, STR("*")))
        return region;
    struct str name =
        edit->layers != NULL ? layers->regions.items[region].name : graph_op_name_end(&layers->graph.graph, at);
    arena_work(program->arena, name.length);
    return glob_matches(edit->scopes, name) ? region : HLO_NONE;
}
