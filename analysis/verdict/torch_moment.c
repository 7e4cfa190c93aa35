/* SPDX-License-Identifier: Apache-2.0
 * torch_moment.c: see torch_moment.h. */
#include "verdict/torch_moment.h"
#include "verdict/torch_join.h"

#include "model/finding.h"
#include "model/memory_profile/categories.h"
#include "model/memory_profile/failures.h"
#include "model/memory_profile/moment.h"
#include "model/memory_profile/what.h"
#include "read/torch/torch_snapshot.h"

#include <ctype.h>
#include <stdlib.h>

enum { GROUPS_MAX = 12 };

static bool has_backward(const struct memory_profile *profile)
{
    static const enum category_rule rules[] = {CATEGORY_RULE_TORCH_SAVED, CATEGORY_RULE_TORCH_GRADIENT,
                                               CATEGORY_RULE_TORCH_GRADIENT_OPEN, CATEGORY_RULE_TORCH_BACKWARD};
    for (uint32_t i = 0; i < profile->guess_count; i++)
        for (size_t rule = 0; rule < sizeof(rules) / sizeof(rules[0]); rule++)
            if (profile->guesses[i].has_category && profile->guesses[i].choice.rule == rules[rule])
                return true;
    return false;
}

static bool is_expandable(const struct torch_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->setting_count; i++)
        if (str_equal(snapshot->settings[i].name, STR("expandable_segments")) &&
            str_equal(snapshot->settings[i].value, STR("True")))
            return true;
    return false;
}

static const struct memory_what *what_of(const struct memory_profile *profile,
                                         const struct memory_profile_live_group *group)
{
    return memory_profile_what_at(profile, group->event, group->kept);
}

static enum category category_of(const struct memory_profile *profile, const struct memory_profile_live_group *group)
{
    return memory_profile_categories_of_what(profile, what_of(profile, group));
}

void torch_moment_each_held(const struct torch_moment *moment, struct arena *arena,
                            void (*see)(void *context, uint32_t what, int64_t bytes), void *context)
{
    const struct memory_profile_pool *pool = moment->pool;
    const struct memory_profile *profile = pool->profile;
    arena_work(arena, moment->count);
    for (uint32_t at = 0; at < moment->count; at++) {
        uint32_t event = pool->first + at;
        if (memory_profile_is_open(pool, event, moment->count))
            see(context, profile->what[event], profile->size_bytes[event]);
    }
    uint32_t kept_count = pool->torch.is_known ? pool->torch.kept_count : 0;
    for (uint32_t i = 0; i < kept_count; i++) {
        const struct torch_block *block = &profile->events.snapshot->blocks[pool->torch.kept[i]];
        see(context, block->what, block->requested_bytes);
    }
}

void torch_moment_find(struct verdict_facts *facts)
{
    const struct memory_profile_pool *pool = facts->pool;
    if (pool == NULL || pool->profile->events.snapshot == NULL || pool->before == NULL)
        return;
    struct torch_moment *moment = arena_array(facts->arena, struct torch_moment, 1);
    moment->pool = pool;
    moment->failure = facts->join != NULL       ? facts->join->failure
                      : pool->failure_count > 0 ? &pool->failures[pool->failure_count - 1]
                                                : NULL;
    struct memory_profile_moment at;
    moment->is_end =
        memory_profile_moment_that_matters(pool, moment->failure, facts->join != NULL, &at) == MOMENT_OF_END;
    moment->count = at.count;
    moment->time_ps = at.time_ps;
    moment->has_backward = has_backward(pool->profile);
    moment->is_expandable =
        is_expandable(pool->profile->events.snapshot) || (moment->failure != NULL && moment->failure->is_expandable);
    memory_profile_categories_at(pool, moment->count, moment->sums);
    for (int i = 0; i < CATEGORY_COUNT; i++)
        moment->in_use_bytes += moment->sums[i].bytes;
    struct memory_profile_live live = {
        .pool = pool, .count = moment->count, .fields = 1u << PROFILE_LIVE_OP | 1u << PROFILE_LIVE_CATEGORY};
    memory_profile_live_make(&live, facts->arena);
    moment->groups = chunks_copy(&live.groups, facts->arena);
    moment->group_count = live.groups.count;
    for (size_t i = 0; i < moment->group_count; i++) {
        const struct memory_profile_live_group *group = &moment->groups[i];
        moment->row_bytes[category_of(pool->profile, group)] += group->bytes;
    }
    bool is_retained = memory_profile_retained_find(pool, moment->count, facts->arena, &moment->retained);
    moment->is_retained =
        is_retained && (moment->failure == NULL || moment->retained.bytes > moment->failure->free_bytes);
    torch_operations_sum(facts, moment);
    torch_segments_find(facts, moment);
    torch_named_find(facts, moment);
    facts->moment = moment;
}

