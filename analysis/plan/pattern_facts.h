/* SPDX-License-Identifier: Apache-2.0
 * pattern_facts.h: what the rules of patterns know: of the whole program, and of a live buffer. */
#pragma once

#include "plan/pattern.h"
#include "read/hlo/shape.h"

/* A buffer that is live at the peak. */
struct pattern_live {
    const struct plan_row *row;
    struct value base;
    uint32_t gather_at; /* the all-gather that makes or fills it, or HLO_NONE */
    bool has_shape;
    struct shape_array shape;
    uint64_t hash; /* of the dimensions in any order */
};

/* What the rules know of the program, and the space that is looked at. */
struct pattern_finding {
    struct plan *plan;
    const struct graph *graph;
    struct value_walk *walk;
    struct arena *arena, *scratch; /* of what is found; of the search */
    /* hashes of dimensions in any order, of the whole program */
    struct map maxima, exponentials;               /* what a maximum is taken over; exponentials */
    struct map joined_maxima, joined_exponentials; /* the same by what a product may have joined: an instruction */
    struct map logits, scores;                     /* products whose shape is among them */
    struct map logits_place;  /* by shape of logits: where the product of that shape is written that was met last */
    struct map logits_from;   /* and its position in the schedule, the latest of all */
    struct map many_products; /* shapes of logits that products of several places have */
    struct map score_planes;  /* the last two dimensions of scores */
    struct map cache_shapes;  /* of arguments that are caches */
    struct map donated;       /* numbers of arguments that give their memory to a result, or offer it in vain */
    struct map unused_donors;
    struct map parameter_lengths; /* leading dimensions of parameters */
    struct map batch_lengths;     /* of arguments that are batch */
    uint64_t parameter_elements;
    uint32_t matrix_count; /* parameters of two and more dimensions */
    /* of one space */
    struct plan_space *space;
    struct pattern_live *live;
    uint32_t live_count;
};

/* Fills what concerns the whole program; plan, graph, walk and arenas are set. */
void pattern_facts_collect(struct pattern_finding *finding);
/* Fills what concerns one row of the space. */
void pattern_facts_live(struct pattern_finding *finding, const struct plan_row *row, struct pattern_live *live);
/* Is a row of the shape of logits what the last product of that shape gives, or made behind it? Where layers have it as
 * well, what they compute is no logits. */
bool pattern_facts_is_logits(const struct pattern_finding *finding, const struct pattern_live *live);
/* Key of a cache's shape: copies of it may have leading dimensions joined. */
uint64_t pattern_facts_cache_key(const struct shape_array *shape);
/* Key of the last two dimensions; there are two. */
uint64_t pattern_facts_plane(const struct shape_array *shape);

bool pattern_facts_has(const struct map *map, uint64_t key);
/* The array that an instruction gives; false for none, a single number, or a tuple. */
bool pattern_facts_shape(const struct hlo *hlo, uint32_t at, struct shape_array *shape);
