/* SPDX-License-Identifier: Apache-2.0
 * whatif.c: the view "whatif": what other settings of PyTorch's allocator, or another program, would have made of a
 * recording; with fit=1 the cheapest sets of changes that make it fit. With format=text the same for a terminal. */
#include "model/memory_profile/replay_fit.h"
#include "views/fit_write.h"
#include "views/memory_profile/views.h"

#include "base/printable.h"
#include "base/size_text.h"

struct answer {
    const struct memory_profile_pool *pool;
    const struct memory_profile_replay *replay;
    struct replay_steps steps;
    struct fit *fit;           /* NULL: it is not asked for */
    struct replay_curve curve; /* width 0: it is not asked for */
};

enum { WIDTH_MAX = 4096 };

static const char *size_of(struct arena *arena, int64_t bytes)
{
    return size_text_in(arena, (uint64_t)(bytes < 0 ? -bytes : bytes));
}

static bool changes_apply(const struct tool_request *request, struct answer *answer, struct err *err)
{
    struct replay_steps *steps = &answer->steps;
    bool is_of_program = false;
    for (size_t i = 0; i < request->param_count; i++)
        is_of_program |=
            strcmp(request->params[i].name, "change") == 0 && replay_program_is_change(request->params[i].value);
    if (is_of_program && !replay_steps_begin_program(steps, err))
        return false;
    for (size_t i = 0; i < request->param_count; i++)
        if (strcmp(request->params[i].name, "change") == 0 &&
            (!replay_steps_apply(steps, request->params[i].value, err) || !replay_steps_run(steps, err)))
            return false;
    return true;
}

/* ---- sentences ---- */

static const char *fits_of(const struct answer *answer, struct arena *arena)
{
    const struct replay_steps *steps = &answer->steps;
    const struct memory_profile_replay_change after = replay_steps_after(steps);
    struct memory_fit fit;
    enum replay_fits fits = replay_steps_fits(steps, &after, steps->bounds, &fit);
    const char *capacity = size_of(arena, steps->capacity_bytes);
    if (fits == REPLAY_FITS_YES)
        return arena_format(arena, ", within the %s of the device", capacity);
    if (fit.word == MEMORY_FIT_NOT_KNOWN || fit.word == MEMORY_FIT_FITS)
        return "";
    return arena_format(arena, ", %s%s over %s", fits == REPLAY_FITS_NOT_KNOWN ? "at most " : "",
                        size_of(arena, fit.over_bytes), capacity);
}

/* What became of requests: of one that failed, and of one that would fail. */
static const char *placed_of(const struct answer *answer, struct arena *arena)
{
    const struct memory_profile_replay_change after = replay_steps_after(&answer->steps);
    const struct memory_profile_pool *pool = answer->pool;
    if (answer->steps.count == 0)
        return "";
    if (after.failed_at != PROFILE_NONE)
        return arena_format(arena, " A request of %s fails then, at event %u.", size_of(arena, after.failed_bytes),
                            after.failed_at);
    if (after.failure_count == 0)
        return "";
    int64_t asked = pool->failures[pool->failure_count - 1].requested_bytes;
    return arena_format(arena, " The request of %s that failed %s.", size_of(arena, asked),
                        memory_profile_replay_request_clause(&after));
}

static const char *together_of(const struct answer *answer, bool is_begin)
{
    if (answer->steps.program == NULL)
        return is_begin ? "These settings together" : "these settings";
    return is_begin ? "These changes together" : "these changes";
}

