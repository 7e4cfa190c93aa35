/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/memory_fit.h"

#include "base/size_text.h"
#include "read/device.h"

/* Beside a limit that other programs and holes take from, a plan this near to it may go either way. */
enum { SHARE_NEAR_PERCENT = 5 };

int64_t memory_fit_share(int64_t physical_bytes) { return physical_bytes / 100 * MEMORY_FIT_SHARE_PERCENT; }

int64_t memory_fit_share_safe(int64_t share_bytes) { return share_bytes / 100 * (100 - SHARE_NEAR_PERCENT); }

static bool takes_a_share(const struct memory_capacity *capacity)
{
    return capacity->is_physical && capacity->is_of_gpu;
}

int64_t memory_fit_room(const struct memory_capacity *capacity)
{
    if (capacity->bytes < 0)
        return -1;
    if (takes_a_share(capacity))
        return memory_fit_share_safe(memory_fit_share(capacity->bytes));
    return capacity->bytes > capacity->half_bytes ? capacity->bytes - capacity->half_bytes : 0;
}

const char *memory_fit_word_name(enum memory_fit_word word)
{
    static const char *const names[] = {"capacity not known", "fits", "too close", "over by default", "over"};
    return names[word];
}

/* ---- the sentence ---- */

static void part_add(struct memory_fit *fit, const char *text, int64_t bytes, const char *role)
{
    if (fit->part_count < MEMORY_FIT_PARTS_MAX)
        fit->parts[fit->part_count++] = (struct memory_fit_part){text, bytes, role};
}

static void words_add(struct memory_fit *fit, const char *text) { part_add(fit, text, -1, NULL); }

/* Two sizes that differ do not read alike. */
static void size_add(struct memory_fit *fit, struct arena *arena, int64_t bytes, int64_t other, const char *role)
{
    char text[SIZE_TEXT_BYTES];
    part_add(fit, arena_text(arena, str_of(size_text_beside(text, (uint64_t)bytes, (uint64_t)other))), bytes, role);
}

/* A difference is no finer than the capacity was printed. */
static const char *difference_text(const struct memory_fit *fit, struct arena *arena, int64_t bytes)
{
    char text[SIZE_TEXT_BYTES];
    return arena_text(arena, str_of(size_text_coarse(text, (uint64_t)bytes, 2 * (uint64_t)fit->capacity.half_bytes)));
}

static void free_add(struct memory_fit *fit, struct arena *arena)
{
    part_add(fit, difference_text(fit, arena, fit->free_bytes), fit->free_bytes, "free");
    words_add(fit, " free.");
}

static void over_add(struct memory_fit *fit, struct arena *arena, const char *before)
{
    part_add(fit, arena_format(arena, "%s%s", before, difference_text(fit, arena, fit->over_bytes)), fit->over_bytes,
             "over");
}

static void fits_say(struct memory_fit *fit, const char *space, struct arena *arena)
{
    int64_t needed = fit->needed_bytes, capacity = fit->capacity.bytes, share = fit->share_bytes;
    words_add(fit, "It fits: ");
    size_add(fit, arena, needed, share >= 0 ? share : capacity, "needed");
    words_add(fit, share >= 0 ? " of the " : " of ");
    if (share < 0) {
        size_add(fit, arena, capacity, needed, "capacity");
        words_add(fit, arena_format(arena, " of %s, %s", space, fit->capacity.is_physical ? "at most " : ""));
    } else {
        size_add(fit, arena, share, needed, "share");
        words_add(fit, arena_format(arena, " of %s that JAX takes by default (%d %% of ", space,
                                    (int)MEMORY_FIT_SHARE_PERCENT));
        size_add(fit, arena, capacity, needed, "capacity");
        words_add(fit, "), ");
    }
    free_add(fit, arena);
}

