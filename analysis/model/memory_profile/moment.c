/* SPDX-License-Identifier: Apache-2.0
 * moment.c: see moment.h. */
#include "model/memory_profile/moment.h"

#include "read/torch/torch_snapshot.h"

#include <stdio.h>
#include <stdlib.h>

#define PS_PER_MS INT64_C(1000000000)
#define PS_PER_US INT64_C(1000000)
#define TIME_MAX (INT64_C(1) << 61) /* beyond it no event has a time */

static const struct {
    const char *name;
    int64_t ps;
} units[] = {{"s", INT64_C(1000000000000)},   {"ms", PS_PER_MS},     {"us", INT64_C(1000000)},
             {"\xC2\xB5s", INT64_C(1000000)}, {"ns", INT64_C(1000)}, {"ps", INT64_C(1)}};

enum { TIME_TEXT = 32 };

/* "12.5": ms, with as many decimals as are needed, at least one. */
static const char *ms_text(char text[TIME_TEXT], int64_t time_ps)
{
    uint64_t ps = time_ps < 0 ? 0 : (uint64_t)time_ps, ms = (uint64_t)PS_PER_MS;
    snprintf(text, TIME_TEXT, "%llu.%09llu", (unsigned long long)(ps / ms), (unsigned long long)(ps % ms));
    size_t length = strlen(text);
    while (text[length - 1] == '0' && text[length - 2] != '.')
        text[--length] = '\0';
    return text;
}

static int64_t unit_of(const char *name)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].name, name) == 0)
            return units[i].ps;
    return 0;
}

/* "12.5ms", exactly; false for anything else, and what is finer than a picosecond or no time. */
static bool time_read(const char *text, int64_t *time_ps)
{
    size_t whole = strspn(text, "0123456789"), point = text[whole] == '.' ? 1 : 0;
    size_t decimals = point > 0 ? strspn(text + whole + 1, "0123456789") : 0;
    int64_t unit = unit_of(text + whole + point + decimals), sum = 0;
    if (whole + decimals == 0 || unit == 0)
        return false;
    for (size_t i = 0; i < whole; i++)
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, text[i] - '0', &sum))
            return false;
    if (__builtin_mul_overflow(sum, unit, &sum))
        return false;
    for (size_t i = 0; i < decimals; i++) {
        int64_t digit = text[whole + 1 + i] - '0';
        if (digit > 0 && unit % 10 != 0)
            return false;
        unit /= 10;
        if (__builtin_add_overflow(sum, digit * unit, &sum))
            return false;
    }
    *time_ps = sum;
    return sum <= TIME_MAX;
}

/* The number after `head`, and the text after that; NULL if `text` begins otherwise. */
static const char *number_behind(const char *text, const char *head, int64_t *number)
{
    size_t length = strlen(head), digits;
    if (strncmp(text, head, length) != 0)
        return NULL;
    digits = strspn(text + length, "0123456789");
    if (digits == 0 || digits > 10)
        return NULL;
    *number = strtoll(text + length, NULL, 10);
    return text + length + digits;
}

struct memory_profile_moment memory_profile_moment_after_event(const struct memory_profile_pool *pool, uint32_t at)
{
    struct memory_profile_moment moment = {at + 1, pool->profile->time_ps[pool->first + at], 0};
    const struct memory_profile_torch *torch = &pool->torch;
    while (moment.rare_count < torch->event_count && torch->events[moment.rare_count].event_at < moment.count)
        moment.rare_count++;
    return moment;
}

/* The moment after the first `count` events and the rare events up to that time, of which several may have the same
 * time. */
static struct memory_profile_moment moment_at(const struct memory_profile_pool *pool, uint32_t count, int64_t time_ps)
{
    struct memory_profile_moment moment = {count, time_ps, 0};
    const struct memory_profile_torch *torch = &pool->torch;
    while (moment.rare_count < torch->event_count && torch->events[moment.rare_count].event_at <= count &&
           torch->events[moment.rare_count].offset_ps <= time_ps)
        moment.rare_count++;
    return moment;
}

struct memory_profile_moment memory_profile_moment_at_time(const struct memory_profile_pool *pool, int64_t time_ps)
{
    return moment_at(pool, memory_profile_after(pool, time_ps), time_ps);
}

enum memory_profile_moment_kind memory_profile_moment_that_matters(const struct memory_profile_pool *pool,
                                                                   const struct memory_profile_failure *failure,
                                                                   bool is_end_wanted,
                                                                   struct memory_profile_moment *out)
{
    const struct torch_snapshot *snapshot = pool->profile->events.snapshot;
    bool has_peak = !is_end_wanted && pool->count != 1 && (snapshot == NULL || !snapshot->is_end_alone);
    if (failure != NULL)
        *out = (struct memory_profile_moment){failure->count, failure->time_ps, failure->rare_count};
    else
        *out = memory_profile_moment_after_event(pool, has_peak ? pool->peak_at - pool->first : pool->count - 1);
    return failure != NULL ? MOMENT_OF_FAILURE : has_peak ? MOMENT_OF_PEAK : MOMENT_OF_END;
}