static const char *sentence_of(const struct answer *answer, struct arena *arena)
{
    const struct memory_profile_replay_change before = replay_steps_before(&answer->steps),
                                              after = replay_steps_after(&answer->steps);
    int64_t saving = before.reserved_bytes - after.reserved_bytes;
    const char *fits = fits_of(answer, arena), *confidence = "";
    if (answer->steps.count > 0)
        confidence = change_confidence_name(answer->steps.items[answer->steps.count - 1].confidence);
    if (answer->steps.count == 0 && before.reserved_bytes < before.requested_bytes)
        return arena_format(arena,
                            "The file lists %s of segments for %s of requests, so it does not list all segments.",
                            size_of(arena, before.reserved_bytes), size_of(arena, before.requested_bytes));
    if (answer->steps.count == 0)
        return arena_format(arena, "Without changes it takes %s of the device for %s of requests%s.",
                            size_of(arena, before.reserved_bytes), size_of(arena, before.requested_bytes), fits);
    if (after.failed_at != PROFILE_NONE)
        return arena_format(arena, "With %s the job does not get as far.%s",
                            answer->steps.count == 1 ? answer->steps.items[0].text : together_of(answer, false),
                            placed_of(answer, arena));
    const char *what = answer->steps.count == 1 ? answer->steps.items[0].text : together_of(answer, true);
    bool is_one = answer->steps.count == 1,
         is_felt = before.allocated_bytes != after.allocated_bytes || after.is_last_placed != before.is_last_placed;
    const char *none = is_felt ? (is_one ? "makes no difference to the segments" : "make no difference to the segments")
                       : is_one ? "changes nothing"
                                : "change nothing";
    const char *verb = saving == 0 ? none : saving < 0 ? (is_one ? "costs" : "cost") : (is_one ? "saves" : "save");
    return saving == 0 ? arena_format(arena, "%s %s: %s reserved%s (%s).%s", what, verb,
                                      size_of(arena, after.reserved_bytes), fits, confidence, placed_of(answer, arena))
                       : arena_format(arena, "%s %s %s: %s reserved becomes %s%s (%s).%s", what, verb,
                                      size_of(arena, saving), size_of(arena, before.reserved_bytes),
                                      size_of(arena, after.reserved_bytes), fits, confidence, placed_of(answer, arena));
}

/* ---- JSON ---- */

static void fits_write(struct json *json, const char *key, const struct answer *answer,
                       const struct memory_profile_replay_change *change, uint8_t bounds)
{
    struct memory_fit fit;
    enum replay_fits fits = replay_steps_fits(&answer->steps, change, bounds, &fit);
    if (fits != REPLAY_FITS_NOT_KNOWN)
        json_key_bool(json, key, fits == REPLAY_FITS_YES);
}

static void step_write(struct json *json, const struct answer *answer, uint32_t at)
{
    const struct replay_step *step = &answer->steps.items[at];
    const struct memory_profile_replay_change before =
        at == 0 ? replay_steps_before(&answer->steps) : answer->steps.items[at - 1].after;
    json_object_begin(json);
    json_key_text(json, "change", step->text);
    json_key_text(json, "words", step->words);
    json_key_int(json, "saving_bytes", before.reserved_bytes - step->after.reserved_bytes);
    json_key_int(json, "total_bytes", step->after.reserved_bytes);
    json_key_int(json, "peak_bytes", step->after.requested_bytes);
    fits_write(json, "fits", answer, &step->after, step->bounds);
    json_key_text(json, "confidence", change_confidence_name(step->confidence));
    json_key_text(json, "reason", step->reason);
    json_key_text(json, "call", step->call);
    json_key_uint(json, "row_count", 0); /* of a program's table */
    json_object_end(json);
}

static void peaks_write(struct json *json, const struct answer *answer)
{
    const struct memory_profile_replay_change before = replay_steps_before(&answer->steps),
                                              after = replay_steps_after(&answer->steps);
    json_key_int(json, "total_bytes_before", before.reserved_bytes);
    json_key_int(json, "total_bytes_after", after.reserved_bytes);
    json_key_int(json, "peak_bytes_before", before.requested_bytes);
    json_key_int(json, "peak_bytes_after", after.requested_bytes);
    json_key_int(json, "allocated_bytes_before", before.allocated_bytes);
    json_key_int(json, "allocated_bytes_after", after.allocated_bytes);
    json_key_int(json, "reserved_bytes_before", before.reserved_bytes);
    json_key_int(json, "reserved_bytes_after", after.reserved_bytes);
    json_key_int(json, "reserved_bytes_otherwise", after.other_bytes);
    json_key_known(json, "capacity_bytes", answer->steps.capacity_bytes);
    fits_write(json, "fits_before", answer, &before, 0);
    fits_write(json, "fits_after", answer, &after, answer->steps.bounds);
}

