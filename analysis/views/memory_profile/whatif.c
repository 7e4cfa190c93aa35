/* SPDX-License-Identifier: Apache-2.0
 * whatif.c: the view "whatif": what other settings of PyTorch's allocator would have made of a recording. With
 * format=text the same for a terminal. */
#include "model/memory_profile/replay_program.h"
#include "model/memory_profile/replay_settings.h"
#include "views/memory_profile/replay_write.h"
#include "views/memory_profile/views.h"

#include "base/printable.h"
#include "base/size_text.h"
#include "plan/memory_fit.h"
#include "whatif/change.h"

/* Each is a pass over all events. */
enum { CHANGES_MAX = 16 };

struct step {
    const char *text, *call, *words, *confidence, *reason;
    struct memory_profile_replay_change after;
};

struct answer {
    const struct memory_profile_pool *pool;
    const struct memory_profile_replay *replay;
    struct replay_settings_change change;
    struct replay_program *program; /* NULL: no change is of the program */
    struct step steps[CHANGES_MAX];
    uint32_t step_count;
    bool is_program_changed;                       /* by a step so far */
    uint8_t bounds;                                /* of all changes of the program so far */
    int64_t capacity_bytes;                        /* -1: not known */
    struct memory_profile_replay_change unchanged; /* the program as it was, replayed as the changed one is */
};

static struct memory_profile_replay_change recorded_of(const struct answer *answer)
{
    const struct memory_profile_replay *replay = answer->replay;
    return (struct memory_profile_replay_change){.requested_bytes = replay->requested_bytes,
                                                 .allocated_bytes = replay->allocated_bytes,
                                                 .reserved_bytes = replay->reserved_bytes,
                                                 .other_bytes = replay->reserved_bytes,
                                                 .other_allocated_bytes = replay->allocated_bytes,
                                                 .failed_at = PROFILE_NONE,
                                                 .failure_count = answer->pool->failure_count};
}

/* With what the changed program is compared: else a difference of the replay would count as one of the program. */
static struct memory_profile_replay_change before_of(const struct answer *answer)
{
    return answer->program == NULL ? recorded_of(answer) : answer->unchanged;
}

static struct memory_profile_replay_change after_of(const struct answer *answer)
{
    return answer->step_count == 0 ? before_of(answer) : answer->steps[answer->step_count - 1].after;
}

static const char *size_of(struct arena *arena, int64_t bytes)
{
    return size_text_in(arena, (uint64_t)(bytes < 0 ? -bytes : bytes));
}

static const char PROGRAM_BEFORE[] = "The requests of the changed program, by the allocator's rules.";

static bool setting_change(const struct tool_request *request, struct answer *answer, struct step *step,
                           struct err *err)
{
    if (!replay_settings_apply(&answer->change, step->text, answer->capacity_bytes, request->arena, err))
        return false;
    step->call = answer->change.call;
    step->words = answer->change.words;
    return true;
}

static const char *const SIDES[] = {
    [REPLAY_AT_MOST] = "So the job takes at most this.",
    [REPLAY_AT_LEAST] = "So the job takes at least this.",
    [REPLAY_AT_MOST | REPLAY_AT_LEAST] = "So the job may take more or less.",
};

/* What a recording does not hold of another program. */
static const char *program_reason(const struct answer *answer, bool is_of_program, struct arena *arena)
{
    const struct memory_profile_replay *replay = answer->replay;
    const char *reason = is_of_program ? answer->program->reason : PROGRAM_BEFORE;
    if (answer->unchanged.failed_at != PROFILE_NONE)
        reason = arena_format(
            arena, "%s The unchanged program, replayed in the same way, does not get as far as it did.", reason);
    else if (answer->unchanged.reserved_bytes != replay->reserved_bytes)
        reason = arena_format(
            arena, "%s The unchanged program, replayed in the same way, reserves %s; %s were recorded.", reason,
            size_of(arena, answer->unchanged.reserved_bytes), size_of(arena, replay->reserved_bytes));
    else if (!replay->is_exact || replay->moved_count > 0)
        reason = arena_format(arena, "%s %s", reason, memory_profile_replay_reason(replay, &answer->unchanged, arena));
    if (!replay->is_whole)
        reason =
            arena_format(arena, "%s The recording begins late: what the process took before it is not known.", reason);
    if (answer->pool->failure_count > 0)
        reason = arena_format(
            arena, "%s What the program asks for once it gets past the request that failed is not known.", reason);
    return answer->bounds == 0 ? reason : arena_format(arena, "%s %s", reason, SIDES[answer->bounds]);
}