struct verdict_evidence torch_moment_evidence(const struct verdict_facts *facts, enum category category, int64_t bytes)
{
    const struct torch_moment *moment = facts->moment;
    int64_t rows_bytes = 0;
    for (int i = 0; i < CATEGORY_COUNT; i++)
        rows_bytes += category == CATEGORY_COUNT || category == (enum category)i ? moment->row_bytes[i] : 0;
    struct verdict_evidence evidence = {
        .kind = VERDICT_EVIDENCE_TRACE,
        .tool = "memory_profile",
        .space = -1,
        .sentence = moment->failure != NULL ? "What was live in the snapshot when the request failed."
                    : moment->is_end        ? "What was live in the snapshot at its end."
                                            : "What was live in the snapshot at its peak.",
        .filter = category == CATEGORY_COUNT ? "" : arena_format(facts->arena, "cat:%s", category_name(category)),
        .sum_bytes = rows_bytes,
        .has_time = true,
        .time_ps = moment->time_ps,
        .memory = arena_text(facts->arena, moment->pool->name),
    };
    evidence.rest_bytes = bytes - rows_bytes;
    evidence.rest =
        evidence.rest_bytes == 0 ? NULL : "of what was allocated before the recording began, and is freed later";
    return evidence;
}

enum category torch_moment_largest(const struct torch_moment *moment)
{
    enum category largest = CATEGORY_UNKNOWN;
    int64_t most = 0;
    for (int i = 0; i < CATEGORY_UNKNOWN; i++)
        if (moment->sums[i].bytes > most) {
            largest = (enum category)i;
            most = moment->sums[i].bytes;
        }
    return largest;
}

bool torch_moment_is_unknown(const struct torch_moment *moment)
{
    const enum category largest = torch_moment_largest(moment);
    const int64_t unknown = moment->sums[CATEGORY_UNKNOWN].bytes;
    return unknown > 0 && (largest == CATEGORY_UNKNOWN || unknown > moment->sums[largest].bytes);
}

/* The part of the unknown bytes that was there before the recording began. */
static int64_t before_bytes(const struct torch_moment *moment)
{
    int64_t before = moment->pool->before[CATEGORY_UNKNOWN].bytes, unknown = moment->sums[CATEGORY_UNKNOWN].bytes;
    return before < unknown ? before : unknown;
}

const char *torch_moment_unknown_sentence(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    int64_t bytes = moment->sums[CATEGORY_UNKNOWN].bytes, before = before_bytes(moment);
    const char *size = facts_size_beside(facts, bytes, moment->in_use_bytes),
               *in_use = facts_size_beside(facts, moment->in_use_bytes, bytes);
    if (moment->pool->profile->events.snapshot->is_end_alone)
        return arena_format(facts->arena, "What %s of %s is for is not known: the snapshot has no history.", size,
                            in_use);
    if (before >= bytes - bytes / 20)
        return arena_format(facts->arena,
                            "What %s of %s is for is not known: it was there before the recording began, as the "
                            "weights of a model are that was made before.",
                            size, in_use);
    return arena_format(facts->arena, "What %s of %s is for is not known: %s.", size, in_use,
                        before > bytes / 2 ? "most of it was there before the recording began"
                                           : "its stacks do not tell");
}

const char *torch_moment_line(const struct verdict_facts *facts, enum category category)
{
    const struct torch_moment *moment = facts->moment;
    const struct memory_profile *profile = moment->pool->profile;
    const struct memory_profile_live_group *largest = NULL;
    for (size_t i = 0; i < moment->group_count; i++)
        if (category_of(profile, &moment->groups[i]) == category &&
            (largest == NULL || moment->groups[i].bytes > largest->bytes))
            largest = &moment->groups[i];
    struct str op = largest == NULL ? STR("") : memory_profile_text(profile, what_of(profile, largest)->op);
    return op.length > 0 ? arena_text(facts->arena, op) : "";
}

static bool is_plural(enum category category) { return str_ends(str_of(category_words(category)), STR("s")); }

const char *torch_moment_holder(const struct verdict_facts *facts, enum category category)
{
    const char *words = category_words(category);
    return arena_format(facts->arena, "%c%s %s", toupper((unsigned char)words[0]), words + 1,
                        is_plural(category) ? "hold" : "holds");
}

bool torch_moment_is_failure(const struct verdict_facts *facts)
{
    const struct memory_profile_failure *failure = facts->moment != NULL ? facts->moment->failure : NULL;
    if (failure == NULL)
        return false;
    return facts->join != NULL ? failure->kind != PROFILE_FAILURE_UNKNOWN
                               : facts->failure == NULL && facts->total_bytes < 0;
}

