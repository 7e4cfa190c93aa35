/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/glob.h"

#include "base/nearest.h"
#include "plan/arguments.h"
#include "plan/group_key.h"
#include "plan/pattern.h"

#include <stdio.h>

static bool is_divider(char c)
{
    switch (c) {
    case '/':
    case '.':
    case '[':
    case ']':
    case '(':
    case ')':
    case '\'':
    case '"':
    case '\0': return true;
    default: return false;
    }
}

static bool is_beginning(struct str text, size_t at)
{
    return at == 0 || is_divider(text.data[at - 1]) || is_divider(text.data[at]);
}

static bool is_end(struct str text, size_t at) { return at == text.length || is_divider(text.data[at]); }

/* The first position of `piece` from `at` on; SIZE_MAX: none. */
static size_t piece_find(struct str text, size_t at, struct str piece)
{
    const char *found = memmem(text.data + at, text.length - at, piece.data, piece.length);
    return found == NULL ? SIZE_MAX : (size_t)(found - text.data);
}

/* The text between two stars, before the first or after the last. Begins at *at, and sets *at behind the star. */
static struct str piece_next(struct str glob, size_t *at)
{
    size_t from = *at, to = from;
    while (to < glob.length && glob.data[to] != '*')
        to++;
    *at = to + 1;
    return (struct str){glob.data + from, to - from};
}

/* Behind what comes before the first star, from the beginning of a part on; SIZE_MAX: it begins no part. With `is_last`
 * there is no star, and it ends a part too. */
static size_t first_find(struct str text, struct str piece, bool is_last)
{
    for (size_t at = 0; (at = piece_find(text, at, piece)) != SIZE_MAX && at < text.length; at++)
        if (is_beginning(text, at) && (!is_last || is_end(text, at + piece.length)))
            return at + piece.length;
    return SIZE_MAX;
}

static bool is_stars(struct str glob)
{
    size_t at = 0;
    while (at < glob.length && glob.data[at] == '*')
        at++;
    return at == glob.length;
}

/* The earliest place of each piece is as good as any other, so each is looked for once. */
bool glob_matches(struct str glob, struct str text)
{
    size_t at = 0;
    struct str piece = piece_next(glob, &at);
    if (text.length == 0)
        return is_stars(glob);
    if (at > glob.length)
        return piece.length > 0 && first_find(text, piece, true) != SIZE_MAX;
    size_t behind = first_find(text, piece, false);
    while (behind != SIZE_MAX) {
        piece = piece_next(glob, &at);
        size_t found = piece_find(text, behind, piece);
        if (at <= glob.length) { /* another star behind it */
            behind = found == SIZE_MAX ? SIZE_MAX : found + piece.length;
            continue;
        }
        if (piece.length == 0)
            return true;
        while (found != SIZE_MAX && !is_end(text, found + piece.length))
            found = piece_find(text, found + 1, piece);
        return found != SIZE_MAX;
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
        if (row->is_gone)
            continue;
        bool is_of_plan = row->plan_row != PLAN_NONE;
        uint32_t named_by = is_of_plan ? variant->space->rows[row->plan_row].named_by : row->instruction_at;
        uint32_t patterns = is_of_plan ? variant->space->rows[row->plan_row].patterns : 0;
        if (is_all || (pattern && (patterns & 1U << pattern->kind) != 0)) {
            flags[i] = true;
        } else if (row->is_argument) {
            struct str path = path_of(variant, row);
            arena_work(variant->arena, glob_work(glob, path));
            flags[i] = glob_matches(glob, path);
        } else if (named_by != HLO_NONE) {
            struct str name = graph_op_name_end(variant->plan->graph, named_by);
            if (known[named_by] == MEMORY_EMPTY) {
                arena_work(variant->arena, glob_work(glob, name));
                known[named_by] = glob_matches(glob, name) ? MEMORY_YES : MEMORY_NO;
            }
            flags[i] = known[named_by] == MEMORY_YES;
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
    struct map seen;
};

static bool is_offered(const void *context, uint64_t value)
{
    (void)context, (void)value;
    return true; /* the hashes are as good as the names: a mistake would only leave one out */
}

static void offer_name(struct offer *offer, struct str typed, struct str name)
{
    bool is_new;
    if (name.length == 0)
        return;
    map_number(&offer->seen, hash_bytes(name.data, name.length, 0), is_offered, NULL, &is_new);
    if (!is_new)
        return;
    arena_work(offer->seen.arena, NEAREST_LENGTH_MAX);
    size_t distance = nearest_name_distance(typed, name);
    uint32_t at = offer->count < OFFERED_MAX ? offer->count : OFFERED_MAX;
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
    map_init(&offer.seen, variant->arena, 64);
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