static enum change_confidence confidence_of(const struct answer *answer)
{
    return answer->bounds == 0                                    ? CHANGE_MODEL
           : answer->bounds == (REPLAY_AT_MOST | REPLAY_AT_LEAST) ? CHANGE_GUESS
                                                                  : CHANGE_BOUND;
}

static bool program_change(struct answer *answer, struct step *step, struct err *err)
{
    answer->is_program_changed = true;
    if (!replay_program_apply(answer->program, step->text, err))
        return false;
    step->call = answer->program->call;
    step->words = answer->program->words;
    answer->bounds |= answer->program->bounds;
    answer->bounds |= !answer->replay->is_whole || answer->pool->failure_count > 0 ? REPLAY_AT_LEAST : 0;
    return true;
}

/* All steps are run in the same way, those before the first change of the program, too. */
static bool program_begin(const struct tool_request *request, struct answer *answer, struct err *err)
{
    bool is_of_program = false;
    for (size_t i = 0; i < request->param_count; i++)
        is_of_program |=
            strcmp(request->params[i].name, "change") == 0 && replay_program_is_change(request->params[i].value);
    if (!is_of_program)
        return true;
    answer->program = replay_program_begin(answer->replay, request->arena);
    memory_profile_replay_run(answer->replay, &answer->replay->settings, answer->program, request->arena,
                              &answer->unchanged);
    if (answer->unchanged.why_not != NULL)
        return err_set(err, ERR_limit, ERR_NO_OFFSET, "the program as it was: %s", answer->unchanged.why_not);
    return true;
}

static bool changes_apply(const struct tool_request *request, struct answer *answer, struct err *err)
{
    if (!program_begin(request, answer, err))
        return false;
    for (size_t i = 0; i < request->param_count; i++) {
        if (strcmp(request->params[i].name, "change") != 0)
            continue;
        if (answer->step_count == CHANGES_MAX)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "change: at most %d of them", CHANGES_MAX);
        struct step *step = &answer->steps[answer->step_count];
        step->text = request->params[i].value;
        bool is_of_program = replay_program_is_change(step->text);
        if (is_of_program ? !program_change(answer, step, err) : !setting_change(request, answer, step, err))
            return false;
        memory_profile_replay_run(answer->replay, &answer->change.settings, answer->program, request->arena,
                                  &step->after);
        if (step->after.why_not != NULL)
            return err_set(err, ERR_limit, ERR_NO_OFFSET, "change \"%.60s\": %s", step->text, step->after.why_not);
        if (answer->is_program_changed) {
            step->confidence = change_confidence_name(confidence_of(answer));
            step->reason = program_reason(answer, is_of_program, request->arena);
        } else {
            bool is_sure = memory_profile_replay_is_sure(answer->replay, &step->after);
            step->confidence = change_confidence_name(is_sure ? CHANGE_EXACT : CHANGE_MODEL);
            step->reason = memory_profile_replay_reason(answer->replay, &step->after, request->arena);
        }
        if (!is_of_program && answer->change.settings.collect_threshold > 0 &&
            answer->change.settings.fraction_bytes == 0)
            step->reason = "Nothing is collected where no memory fraction is set: memory_fraction=0.9 beside it.";
        answer->step_count++;
    }
    return true;
}