static bool of_step(const struct memory_profile_pool *pool, int64_t number, const char *part,
                    struct memory_profile_moment *out)
{
    const struct memory_profile *profile = pool->profile;
    const struct trace_step *step = NULL;
    for (uint32_t i = 0; i < profile->step_count && step == NULL; i++)
        if (profile->steps[i].number == number)
            step = &profile->steps[i];
    if (step == NULL)
        return false;
    uint32_t first = memory_profile_after(pool, step->begin_ps - 1), end = memory_profile_after(pool, step->end_ps);
    if (strcmp(part, ".end") == 0) {
        *out = memory_profile_moment_at_time(pool, step->end_ps);
    } else if (part[0] == '\0' || first == end) {
        *out = moment_at(pool, first, step->begin_ps);
    } else {
        uint32_t min_at, max_at;
        extremes_of(&pool->extremes, first, end, &min_at, &max_at);
        *out = memory_profile_moment_after_event(pool, max_at);
    }
    return part[0] == '\0' || strcmp(part, ".end") == 0 || strcmp(part, ".peak") == 0;
}

bool memory_profile_moment_read(const struct memory_profile_pool *pool, const char *name, const char *text,
                                struct memory_profile_moment *out, struct err *err)
{
    const struct memory_profile *profile = pool->profile;
    char end[TIME_TEXT];
    int64_t number;
    const char *rest;
    if (strcmp(text, "peak") == 0) {
        *out = memory_profile_moment_after_event(pool, pool->peak_at - pool->first);
    } else if (strcmp(text, "start") == 0) {
        *out = moment_at(pool, 0, profile->time_ps[pool->first]);
    } else if (strcmp(text, "end") == 0) {
        *out = memory_profile_moment_after_event(pool, pool->count - 1);
    } else if ((rest = number_behind(text, "step", &number)) != NULL) {
        return of_step(pool, number, rest, out) ||
               err_set(err, ERR_argument, ERR_NO_OFFSET,
                       "%s: \"%.40s\" is none of the %u steps (step0, step0.peak, step0.end)", name, text,
                       profile->step_count);
    } else if ((rest = number_behind(text, "e", &number)) != NULL && rest[0] == '\0') {
        if (number >= pool->count)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: \"%.40s\" is none of the %u events", name, text,
                           pool->count);
        *out = memory_profile_moment_after_event(pool, (uint32_t)number);
    } else if (time_read(text, &number)) {
        if (number > profile->recorded_ps)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: \"%.40s\" is after the end, %s ms", name, text,
                           ms_text(end, profile->recorded_ps));
        *out = memory_profile_moment_at_time(pool, number);
    } else {
        return err_set(err, ERR_argument, ERR_NO_OFFSET,
                       "%s: \"%.40s\" is no moment: peak, start, end, a time (12.5ms), step3, step3.peak, step3.end, "
                       "e17 (after an event)",
                       name, text);
    }
    return true;
}

const char *memory_profile_moment_words(const char *text, const struct memory_profile_moment *moment,
                                        char words[MOMENT_WORDS_SIZE])
{
    static const char *const names[] = {"peak", "start", "end"};
    char time[TIME_TEXT];
    int64_t step;
    ms_text(time, moment->time_ps);
    const char *part = number_behind(text, "step", &step);
    snprintf(words, MOMENT_WORDS_SIZE, "%s ms", time);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(text, names[i]) == 0)
            snprintf(words, MOMENT_WORDS_SIZE, "the %s, %s ms", text, time);
    if (part != NULL)
        snprintf(words, MOMENT_WORDS_SIZE, "the %s of step %lld, %s ms", part[0] == '\0' ? "begin" : part + 1,
                 (long long)step, time);
    return words;
}

/* ---- series ---- */

enum { STEPS_MIN = 3, STEPS_MAX = 50, SPREAD = 24 };

bool memory_profile_moment_has_steps(const struct memory_profile *profile) { return profile->step_count >= STEPS_MIN; }

bool memory_profile_moment_of_series(const struct memory_profile_pool *pool, size_t at, char text[MOMENT_TEXT_SIZE])
{
    const struct memory_profile *profile = pool->profile;
    bool has_steps = memory_profile_moment_has_steps(profile);
    size_t count = profile->events.snapshot != NULL && profile->events.snapshot->is_end_alone ? 0
                   : !has_steps                                                               ? SPREAD
                   : profile->step_count < STEPS_MAX                                          ? profile->step_count
                                                                                              : STEPS_MAX;
    int64_t begin_ps = profile->time_ps[pool->first], end_ps = profile->time_ps[pool->first + pool->count - 1];
    if (at > count)
        return false;
    if (at == count) {
        snprintf(text, MOMENT_TEXT_SIZE, "end");
    } else if (has_steps) {
        snprintf(text, MOMENT_TEXT_SIZE, "step%lld",
                 (long long)profile->steps[at * profile->step_count / count].number);
    } else {
        int64_t time_ps = begin_ps + (end_ps - begin_ps) / SPREAD * (int64_t)at;
        bool is_coarse = end_ps - begin_ps >= SPREAD * PS_PER_MS / 1000;
        snprintf(text, MOMENT_TEXT_SIZE, is_coarse ? "%lldus" : "%lldps",
                 (long long)(is_coarse ? time_ps / PS_PER_US : time_ps));
    }
    return true;
}
