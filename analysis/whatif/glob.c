/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/glob.h"

#include "base/nearest.h"
#include "plan/arguments.h"
#include "plan/group_key.h"
#include "plan/pattern.h"

#include <stdio.h>

static bool is_divider(char c) { return strchr("/.[]()'\"", c) != NULL; }

/* The whole text, `*` standing for any. */
static bool is_whole(struct str glob, struct str text)
{
    size_t i = 0, j = 0, star = SIZE_MAX, resumed = 0;
    while (j < text.length) {
        if (i < glob.length && glob.data[i] == '*') {
            star = i++;
            resumed = j;
        } else if (i < glob.length && glob.data[i] == text.data[j]) {
            i++;
            j++;
        } else if (star != SIZE_MAX) {
            i = star + 1;
            j = ++resumed;
        } else {
            return false;
        }
    }
    while (i < glob.length && glob.data[i] == '*')
        i++;
    return i == glob.length;
}

bool glob_matches(struct str glob, struct str text)
{
    if (is_whole(glob, text))
        return true;
    for (size_t from = 0; from < text.length; from++) {
        if (from > 0 && !is_divider(text.data[from - 1]) && !is_divider(text.data[from]))
            continue;
        for (size_t to = text.length; to > from; to--)
            if ((to == text.length || is_divider(text.data[to])) &&
                is_whole(glob, (struct str){text.data + from, to - from}))
                return true;
    }
    return false;
}

static const struct plan_pattern *pattern_named(const struct variant *variant, struct str name)
{
    for (uint32_t i = 0; i < variant->space->pattern_count; i++)
        if (str_equal(name, str_of(pattern_name((enum pattern_kind)variant->space->patterns[i].kind))))
            return &variant->space->patterns[i];
    return NULL;
}

static struct str path_of(const struct variant *variant, const struct variant_row *row)
{
    if (!row->is_argument || row->plan_row == PLAN_NONE)
        return (struct str){"", 0};
    const struct plan_argument *argument = arguments_find(variant->plan, variant_parameter(variant, row));
    return argument ? argument->path : (struct str){"", 0};
}

/* What was found of the op name of an instruction. */
enum memory { MEMORY_EMPTY, MEMORY_NO, MEMORY_YES };

uint32_t glob_rows(const struct variant *variant, struct str glob, bool *flags)
{
    const struct plan_pattern *pattern = pattern_named(variant, glob);
    bool is_all = str_equal(glob, STR("*"));
    uint8_t *known = arena_array(variant->arena, uint8_t, (size_t)variant->plan->hlo.instruction_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < variant->row_count; i++) {
        const struct variant_row *row = &variant->rows[i];
        flags[i] = false;
        if (row->is_gone || row->plan_row == PLAN_NONE)
            continue;
        const struct plan_row *of = &variant->space->rows[row->plan_row];
        if (is_all || (pattern && (of->patterns & 1U << pattern->kind) != 0)) {
            flags[i] = true;
        } else if (row->is_argument) {
            struct str path = path_of(variant, row);
            arena_work(variant->arena, path.length);
            flags[i] = glob_matches(glob, path);
        } else if (of->named_by != HLO_NONE) {
            struct str name = graph_op_name_end(variant->plan->graph, of->named_by);
            if (known[of->named_by] == MEMORY_EMPTY) {
                arena_work(variant->arena, name.length);
                known[of->named_by] = glob_matches(glob, name) ? MEMORY_YES : MEMORY_NO;
            }
            flags[i] = known[of->named_by] == MEMORY_YES;
        }
        count += flags[i];
    }
    return count;
}

/* ---- names that would have matched ---- */

enum { OFFERED_MAX = 3 };
struct offer {
    struct str names[OFFERED_MAX];
    size_t distances[OFFERED_MAX];
    uint32_t count;
};

static void offer_name(struct offer *offer, struct str typed, struct str name)
{
    size_t distance = nearest_name_distance(typed, name);
    uint32_t at = offer->count < OFFERED_MAX ? offer->count : OFFERED_MAX;
    if (name.length == 0)
        return;
    for (uint32_t i = 0; i < offer->count; i++)
        if (str_equal(offer->names[i], name))
            return;
    while (at > 0 && offer->distances[at - 1] > distance)
        at--;
    if (at == OFFERED_MAX)
        return;
    for (uint32_t i = offer->count < OFFERED_MAX ? offer->count : OFFERED_MAX - 1; i > at; i--) {
        offer->names[i] = offer->names[i - 1];
        offer->distances[i] = offer->distances[i - 1];
    }
    offer->names[at] = name;
    offer->distances[at] = distance;
    offer->count += offer->count < OFFERED_MAX;
}

bool glob_missed(const struct variant *variant, const char *parameter, struct str glob, struct err *err)
{
    struct offer offer = {.count = 0};
    for (uint32_t i = 0; i < variant->space->pattern_count; i++)
        offer_name(&offer, glob, str_of(pattern_name((enum pattern_kind)variant->space->patterns[i].kind)));
    for (uint32_t i = 0; i < variant->plan->argument_count; i++)
        offer_name(&offer, glob, variant->plan->arguments[i].path);
    for (uint32_t i = 0; i < variant->row_count; i++) {
        const struct variant_row *row = &variant->rows[i];
        if (row->plan_row == PLAN_NONE || variant->space->rows[row->plan_row].named_by == HLO_NONE)
            continue;
        struct str name = group_key_op_name(variant->plan, &variant->space->rows[row->plan_row]);
        arena_work(variant->arena, name.length);
        for (size_t from = 0, to = 0; to <= name.length; to++)
            if (to == name.length || is_divider(name.data[to])) {
                offer_name(&offer, glob, (struct str){name.data + from, to - from});
                from = to + 1;
            }
    }
    char text[160];
    size_t length = 0;
    for (uint32_t i = 0; i < offer.count && length + 60 < sizeof(text); i++) {
        struct str name = offer.names[i];
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s\"%.*s\"", i > 0 ? ", " : "",
                                   (int)(name.length < 40 ? name.length : 40), name.data);
    }
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "%s=%.*s: nothing has this name%s%s", parameter,
                   (int)(glob.length < 60 ? glob.length : 60), glob.data, length > 0 ? "; near it: " : "",
                   length > 0 ? text : "");
}