void torch_moment_fit(const struct verdict_facts *facts)
{
    const struct memory_profile_failure *failure = facts->moment->failure;
    struct verdict_fit *fit = &facts->out->fit;
    const char *device_free = "";
    fit->needed_bytes = failure->requested_bytes;
    fit->over_bytes = failure->missing_bytes >= 0 ? failure->missing_bytes : -1;
    if (failure->device_free_bytes >= 0) {
        fit->free_bytes = failure->device_free_bytes;
        device_free = arena_format(facts->arena, " %s were free on the device,", facts_size(facts, fit->free_bytes));
    }
    const char *in_segments =
        failure->kind == PROFILE_FAILURE_UNKNOWN
            ? "what PyTorch had free is not recorded"
            : arena_format(facts->arena, "%s%s in PyTorch's segments, the largest hole %s",
                           facts_size(facts, failure->free_bytes), device_free[0] == '\0' ? " were free" : "",
                           facts_size(facts, failure->largest_hole_bytes));
    fit->sentence = arena_format(facts->arena, "Asked for %s in one piece:%s %s.",
                                 facts_size(facts, failure->requested_bytes), device_free, in_segments);
}

void torch_moment_categories(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    out->categories = arena_array(facts->arena, struct verdict_where, CATEGORY_COUNT);
    enum category order[CATEGORY_COUNT];
    out->category_count = memory_profile_categories_order(facts->moment->sums, order);
    for (uint32_t i = 0; i < out->category_count; i++) {
        const struct memory_profile_category_sum *sum = &facts->moment->sums[order[i]];
        out->categories[i] = (struct verdict_where){
            .kind = "category",
            .label = arena_format(facts->arena, "%s%s", category_words(order[i]),
                                  memory_profile_categories_guess_words(order[i], sum)),
            .bytes = sum->bytes,
            .category = category_name(order[i]),
            .source = "trace",
        };
    }
}

static int larger_first(const void *left, const void *right)
{
    const struct memory_profile_live_group *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(a->event, b->event);
}

/* Lines of the user's code, and the categories of the memory that they asked for. */
void torch_moment_groups(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    const struct memory_profile *profile = moment->pool->profile;
    struct verdict *out = facts->out;
    const struct memory_profile_live_group *groups = moment->groups;
    if (moment->group_count > 1)
        qsort(moment->groups, moment->group_count, sizeof(*groups), larger_first);
    const struct memory_what *whats[GROUPS_MAX];
    out->groups = arena_array(facts->arena, struct verdict_group, GROUPS_MAX);
    out->peak_bytes = moment->in_use_bytes;
    for (size_t i = 0; i < moment->group_count && groups[i].bytes > 0; i++) {
        struct str op = memory_profile_text(profile, what_of(profile, &groups[i])->op);
        enum category category = category_of(profile, &groups[i]);
        bool is_kept = groups[i].event == PROFILE_NONE;
        out->group_total_count++;
        if (out->group_count == GROUPS_MAX)
            continue;
        whats[out->group_count] = what_of(profile, &groups[i]);
        out->groups[out->group_count++] = (struct verdict_group){
            .key = arena_format(facts->arena, "%s%u", is_kept ? "b" : "e",
                                is_kept ? groups[i].kept : groups[i].event - moment->pool->first),
            .category = category_name(category),
            .label = category_words(category),
            .shape = "",
            .source = op.length > 0 ? arena_text(facts->arena, op) : "",
            .count = groups[i].count,
            .bytes = groups[i].bytes,
        };
    }
    torch_inner_find(facts, whats);
}

const char *torch_moment_sentence(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    enum category largest = torch_moment_largest(moment);
    const char *most = largest == CATEGORY_UNKNOWN || torch_moment_is_unknown(moment)
                           ? ""
                           : arena_format(facts->arena, " Of %s in use %s %s %s.",
                                          facts_size_beside(facts, moment->in_use_bytes, moment->sums[largest].bytes),
                                          facts_size_beside(facts, moment->sums[largest].bytes, moment->in_use_bytes),
                                          is_plural(largest) ? "are" : "is", category_words(largest));
    if (moment->failure == NULL && moment->pool->profile->events.snapshot->is_end_alone)
        return arena_format(facts->arena, "%.*s held %s at the end of the snapshot, which has no history.%s",
                            (int)moment->pool->name.length, moment->pool->name.data,
                            facts_size(facts, moment->in_use_bytes), most);
    if (moment->segments.is_fragmented)
        return arena_format(facts->arena, "%.*s took %s for %s in use at its peak; no request failed.%s",
                            (int)moment->pool->name.length, moment->pool->name.data,
                            facts_size(facts, moment->segments.peak_bytes), facts_size(facts, moment->in_use_bytes),
                            most);
    if (moment->failure == NULL)
        return arena_format(facts->arena, "%.*s held %s at its %s; no request failed%s.%s",
                            (int)moment->pool->name.length, moment->pool->name.data,
                            facts_size(facts, moment->in_use_bytes), moment->is_end ? "end" : "peak",
                            moment->is_end ? " in the snapshot" : "", most);
    const struct finding *finding = memory_profile_failures_finding(
        moment->pool, (uint32_t)(moment->failure - moment->pool->failures), facts->arena);
    char *sentence = arena_text(facts->arena, str_of(finding->sentence));
    sentence[0] = (char)toupper((unsigned char)sentence[0]);
    return arena_format(facts->arena, "%s.%s", sentence, most);
}