/* "Needs 33.49 GiB of HBM; " */
static void needs_say(struct memory_fit *fit, const char *space, struct arena *arena)
{
    words_add(fit, "Needs ");
    size_add(fit, arena, fit->needed_bytes, fit->capacity.bytes < 0 ? fit->needed_bytes : fit->capacity.bytes,
             "needed");
    words_add(fit, arena_format(arena, " of %s; ", space));
}

static void share_say(struct memory_fit *fit, const char *space, struct arena *arena)
{
    needs_say(fit, space, arena);
    words_add(fit, "JAX takes ");
    size_add(fit, arena, fit->share_bytes, fit->needed_bytes, "share");
    words_add(fit, arena_format(arena, " by default (%d %% of ", (int)MEMORY_FIT_SHARE_PERCENT));
    size_add(fit, arena, fit->capacity.bytes, fit->needed_bytes, "capacity");
    if (fit->word == MEMORY_FIT_CLOSE) {
        words_add(fit, "): too close to tell whether it fits.");
        return;
    }
    words_add(fit, "): ");
    over_add(fit, arena, "over by ");
    words_add(fit, ", unless it may take more (XLA_PYTHON_CLIENT_MEM_FRACTION).");
}

static void text_say(struct memory_fit *fit, const char *space, struct arena *arena)
{
    words_add(fit, "Needs ");
    size_add(fit, arena, fit->needed_bytes, fit->capacity.bytes, "needed");
    words_add(fit, arena_format(arena, " of %s in this plan, but the error text asks for ", space));
    size_add(fit, arena, fit->capacity.asked_bytes, fit->capacity.bytes, "asked");
    words_add(fit, " and ");
    size_add(fit, arena, fit->capacity.bytes, fit->capacity.asked_bytes, "capacity");
    words_add(fit, " are available: ");
    over_add(fit, arena, "over by ");
    words_add(fit, ".");
}

static void over_say(struct memory_fit *fit, const char *space, struct arena *arena)
{
    bool is_physical = fit->capacity.is_physical;
    needs_say(fit, space, arena);
    words_add(fit, is_physical ? "the device has " : "");
    size_add(fit, arena, fit->capacity.bytes, fit->needed_bytes, "capacity");
    if (fit->word == MEMORY_FIT_CLOSE) {
        words_add(fit, " are available as printed: too close to tell whether it fits.");
        return;
    }
    words_add(fit, is_physical ? ": " : " are available: ");
    over_add(fit, arena, is_physical ? "over by at least " : "over by ");
    words_add(fit, ".");
}

/* ---- the judgement ---- */

static bool asks_too_much(const struct memory_capacity *capacity)
{
    return capacity->asked_bytes > capacity->bytes + capacity->half_bytes;
}

/* What is compared with the capacity; `share`: as a part of it, −1 if that is not known. */
static int64_t held_of(const struct memory_capacity *capacity, int64_t needed_bytes, double *share)
{
    bool is_asked = capacity->bytes >= 0 && needed_bytes <= capacity->bytes && asks_too_much(capacity);
    int64_t held = is_asked ? capacity->asked_bytes : needed_bytes;
    *share = capacity->bytes > 0 ? (double)held / (double)capacity->bytes : -1;
    return held;
}

bool memory_fit_is_worse(const struct memory_capacity *capacity, int64_t needed_bytes,
                         const struct memory_capacity *other, int64_t other_needed_bytes)
{
    double share, other_share;
    int64_t held = held_of(capacity, needed_bytes, &share),
            other_held = held_of(other, other_needed_bytes, &other_share);
    return share > other_share || (!(share < other_share) && held > other_held);
}