static void failures_write(struct json *json, const struct answer *answer)
{
    const struct memory_profile_replay_change after = replay_steps_after(&answer->steps);
    const struct memory_profile_pool *pool = answer->pool;
    if (json_key_object_if(json, "failed_request", pool->failure_count > 0 && after.failed_at == PROFILE_NONE)) {
        json_key_int(json, "requested_bytes", pool->failures[pool->failure_count - 1].requested_bytes);
        json_key_bool(json, "is_placed", after.is_last_placed);
        json_key_bool(json, "is_left_out", after.is_last_left_out);
        json_key_uint(json, "failure_count", pool->failure_count);
        json_key_uint(json, "placed_count", after.placed_count);
        json_object_end(json);
    }
    json_key_text(json, "request_word", memory_profile_replay_request_word(&after, pool->failure_count));
    if (json_key_object_if(json, "fails", after.failed_at != PROFILE_NONE)) {
        json_key_uint(json, "event", after.failed_at);
        json_key_int(json, "requested_bytes", after.failed_bytes);
        json_object_end(json);
    }
}

static void whatif_fit_write(const struct answer *answer, struct json *json)
{
    const struct memory_profile_replay_change before = replay_steps_before(&answer->steps);
    fit_write_json(json, answer->fit, answer->fit == NULL ? NULL : replay_fit_sentence(&answer->steps, answer->fit),
                   replay_fit_needed_bytes(&answer->steps, &before));
}

static void bytes_write(struct json *json, const char *key, const int64_t *bytes, uint32_t count)
{
    json_key_array(json, key);
    for (uint32_t i = 0; i < count; i++)
        json_int(json, bytes[i]);
    json_array_end(json);
}

/* For a page: what can be tried, and what the changes would hold over time. */
static void picture_write(const struct answer *answer, struct json *json)
{
    const struct replay_curve *curve = &answer->curve;
    if (curve->width == 0)
        return;
    json_key_array(json, "offered");
    for (uint32_t i = 0; replay_fit_candidate(i) != NULL; i++)
        json_text(json, replay_fit_candidate(i));
    json_array_end(json);
    json_key_object(json, "curve");
    json_key_int(json, "from_ps", curve->from_ps);
    json_key_int(json, "to_ps", curve->to_ps);
    json_key_uint(json, "width", curve->width);
    bytes_write(json, "reserved_bytes", curve->reserved_bytes, curve->count);
    bytes_write(json, "allocated_bytes", curve->allocated_bytes, curve->count);
    json_object_end(json);
}

static void json_write(const struct tool_request *request, const struct answer *answer, struct json *json)
{
    json_object_begin(json);
    memory_profile_views_memory(json, answer->pool);
    json_key_text(json, "sentence", sentence_of(answer, request->arena));
    peaks_write(json, answer);
    failures_write(json, answer);
    json_key_array(json, "changes");
    for (uint32_t i = 0; i < answer->steps.count; i++)
        step_write(json, answer, i);
    json_array_end(json);
    whatif_fit_write(answer, json);
    picture_write(answer, json);
    memory_profile_replay_write(json, answer->replay);
    json_object_end(json);
}

/* ---- text ---- */