/* ---- sentences ---- */

static void fit_judge(const struct answer *answer, int64_t reserved_bytes, struct arena *arena, struct memory_fit *fit)
{
    const struct memory_capacity capacity = {.bytes = answer->capacity_bytes, .asked_bytes = -1};
    memory_fit_judge(&capacity, reserved_bytes, "device memory", arena, fit);
}

/* More than the device has is over in any case. Less fits only of a job that is seen to its end. */
enum fits { FITS_NOT_KNOWN, FITS_NO, FITS_YES };

static enum fits fits_judge(const struct answer *answer, const struct memory_profile_replay_change *change,
                            struct arena *arena, struct memory_fit *fit)
{
    fit_judge(answer, change->reserved_bytes, arena, fit);
    if (fit->word == MEMORY_FIT_NOT_KNOWN)
        return FITS_NOT_KNOWN;
    bool is_failing = change->failed_at != PROFILE_NONE || (change->failure_count > 0 && !change->is_last_placed);
    if (fit->word != MEMORY_FIT_FITS || is_failing)
        return FITS_NO;
    return change->failure_count > 0 || !answer->replay->is_whole ? FITS_NOT_KNOWN : FITS_YES;
}

static const char *fits_of(const struct answer *answer, const struct memory_profile_replay_change *change,
                           struct arena *arena)
{
    struct memory_fit fit;
    enum fits fits = fits_judge(answer, change, arena, &fit);
    if (fits == FITS_NOT_KNOWN || (fits == FITS_NO && fit.word == MEMORY_FIT_FITS))
        return "";
    const char *capacity = size_of(arena, answer->capacity_bytes);
    return fits == FITS_YES ? arena_format(arena, ", within the %s of the device", capacity)
                            : arena_format(arena, ", %s over %s", size_of(arena, fit.over_bytes), capacity);
}

/* What became of requests: of one that failed, and of one that would fail. */
static const char *placed_of(const struct answer *answer, struct arena *arena)
{
    const struct memory_profile_replay_change after = after_of(answer);
    const struct memory_profile_pool *pool = answer->pool;
    if (answer->step_count == 0)
        return "";
    if (after.failed_at != PROFILE_NONE)
        return arena_format(arena, " A request of %s fails then, at event %u.", size_of(arena, after.failed_bytes),
                            after.failed_at);
    if (after.failure_count == 0)
        return "";
    int64_t asked = pool->failures[pool->failure_count - 1].requested_bytes;
    return arena_format(arena,
                        after.is_last_left_out ? " The request of %s that failed is not made any more."
                        : after.is_last_placed ? " The request of %s that failed gets its memory."
                                               : " The request of %s that failed fails all the same.",
                        size_of(arena, asked));
}

static const char *together_of(const struct answer *answer, bool is_begin)
{
    if (answer->program == NULL)
        return is_begin ? "These settings together" : "these settings";
    return is_begin ? "These changes together" : "these changes";
}

static const char *sentence_of(const struct answer *answer, struct arena *arena)
{
    const struct memory_profile_replay_change before = before_of(answer), after = after_of(answer);
    int64_t saving = before.reserved_bytes - after.reserved_bytes;
    const char *fits = fits_of(answer, &after, arena);
    if (answer->step_count == 0)
        return arena_format(arena, "Takes %s of the device as it is, for %s asked for%s.",
                            size_of(arena, before.reserved_bytes), size_of(arena, before.requested_bytes), fits);
    if (after.failed_at != PROFILE_NONE)
        return arena_format(arena, "With %s the job does not get as far.%s",
                            answer->step_count == 1 ? answer->steps[0].text : together_of(answer, false),
                            placed_of(answer, arena));
    const char *what = answer->step_count == 1 ? answer->steps[0].text : together_of(answer, true);
    const char *verb = saving == 0 ? "changes nothing" : saving < 0 ? "costs" : "saves";
    if (answer->step_count > 1)
        verb = saving == 0 ? "change nothing" : saving < 0 ? "cost" : "save";
    return saving == 0
               ? arena_format(arena, "%s %s: %s reserved%s (%s).%s", what, verb, size_of(arena, after.reserved_bytes),
                              fits, answer->steps[answer->step_count - 1].confidence, placed_of(answer, arena))
               : arena_format(arena, "%s %s %s: %s reserved becomes %s%s (%s).%s", what, verb, size_of(arena, saving),
                              size_of(arena, before.reserved_bytes), size_of(arena, after.reserved_bytes), fits,
                              answer->steps[answer->step_count - 1].confidence, placed_of(answer, arena));
}

