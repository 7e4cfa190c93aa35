/* SPDX-License-Identifier: Apache-2.0
 * naming_said.c: what is said of guesses: their rules, and how much of a pool they name. */
#include "base/size_text.h"
#include "base/sum.h"
#include "model/memory_profile/naming.h"

#include <stdio.h>

static const struct {
    const char *name, *text;
} rules[] = {
#define NAMING_RULE(constant, name, text) {name, text},
#include "model/memory_profile/naming_rules.def"
#undef NAMING_RULE
};

const char *memory_profile_naming_rule(const struct memory_profile_guess *guess)
{
    return guess->has_category ? category_rule_name((enum category_rule)guess->choice.rule) : rules[guess->rule].name;
}

const char *memory_profile_naming_rule_text(const struct memory_profile_guess *guess)
{
    return guess->has_category ? category_rule_text((enum category_rule)guess->choice.rule) : rules[guess->rule].text;
}

const char *memory_profile_naming_confidence(const struct memory_profile_guess *guess)
{
    if (guess->has_category)
        return guess->choice.category == CATEGORY_UNKNOWN
                   ? "unknown"
                   : category_confidence_name(category_rule_confidence((enum category_rule)guess->choice.rule));
    return guess->rule == NAMING_AMBIGUOUS ? "unknown" : "guess";
}

struct memory_profile_tally memory_profile_naming_tally(const struct memory_profile_pool *pool, uint32_t count,
                                                        struct arena *arena)
{
    const struct memory_profile *profile = pool->profile;
    struct memory_profile_tally tally = {0, 0, 0, PROFILE_NONE};
    struct intern modules;
    int64_t *sums = arena_array(arena, int64_t, (size_t)profile->guess_count + 1), most = 0;
    intern_init(&modules, arena);
    for (uint32_t event = pool->first; event < pool->first + pool->count; event++) {
        const struct memory_what *what = &profile->events.whats[profile->what[event]];
        if (!memory_profile_is_open(pool, event, count) ||
            !memory_events_is_unnamed(&profile->events, profile->what[event]))
            continue;
        tally.unnamed_bytes = sum_add(tally.unnamed_bytes, profile->size_bytes[event]);
        if (what->guess == MEMORY_NO_TEXT || profile->guesses[what->guess].module.length == 0)
            continue;
        int64_t *sum = &sums[intern_number(&modules, profile->guesses[what->guess].module)];
        tally.named_bytes = sum_add(tally.named_bytes, profile->size_bytes[event]);
        *sum = sum_add(*sum, profile->size_bytes[event]);
        if (*sum > most) {
            most = *sum;
            tally.main_guess = what->guess;
        }
    }
    tally.module_count = modules.map.count;
    return tally;
}

void memory_profile_naming_sentence(const struct memory_profile *profile, const struct memory_profile_tally *tally,
                                    int64_t in_use_bytes, char text[NAMING_SENTENCE_BYTES])
{
    char part[SIZE_TEXT_BYTES], whole[SIZE_TEXT_BYTES], more[40] = "";
    text[0] = '\0';
    if (tally->unnamed_bytes <= 0 || in_use_bytes < tally->named_bytes)
        return;
    if (tally->main_guess == PROFILE_NONE) {
        snprintf(text, NAMING_SENTENCE_BYTES, "%s are recorded without a name, and no program's plan explains them",
                 size_text(part, (uint64_t)tally->unnamed_bytes));
        return;
    }
    size_text(part, (uint64_t)tally->named_bytes);
    size_text(whole, (uint64_t)in_use_bytes);
    char *part_unit = strchr(part, ' ');
    const char *whole_unit = strchr(whole, ' '), *before = "", *between = " of ";
    if (strcmp(part, whole) == 0) { /* two figures that differ never look alike: "All but 8.00 MiB of 1.61 GiB" */
        bool is_all = tally->named_bytes == in_use_bytes;
        before = is_all ? "All " : "All but ";
        between = is_all ? "" : " of ";
        size_text(part, (uint64_t)(in_use_bytes - tally->named_bytes));
        part[0] = is_all ? '\0' : part[0];
    } else if (part_unit != NULL && whole_unit != NULL && strcmp(part_unit, whole_unit) == 0) {
        *part_unit = '\0'; /* "1.20 of 1.61 GiB" */
    }
    if (tally->module_count > 1)
        snprintf(more, sizeof(more), " and %u more", tally->module_count - 1);
    struct str module = profile->guesses[tally->main_guess].module;
    snprintf(text, NAMING_SENTENCE_BYTES, "%s%s%s%s named from the plan%s of %.*s%s (guess)", before, part, between,
             whole, tally->module_count > 1 ? "s" : "", module.length < 160 ? (int)module.length : 160, module.data,
             more);
}