static void text_write(const struct tool_request *request, const struct answer *answer)
{
    struct buf *out = request->out;
    buf_printable(out, answer->pool->name);
    buf_format(out, "%s%s\n", answer->pool->name.length > 0 ? ": " : "", sentence_of(answer, request->arena));
    for (uint32_t i = 0; i < answer->steps.count; i++) {
        const struct replay_step *step = &answer->steps.items[i];
        buf_text(out, "  ");
        buf_printable(out, str_of(step->text));
        buf_format(out, ": %s reserved, %s in blocks, %s asked for (%s)\n      ",
                   size_of(request->arena, step->after.reserved_bytes),
                   size_of(request->arena, step->after.allocated_bytes),
                   size_of(request->arena, step->after.requested_bytes), change_confidence_name(step->confidence));
        buf_printable(out, str_of(step->call));
        buf_format(out, "\n      %s\n", step->reason);
    }
    buf_format(out, "  %s\n", answer->replay->sentence);
    if (answer->fit != NULL)
        fit_write_text(out, answer->fit, replay_fit_sentence(&answer->steps, answer->fit));
}

/* What cannot be replayed has no figures. */
static void nothing_write(const struct tool_request *request, const struct answer *answer, const char *why_not,
                          bool is_text, struct json *json)
{
    const struct memory_profile_pool *pool = answer->pool;
    const char *sentence = arena_format(request->arena, "Not replayed: %s.", why_not);
    if (is_text) {
        buf_printable(request->out, pool->name);
        buf_format(request->out, "%s%s\n", pool->name.length > 0 ? ": " : "", sentence);
        return;
    }
    json_object_begin(json);
    memory_profile_views_memory(json, pool);
    json_key_text(json, "sentence", sentence);
    json_key_array(json, "changes");
    json_array_end(json);
    memory_profile_replay_write(json, answer->replay);
    json_object_end(json);
}

/* Finds changes that fit into what the device has, or else into what the process could take, according to a failed
 * request. */
static bool whatif_fit_find(struct answer *answer, struct arena *arena, struct err *err)
{
    struct replay_steps *steps = &answer->steps;
    if (steps->capacity_bytes < 0 && answer->replay->limit_bytes > 0)
        steps->capacity_bytes = answer->replay->limit_bytes;
    if (steps->capacity_bytes < 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET,
                       "fit: say what the device has: capacity_bytes (--capacity); no request failed that tells it");
    answer->fit = arena_array(arena, struct fit, 1);
    replay_fit_find(steps, answer->fit);
    return true;
}

bool memory_profile_whatif(const struct tool_request *request, struct json *json, struct err *err)
{
    struct answer *answer = arena_array(request->arena, struct answer, 1);
    int64_t capacity_bytes, wants_fit, width;
    bool is_text;
    answer->pool = memory_profile_views_pool(request, err);
    if (answer->pool == NULL || !tool_param_format(request, &is_text, err) ||
        !tool_param_number(request, "fit", 0, 1, 0, &wants_fit, err) ||
        !tool_param_number(request, "width", 0, WIDTH_MAX, 0, &width, err) ||
        !tool_param_number(request, "capacity_bytes", 0, INT64_C(1) << 48, -1, &capacity_bytes, err))
        return false;
    const struct memory_profile_replay *replay = answer->replay =
        memory_profile_replay_of(answer->pool, request->arena);
    const char *why_not = replay == NULL ? "this is no allocator snapshot of PyTorch" : replay->why_not;
    if (why_not != NULL && (wants_fit || tool_param_text(request, "change") != NULL))
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "no allocator can be replayed here: %s", why_not);
    if (why_not != NULL) {
        nothing_write(request, answer, why_not, is_text, json);
        return true;
    }
    replay_steps_begin(&answer->steps, replay, capacity_bytes, request->arena);
    if (!changes_apply(request, answer, err) || (wants_fit && !whatif_fit_find(answer, request->arena, err)))
        return false;
    if (width > 0) {
        const struct memory_profile *profile = answer->pool->profile;
        replay_curve_begin(&answer->curve, profile->start_ps, profile->end_ps, (uint32_t)width, request->arena);
        if (!replay_steps_curve(&answer->steps, &answer->curve, err))
            return false;
    }
    if (is_text)
        text_write(request, answer);
    else
        json_write(request, answer, json);
    return true;
}