/* ---- JSON ---- */

static void fits_write(struct json *json, const char *key, const struct answer *answer,
                       const struct memory_profile_replay_change *change, struct arena *arena)
{
    struct memory_fit fit;
    enum fits fits = fits_judge(answer, change, arena, &fit);
    if (fits == FITS_NOT_KNOWN)
        json_key_null(json, key);
    else
        json_key_bool(json, key, fits == FITS_YES);
}

static void step_write(struct json *json, const struct answer *answer, uint32_t at, struct arena *arena)
{
    const struct step *step = &answer->steps[at];
    const struct memory_profile_replay_change before = at == 0 ? before_of(answer) : answer->steps[at - 1].after;
    json_object_begin(json);
    json_key_text(json, "change", step->text);
    json_key_text(json, "words", step->words);
    json_key_null(json, "refusal");
    json_key_int(json, "saving_bytes", before.reserved_bytes - step->after.reserved_bytes);
    json_key_int(json, "total_bytes", step->after.reserved_bytes);
    json_key_int(json, "peak_bytes", step->after.requested_bytes);
    fits_write(json, "fits", answer, &step->after, arena);
    json_key_text(json, "confidence", step->confidence);
    json_key_text(json, "reason", step->reason);
    json_key_null(json, "extra_flops_percent");
    json_key_text(json, "call", step->call);
    json_key_uint(json, "row_count", 0); /* of a program's table */
    json_object_end(json);
}

static void peaks_write(struct json *json, const struct answer *answer, struct arena *arena)
{
    const struct memory_profile_replay_change before = before_of(answer), after = after_of(answer);
    json_key_int(json, "total_bytes_before", before.reserved_bytes);
    json_key_int(json, "total_bytes_after", after.reserved_bytes);
    json_key_int(json, "peak_bytes_before", before.requested_bytes);
    json_key_int(json, "peak_bytes_after", after.requested_bytes);
    json_key_int(json, "allocated_bytes_before", before.allocated_bytes);
    json_key_int(json, "allocated_bytes_after", after.allocated_bytes);
    json_key_int(json, "reserved_bytes_before", before.reserved_bytes);
    json_key_int(json, "reserved_bytes_after", after.reserved_bytes);
    json_key_int(json, "reserved_bytes_otherwise", after.other_bytes);
    json_key_known(json, "capacity_bytes", answer->capacity_bytes);
    fits_write(json, "fits_before", answer, &before, arena);
    fits_write(json, "fits_after", answer, &after, arena);
}

static void failures_write(struct json *json, const struct answer *answer)
{
    const struct memory_profile_replay_change after = after_of(answer);
    const struct memory_profile_pool *pool = answer->pool;
    if (json_key_object_if(json, "failed_request", pool->failure_count > 0 && after.failed_at == PROFILE_NONE)) {
        json_key_int(json, "requested_bytes", pool->failures[pool->failure_count - 1].requested_bytes);
        json_key_bool(json, "is_placed", after.is_last_placed);
        json_key_bool(json, "is_left_out", after.is_last_left_out);
        json_key_uint(json, "failure_count", pool->failure_count);
        json_key_uint(json, "placed_count", after.placed_count);
        json_object_end(json);
    }
    if (json_key_object_if(json, "fails", after.failed_at != PROFILE_NONE)) {
        json_key_uint(json, "event", after.failed_at);
        json_key_int(json, "requested_bytes", after.failed_bytes);
        json_object_end(json);
    }
}