static enum memory_fit_word word_of(struct memory_fit *fit)
{
    int64_t over = fit->needed_bytes - fit->capacity.bytes;
    if (over > fit->capacity.half_bytes) {
        fit->over_bytes = over;
        fit->free_bytes = 0;
        return MEMORY_FIT_OVER;
    }
    if (asks_too_much(&fit->capacity)) {
        fit->over_bytes = fit->capacity.asked_bytes - fit->capacity.bytes;
        fit->free_bytes = 0;
        return MEMORY_FIT_OVER;
    }
    if (fit->capacity.half_bytes > 0 && over > -fit->capacity.half_bytes)
        return MEMORY_FIT_CLOSE;
    if (fit->share_bytes >= 0 && fit->needed_bytes > fit->share_bytes) {
        fit->over_bytes = fit->needed_bytes - fit->share_bytes;
        return MEMORY_FIT_DEFAULT;
    }
    if (fit->share_bytes >= 0 && fit->needed_bytes > memory_fit_share_safe(fit->share_bytes))
        return MEMORY_FIT_CLOSE;
    fit->over_bytes = 0;
    fit->free_bytes = (fit->share_bytes >= 0 ? fit->share_bytes : fit->capacity.bytes) - fit->needed_bytes;
    return MEMORY_FIT_FITS;
}

static void memory_fit_say(struct memory_fit *fit, const char *space, struct arena *arena)
{
    bool is_of_share = fit->share_bytes >= 0 && fit->needed_bytes <= fit->capacity.bytes;
    if (fit->word == MEMORY_FIT_NOT_KNOWN) {
        needs_say(fit, space, arena);
        words_add(fit, "capacity not known.");
    } else if (fit->word == MEMORY_FIT_FITS) {
        fits_say(fit, space, arena);
    } else if (fit->word == MEMORY_FIT_OVER && fit->needed_bytes <= fit->capacity.bytes) {
        text_say(fit, space, arena);
    } else if (fit->word != MEMORY_FIT_OVER && is_of_share) {
        share_say(fit, space, arena);
    } else {
        over_say(fit, space, arena);
    }
    fit->sentence = "";
    for (uint32_t i = 0; i < fit->part_count; i++)
        fit->sentence = arena_format(arena, "%s%s", fit->sentence, fit->parts[i].text);
}

void memory_fit_judge(const struct memory_capacity *capacity, int64_t needed_bytes, const char *space,
                      struct arena *arena, struct memory_fit *out)
{
    *out = (struct memory_fit){
        .capacity = *capacity, .needed_bytes = needed_bytes, .over_bytes = -1, .free_bytes = -1, .share_bytes = -1};
    if (capacity->bytes < 0)
        out->capacity = (struct memory_capacity){.bytes = -1, .asked_bytes = -1};
    else if (takes_a_share(capacity))
        out->share_bytes = memory_fit_share(capacity->bytes);
    out->word = capacity->bytes < 0 ? MEMORY_FIT_NOT_KNOWN : word_of(out);
    memory_fit_say(out, space, arena);
}

void memory_fit_write(struct json *json, const char *key, const struct memory_fit *fit)
{
    const struct memory_capacity *capacity = &fit->capacity;
    const struct device *device = capacity->device == NULL ? NULL : device_named(capacity->device);
    json_key_object(json, key);
    json_key_text(json, "word", memory_fit_word_name(fit->word));
    json_key_int(json, "needed_bytes", fit->needed_bytes);
    json_key_known(json, "capacity_bytes", capacity->bytes);
    json_key_text(json, "source", capacity->source);
    json_key_text(json, "device_source", device == NULL ? NULL : device->source);
    json_key_int(json, "half_unit_bytes", capacity->half_bytes);
    json_key_bool(json, "is_physical", capacity->is_physical);
    json_key_known(json, "share_bytes", fit->share_bytes);
    json_key_known(json, "over_bytes", fit->over_bytes);
    json_key_known(json, "free_bytes", fit->free_bytes);
    json_key_text(json, "sentence", fit->sentence);
    json_key_array(json, "parts");
    for (uint32_t i = 0; i < fit->part_count; i++) {
        json_object_begin(json);
        json_key_text(json, "text", fit->parts[i].text);
        json_key_known(json, "bytes", fit->parts[i].bytes);
        json_key_text(json, "role", fit->parts[i].role);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}
