/* SPDX-License-Identifier: Apache-2.0
 * model.h: a question's profile with its filters applied, ready to be summed.
 *
 * The order is pprof's: the total that percentages relate to comes first, then
 * focus, ignore, hide and show, then show_from, then the filters on labels.
 * Last, frames of machinery are folded into the nearest frame of the user's. */
#pragma once

#include "model/device_memory/frames.h"
#include "model/device_memory/profile_set.h"
#include "views/device_memory/chips.h"

/* A frame of a location, in the order of calls; the highest bit marks machinery. */
#define MODEL_MACHINERY UINT32_C(0x80000000)

struct model_sample {
    uint32_t at;    /* in the profile */
    uint32_t depth; /* locations that are left, counted from the leaf */
};

struct model {
    const struct tool_request *request;
    struct arena *arena;
    const struct pprof *pprof;
    struct frames *frames;
    struct chips chips;
    bool folds;         /* machinery is folded */
    bool drops_inlined; /* what was inlined counts as its caller's */
    bool is_diff;       /* some samples are a base's */
    bool is_paired;     /* of a difference: equal samples of both sides are one, see model_before */
    uint32_t metric;    /* the type that is summed */
    uint32_t counting;  /* the type of unit count, or PPROF_NONE: then a sample counts as one */
    uint32_t sizing;    /* the type of unit bytes that goes with it, or PPROF_NONE */
    int64_t percent_base, total;
    int64_t unknown_count; /* of things whose size is not known, after filters */
    uint32_t stackless_count;
    bool is_unpruned; /* drop_frames or keep_frames is no expression that is understood here */

    /* By location: its steps are step_starts[i] to step_starts[i + 1], the outermost first. */
    uint32_t *step_starts, *steps;
    uint32_t *step_lines; /* each step's line of the profile, or PPROF_NONE */
    bool *is_wrapper;     /* of each function: JAX passes every call through it */
    bool *is_executable;  /* of each set of labels: kind=executable */
    struct model_sample *samples;
    uint32_t sample_count;
    uint32_t depth_max; /* steps of the deepest stack, at least 1 */
};

/* One stack, from the root to the leaf. */
struct model_walk {
    uint32_t *frames; /* count of them; never empty */
    uint32_t *folded; /* machinery that was folded above each */
    uint32_t count;
    uint32_t folded_below; /* machinery below the last */
    uint32_t
        /* the line of the profile that the last frame called, the first machinery that is no wrapper, or PPROF_NONE */
        callee;
};

/* Reads the common parameters and prepares `model` for the profiles of the
 * request. False with a report: a broken parameter, profiles that do not fit. */
bool model_open(const struct tool_request *request, struct model *model, struct err *err);
/* The same, but in a difference equal samples of both sides are one, whose value is the change, 0 for what is the
 * same. */
bool model_open_paired(const struct tool_request *request, struct model *model, struct err *err);
/* The same for one profile of several that are looked at side by side; `frames` is shared. */
bool model_open_one(const struct tool_request *request, const struct pprof *pprof, struct frames *frames,
                    struct model *model, struct err *err);

/* Room for the longest stack. */
void model_walk_init(const struct model *model, struct model_walk *walk);
void model_walk_to(const struct model *model, const struct model_sample *sample, struct model_walk *walk);

static inline int64_t model_value(const struct model *model, const struct model_sample *sample)
{
    return model->pprof->values[(size_t)sample->at * model->pprof->type_count + model->metric];
}
static inline int64_t model_count(const struct model *model, const struct model_sample *sample)
{
    if (model->counting == PPROF_NONE)
        return 1;
    return model->pprof->values[(size_t)sample->at * model->pprof->type_count + model->counting];
}
/* What the base held of a paired sample, of the type in that column. */
static inline int64_t model_before(const struct model *model, const struct model_sample *sample, uint32_t column)
{
    const struct pprof *pprof = model->pprof;
    bool is_known = pprof->base_values != NULL && column != PPROF_NONE;
    return is_known ? pprof->base_values[(size_t)sample->at * pprof->type_count + column] : 0;
}
static inline bool model_is_base(const struct model *model, const struct model_sample *sample)
{
    return model->pprof->is_base != NULL && model->pprof->is_base[sample->at];
}
static inline bool model_is_unknown(const struct model *model, const struct model_sample *sample)
{
    return model->pprof->is_unknown != NULL && model->pprof->is_unknown[sample->at];
}
/* The exact size of each of a sample's buffers; false when it is not known. */
bool model_each(const struct model *model, const struct model_sample *sample, int64_t *each_bytes);
/* `value` of 100 %, in percent; 0 of nothing. */
double model_percent(int64_t value, int64_t whole);

/* An object with "metric", "is_diff", "percent_base", "total", "filters": what every answer begins with. */
void model_begin(const struct model *model, struct json *json);

/* Ends the object, with the notes of every view; true. */
bool model_end(const struct model *model, struct json *json);
/* Notes: what the reader of every view should know. */
void model_notes(const struct model *model);
/* Profiles of the set that are not part of the answer. */
void model_notes_left_out(const struct tool_request *request);