static void json_write(const struct tool_request *request, const struct answer *answer, struct json *json)
{
    json_object_begin(json);
    memory_profile_views_memory(json, answer->pool);
    json_key_text(json, "sentence", sentence_of(answer, request->arena));
    peaks_write(json, answer, request->arena);
    failures_write(json, answer);
    json_key_array(json, "changes");
    for (uint32_t i = 0; i < answer->step_count; i++)
        step_write(json, answer, i, request->arena);
    json_array_end(json);
    memory_profile_replay_write(json, answer->replay);
    json_object_end(json);
}

/* ---- text ---- */

static void text_write(const struct tool_request *request, const struct answer *answer)
{
    struct buf *out = request->out;
    buf_printable(out, answer->pool->name);
    buf_format(out, "%s%s\n", answer->pool->name.length > 0 ? ": " : "", sentence_of(answer, request->arena));
    for (uint32_t i = 0; i < answer->step_count; i++) {
        const struct step *step = &answer->steps[i];
        buf_text(out, "  ");
        buf_printable(out, str_of(step->text));
        buf_format(out, ": %s reserved, %s in blocks, %s asked for (%s)\n      ",
                   size_of(request->arena, step->after.reserved_bytes),
                   size_of(request->arena, step->after.allocated_bytes),
                   size_of(request->arena, step->after.requested_bytes), step->confidence);
        buf_printable(out, str_of(step->call));
        buf_format(out, "\n      %s\n", step->reason);
    }
    buf_format(out, "  %s\n", answer->replay->sentence);
}

/* What cannot be replayed has no figures. */
static void nothing_write(const struct tool_request *request, const struct answer *answer, const char *why_not,
                          bool is_text, struct json *json)
{
    static const char *const figures[] = {"total_bytes_before",
                                          "total_bytes_after",
                                          "peak_bytes_before",
                                          "peak_bytes_after",
                                          "allocated_bytes_before",
                                          "allocated_bytes_after",
                                          "reserved_bytes_before",
                                          "reserved_bytes_after",
                                          "reserved_bytes_otherwise",
                                          "capacity_bytes",
                                          "fits_before",
                                          "fits_after",
                                          "failed_request",
                                          "fails"};
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
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        json_key_null(json, figures[i]);
    json_key_array(json, "changes");
    json_array_end(json);
    memory_profile_replay_write(json, answer->replay);
    json_object_end(json);
}

bool memory_profile_whatif(const struct tool_request *request, struct json *json, struct err *err)
{
    struct answer *answer = arena_array(request->arena, struct answer, 1);
    bool is_text;
    if (tool_param_text(request, "fit") != NULL)
        return err_set(err, ERR_argument, ERR_NO_OFFSET,
                       "--fit works for XLA programs only; give --change for a snapshot of PyTorch's");
    answer->pool = memory_profile_views_pool(request, err);
    if (answer->pool == NULL || !tool_param_format(request, &is_text, err) ||
        !tool_param_number(request, "capacity_bytes", 0, INT64_C(1) << 48, -1, &answer->capacity_bytes, err))
        return false;
    const struct memory_profile_replay *replay = answer->replay =
        memory_profile_replay_of(answer->pool, request->arena);
    const char *why_not = replay == NULL ? "this is no allocator snapshot of PyTorch" : replay->why_not;
    if (why_not != NULL && tool_param_text(request, "change") != NULL)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "no allocator can be replayed here: %s", why_not);
    if (why_not != NULL) {
        nothing_write(request, answer, why_not, is_text, json);
        return true;
    }
    answer->change.settings = replay->settings;
    if (!changes_apply(request, answer, err))
        return false;
    if (is_text)
        text_write(request, answer);
    else
        json_write(request, answer, json);
    return true;
}
